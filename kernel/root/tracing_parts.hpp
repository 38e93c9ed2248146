// SPDX-License-Identifier: MIT
// Declares the parts of tracing.cpp. Each is a source of its own, whose first lines describe it. A kernel built with
// TRACER=OFF has none of them.
#pragma once

#include "drivers/acpi/contents.hpp"
#include "kernel/root/sinks.hpp"
#include "kernel/root/tracing.hpp"
#include "kernel/run/command_line.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <optional>

namespace kernel::root {

// --- what a record costs (trace_cost.cpp) ---------------------------------------------------------------------------

// Measures a record as the chunks of the run will hold it, and the values by which compact=AUTO chooses their layout
// (tracer/compact/layout.hpp). Unless the chunks are plain, their layout becomes that of all further compact chunks,
// and the console states it. Context: boot, irq-off, after calibration; nothing is recorded yet.
[[nodiscard]] tracer::TraceCost measure_trace_cost(CompactChoice choice, lib::TickRate rate);

// --- single steps (instruction_steps.cpp) ---------------------------------------------------------------------------

// Must be called once, before the first task. Context: irq-off.
void instruction_steps_configure();

// --- chunks, and their export while the application runs (streaming.cpp) --------------------------------------------

// Creates the chunks, linked, and returns the number of the first. Context: boot, irq-off.
[[nodiscard]] int create_linked_chunks(bool streamed);

// Sends the chunks of create_linked_chunks(true) while the application runs. It must be called before the run level
// INIT.
void stream_chunks(const NetworkSetup& setup);

// Queues what is left after the exit, in the order in which it was recorded. It does nothing without stream_chunks().
void stream_rest();

// Waits until no task is inside a step of the export; it looks a bounded number of times, with `pause` in between.
// Context: task, in SHUTDOWN.
void await_step_end(lib::Nanoseconds pause);

// --- the export (carrying.cpp) --------------------------------------------------------------------------------------

// The acknowledged export fails after this time without progress.
inline constexpr lib::Nanoseconds kExportPatience = lib::milliseconds(20'000);

struct CarrySetup {
    NetworkSetup network;
    std::optional<drivers::acpi::PersistentRange> persistent;
    SinkChoice choice = SinkChoice::none;
};

// Sets the sinks. Context: boot, before anything is carried.
void carry_configure(const CarrySetup& setup);

// Carries every chunk in the tracer's instance to the chosen sinks. Context: irq-off.
[[nodiscard]] ExportEnd carry_trace(RunEnd end);

// Returns whether carry_trace() has begun and not ended, a sink is at work, and another one may carry what is left.
// Context: any.
[[nodiscard]] bool can_carry_again();

// Carries again after a panic, without the sink that was at work. It does nothing unless carry_trace() had begun and
// not ended. Context: irq-off.
void carry_again();

// --- the trace of an earlier boot (carrying.cpp) ---------------------------------------------------------------------

struct FormerTraceSetup {
    std::uint64_t image_id; // of this kernel: only a trace of the same image is understood
    std::uint32_t khz;      // of this boot
    SinkChoice sink;
    tracer::reliable::Protocol protocol;
    const std::optional<drivers::acpi::PersistentRange>& persistent;
};

// Exports the trace that an earlier boot left in memory, if there is one. The tracer's instance must not have been
// used; afterwards it needs black_box::clear(). Context: boot, irq-off.
void export_former_trace(const FormerTraceSetup& setup);

} // namespace kernel::root
