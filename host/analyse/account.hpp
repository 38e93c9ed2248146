// SPDX-License-Identifier: MIT
// The account of a trace, from the machine's counters to the bytes on the disk:
//
//   attempts = committed + dropped + refused                       counted by the tracer
//   committed + made by the tracer - overwritten = sent            export_end and the chunks' headers
//   sent = received = stored                                       the manifest and the files
//   each chunk has the checksum that the machine computed
//
// The account closes if every line holds for every processor. Without the machine's totals (a ramdisk of an earlier
// version, another system's trace) it is open, which is no violation, because what is not known is not claimed. It is
// valid once the trace has been read to its end.
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
    std::uint64_t sealed = 0;      // chunks with a checksum of the machine that is right
    std::uint64_t events = 0;      // records, decoded
    std::uint64_t dropped = 0;     // the count in its latest chunk
    std::uint64_t refused = 0;     // the count in its latest chunk
    std::uint64_t overwritten = 0; // in these chunks
};

struct Account {
    std::vector<ProcessorAccount> processors;     // by number
    std::optional<tracer::ExportEnd> totals;      // those of the machine; committed is 0 if it did not count
    std::optional<std::uint64_t> received;        // records, as the receiver counted them
    std::uint64_t stored = 0;                     // records that were read, or pieces of compact streams
    std::uint64_t events = 0;                     // records, decoded
    std::vector<std::string> faults;              // which lines do not hold
    std::optional<std::string> unknown;           // why the account cannot be closed although no line is wrong
    std::optional<std::uint64_t> captured_chunks; // chunks that are equal in an independent capture

    [[nodiscard]] bool closes() const { return faults.empty() && !unknown; }

    [[nodiscard]] bool is_open() const { return faults.empty() && unknown; }
};

// Returns how many records the machine made and did not overwrite; none if it did not count.
[[nodiscard]] std::optional<std::uint64_t> records_kept(const tracer::ExportEnd& totals);

// Returns how many of the records that the machine kept, by its totals, are not among the `events` decoded ones: they
// left it in another way, or not at all. 0 also if the machine did not count.
[[nodiscard]] std::uint64_t records_elsewhere(const tracer::ExportEnd& totals, std::uint64_t events);

[[nodiscard]] Account account_of(const formats::Trace& trace);

// Compares the trace with an independent capture of the same export, chunk by chunk, by the machine's checksums.
// capture: must have been read to its end. damages: how many errors its reader reported, such as frames that are not
// whole.
void compare_capture(Account& account, const trace::TraceFacts& facts, const trace::TraceFacts& capture,
                     std::uint64_t damages);

// An entry of a session's manifest that its files contradict.
struct ManifestFault {
    Rule rule = Rule::counts; // counts or checksums
    std::string file;         // the file, or the manifest itself
    std::string text;         // the key and both values
};

// Checks that a session's manifest and its files agree: compares every checksum and every figure that the files can
// confirm with their content. For a chunk with a gap only the sums are compared, because it is unknown which of its
// slots were preamble. The check changes no file and trusts neither side. Precondition: the trace has been read to its
// end. Reads every file once more, for its checksum. Returns nothing if the trace is no session.
[[nodiscard]] std::vector<ManifestFault> manifest_faults(const formats::Trace& trace);

} // namespace host::analyse
