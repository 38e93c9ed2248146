// SPDX-License-Identifier: MIT
// The account of a trace, from the machine's counters to the bytes on the disk:
//
//   attempts = committed + dropped + refused                       counted by the tracer
//   committed + made by the tracer - overwritten = sent            export_end and the chunks' headers
//   sent = received = stored                                       the manifest and the files
//   each chunk has the checksum that the machine computed
//
// It closes if every line holds, of every processor. Without the machine's totals (a ramdisk of an earlier version,
// another system's trace) it is open, which is no violation: what is not known is not claimed. Valid once the trace has
// been read to its end.
#pragma once

#include "host/analyse/structure_check.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/kernel_image.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace host::analyse {

struct ProcessorAccount {
    std::uint16_t cpu = 0;
    std::uint64_t chunks = 0;
    std::uint64_t sealed = 0;      // with a checksum of the machine that is right
    std::uint64_t events = 0;      // records, decoded
    std::uint64_t dropped = 0;     // as its latest chunk counts
    std::uint64_t refused = 0;     // likewise
    std::uint64_t overwritten = 0; // in these chunks
};

struct Account {
    std::vector<ProcessorAccount> processors;     // by number
    std::optional<tracer::ExportEnd> totals;      // of the machine; committed 0: it did not count
    std::optional<std::uint64_t> received;        // records, as the receiver counted them
    std::uint64_t stored = 0;                     // records that were read, or pieces of compact streams
    std::uint64_t events = 0;                     // records, decoded
    std::vector<std::string> faults;              // lines that do not hold
    std::optional<std::string> unknown;           // why it cannot be closed, although no line is wrong
    std::optional<std::uint64_t> captured_chunks; // the same in an independent capture

    [[nodiscard]] bool closes() const { return faults.empty() && !unknown; }

    [[nodiscard]] bool is_open() const { return faults.empty() && unknown; }
};

// Records that the machine made and did not overwrite; none: it did not count.
[[nodiscard]] std::optional<std::uint64_t> records_kept(const tracer::ExportEnd& totals);

// Records that the machine kept, by its totals, and that are not among `events` decoded ones: they left otherwise, or
// not at all. 0: none, or the machine did not count.
[[nodiscard]] std::uint64_t records_elsewhere(const tracer::ExportEnd& totals, std::uint64_t events);

[[nodiscard]] Account account_of(const formats::Trace& trace);

// What an independent capture of the same export holds must be what the trace holds, chunk by chunk: the machine's
// checksums are compared. capture: read to its end; damages: what its reader reported, such as frames that are not
// whole.
void compare_capture(Account& account, const trace::TraceFacts& facts, const trace::TraceFacts& capture,
                     std::uint64_t damages);

// Checks that a session's manifest and its files agree: every figure that the files can confirm, and every checksum, is
// compared with their content. For a chunk with a gap only the sums are compared, because it is unknown which of its
// slots were preamble. The check changes no file, and trusts neither side.
struct ManifestFault {
    Rule rule = Rule::counts; // counts or checksums
    std::string file;         // the file, or the manifest itself
    std::string text;         // the key and both values
};

// The trace has been read to its end. Empty if it is no session. Reads every file once more, for its checksum.
[[nodiscard]] std::vector<ManifestFault> manifest_faults(const formats::Trace& trace);

} // namespace host::analyse
