// SPDX-License-Identifier: MIT
// Reads what a test lets happen, a text that reads as the trace does: a stamp, and the records that are written then.
//
//     0 switch low, acquire low 7; 20 release high due 120, low -> high
//     40 wait high mutex 7, high -> low; 60 unlock low 7, wake high mutex 7, low -> high; 90 complete high
//
// A semicolon or the end of a line ends a group of events; events of a group have commas between them. A group begins
// with its time; one without continues at the time of the group before. Stamps never decrease on a processor, except
// where a `!` precedes the time. `@1` at the end of an event is the number of its processor.
//
// The words of events. T, U, V are tasks: numbers, or the names below. N is a number.
//
//     T -> U [for V] [in N]        T leaves; U is chosen, in the place of V, and dispatched; N ticks later it runs
//     leave T, switch T            the first and the last record of such a change
//     choose T [for V]             the scheduler decides that T runs, in the place of V
//     dispatch T [for V] [first]   T is chosen and dispatched; `first`: its job begins
//     finish T                     T leaves and its job is complete
//     release T [by timer] [at N] [due N]      a job is released at N, without `at` at the time of the group
//     begin T, complete T, abort T, miss T, overrun T, due T N     what happens to a job; due: its deadline is N
//     create T, end T, activate T, sleep T, disable T              what happens to a task
//     wait T KIND [N], wake T KIND [N]         KIND: mutex, semaphore, delay, suspended and others (lib::WaitKind)
//     lock T N, acquire T N, unlock T N        T and the mutex N; blocked T N: the mutex keeps T from running
//     protocol N WORD                          of the mutex N: none, inheritance, ceiling, stack
//     server N KIND [capacity N] [period N] for T     a server is created; KIND: polling, deferrable, CBS, GRUB
//     budget N N, exhaust N, replenish N       the server has this budget; it is exhausted, or replenished
//     irq N, iret N, timer, timer_end          the handler of a vector, or of the timer, begins or ends
//     cli, sti                                 interrupts are off, on
//     blackout, lost N                         from here on records are dropped; N were
//
// Any event of the table (tracer/record/event_table.hpp) may be named instead, with its two parameters.
#pragma once

#include "host/trace/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace support {

// These tasks have names in scenes.
inline constexpr std::uint16_t kIdle = 1;
inline constexpr std::uint16_t kLow = 3;
inline constexpr std::uint16_t kMiddle = 4;
inline constexpr std::uint16_t kHigh = 5;
inline constexpr std::uint16_t kServed = 6; // by a server
inline constexpr std::uint16_t kDated = 7;  // by deadlines

// Is an event as it is written.
struct SceneStep {
    std::optional<std::uint64_t> time; // of the first event of a group
    bool falls = false;                // the stamp may be lower than the one before
    std::uint16_t cpu = 0;
    std::vector<std::string> words;
};

// Has the words of an event, which are taken from the left. Each function throws std::invalid_argument if the next word
// is none of what it takes.
class SceneWords {
  public:
    explicit SceneWords(std::span<const std::string> words)
        : m_words(words) {}

    [[noreturn]] void fail(std::string_view why) const;

    [[nodiscard]] bool is_empty() const { return m_next == m_words.size(); }

    std::string_view next();
    // Returns whether this word is next, which is then taken.
    bool takes(std::string_view word);
    // Takes a number (12, 60'000, 0xFF) or the name of a task.
    std::uint64_t number(std::uint64_t most = ~std::uint64_t{0});

    std::uint16_t small() { return static_cast<std::uint16_t>(number(0xFFFF)); }

    std::uint32_t large() { return static_cast<std::uint32_t>(number(0xFFFF'FFFF)); }

    // Records have the low half of a time.
    std::uint32_t time() { return static_cast<std::uint32_t>(number()); }

    // Takes one of a few numbers by its word, or a number.
    std::uint16_t kind(std::string_view (*word_of)(std::uint8_t number));

  private:
    std::span<const std::string> m_words;
    std::size_t m_next = 0;
};

// Is a record that is written for an event.
struct SceneRecord {
    std::uint64_t after = 0; // ticks after the event's time
    std::string_view event;  // its name in the table
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

// Both throw as well for a text that is no scene.
[[nodiscard]] std::vector<SceneStep> steps_of(std::string_view text);
// Returns the records of an event; time is that of its group.
[[nodiscard]] std::vector<SceneRecord> records_of(const SceneStep& step, std::uint64_t time);

// One tick is one nanosecond.
[[nodiscard]] host::trace::Event event_of(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0,
                                          std::uint32_t par2 = 0, std::uint16_t cpu = 0);

// Reads a scene in one or several pieces.
class SceneReader {
  public:
    [[nodiscard]] std::vector<host::trace::Event> read(std::string_view text);

  private:
    std::uint64_t m_now = 0;
    std::uint64_t m_records = 0;
    std::map<std::uint16_t, std::uint64_t> m_last; // by processor
};

} // namespace support
