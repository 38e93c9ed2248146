// SPDX-License-Identifier: MIT
// The watchdog, in two stages. A hang while the application runs is a panic, which exports the trace; if that export
// does not progress either, it begins again without the sink that hangs; if there is no other one, the machine is
// reset, and what memory keeps of the trace is left to the next boot.
#pragma once

#include "kernel/root/firmware.hpp"
#include "kernel/sched/levels/background.hpp"

#include <cstdint>

namespace kernel::root {

// limit_ms: how long nothing may happen (kernel/panic/hang.hpp); 0: forever. On a machine without the means (an HPET
// and an I/O APIC) it says so and does nothing. Boot context, irq-off, after arch start-up; once.
void watchdog_begin(std::uint32_t limit_ms, const Firmware& firmware, const BackgroundLevel& background);

// A panic has been reported: the next hang costs a sink, or resets the machine. irq-off.
void watchdog_last_stage();

// The machine ends on purpose: no look any more. irq-off.
void watchdog_end();

} // namespace kernel::root
