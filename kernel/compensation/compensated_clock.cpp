// SPDX-License-Identifier: MIT
// This processor's clock (Processor::clock) on its counter and its timer.
#include "kernel/compensation/compensated_clock.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_steps.hpp"

namespace kernel {

namespace {

constexpr lib::Ticks kNever{~std::uint64_t{0}};

// What is removed grows with every step, so counter and sum must not be read in steps: that would mix an old one with a
// new one.
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

    // Whether it was needed.
    [[nodiscard]] bool in_steps() const { return m_in_steps; }

  private:
    bool m_in_steps;
};

struct ThisHardware {
    [[nodiscard]] static lib::Ticks counter() { return arch::timestamp(); }

    [[nodiscard]] static lib::Ticks left() { return timer_armed_irq_off() ? arch::timer_left() : kNever; }

    static void arm_again() { timer_arm_again_irq_off(); }
};

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
    this_processor().clock.start(parameters, arch::timestamp());
    return {};
}

void clock_compensation_stop() {
    const IrqGuard guard;
    this_processor().clock.stop();
}

const compensation::Compensator& clock_compensation() {
    return this_processor().clock.compensator();
}

namespace compensation {

lib::Ticks now() {
    const std::uint64_t state = arch::irq_save(); // first: the end of an interrupt would set steps on again
    const NoSteps guard;
    const lib::Ticks time = this_processor().clock.read(arch::timestamp(), guard.in_steps());
    arch::irq_restore(state);
    return time;
}

lib::Ticks machine_time(lib::Ticks kernel_time) {
    return this_processor().clock.counter_at(kernel_time);
}

void step_irq_off(void (*take)(void* argument), void* argument) {
    ProcessorClock& clock = this_processor().clock;
    if (!clock.on()) {
        take(argument);
        return;
    }
    ThisHardware hardware;
    if (clock.step(hardware, [take, argument] { take(argument); }) == Outcome::compensated) {
        trace_points::clock_compensated(clock.removed());
    }
}

void tell_removed_irq_off() {
    if (const lib::Ticks removed = this_processor().clock.removed(); removed.value != 0) {
        trace_points::clock_compensated(removed);
    }
}

void untraced_irq_off() {
    ProcessorClock& clock = this_processor().clock;
    if (clock.on()) {
        const NoSteps no_steps;
        clock.untraced(arch::timestamp());
    }
}

} // namespace compensation

} // namespace kernel
