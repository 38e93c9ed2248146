// SPDX-License-Identifier: MIT
#include "kernel/root/watchdog.hpp"

#include "arch/x86_64/machine.hpp"
#include "arch/x86_64/power.hpp"
#include "arch/x86_64/watchdog.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/hang.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/root/tracing.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

namespace kernel::root {

namespace {

constexpr int kRepeatsMax = 2; // of the last stage: there are as many sinks

struct Watchdog {
    std::uint32_t limit_ms = 0;
    const BackgroundLevel* background = nullptr;
    bool last_stage = false;
    int repeated = 0; // repetitions of the last stage, without a sink that hung
    HangDetector detector;
};

constinit Watchdog g_watchdog{};

Sight see(bool answered) {
    const IrqOff off = IrqOff::from_entry();
    const Processor& cpu = this_processor();
    return {.answered = answered,
            .in_interrupt = cpu.in_interrupt,
            .idle = cpu.loaded != nullptr && g_watchdog.background->is_idle(*cpu.loaded),
            .something_comes = (timer_armed(off) && timer_due(off) > now()) || arch::x86_64::any_line_open(),
            .ending = g_watchdog.last_stage || run_level() == RunLevel::after_exit,
            .dispatched_at = cpu.dispatched_at,
            .kicks = detail::watchdog_kicks};
}

// Runs in the context of an NMI, which may have interrupted anything.
void look(const arch::Exception& interrupted, bool answered) {
    const Hang hang = g_watchdog.detector.look(see(answered));
    if (hang == Hang::none) {
        return;
    }
    if (g_watchdog.last_stage) {
        const bool again = g_watchdog.repeated < kRepeatsMax && tracing_can_export_again();
        console().mark("watchdog: the export does not progress for ", g_watchdog.limit_ms, " ms",
                       again ? "" : ": reset");
        if (again) {
            ++g_watchdog.repeated;
            g_watchdog.detector = {};
            repeat_panic_end();
        }
        arch::x86_64::reset();
    }
    panic_on_hang(hang_text(hang), g_watchdog.limit_ms, interrupted,
                  hang == Hang::handler ? arch::x86_64::vector_in_service() : std::nullopt);
}

} // namespace

void watchdog_begin(std::uint32_t limit_ms, const Firmware& firmware, const BackgroundLevel& background) {
    if (limit_ms == 0) {
        return;
    }
    g_watchdog.limit_ms = limit_ms;
    g_watchdog.background = &background;
    const lib::Nanoseconds period{lib::milliseconds(limit_ms).value / HangDetector::kLooks};
    if (!arch::x86_64::watchdog_start(firmware.machine.hpet_base, period, &look).ok()) {
        console().line("no watchdog: the machine has no HPET with a line of an I/O APIC in use");
    }
}

void watchdog_last_stage() {
    g_watchdog.last_stage = true;
    arch::x86_64::allow_nmi();
}

void watchdog_end() {
    arch::x86_64::watchdog_hold();
}

} // namespace kernel::root
