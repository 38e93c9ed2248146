// SPDX-License-Identifier: MIT
// The parts of a response time and their culprits, as docs/metrics.md defines them. Each tick of a job belongs to
// exactly one share.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace host::schedule {

// R = jitter + execution + interference + blocking + suspension.
enum class Part : std::uint8_t {
    jitter,       // from the release to its record: the task was not ready yet
    execution,    // it has the processor, and no interrupt handler runs
    interference, // it could run, but something else ran that may precede it
    blocking,     // a mutex that another task holds prevents it from running
    suspension,   // it waits for something other than a mutex, such as a semaphore or a delay
};

inline constexpr std::array<std::string_view, 5> kPartNames = {"jitter", "execution", "interference", "blocking",
                                                               "suspension"};

[[nodiscard]] constexpr std::string_view part_name(Part part) {
    return kPartNames[static_cast<std::size_t>(part)];
}

// States what the processor executed meanwhile.
enum class By : std::uint8_t {
    unknown,    // before the trace, or no record states it
    self,       // in execution: the task itself; in suspension: what ran did not matter
    task,       // `who` is its context
    interrupt,  // `who` is the vector, or kTimerHandler if interrupts are not recorded
    kernel,     // the scheduler, from the record that the task `who` leaves to the switch
    section,    // the task `who`, with interrupts off; recorded only with CLI_STI=ON
    throttling, // the budget of the server `who` is used up
    backlog,    // in jitter: an earlier job of the same task was not complete
};

inline constexpr std::array<std::string_view, 8> kByNames = {"unknown", "self",    "task",       "interrupt",
                                                             "kernel",  "section", "throttling", "backlog"};

[[nodiscard]] constexpr std::string_view by_name(By by) {
    return kByNames[static_cast<std::size_t>(by)];
}

// The vector of the timer's handler where interrupts are not recorded (INTERRUPTS=light, count).
inline constexpr std::uint32_t kTimerHandler = 0x1'0000;

// The kind of priority inversion of a share of blocking. While the holder or the end of its chain runs, or something
// that precedes the blocked task anyway, the wait is bounded: it ends after the critical section. While a task of lower
// base priority runs that is not in the chain, the wait may last as long as such tasks have work.
enum class Inversion : std::uint8_t { none, bounded, unbounded, unknown };

inline constexpr std::array<std::string_view, 4> kInversionNames = {"none", "bounded", "unbounded", "unknown"};

[[nodiscard]] constexpr std::string_view inversion_name(Inversion inversion) {
    return kInversionNames[static_cast<std::size_t>(inversion)];
}

// Has what distinguishes one share of a job from another.
struct Culprit {
    Part part = Part::interference;
    By by = By::unknown;
    Inversion inversion = Inversion::none;
    std::uint8_t unused = 0; // explicit, because culprits are compared as whole words
    std::uint32_t who = kUnknownContext;
    std::uint32_t object = 0; // in blocking: the mutex; in suspension: the parameter of task_block
    // These are set in blocking: the context that holds the mutex; the context at the end of the chain of holders; and
    // what that one waits for, as the parameter of task_block, 0 if it could run.
    std::uint32_t holder = kUnknownContext;
    std::uint32_t chain_end = kUnknownContext;
    std::uint32_t end_waits = 0;

    friend bool operator==(const Culprit& a, const Culprit& b) {
        using Words = std::array<std::uint64_t, 3>;
        const auto x = std::bit_cast<Words>(a);
        const auto y = std::bit_cast<Words>(b);
        return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
    }
};

static_assert(std::has_unique_object_representations_v<Culprit>);

// States where a record is in the trace, as `remora print` shows it.
struct RecordPlace {
    std::uint16_t cpu = 0;
    std::uint16_t chunk = 0;
    std::uint64_t record = 0;

    [[nodiscard]] static RecordPlace of(const trace::Event& event) { return {event.cpu, event.chunk, event.record}; }

    friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

struct Share {
    Culprit culprit;
    lib::Ticks ticks{};
    // Written meanwhile on that processor: times the cost of a record, this is the tracer's own part.
    std::uint64_t records = 0;
    std::uint64_t pieces = 0;
    lib::Ticks longest{};        // the longest piece
    lib::Ticks longest_begin{};  // the stamp at which it begins
    RecordPlace longest_place{}; // the record with which it begins
};

} // namespace host::schedule
