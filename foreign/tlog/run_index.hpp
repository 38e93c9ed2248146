// SPDX-License-Identifier: MIT
// Where each process's records are in a tlog file, found in one pass. The format promises one run of blocks per
// process; whatever else comes is reported and still readable. Memory is bounded by kRunsMax, whatever the file.
#pragma once

#include "foreign/tlog/kinds.hpp"
#include "foreign/tlog/record.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <span>
#include <string>
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

// Reports E-EMPTY, E-TRUNC (the file ends within a block), W-ORDER (a process in several runs, or two in one block),
// W-CAP, E-IO. corrupt: there is no whole record; io. Precondition: source.seekable().
[[nodiscard]] lib::Result<RunIndex> index_runs(trace::ByteSource& source, const std::string& name, Layout layout,
                                               trace::Diagnostics& diagnostics);

} // namespace host::formats::tlog
