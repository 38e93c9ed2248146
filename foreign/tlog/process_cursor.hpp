// SPDX-License-Identifier: MIT
// Walks over the records of one process of a tlog file, unused slots left out, through a buffer of its own.
#pragma once

#include "foreign/tlog/run_index.hpp"
#include "host/trace/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace host::formats::tlog {

struct Slot {
    Record record;
    std::uint64_t offset_bytes = 0;
};

class ProcessCursor {
  public:
    // runs: of one process, in order; they outlive the cursor. buffer_bytes: at least kRecordBytes.
    ProcessCursor(std::shared_ptr<trace::ByteSource> source, std::span<const Run> runs, Layout layout,
                  std::size_t buffer_bytes);

    // False at the end, or once a read failed.
    [[nodiscard]] bool next(Slot& slot);

    // A read failed, or the file has become shorter than it was.
    [[nodiscard]] bool failed() const { return m_failed; }

    // Of the next slot.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

  private:
    [[nodiscard]] bool refill();

    std::shared_ptr<trace::ByteSource> m_source;
    std::span<const Run> m_runs;
    Layout m_layout;
    std::size_t m_buffer_bytes;
    std::vector<std::byte> m_buffer; // allocated with the first read
    std::uint64_t m_buffer_offset = 0;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    bool m_failed = false;
};

} // namespace host::formats::tlog
