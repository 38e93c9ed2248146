// SPDX-License-Identifier: MIT
// Defines a hang for the watchdog, which looks at the processor kLooks times within the limit, and counts the looks in
// a row at which nothing had changed; a host that stops the whole machine for a while adds one look, not a hang.
//
//   while the application runs                                                          found as
//     interrupts are not taken, and a handler runs                                       handler
//     interrupts are not taken otherwise                                                 interrupts_off
//     the same task has the processor, and no task was dispatched, no kick               task
//     the idle task has it, no timer will fire and no line is open                       main
//   while the run ends (AFTER_EXIT, or after a panic): interrupts are off, no kick       end
#pragma once

#include "lib/units.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

namespace detail {

inline constinit std::uint32_t watchdog_kicks = 0;

} // namespace detail

// Reports progress to the watchdog. A task that computes for longer than the watchdog's limit without a primitive calls
// it now and then, and so does an AFTER_EXIT function that takes so long.
// Context: any.
inline void watchdog_kick() {
    detail::watchdog_kicks = detail::watchdog_kicks + 1;
}

// --- for the kernel

enum class Hang : std::uint8_t { none, interrupts_off, handler, task, main, end };

// Describes the machine at one look.
struct Sight {
    bool answered = true; // an interrupt that was sent at the look before has been taken
    bool in_interrupt = false;
    bool idle = false;            // the idle task has the processor
    bool something_comes = false; // a timer will fire, or a line is open
    bool ending = false;
    lib::Ticks dispatched_at; // the last dispatch of a task
    std::uint32_t kicks = 0;
};

// Returns the words of a panic for a hang, which are a literal.
[[nodiscard]] constexpr std::string_view hang_text(Hang hang) {
    switch (hang) {
    case Hang::none:
        return "nothing";
    case Hang::interrupts_off:
        return "watchdog: interrupts are off";
    case Hang::handler:
        return "watchdog: an interrupt handler does not return";
    case Hang::task:
        return "watchdog: a task keeps the processor";
    case Hang::main:
        return "watchdog: every task waits, and nothing can wake one";
    case Hang::end:
        return "watchdog: the end of the run does not progress";
    }
    return "";
}

class HangDetector {
  public:
    // A hang is found between the limit and the limit plus one look.
    static constexpr std::uint32_t kLooks = 4;

    // Judges a look; looks must be passed in their order.
    [[nodiscard]] constexpr Hang look(const Sight& sight) {
        const bool kicked = sight.kicks != m_before.kicks;
        const bool same = !kicked && sight.dispatched_at == m_before.dispatched_at && sight.ending == m_before.ending;
        m_deaf = sight.answered || kicked ? 0 : m_deaf + 1;
        m_same = same && (sight.ending || !sight.idle || !sight.something_comes) ? m_same + 1 : 0;
        m_before = sight;
        if (sight.ending) {
            return m_same < kLooks ? Hang::none : Hang::end;
        }
        if (m_deaf < kLooks && m_same < kLooks) {
            return Hang::none;
        }
        if (m_deaf != 0) {
            return sight.in_interrupt ? Hang::handler : Hang::interrupts_off;
        }
        return sight.idle ? Hang::main : Hang::task;
    }

  private:
    Sight m_before{};
    std::uint32_t m_deaf = 0; // looks in a row without an answer
    std::uint32_t m_same = 0; // looks in a row without progress
};

} // namespace kernel
