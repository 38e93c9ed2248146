// SPDX-License-Identifier: MIT
// The watchdog has two stages. A hang while the application runs is a panic, which exports the trace. If that export
// does not progress either, it begins again without the sink that hangs; if there is no other one, the machine is
// reset, and what memory keeps of the trace is left to the next boot.
#pragma once

#include "kernel/root/firmware.hpp"
#include "kernel/sched/levels/queue_level.hpp"

#include <cstdint>

namespace kernel::root {

// Starts the watchdog. `limit_ms` is how long nothing may happen (kernel/panic/hang.hpp); 0 means without a limit. On a
// machine without the means (an HPET and an I/O APIC) it prints so and does nothing. Context: boot, irq-off, after the
// start of arch; once.
void watchdog_begin(std::uint32_t limit_ms, const Firmware& firmware, const BackgroundLevel& background);

// Begins the last stage after a panic: the next hang costs a sink, or resets the machine. Context: irq-off.
void watchdog_last_stage();

// Stops the watchdog, because the machine ends on purpose. Context: irq-off.
void watchdog_end();

} // namespace kernel::root
