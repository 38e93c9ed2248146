// SPDX-License-Identifier: MIT
// Measures what tracing costs on this machine, before the first record, and chooses the layout of compact chunks by it.
#pragma once

#include "kernel/run/command_line.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"

namespace kernel::root {

// Measures a record as the chunks of the run will hold it, and the values by which compact=AUTO chooses their layout
// (tracer/compact/plan.hpp). Unless the chunks are plain, their layout becomes that of all further compact chunks, and
// the console states it. Context: boot, irq-off, after calibration; nothing is recorded yet.
[[nodiscard]] tracer::TraceCost measure_trace_cost(CompactChoice choice, lib::TickRate rate);

} // namespace kernel::root
