// SPDX-License-Identifier: MIT
// Connects the compensated clock with this processor's counter and timer.
#include "kernel/time/compensated_clock.hpp"

#include "kernel/section/irq_guard.hpp"
#include "kernel/time/compensator.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/machine.hpp"

namespace kernel {

namespace {

namespace recorded = trace_points; // a use inside an expression is no hook that can be left out

constinit compensation::ProcessorClock s_clock; // of the only processor

// Keeps the running context out of its steps. The sum of what is removed grows with every step, so counter and sum read
// in steps would be an old and a new one.
class NoSteps {
  public:
    NoSteps()
        : m_in_steps(arch::single_stepping()) {
        if (m_in_steps) {
            arch::single_step(false);
        }
    }

    ~NoSteps() {
        if (m_in_steps) {
            arch::single_step(true);
        }
    }

    NoSteps(const NoSteps&) = delete;
    NoSteps& operator=(const NoSteps&) = delete;

    // Returns whether the guard was needed.
    [[nodiscard]] bool in_steps() const { return m_in_steps; }

  private:
    bool m_in_steps;
};

struct ThisHardware {
    [[nodiscard]] static lib::Ticks counter() { return arch::timestamp(); }

    [[nodiscard]] static lib::Ticks left() { return timer_is_set(IrqOff::from_entry()) ? arch::timer_left() : kNever; }

    static void arm_again() { timer_arm_again(IrqOff::from_entry()); }
};

// Takes the cost of the records since the last call from the clock. Context: irq-off.
void settle() {
    if (s_clock.counts_records()) {
        s_clock.settle(recorded::records_written(IrqOff::from_entry()));
    }
}

} // namespace

lib::Result<void> clock_compensation_start(const compensation::Parameters& parameters) {
    if constexpr (!kCompensationBuilt) {
        return lib::Error::unsupported;
    }
    const lib::Ticks room = kNever - parameters.near_overflow;
    if (parameters.trigger == ~std::uint32_t{0} || parameters.step.value == 0 || parameters.max_delta.value == 0 ||
        room <= parameters.max_delta) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    const NoSteps no_steps;
    settle();
    s_clock.start(parameters, arch::timestamp(), recorded::records_written(guard));
    return {};
}

void clock_compensation_stop() {
    const IrqGuard guard;
    settle();
    s_clock.stop();
}

const compensation::Compensator& clock_compensation() {
    return s_clock.compensator();
}

namespace compensation {

lib::Ticks now() {
    const std::uint64_t state = arch::irq_save(); // first: the end of an interrupt would set steps on again
    const NoSteps guard;
    settle();
    const lib::Ticks time = s_clock.read(arch::timestamp(), guard.in_steps());
    arch::irq_restore(state);
    return time;
}

lib::Ticks machine_time(lib::Ticks kernel_time) {
    settle();
    return s_clock.counter_at(kernel_time);
}

void step(void (*take)(void* argument), void* argument, IrqOff) {
    ProcessorClock& clock = s_clock;
    if (!clock.on() || clock.counts_records()) {
        take(argument);
        return;
    }
    ThisHardware hardware;
    if (clock.step(hardware, [take, argument] { take(argument); }) == Outcome::compensated) {
        trace_points::clock_compensated(clock.removed());
    }
}

void record_removed(IrqOff) {
    settle();
    if (const lib::Ticks removed = s_clock.removed(); removed.value != 0) {
        trace_points::clock_compensated(removed);
    }
}

void untraced(IrqOff) {
    if (s_clock.on() && !s_clock.counts_records()) {
        const NoSteps no_steps;
        s_clock.untraced(arch::timestamp());
    }
}

bool timer_early(IrqOff off) {
    if (!s_clock.counts_records() || !timer_armed(off)) {
        return false;
    }
    const lib::Ticks entered = arch::timestamp();
    settle();
    if (timer_due(off) <= entered - s_clock.removed()) {
        return false;
    }
    ThisHardware hardware;
    s_clock.early(hardware, entered, [] {
        arch::end_of_interrupt(arch::timer_vector());
        return arch::timestamp();
    });
    trace_points::clock_compensated(s_clock.removed());
    return true;
}

void interrupt_ends(IrqOff off) {
    if (s_clock.counts_records()) {
        record_removed(off);
    }
}

} // namespace compensation

} // namespace kernel
