// SPDX-License-Identifier: MIT
// What a test lets happen, as a text that reads as the trace does: the stamp, and which records the kernel writes then.
//
//     0 switch low, acquire low 7; 20 release high due 120, low -> high
//     40 wait high mutex 7, high -> low; 60 unlock low 7, wake high mutex 7, low -> high; 90 complete high
//
// A semicolon or the end of a line ends a group of events; events of a group have commas between them. A group begins
// with its time; one without continues at the time of the group before. Stamps never decrease on a processor, except
// where a `!` precedes the time. `@1` at the end of an event is the number of its processor.
//
// Words of events, T being a task (a number, or one of the names below), N a number:
//
//     T -> U [for V] [in N]      T leaves, U is chosen (in the place of V), dispatched, and switched to N ticks later
//     switch T    leave T        the last record of this row alone, and the first one
//     choose T [for V]           the scheduler's decision: T runs (in the place of V)
//     dispatch T [for V] [first] the same, and T is dispatched, to begin its job
//     finish T                   T leaves, its job is complete
//     release T [by timer] [at N] [due N]    a job; released at the time of the group, unless something else is said
//     due T N     begin T   complete T   abort T   miss T   overrun T    what happens to a job
//     create T    end T     activate T   sleep T   disable T  ... and to a task
//     wait T KIND [N]       wake T KIND [N]       KIND is mutex, semaphore, delay, suspended, ... (lib::WaitKind)
//     lock T N    acquire T N   unlock T N        the mutex N; blocked T N: a task in its queue, by the mutex
//     protocol N WORD                             of a mutex: none, inheritance, ceiling, stack
//     server N KIND [capacity N] [period N] for T a server is created: polling, deferrable, CBS, GRUB
//     budget N N  exhaust N     replenish N       of a server
//     irq N       iret N        timer     timer_end     cli     sti     the handler of an interrupt; interrupts off
//     blackout    lost N                          records are missing from here on; so many were
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

// The tasks that have names in scenes.
inline constexpr std::uint16_t kIdle = 1;
inline constexpr std::uint16_t kLow = 3;
inline constexpr std::uint16_t kMiddle = 4;
inline constexpr std::uint16_t kHigh = 5;
inline constexpr std::uint16_t kServed = 6; // by a server
inline constexpr std::uint16_t kDated = 7;  // by deadlines

// An event as it is written.
struct SceneStep {
    std::optional<std::uint64_t> time; // of the first event of a group
    bool falls = false;                // the stamp may be lower than the one before
    std::uint16_t cpu = 0;
    std::vector<std::string> words;
};

// The words of an event, which are taken from the left. Each function throws std::invalid_argument if the next word is
// none of what it takes.
class SceneWords {
  public:
    explicit SceneWords(std::span<const std::string> words)
        : m_words(words) {}

    [[noreturn]] void fail(std::string_view why) const;

    [[nodiscard]] bool is_empty() const { return m_next == m_words.size(); }

    std::string_view next();
    // Whether this word is next; then it is taken.
    bool takes(std::string_view word);
    // A number (12, 60'000, 0xFF) or the name of a task.
    std::uint64_t number(std::uint64_t most = ~std::uint64_t{0});

    std::uint16_t small() { return static_cast<std::uint16_t>(number(0xFFFF)); }

    std::uint32_t large() { return static_cast<std::uint32_t>(number(0xFFFF'FFFF)); }

    // Records have the low half of a time.
    std::uint32_t time() { return static_cast<std::uint32_t>(number()); }

    // One of a few numbers by its word, or a number.
    std::uint16_t kind(std::string_view (*word_of)(std::uint8_t number));

  private:
    std::span<const std::string> m_words;
    std::size_t m_next = 0;
};

// A record that is written for an event.
struct SceneRecord {
    std::uint64_t after = 0; // ticks after the event's time
    std::string_view event;  // its name in the table
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

// Both throw as well for a text that is no scene.
[[nodiscard]] std::vector<SceneStep> steps_of(std::string_view text);
// time: of the group in which the event is.
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
