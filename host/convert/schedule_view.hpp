// SPDX-License-Identifier: MIT
// What the events say about scheduling, in the words of other systems' viewers: which task a processor switches from
// and to and why the first one left, who wakes up, which interrupt runs, who inherits. One model for all formats that
// draw a schedule.
//
// Usage:
//   ScheduleView view;
//   for each event: for (const Change& change : view.take(event)) { ... }
//
// Thread ids: viewers take thread 0 for the idle task of each processor. So tid_of() gives 0 to the idle task, the
// context's own number to every other task, and kContextZeroTid to context 0 where it is not the idle task (it stands
// for what ran before there were tasks). The idle task is the one that is named "idle".
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace host::convert {

inline constexpr std::uint32_t kContextZeroTid = 0x1'0000;
inline constexpr std::uint32_t kUnknownTid = 0x1'0001;     // of a task that no record has told yet
inline constexpr std::uint32_t kUnknownContext = 0x1'0001; // likewise

// Why a task does not run, or that it could.
enum class TaskState : std::uint8_t {
    unknown,   // no record has told
    ready,     // it has or could have a processor
    job,       // its job is complete: it waits for the next release
    semaphore, // the rest: what it waits for
    delay,
    condition,
    receive,
    send,
    suspended,
    signal,
    mutex,
    ended,
};

[[nodiscard]] std::string_view state_name(TaskState state);

// It waits until somebody wakes it.
[[nodiscard]] constexpr bool is_waiting(TaskState state) {
    return state >= TaskState::job && state <= TaskState::mutex;
}

struct Change {
    enum class Kind : std::uint8_t {
        switched,        // the processor goes from `other` to `context`; `state` is how `other` is left
        woken,           // `context` waited and is ready now; `state` is what it waited for
        waits,           // `context` waits from here on, for `state`, `object`; it may still have the processor
        created,         // `context` exists
        ended,           // `context` is gone
        interrupt_began, // `object` is the vector
        interrupt_ended, // likewise; only if its begin was seen
        inherits,        // `context` runs on behalf of `other`
        returns,         // `context` runs on its own behalf again
        lost,            // `object` records were dropped before this event
    };

    Kind kind;
    TaskState state = TaskState::unknown;
    std::uint32_t context = kUnknownContext;
    std::uint32_t other = kUnknownContext;
    std::uint32_t object = 0;
};

class ScheduleView {
  public:
    ScheduleView();

    // What this event changes, in order; mostly nothing. Valid until the next call. Events that are not sound, or not
    // of our table, change nothing.
    [[nodiscard]] std::span<const Change> take(const trace::Event& event);

    // kUnknownContext until a record has told.
    [[nodiscard]] std::uint32_t running(std::uint16_t cpu) const;

    [[nodiscard]] TaskState state(std::uint32_t context) const;

    // How many interrupts are nested on this processor.
    [[nodiscard]] std::uint32_t interrupt_depth(std::uint16_t cpu) const;

  private:
    static constexpr std::size_t kNestedMax = 32; // deeper ones are counted as damage would have it: not at all

    struct Processor {
        std::uint32_t running = kUnknownContext;
        std::uint32_t depth = 0;
        std::array<std::uint16_t, kNestedMax> vectors{};
    };

    Processor& processor(std::uint16_t cpu);

    void change(Change change) { m_changes.push_back(change); }

    void wake(std::uint32_t context);
    void wait(std::uint32_t context, TaskState state, std::uint32_t object);
    void switched(Processor& here, std::uint32_t context);
    void scheduled(std::uint32_t shadow, std::uint32_t exec);
    void unlocked(std::uint32_t mutex);
    void interrupt_began(Processor& here, std::uint32_t vector);
    void interrupt_ended(Processor& here, std::uint32_t vector);
    void lost(Processor& here, std::uint32_t records);
    void ended(std::uint32_t context);

    std::vector<Change> m_changes;
    std::vector<Processor> m_processors;  // by number
    std::vector<TaskState> m_states;      // by context; the last one belongs to kUnknownContext
    std::vector<std::uint32_t> m_lenders; // contexts that wait for a mutex
    std::vector<std::uint32_t> m_mutexes; // for each lender, which one
    std::vector<std::uint32_t> m_heirs;   // contexts that run on another's behalf
};

[[nodiscard]] bool is_idle(const trace::Names& names, std::uint32_t context);

// As the comment above says.
[[nodiscard]] std::uint32_t tid_of(const trace::Names& names, std::uint32_t context);

// A task's name, else "context-N"; "unknown" for kUnknownContext. Not escaped.
[[nodiscard]] std::string task_label(const trace::Names& names, std::uint32_t context);

// The level by which it is scheduled: 0 is searched first. 0xFFFF if the trace does not tell.
[[nodiscard]] std::uint16_t level_of(const trace::Names& names, std::uint32_t context);

// The name of a vector, else "vector-N". Not escaped.
[[nodiscard]] std::string vector_label(const trace::Names& names, std::uint32_t vector);

} // namespace host::convert
