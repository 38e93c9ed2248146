// SPDX-License-Identifier: MIT
// A processor's clock is its counter less what compensation has removed from it (compensator.hpp decides when and how
// much). The counter is never changed, and the timer is armed for an absolute time of the clock, so giving ticks back
// to it is arming it again for the same time: however often that happens, nothing is rounded away.
//
// There is one object for each processor, which shares nothing with others: each has its own counter, its own timer,
// and its own sum of what was removed. Context of everything here: irq-off, and not in steps, because counter and sum
// belong together.
#pragma once

#include "kernel/time/compensator.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <concepts>

namespace kernel::compensation {

// The hardware of the processor: a counter, and a timer that counts down with it.
template <typename H>
concept Hardware = requires(H& hardware) {
    { hardware.counter() } -> std::same_as<lib::Ticks>;
    { hardware.left() } -> std::same_as<lib::Ticks>; // until the timer's interrupt; greatest value: none
    hardware.arm_again();                            // for the same time of the clock
};

class ProcessorClock {
  public:
    constexpr ProcessorClock() = default;

    // Starts compensation. `records`: how many the processor has written by now.
    void start(const Parameters& parameters, lib::Ticks counter, std::uint64_t records = 0) {
        m_records = records;
        m_rest_x256 = 0;
        m_compensator.start(parameters, counter - removed());
    }

    void stop() { m_compensator.stop(); }

    [[nodiscard]] bool on() const { return m_compensator.on(); }

    // Returns whether records are compensated instead of steps.
    [[nodiscard]] bool counts_records() const { return on() && m_compensator.parameters().record_x256 != 0; }

    // The processor has written this many records by now: the cost of the new ones is taken from the clock. The timer
    // stays as it is armed, too early by that; early() sets it again.
    void settle(std::uint64_t records) {
        const std::uint64_t cost_x256 = (records - m_records) * m_compensator.parameters().record_x256 + m_rest_x256;
        m_records = records;
        m_rest_x256 = cost_x256 % 256;
        m_compensator.take_off({cost_x256 / 256});
    }

    // The timer's interrupt came before its time, which many records have moved: the timer is set again, and the
    // interrupt's own time is taken from the clock. The time that it took the last time is assumed to be what it takes
    // now. done() returns the time when the program continues.
    template <Hardware H, std::invocable Done>
    void early(H& hardware, lib::Ticks entered, Done done) {
        m_compensator.take_off(m_early);
        hardware.arm_again();
        m_early = done() - entered;
    }

    // Returns the counts, and what was removed since boot.
    [[nodiscard]] const Compensator& compensator() const { return m_compensator; }

    // Returns what was removed from the counter since boot.
    [[nodiscard]] lib::Ticks removed() const { return m_compensator.removed(); }

    // Returns what the counter shows at this time of the clock.
    [[nodiscard]] lib::Ticks counter_at(lib::Ticks time) const { return time + removed(); }

    // Returns the time. It never falls: where a setting is before a time that was already read, the clock stops until
    // that is reached. `in_steps`: a program in steps reads it, and sees the time of its step, not that of the way back
    // from the last one.
    [[nodiscard]] lib::Ticks read(lib::Ticks counter, bool in_steps) {
        lib::Ticks time = counter - removed();
        if (in_steps && on()) {
            time = std::min(time, m_compensator.end_of_step());
        }
        m_last_read = std::max(time, m_last_read);
        return m_last_read;
    }

    // Handles a traced step, which take() records.
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

        // The sum has grown already. The time that passes between the last reading and here is genuine.
        void set(lib::Ticks /*clock*/, lib::Ticks /*decrementer*/) { m_hardware.arm_again(); }

      private:
        const ProcessorClock& m_owner;
        H& m_hardware;
    };

    Compensator m_compensator;
    std::uint64_t m_records = 0;   // records that were settled
    std::uint64_t m_rest_x256 = 0; // part of a tick that is not yet taken off
    lib::Ticks m_early;            // the time that an early interrupt takes
    lib::Ticks m_last_read;        // the greatest time that was read
};

} // namespace kernel::compensation
