// SPDX-License-Identifier: MIT
// The tracer's side of the composition root: what main.cpp asks of it. tracing.cpp does it; a kernel built with
// TRACER=OFF links tracing_off.cpp instead, which does nothing.
#pragma once

#include "arch/boot_info.hpp"
#include "arch/x86_64/tsc.hpp"
#include "kernel/root/firmware.hpp"
#include "kernel/run/command_line.hpp"
#include "tracer/metadata.hpp"

#include <cstdint>
#include <string_view>

namespace kernel::root {

using RunEnd = tracer::RunResult; // how a run ended, as the trace's last record states it

enum class ExportEnd : std::uint8_t {
    nothing_asked, // no sink
    whole,         // every record that was kept has left the machine
    failed,        // the console says what went wrong
};

struct TracingSetup {
    const Options& options;
    const Firmware& firmware;
    const arch::x86_64::TscCalibration& calibration;
    std::string_view app_name;
};

// Where GS must point before the first record, or null. Boot context, first of all.
[[nodiscard]] void* tracing_per_cpu_base();

// The key of the export, if the loader found one; it is wiped in `boot`. Boot context, before tracing_configure().
void tracing_keep_key(arch::BootInfo& boot);

// Clock, build and sinks become known, and what a record costs is measured: about 1/2 ms, and as long again if the
// chunks are to be written compactly. Boot context, irq-off, after calibration.
void tracing_configure(const TracingSetup& setup);

// One logging call in 1/256 ticks, as it was measured; 0: it was not, or there is no tracer. Context: any.
[[nodiscard]] std::uint32_t tracing_record_ticks_x256();

// For an application that does not trace by itself: links chunks, in the layout that the command line asks for, and
// enables. Boot context, irq-off.
void tracing_begin();

// Enables, and records what a reader of the first chunk needs: the clock's rate, who runs, which context is which task.
// Does nothing if no chunk is selected. Context: task, or irq-off.
void tracing_enable();

// Records what interrupts were only counted, and that the trace ends; nothing is recorded afterwards. Context: task, or
// irq-off.
void tracing_end();

// Hands every chunk that has not left yet to the chosen sinks, by polling. irq-off, once; also after a panic.
[[nodiscard]] ExportEnd tracing_export(RunEnd end);

// tracing_export() hangs in a sink, and another sink may carry what is left. Context: any.
[[nodiscard]] bool tracing_can_export_again();

// After a panic, when the AFTER_EXIT functions have run: if it was tracing_export() that did not return, the chunks
// that have not left yet go to the sinks that were not at work then. irq-off.
void tracing_export_again();

} // namespace kernel::root
