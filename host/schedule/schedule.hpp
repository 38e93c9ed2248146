// SPDX-License-Identifier: MIT
// The model of the schedule: which task each processor runs and in whose place, what every other task waits for, which
// interrupts are nested, which jobs are open, who holds which mutex. One pass over the events in time order; memory
// depends on the number of tasks, processors and mutexes, not on the length of the trace. Whatever shows, lists or adds
// up a schedule is built on it; only the oracle of `remora check` has a model of its own (docs/schedule-oracle.md).
//
// Usage:
//   Schedule schedule;
//   for each event: for (const Change& change : schedule.take(event)) { ... }
//   for (const Change& change : schedule.finish()) { ... }
//
// Parts that are built on the changes, for users that need more:
//
//   intervals.hpp        what each task did, from when to when and why; intervals of one task follow each other without
//                        gap or overlap
//   latency.hpp          from an interrupt to the first instruction of the task that its handler wakes
//   jobs.hpp             releases, starts, ends, deadlines, outcomes
//   accounting.hpp       each response time, divided among its culprits
//   handlers.hpp         interrupt handlers, nested
//   holds.hpp            who held which mutex
//   losses.hpp           where records were dropped
//   processor_time.hpp   how the time of one processor is divided among tasks and interrupt handlers
//
// Where records are missing (a blackout, a restart of tracing), nothing is assumed: the processor runs an unknown task,
// and the state of each task is unknown (`forgotten`) unless another processor runs it. An event that contradicts the
// model is right, and the model follows: a task that gets a processor was ready, an interrupt handler that ends has
// ended all that are nested in it.
#pragma once

#include "host/trace/code_set.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace host::schedule {

// What one event changes in the schedule. Schedule makes changes, all others read them.

inline constexpr std::uint32_t kContexts = 0x1'0000;
inline constexpr std::uint32_t kUnknownContext = 0x1'0001; // of a task that no record has named yet

// Why a task does not run, or that it could run.
enum class TaskState : std::uint8_t {
    unknown, // no record says, or records are missing
    ready,   // it has a processor, or could have one
    job,     // its job is complete: it waits for the next release
    semaphore,
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

// It cannot run until something happens.
[[nodiscard]] constexpr bool is_waiting(TaskState state) {
    return state >= TaskState::job && state <= TaskState::mutex;
}

// It waits within a job, not for the next one.
[[nodiscard]] constexpr bool is_blocked(TaskState state) {
    return is_waiting(state) && state != TaskState::job;
}

struct Change {
    enum class Kind : std::uint8_t {
        switched,        // the processor goes from `other` to `context`; `state` is how `other` is left
        woken,           // `context` is ready; `before` is what it waited for
        waits,           // `context` waits for `state`, `object`; it may still have the processor
        created,         // `context` exists
        ended,           // `context` is gone
        forgotten,       // what is known of `context` ends here: records are missing
        job_began,       // of `context`
        job_ended,       // likewise; the event says how, unless `state` is unknown: records are missing
        interrupt_began, // `object` is the vector
        interrupt_ended, // likewise; only if its begin was seen
        inherits,        // `context` runs on behalf of `other`
        returns,         // `context` runs on its own behalf again
        gap,             // the processor ran `other`; from here on nothing is known of what it does
        lost,            // `object` records were dropped before this event
    };

    Kind kind = Kind::lost;
    TaskState state = TaskState::unknown;
    TaskState before = TaskState::unknown; // of `context`, in all changes that concern the state of a task
    std::uint32_t context = kUnknownContext;
    std::uint32_t other = kUnknownContext; // waits for a mutex: who holds it, as far as known
    std::uint32_t object = 0;

    // Not only the processor.
    [[nodiscard]] constexpr bool concerns_task() const { return context != kUnknownContext; }

    // A wait within a job ends with this change, or begins.
    [[nodiscard]] constexpr bool ends_wait() const {
        return is_blocked(before) && (kind >= Kind::woken && kind <= Kind::forgotten);
    }

    [[nodiscard]] constexpr bool begins_wait() const { return kind == Kind::waits && is_blocked(state); }
};

class Schedule {
  public:
    struct alignas(64) Processor { // of a size by which positions are quickly found
        // Greater depths are ignored: they only occur in damaged traces.
        static constexpr std::size_t kNestedMax = 32;

        std::uint32_t running = kUnknownContext;         // the task whose code it executes (exec_shadow)
        std::uint32_t switched_to = kUnknownContext;     // by its latest context_switch since a gap
        std::uint32_t place = kUnknownContext;           // the task in whose place that runs (exec); mostly the same
        std::uint32_t chosen = kUnknownContext;          // by the latest decision, to run
        std::uint32_t chosen_place = kUnknownContext;    // likewise, in whose place
        std::uint32_t dispatched = kUnknownContext;      // by the latest task_dispatch
        std::uint32_t depth = 0;                         // of nested interrupt handlers
        std::array<std::uint16_t, kNestedMax> vectors{}; // theirs, outermost first
    };

    Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // What this event changes, in order; mostly nothing. Valid until the next call of anything here. Events that are
    // not sound, or not of our table, change nothing.
    [[nodiscard]] std::span<const Change> take(const trace::Event& event) {
        return kMayChange[event.code] || m_forgot ? follow(event) : std::span<const Change>();
    }

    // The same of any event, without a look at the table.
    [[nodiscard]] std::span<const Change> follow(const trace::Event& event);

