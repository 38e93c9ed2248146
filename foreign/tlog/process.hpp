// SPDX-License-Identifier: MIT
// The records of each process in a tlog file: where they are, how to walk over them, and whether they keep what the
// format promises.
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

// Records of one process that follow each other, unused slots between them included.
struct Run {
    std::uint16_t process = 0;
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0;
    std::uint64_t records = 0; // unused slots not counted
};

struct RunIndex {
    std::vector<Run> runs; // by process, then by place in the file
    Table table = Table::nine_pairs;
    std::uint64_t records = 0; // unused slots not counted
    // More than kRunsMax runs: `runs` is empty, and the file can be read from front to back only.
    bool too_many_runs = false;

    // The runs of the process that begins at runs[first].
    [[nodiscard]] std::span<const Run> process_at(std::size_t first) const;
};

// Where each process's records are in a tlog file, found in one pass. The format promises one run of blocks per
// process; whatever else comes is reported and still readable. Memory is bounded by kRunsMax, whatever the file.
//
// Reports E-EMPTY, E-TRUNC (the file ends within a block), W-ORDER (a process in several runs, or two in one block),
// W-CAP, E-IO. corrupt: there is no whole record; io. Precondition: source.seekable().
[[nodiscard]] lib::Result<RunIndex> index_runs(trace::ByteSource& source, const std::string& name, Layout layout,
                                               trace::Diagnostics& diagnostics);

// Walks over the records of one process of a tlog file, unused slots left out, through a buffer of its own.

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

// What the format promises of one process's records: START first, END last, time that never falls, pairs that nest.
// Each violation is reported with the record that shows it.

class ProcessCheck {
  public:
    // Pairs open at a time that are followed; deeper ones are reported.
    static constexpr std::size_t kDepthMax = 64;

    struct Verdict {
        trace::EventState state = trace::EventState::ok;
        std::uint64_t time_ns = 0; // of a record whose time cannot be used: that of the record before
    };

    // Takes the next record. Reports E-LINE (a time that cannot be used), W-TIME, W-ORDER, W-NESTING.
    [[nodiscard]] Verdict take(const Slot& slot, Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // After the last record. Reports W-ORDER, W-NESTING.
    void finish(Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // Pairs that are open.
    [[nodiscard]] std::size_t depth() const { return m_depth; }

    // The greatest time so far.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time_ns; }

  private:
    void check_order(const Slot& slot, Role role, const trace::Place& place, trace::Diagnostics& diagnostics);
    void check_nesting(const Slot& slot, Table table, const Kind& kind, const trace::Place& place,
                       trace::Diagnostics& diagnostics);
    void report_open(Table table, const trace::Place& place, trace::Diagnostics& diagnostics);

    std::array<std::uint8_t, kDepthMax> m_stack{}; // types that opened
    std::size_t m_depth = 0;
    std::uint64_t m_time_ns = 0;
    std::uint64_t m_records = 0;
    std::uint64_t m_last_bytes = 0; // where the last record is
    std::uint16_t m_process = 0;
    bool m_ended = false;
};

} // namespace host::formats::tlog
