// SPDX-License-Identifier: MIT
// The accounts of a trace: what was recorded, what the tracer dropped, what was lost in transfer, what the reader had
// to skip; and one sentence that sums them up. They are valid after the trace has been read to its end.
#pragma once

#include "host/formats/trace.hpp"
#include "host/trace/filters.hpp"

#include <cstdint>
#include <string>

namespace host::analyse {

struct Accounts {
    std::uint64_t committed = 0;      // records that are here, preambles not counted
    std::uint64_t received = 0;       // the same as received: a compact stream counts by its pieces of 16 bytes
    std::uint64_t dropped = 0;        // by the tracer: no space
    std::uint64_t refused = 0;        // by the tracer: it was disabled
    std::uint64_t overwritten = 0;    // by cyclic recording
    std::uint64_t lost_packets = 0;   // in the transfer
    std::uint64_t missing = 0;        // announced by a chunk and not here
    std::uint64_t skipped = 0;        // here, but cannot be decoded
    std::uint64_t damaged_chunks = 0; // with a wrong checksum
    std::uint64_t lost_chunks = 0;    // announced by the sender and not here
    std::uint64_t elsewhere = 0; // kept by the machine, according to its totals, but in no chunk that was sent here
};

[[nodiscard]] Accounts accounts_of(const formats::Trace& trace);

enum class Rating : std::uint8_t { good, warning, bad };

struct Verdict {
    bool whole = true; // everything that left the machine is here and readable
    Rating rating = Rating::good;
    std::string text;
    bool lossless = false; // it is known that no record was lost, but for those that cyclic recording overwrites
};

// Returns in words which records are known to be missing or damaged; empty: none, by what the trace itself states. The
// files of a session are not compared with its manifest.
[[nodiscard]] std::string loss_of(const formats::Trace& trace, const Accounts& accounts);

// Returns in words which records the machine has not recorded, although loss_of() says that none are missing; empty if
// there are none. filtered: the families of which a filter was set.
[[nodiscard]] std::string unrecorded(const Accounts& accounts, trace::Families filtered);

[[nodiscard]] Verdict verdict_of(const formats::Trace& trace, const Accounts& accounts);

} // namespace host::analyse
