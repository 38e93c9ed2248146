// SPDX-License-Identifier: MIT
// A processor's clock: its counter less what compensation has removed from it (compensator.hpp says when and how much).
// The counter is never changed, and the timer is armed for an absolute time of the clock, so giving ticks back to it is
// arming it again for the same time: however often that happens, nothing is rounded away.
//
// One object for each processor, which shares nothing with others: each has its own counter, its own timer, and its own
// sum of what was removed. Context of everything here: irq-off, and not in steps, for counter and sum belong together.
#pragma once

#include "kernel/time/compensator.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <concepts>

namespace kernel::compensation {

// What the processor has: a counter, and a timer that counts down with it.
template <typename H>
concept Hardware = requires(H& hardware) {
    { hardware.counter() } -> std::same_as<lib::Ticks>;
    { hardware.left() } -> std::same_as<lib::Ticks>; // until the timer's interrupt; greatest value: none
    hardware.arm_again();                            // for the same time of the clock
};

class ProcessorClock {
  public:
    constexpr ProcessorClock() = default;

    void start(const Parameters& parameters, lib::Ticks counter) {
        m_compensator.start(parameters, counter - removed());
    }

    void stop() { m_compensator.stop(); }

    [[nodiscard]] bool on() const { return m_compensator.on(); }

    // Counts, and what was removed, since boot.
    [[nodiscard]] const Compensator& compensator() const { return m_compensator; }

    // From the counter, since boot.
    [[nodiscard]] lib::Ticks removed() const { return m_compensator.removed(); }

    // When the counter will be where the clock is to be then.
    [[nodiscard]] lib::Ticks counter_at(lib::Ticks time) const { return time + removed(); }

    // The time. It never falls: where a setting is before what was already read, it stops until that is
    // reached. in_steps: by a program in steps; what it sees is the time of its step, not that of the way back from the
    // last one.
    [[nodiscard]] lib::Ticks read(lib::Ticks counter, bool in_steps) {
        lib::Ticks time = counter - removed();
        if (in_steps && on()) {
            time = std::min(time, m_compensator.end_of_step());
        }
        m_last_read = std::max(time, m_last_read);
        return m_last_read;
    }

    // A traced step; take() leaves its trace.
    template <Hardware H, std::invocable Take>
    Outcome step(H& hardware, Take take) {
        Compensated<H> machine(*this, hardware);
        return m_compensator.step(machine, take);
    }

    // Code ran that is not traced, and its time was genuine.
    void untraced(lib::Ticks counter) { m_compensator.restart(counter - removed()); }

  private:
    // The processor as the compensator sees it.
    template <Hardware H>
    class Compensated {
      public:
        Compensated(const ProcessorClock& owner, H& hardware)
            : m_owner(owner)
            , m_hardware(hardware) {}

        [[nodiscard]] lib::Ticks clock() const { return m_hardware.counter() - m_owner.removed(); }

        [[nodiscard]] lib::Ticks decrementer() const { return m_hardware.left(); }

        // The sum has grown already. What passes between the last reading and here is genuine.
        void set(lib::Ticks /*clock*/, lib::Ticks /*decrementer*/) { m_hardware.arm_again(); }

      private:
        const ProcessorClock& m_owner;
        H& m_hardware;
    };

    Compensator m_compensator;
    lib::Ticks m_last_read; // the greatest time that anybody has seen
};

} // namespace kernel::compensation
