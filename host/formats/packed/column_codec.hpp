// SPDX-License-Identifier: MIT
// A block of trace records as columns, which is what makes them small: what an event says repeats and is predicted from
// the events before it; when it happened does not, and is stored with as many bits as it takes. docs/packed-format.md
// describes the bytes. Any multiple of 16 bytes survives unchanged, whatever it holds.
#pragma once

#include "host/trace/diagnostics.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::formats::packed {

// The greatest block, in bytes of raw records: whatever a file says, no more is allocated.
inline constexpr std::size_t kRawBytesMax = std::size_t{1} << 20;

inline constexpr trace::Code kTrailing = "W-TRAIL";

// What is wrong with a body.
struct Fault {
    std::optional<trace::Code> code; // none: it decodes; kTrailing: it does, and more follows
    std::size_t in_bytes = 0;        // how far the body was read
    std::size_t out_bytes = 0;       // decoded before the fault
    std::string text;
};

class ColumnCodec {
  public:
    ColumnCodec();
    ~ColumnCodec();
    ColumnCodec(const ColumnCodec&) = delete;
    ColumnCodec& operator=(const ColumnCodec&) = delete;

    // Appends the body of a block of records to `body`. Precondition: a multiple of 16 bytes, at most kRawBytesMax.
    void pack_records(std::span<const std::byte> raw, std::vector<std::byte>& body);
    // Likewise of any bytes.
    void pack_bytes(std::span<const std::byte> raw, std::vector<std::byte>& body);

    // Fills `raw`, whose size the block's header declares (at most kRawBytesMax). No fault: all of it, and nothing is
    // left of the body.
    [[nodiscard]] Fault unpack_records(std::span<const std::byte> body_untrusted, std::span<std::byte> raw);
    [[nodiscard]] Fault unpack_bytes(std::span<const std::byte> body_untrusted, std::span<std::byte> raw);

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace host::formats::packed
