// SPDX-License-Identifier: MIT
// The clock of the watchdog: a comparator that is armed again and again, what an NMI is, and whether the last ping was
// answered. The machine is a policy: the real one (watchdog.cpp), or a test's. Context: irq-off, or the handler's.
#pragma once

#include "arch/x86_64/hpet_words.hpp"

#include <concepts>
#include <cstdint>
#include <utility>

namespace arch::x86_64 {

// counter() is the HPET's, write() sets a register of it, ping() sends the ping.
template <typename Machine>
concept WatchdogMachine = requires(Machine& machine, std::uint64_t address, std::uint64_t value) {
    { machine.counter() } -> std::same_as<std::uint64_t>;
    machine.write(address, value);
    machine.ping();
};

// States what an NMI is that arrives while the clock runs.
enum class WatchdogNmi : std::uint8_t {
    look,    // the time has come; the clock is armed for the next look
    earlier, // of an arming that came too late
    other,   // none of this clock
};

template <WatchdogMachine Machine>
class WatchdogClock {
  public:
    constexpr WatchdogClock() = default;

    constexpr explicit WatchdogClock(Machine machine)
        : m_machine(machine) {}

    // timer: the address of the comparator's registers; configuration: of a timer that fires once; period: in ticks of
    // the HPET.
    void start(std::uint64_t timer, std::uint64_t configuration, std::uint64_t period) {
        m_timer = timer;
        m_configuration = configuration;
        m_period = period;
        m_answered = true;
        hold();
        arm(period);
        m_machine.write(m_timer, m_configuration);
    }

    void hold() { m_machine.write(m_timer, m_configuration & ~kHpetInterruptOn); }

    // A look that became due meanwhile follows at once.
    void resume() {
        const std::uint64_t now = m_machine.counter();
        arm(m_due > now ? m_due - now : 1);
        m_machine.write(m_timer, m_configuration);
    }

    [[nodiscard]] WatchdogNmi nmi() {
        if (m_machine.counter() < m_due) {
            return std::exchange(m_passed, false) ? WatchdogNmi::earlier : WatchdogNmi::other;
        }
        arm(m_period);
        return WatchdogNmi::look;
    }

    // Returns whether the last ping was taken, and sends another one if so: otherwise that one still waits.
    [[nodiscard]] bool ask() {
        if (!m_answered) {
            return false;
        }
        m_answered = false;
        m_pinged = true;
        m_machine.ping();
        return true;
    }

    // Returns whether a ping was expected.
    [[nodiscard]] bool take_ping() {
        if (!m_pinged) {
            return false;
        }
        m_pinged = false;
        m_answered = true;
        return true;
    }

  private:
    static constexpr int kArmTriesMax = 16; // each doubles the distance

    // The comparator is compared for equality, so a value that has passed meanwhile would never come.
    void arm(std::uint64_t distance) {
        for (int i = 0; i < kArmTriesMax; ++i, distance *= 2) {
            m_passed = i != 0;
            m_due = m_machine.counter() + distance;
            m_machine.write(m_timer + kHpetRegComparator, m_due);
            if (m_machine.counter() < m_due) {
                return;
            }
        }
    }

    Machine m_machine{};
    std::uint64_t m_timer = 0;
    std::uint64_t m_configuration = 0;
    std::uint64_t m_period = 0;
    std::uint64_t m_due = 0; // the counter's value at the next look
    bool m_passed = false;   // arming for it took several tries: an NMI of an earlier one may still come
    bool m_pinged = false;
    bool m_answered = false;
};

} // namespace arch::x86_64
