// SPDX-License-Identifier: MIT
// What the chunks of a trace say about each other, once all of them have been read: cumulative counters that fall,
// records that were lost between two chunks and that no blackout tells, a clock that stands.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"

namespace host::trace {

// W-COUNTER: a counter of a processor falls from one chunk to the next that was handed over, or exceeds the total of
// export_end. W-GAP: between two chunks of a processor `dropped` rose by more than its blackout_end events tell.
void check_counters(const TraceFacts& facts, Diagnostics& diagnostics);

// W-CLOCK: there are several events, and all have the same stamp.
void check_clock(const TraceFacts& facts, Diagnostics& diagnostics);

} // namespace host::trace
