// SPDX-License-Identifier: MIT
// What tracing costs on this machine, measured before the first record, and the layout of compact chunks that follows.
#pragma once

#include "kernel/run/command_line.hpp"
#include "lib/units.hpp"
#include "tracer/metadata.hpp"

namespace kernel::root {

// Measures a record as the chunks of the run will hold it, and what compact=AUTO chooses their layout by
// (tracer/compact/plan.hpp). Unless they are plain, their layout becomes that of all further compact chunks, and the
// console states it. Boot context, irq-off, after calibration; nothing is recorded yet.
[[nodiscard]] tracer::TraceCost measure_trace_cost(CompactChoice choice, lib::TickRate rate);

} // namespace kernel::root
