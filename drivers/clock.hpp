// SPDX-License-Identifier: MIT
// Gives drivers the time and two ways to wait: for a duration, or for a condition with a bound. The machine's clock is
// the time stamp counter; a test's clock advances at each read, so a bounded wait takes no real time. It is no timer:
// there are no callbacks. Context: any.
#pragma once

#include "lib/units.hpp"

namespace drivers {

class Clock {
  public:
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    // Returns the time, which never decreases, and continues with interrupts off.
    [[nodiscard]] virtual lib::Ticks now() = 0;

    [[nodiscard]] virtual lib::TickRate rate() const = 0;

    // Is called in each iteration of a waiting loop: it is the `pause` instruction, which also lets an emulator run its
    // other processors.
    virtual void pause() = 0;

  protected:
    constexpr Clock() = default;
    ~Clock() = default; // never deleted through this interface: clocks are static
};

class Deadline {
  public:
    constexpr Deadline() = default; // has passed

    Deadline(Clock& clock, lib::Nanoseconds timeout)
        : m_end(clock.now() + clock.rate().to_ticks(timeout)) {}

    [[nodiscard]] bool passed(Clock& clock) const { return clock.now() >= m_end; }

  private:
    lib::Ticks m_end;
};

// Returns no earlier than `time` from now.
inline void wait(Clock& clock, lib::Nanoseconds time) {
    const Deadline end(clock, time);
    while (!end.passed(clock)) {
        clock.pause();
    }
}

// Returns true as soon as the condition holds, and false if it does not hold after `timeout`. The condition is tested
// again after the timeout: a waiter that was suspended meanwhile must not report a failure of the device.
template <typename Condition>
[[nodiscard]] bool wait_until(Clock& clock, lib::Nanoseconds timeout, Condition condition) {
    const Deadline end(clock, timeout);
    while (!end.passed(clock)) {
        if (condition()) {
            return true;
        }
        clock.pause();
    }
    return condition();
}

} // namespace drivers
