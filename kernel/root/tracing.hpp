// SPDX-License-Identifier: MIT
// Declares the tracer's side of the composition root for main.cpp. tracing.cpp implements it; a kernel built with
// TRACER=OFF links tracing_off.cpp instead, which does nothing.
#pragma once

#include "arch/boot_info.hpp"
#include "arch/x86_64/tsc.hpp"
#include "kernel/root/firmware.hpp"
#include "kernel/run/command_line.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <string_view>

namespace kernel::root {

using RunEnd = tracer::RunResult; // how a run ended, as the trace's last record states it

enum class ExportEnd : std::uint8_t {
    nothing_asked, // no sink was asked for
    whole,         // every record that was kept has left the machine
    failed,        // the console states the reason
};

struct TracingSetup {
    const Options& options;
    const Firmware& firmware;
    const arch::x86_64::TscCalibration& calibration;
    std::string_view app_name;
};

// Returns where GS must point before the first record, or null. Context: boot, first of all.
[[nodiscard]] void* tracing_per_cpu_base();

// Keeps the key of the export, if the loader found one, and wipes it in `boot`. Context: boot, before
// tracing_configure().
void tracing_keep_key(arch::BootInfo& boot);

// Configures clock, build and sinks, and measures what a record costs: this takes about 1/2 ms, and as long again if
// the chunks are to be written compactly. Context: boot, irq-off, after calibration.
void tracing_configure(const TracingSetup& setup);

// Returns the measured time of one logging call in 1/256 ticks, or 0 if it was not measured or there is no tracer.
// Context: any.
[[nodiscard]] std::uint32_t tracing_record_ticks_x256();

// Links chunks, in the layout that the command line asks for, and enables recording, for an application that does not
// trace by itself. Context: boot, irq-off.
void tracing_begin();

// Enables recording, and records what a reader of the first chunk needs: the clock's rate, who runs, which context is
// which task. It does nothing if no chunk is selected. Context: task or irq-off.
void tracing_enable();

// Records how many interrupts were only counted, and that the trace ends; nothing is recorded afterwards. Context: task
// or irq-off.
void tracing_end();

// Passes every chunk that has not left yet to the chosen sinks, by polling; also after a panic. Context: irq-off, once.
[[nodiscard]] ExportEnd tracing_export(RunEnd end);

// Returns whether tracing_export() hangs in a sink, and another sink may carry what is left. Context: any.
[[nodiscard]] bool tracing_can_export_again();

// Must be called after a panic, when the AFTER_EXIT functions have run: if tracing_export() did not return, the chunks
// that have not left yet go to the sinks that were not at work then. Context: irq-off.
void tracing_export_again();

} // namespace kernel::root