    // Likewise, of a plain event (host/trace/event_stream.hpp), where its code is a constant. In schedule_step.hpp.
    [[nodiscard]] std::span<const Change> follow(const trace::Event& event, std::uint8_t code);

    // Other events change nothing.
    static constexpr const auto& kMayChange =
        trace::kAnyOf<"context_switch", "inheritance", "interrupt_start", "interrupt_end", "blackout_start",
                      "blackout_end", "trace_start", "task_schedule", "task_dispatch", "task_epilogue", "task_create",
                      "task_end", "task_activate", "job_release", "task_unblock", "task_block", "task_end_cycle",
                      "task_disable", "job_abort", "task_sleep", "set_mutex_block", "set_mutex_acquire",
                      "set_mutex_timeout", "set_mutex_unlock", "set_mutex_owner_died">;

    // At the end of the trace: all jobs and waits that are open, as job_ended and forgotten.
    [[nodiscard]] std::span<const Change> finish();

    // forget() was called, and no take() has returned what that changed.
    [[nodiscard]] bool has_forgotten() const { return m_forgot; }

    // Nothing is known of this processor any more, nor of any task that no other one runs: records are missing before
    // the next event. What that changes is returned by the next take() that has changes, before those of its event.
    void forget(std::uint16_t cpu);

    // Everything is unknown for a processor without events.
    [[nodiscard]] const Processor& processor(std::uint16_t cpu) const {
        return cpu < m_processors.size() ? m_processors[cpu] : m_unknown;
    }

    [[nodiscard]] std::uint32_t running(std::uint16_t cpu) const { return processor(cpu).running; }

    [[nodiscard]] std::uint32_t interrupt_depth(std::uint16_t cpu) const { return processor(cpu).depth; }

    [[nodiscard]] TaskState state(std::uint32_t context) const { return m_tasks[std::min(context, kContexts)].state; }

    // The task that holds a mutex; kUnknownContext if none does, or if it is not recorded.
    [[nodiscard]] std::uint32_t holder(std::uint32_t mutex) const {
        return mutex < m_holders.size() ? m_holders[mutex] : kUnknownContext;
    }

  private:
    using Lenders = std::multimap<std::uint32_t, std::uint32_t>; // mutex -> contexts, in the order of their waits

    struct Task {
        TaskState state = TaskState::unknown;
        bool known = false;    // in m_known
        bool job = false;      // open
        bool heir = false;     // it runs on another's behalf
        bool lends = false;    // its place, to the owner of a mutex; ready: the mutex was unlocked since, it may retry
        std::uint16_t cpu = 0; // that ran it last, and runs it if its processor says so
        Lenders::iterator lender; // if it lends
    };

    Processor& at(std::uint16_t cpu) {
        if (cpu >= m_processors.size()) [[unlikely]] {
            add_processors(cpu);
        }
        return m_processors[cpu];
    }

    // Precondition: a context of an event, which has 16 bits.
    Task& task(std::uint32_t context) {
        Task& task = m_tasks[context];
        if (!task.known) [[unlikely]] {
            begin_task(context);
        }
        return task;
    }

    void add(const Change& change) {
        if (m_changed == m_changes.size()) [[unlikely]] {
            m_changes.resize(2 * m_changed);
        }
        m_changes[m_changed++] = change;
    }

    [[nodiscard]] std::span<const Change> changes() const { return std::span(m_changes).first(m_changed); }

    void add_processors(std::uint16_t cpu);
    void begin_task(std::uint32_t context);

    void follow_task(const trace::Event& event, std::uint8_t code);
    void follow_mutex(const trace::Event& event, std::uint8_t code);
    void follow_gap(const trace::Event& event);
    void rest_leaver(const trace::Event& event);
    [[nodiscard]] static TaskState wait_state_of(std::uint32_t word);
    void wake(std::uint32_t context);
    void wait(std::uint32_t context, TaskState state, std::uint32_t object);
    void unblock(std::uint32_t context);
    void change_to_wait(std::uint32_t context, TaskState state, std::uint32_t object);
    void begin_job(std::uint32_t context);
    void end_job(std::uint32_t context, TaskState how = TaskState::job);
    void end(std::uint32_t context, Change::Kind kind, TaskState state);
    void run(std::uint16_t cpu, std::uint32_t context);
    void switch_to(std::uint16_t cpu, std::uint32_t context);
    void decide(Processor& here, std::uint32_t shadow, std::uint32_t exec);
    void block_on_mutex(std::uint32_t context, std::uint32_t mutex);
    void acquire(std::uint32_t context, std::uint32_t mutex);
    void unlock(std::uint32_t mutex);
    void wake_lenders(std::uint32_t mutex);
    void take_back(std::uint32_t context);
    void begin_interrupt(Processor& here, std::uint32_t vector);
    void end_interrupt(Processor& here, std::uint32_t vector);
    void lose(Processor& here);
    void begin_gap(Processor& here);
    void forget_tasks();

    std::vector<Change> m_changes = std::vector<Change>(64);
    std::size_t m_changed = 0;           // so many of them are made
    bool m_forgot = false;               // among them is what forget() changed
    std::vector<Processor> m_processors; // by number
    Processor m_unknown;                 // for those without events
    std::vector<Task> m_tasks;           // by context; the last one belongs to kUnknownContext
    std::vector<std::uint32_t> m_known;  // contexts with a state or a job
    Lenders m_lenders;
    std::vector<std::uint32_t> m_holders; // contexts, by mutex
};

} // namespace host::schedule
