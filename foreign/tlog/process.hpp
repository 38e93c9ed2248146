// SPDX-License-Identifier: MIT
// Finds the records of each process in a tlog file, reads them, and checks what the format promises about them.
#pragma once

#include "foreign/tlog/kinds.hpp"
#include "foreign/tlog/record.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats::tlog {

inline constexpr std::size_t kRunsMax = 65'536;

// A run has consecutive records of one process, with the unused slots between them.
struct Run {
    std::uint16_t process = 0;
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0;
    std::uint64_t records = 0; // without unused slots
};

struct RunIndex {
    std::vector<Run> runs; // by process, then by place in the file
    Table table = Table::nine_pairs;
    std::uint64_t records = 0; // without unused slots
    // There are more than kRunsMax runs: `runs` is empty, and the file can only be read from front to back.
    bool too_many_runs = false;

    // Returns the runs of the process that begins at runs[first].
    [[nodiscard]] std::span<const Run> process_at(std::size_t first) const;
};

// Finds in one pass where the records of each process are. The format promises one run of blocks for each process;
// anything else is reported and still readable. Memory is limited by kRunsMax for any file.
//
// Reports E-EMPTY, E-TRUNC (the file ends within a block), W-ORDER (a process in several runs, or two in one block),
// W-CAP, E-IO. corrupt: there is no whole record; io. Precondition: source.seekable().
[[nodiscard]] lib::Result<RunIndex> index_runs(trace::ByteSource& source, const std::string& name, Layout layout,
                                               trace::Diagnostics& diagnostics);

// Reads the records of one process of a tlog file without unused slots, through a buffer of its own.

struct Slot {
    Record record;
    std::uint64_t offset_bytes = 0;
};

class ProcessCursor {
  public:
    // runs: of one process, in order; they must outlive the cursor. buffer_bytes: at least kRecordBytes.
    ProcessCursor(std::shared_ptr<trace::ByteSource> source, std::span<const Run> runs, Layout layout,
                  std::size_t buffer_bytes);

    // Returns the next record; false at the end, or after a read has failed.
    [[nodiscard]] bool next(Slot& slot);

    // Returns whether a read has failed, or the file has become shorter.
    [[nodiscard]] bool failed() const { return m_failed; }

    // Returns the offset of the next slot.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

  private:
    [[nodiscard]] bool refill();

    std::shared_ptr<trace::ByteSource> m_source;
    std::span<const Run> m_runs;
    Layout m_layout;
    std::size_t m_buffer_bytes;
    std::vector<std::byte> m_buffer; // allocated by the first read
    std::uint64_t m_buffer_offset = 0;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    bool m_failed = false;
};

// Checks what the format promises about the records of one process: START is first, END is last, time never falls, and
// pairs nest. Each violation is reported with the record that shows it.

class ProcessCheck {
  public:
    // At most this many open pairs are followed; deeper ones are reported.
    static constexpr std::size_t kDepthMax = 64;

    struct Verdict {
        trace::EventState state = trace::EventState::ok;
        std::uint64_t time_ns = 0; // that of the previous record if the time cannot be used
    };

    // Checks the next record. Reports E-LINE (a time that cannot be used), W-TIME, W-ORDER, W-NESTING.
    [[nodiscard]] Verdict take(const Slot& slot, Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // Must be called after the last record. Reports W-ORDER, W-NESTING.
    void finish(Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // Returns how many pairs are open.
    [[nodiscard]] std::size_t depth() const { return m_depth; }

    // Returns the greatest time so far.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time_ns; }

  private:
    void check_order(const Slot& slot, Role role, const trace::Place& place, trace::Diagnostics& diagnostics);
    void check_nesting(const Slot& slot, Table table, const Kind& kind, const trace::Place& place,
                       trace::Diagnostics& diagnostics);
    void report_open(Table table, const trace::Place& place, trace::Diagnostics& diagnostics);

    std::array<std::uint8_t, kDepthMax> m_stack{}; // types of the open pairs
    std::size_t m_depth = 0;
    std::uint64_t m_time_ns = 0;
    std::uint64_t m_records = 0;
    std::uint64_t m_last_bytes = 0; // offset of the last record
    std::uint16_t m_process = 0;
    bool m_ended = false;
};

} // namespace host::formats::tlog
