// SPDX-License-Identifier: MIT
// What the chunks of a trace say about each other, once all of them have been read: cumulative counters that fall,
// records that were lost between two chunks and that no blackout reports, a clock that does not advance.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"

namespace host::formats::dat {

// W-COUNTER: a counter of a processor falls from one chunk to the next that was handed over, or exceeds the total of
// export_end. W-GAP: between two chunks of a processor `dropped` rose by more than its blackout_end events report.
void check_counters(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// W-CLOCK: there are several events, and all have the same stamp.
void check_clock(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// Of a machine that was followed. W-GAP: how many records are missing in all, and what helps.
void report_missing(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

} // namespace host::formats::dat
