// SPDX-License-Identifier: MIT
// Covers rows of the families interrupt, processor and timer.
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace row_machine_cases {

using namespace guest;
using namespace guest::rows;

constexpr arch::Vector kUnassigned = 0x81;
constexpr arch::Vector kSpurious = 0xFF;

template <arch::Vector Vector>
void raise() {
    asm volatile("int %0" : : "i"(Vector) : "memory");
}

// 03 13 23 33: start and end around each interrupt, spurious ones too; or a hit; or a count now and then
int interrupt(const kernel::AppArguments&) {
    const int chunk = begin();
    raise<kUnassigned>();
    raise<kSpurious>();
    kernel::record_interrupt(kUnassigned, kernel::InterruptDetail::hit);
    raise<kUnassigned>();
    raise<kUnassigned>();
    kernel::record_interrupt(kUnassigned, kernel::InterruptDetail::count, 5);
    for (int i = 0; i < 13; ++i) {
        raise<kUnassigned>();
    }
    FTrace_set_filter(FTrace_filter_interrupt, 1);
    kernel::flush_interrupt_counts(); // nothing listens: the three are kept
    FTrace_set_filter(FTrace_filter_interrupt, 0);
    kernel::flush_interrupt_counts();
    kernel::flush_interrupt_counts();
    kernel::record_interrupt(kUnassigned, kernel::InterruptDetail::span);
    end(chunk);
    check(count(FTrace_EVT_interrupt_start, kUnassigned, 0) == 1, "one start: only the first was in that mode");
    check(count(FTrace_EVT_interrupt_end, kUnassigned, 0) == 1, "and one end");
    expect(FTrace_EVT_interrupt_start, kSpurious, 0);
    expect(FTrace_EVT_interrupt_end, kSpurious, 0);
    check(count(FTrace_EVT_interrupt_hit, kUnassigned, 0) == 2, "a hit each");
    check(count(FTrace_EVT_interrupt_count, kUnassigned, 5) == 2, "a count after every fifth");
    check(count(FTrace_EVT_interrupt_count, kUnassigned, 3) == 1, "and one for the rest");
    check(recording.count(FTrace_EVT_interrupt_count) == 3, "nothing else was counted");
    return failures;
}

// 24 34
int sections(const kernel::AppArguments&) {
    const int chunk = begin(30);
    const auto section = [] {
        const kernel::IrqGuard outer;
        const kernel::IrqGuard inner;
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, 0);
    };
    section(); // off at first
    kernel::record_interrupt_sections(true);
    section();
    FTrace_set_filter(FTrace_filter_user, 1); // the tracer's own sections do not count
    kernel::record_interrupt_sections(false);
    section();
    end(chunk);
    check(count(FTrace_EVT_CLI, 0, 0) == recording.count(FTrace_EVT_STI), "they come in pairs");
    int depth = 0;
    std::size_t around = 0;
    for (const tracer::Record& record : recording.records()) {
        const std::uint8_t code = record.event_code();
        depth += code == FTrace_EVT_CLI ? 1 : code == FTrace_EVT_STI ? -1 : 0;
        check(depth == 0 || depth == 1, "only the outermost section is recorded");
        around += code == FTrace_EVT_user_event_0 && depth == 1 ? 1U : 0U;
    }
    check(recording.count(FTrace_EVT_CLI) >= 1 && around == 1, "one section was recorded around its event");
    check(arch::interrupts_disabled() == false, "interrupts are on");
    return failures;
}

// 0B 1B 2B 3B
int timer(const kernel::AppArguments&) {
    static constinit bool fired = false;
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    const auto id = must(kernel::kern_event_post(
        kernel::after(lib::milliseconds(1)), [](void*) { fired = true; }, nullptr));
    const auto never = must(kernel::kern_event_post(
        kernel::after(lib::milliseconds(100)), [](void*) {}, nullptr));
    must(kernel::kern_event_delete(never));
    check_error(kernel::kern_event_delete({.value = 7U << 16 | 200}), lib::Error::not_found, "never posted");
    spin_until([] { return fired; });
    end(chunk);
    expect(FTrace_EVT_timer_post, 0, id.index());
    expect(FTrace_EVT_timer_delete, 0, never.index());
    expect(FTrace_EVT_timer_delete, 0, 200); // also when it fails
    expect(FTrace_EVT_timer_wakeup_start, 0, 0);
    expect(FTrace_EVT_timer_wakeup_end, main, 0);
    expect(FTrace_EVT_interrupt_start, arch::timer_vector(), 0);
    return failures;
}

// Raises a vector of the 8259 pair that nothing is in service for: the handler of the line must not run. The runner
// boots this with irq=pic as well, where the vector is that of the line.
int spurious_line(const kernel::AppArguments&) {
    static constinit int runs = 0;
    constexpr arch::Vector kLine7 = 0x27;
    constexpr arch::Vector kLine15 = 0x2F;
    for (const arch::Vector vector : {kLine7, kLine15}) {
        must(kernel::interrupt_attach(
            vector, "lpt", [](void*) { ++runs; }, nullptr));
    }
    const std::uint64_t before = kernel::interrupt_counters().spurious;
    raise<kLine7>();
    raise<kLine15>();
    check(runs == 0, "no handler ran");
    check(kernel::interrupt_counters().spurious == before + 2, "both were counted as spurious");
    kernel::task_delay(lib::milliseconds(1)); // the timer still interrupts
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_interrupt", "rows of interrupts, in full and in light modes", &checked<&interrupt>, true},
    {"t_row_sections", "rows of the outermost interrupts-off sections", &checked<&sections>, true},
    {"t_row_timer", "rows of timer events", &checked<&timer>, true},
    {"t_irq_spurious_line", "a spurious interrupt runs no handler", &checked<&spurious_line>, false},
};

} // namespace row_machine_cases

} // namespace
