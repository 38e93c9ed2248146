// SPDX-License-Identifier: MIT
// The text in front of a .kev file: `TRACE_HEADER_BEGIN::`, then `TRACE_key::value` again and again without anything
// between a value and the next key, `TRACE_HEADER_END::`, then as many bytes of "system page" as SYSPAGE_LEN says, then
// the slots. A key begins at the last `TRACE_` before a `::` with nothing but letters, digits and underscores between,
// so a value may hold any text, `TRACE_` included, that does not itself read like a key. Keys of any name are kept.
#pragma once

#include "foreign/kev/slot.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::kev {

inline constexpr std::string_view kHeaderBegin = "TRACE_HEADER_BEGIN::";
inline constexpr std::string_view kHeaderEnd = "TRACE_HEADER_END::";
inline constexpr std::string_view kEncoding = "16 byte events";
inline constexpr std::string_view kOurSystem = "Remora"; // SYSNAME of files whose events are ours

// A longer text is no header, and a longer system page no system page: memory stays bounded.
inline constexpr std::size_t kHeaderBytesMax = 1 << 20;
inline constexpr std::size_t kSyspageBytesMax = 16 << 20;

enum class HeaderError : std::uint8_t {
    no_begin,     // does not start with kHeaderBegin
    no_end,       // the input, or kHeaderBytesMax, ends before kHeaderEnd
    missing_key,  // one that cannot be done without
    version,      // below 1.01, or no number
    byte_order,   // neither little nor big, or both
    encoding,     // slots of another size
    number,       // a value that should be a number is none
    syspage_size, // SYSPAGE_LEN is beyond the end of the input, or absurd
    cannot_read,  // the read failed; never from parse_header()
};

struct Header {
    std::vector<std::pair<std::string, std::string>> entries; // key without TRACE_, value; in the order of the file
    ByteOrder byte_order = ByteOrder::little;
    std::uint64_t cycles_per_second = 0; // 0: not known
    std::uint32_t processors = 0;        // 0: not stated
    std::uint64_t syspage_bytes = 0;
    bool newer = false; // than the version that this reader was written for

    // The value of a key, without its TRACE_; null if the file has none. Of several the first.
    [[nodiscard]] const std::string* find(std::string_view key) const;

    // The events are those of our own writer.
    [[nodiscard]] bool is_ours() const;
};

// Where kHeaderEnd ends in `text`, if it is there.
[[nodiscard]] std::optional<std::size_t> find_header_end(std::string_view text);

// text: from kHeaderBegin to the end of kHeaderEnd. An error's text names the key and the remedy.
[[nodiscard]] lib::Result<Header, trace::Failure<HeaderError>> parse_header(std::string_view text);

} // namespace host::formats::kev
