// SPDX-License-Identifier: MIT
// The machine as the compensator sees it. The timer is armed for an absolute time of the kernel's clock, so giving
// ticks back to it is arming it again for the same time: however often that happens, nothing is rounded away.
#include "kernel/compensation/compensated_clock.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_steps.hpp"

#include <algorithm>

namespace kernel {

namespace {

constexpr lib::Ticks kNever{~std::uint64_t{0}};

// Of this processor.
struct State {
    compensation::Compensator compensator;
    lib::Ticks removed;   // from the machine's counter, since boot
    lib::Ticks last_read; // the greatest time that the kernel has seen
};

constinit State s_state;

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

class CompensatedMachine {
  public:
    lib::Ticks clock() {
        m_clock = arch::timestamp() - s_state.removed;
        return m_clock;
    }

    [[nodiscard]] static lib::Ticks decrementer() { return timer_armed_irq_off() ? arch::timer_left() : kNever; }

    // What passes between the last reading and here is genuine.
    void set(lib::Ticks clock, lib::Ticks /*decrementer*/) const {
        s_state.removed = s_state.removed + (m_clock - clock);
        timer_arm_again_irq_off();
    }

  private:
    lib::Ticks m_clock;
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
    s_state.compensator.start(parameters, CompensatedMachine{}.clock());
    return {};
}

void clock_compensation_stop() {
    const IrqGuard guard;
    s_state.compensator.stop();
}

const compensation::Compensator& clock_compensation() {
    return s_state.compensator;
}

namespace compensation {

// What a program in steps sees is the time of its step, not that of the way back from the last one.
lib::Ticks now() {
    const NoSteps guard;
    const std::uint64_t state = arch::irq_save();
    lib::Ticks time = arch::timestamp() - s_state.removed;
    if (guard.in_steps() && s_state.compensator.on()) {
        time = std::min(time, s_state.compensator.end_of_step());
    }
    s_state.last_read = std::max(time, s_state.last_read);
    const lib::Ticks result = s_state.last_read;
    arch::irq_restore(state);
    return result;
}

lib::Ticks machine_time(lib::Ticks kernel_time) {
    return kernel_time + s_state.removed;
}

void step_irq_off(void (*take)(void* argument), void* argument) {
    if (!s_state.compensator.on()) {
        take(argument);
        return;
    }
    CompensatedMachine machine;
    if (s_state.compensator.step(machine, [take, argument] { take(argument); }) == Outcome::compensated) {
        trace_points::clock_compensated(s_state.removed);
    }
}

void untraced_irq_off() {
    if (s_state.compensator.on()) {
        const NoSteps no_steps;
        s_state.compensator.restart(CompensatedMachine{}.clock());
    }
}

} // namespace compensation

} // namespace kernel
