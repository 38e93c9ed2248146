// SPDX-License-Identifier: MIT
// The model of the schedule: which task each processor runs and in whose place, what every other task waits for, which
// interrupts are nested, which jobs are open, who holds which mutex. It makes one pass over the events in time order;
// its memory depends on the number of tasks, processors and mutexes, not on the length of the trace. Everything that
// shows, lists or adds up a schedule is built on it; only the oracle of `remora check` has a model of its own
// (docs/schedule-oracle.md).
//
// Usage:
//   Schedule schedule;
//   for each event: for (const Change& change : schedule.take(event)) { ... }
//   for (const Change& change : schedule.finish()) { ... }
//
// These parts are built on the changes, for users that need more:
//
//   intervals.hpp        what each task did, from when to when and why; interrupt handlers, who held which mutex, where
//                        records were dropped
//   latency.hpp          from an interrupt to the first instruction of the task that its handler wakes
//   jobs.hpp             releases, starts, ends, deadlines, outcomes
//   accounting.hpp       each response time, divided among its culprits
//   processor_time.hpp   how the time of one processor is divided among tasks and interrupt handlers
//
// Where records are missing (a blackout, a restart of tracing, a hole in the trace), nothing is assumed: the processor
// runs an unknown task, and the state of each task is unknown (`forgotten`) unless another processor runs it. The same
// holds of all processors where a filter begins or ends that hides states, interrupts or servers, and while one hides
// states (Filters::kStates) no record but that of a gap changes anything. If an
// event contradicts the model, the event is taken as right and the model is changed: a task that gets a processor was
// ready, and the end of an interrupt handler also ends all handlers that are nested in it.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/filters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace host::schedule {

// A change is what one event changes in the schedule. Schedule makes changes, all others read them.

inline constexpr std::uint32_t kContexts = 0x1'0000;
inline constexpr std::uint32_t kUnknownContext = 0x1'0001; // a task that no record has named yet

// States why a task does not run, or that it could run.
enum class TaskState : std::uint8_t {
    unknown, // no record states it, or records are missing
    ready,   // it has a processor, or could get one
    job,     // its job is complete, and it waits for the next release
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

// Returns whether the task waits, within a job or for the next one.
[[nodiscard]] constexpr bool is_waiting(TaskState state) {
    return state >= TaskState::job && state <= TaskState::mutex;
}

// Returns whether the task waits within a job, not for the next one.
[[nodiscard]] constexpr bool is_blocked(TaskState state) {
    return is_waiting(state) && state != TaskState::job;
}

struct Change {
    enum class Kind : std::uint8_t {
        switched,  // the processor goes from `other` to `context`; `state` is that of `other`
        woken,     // `context` is ready; `before` is its state before
        waits,     // `context` waits for what `state` and `object` say; it may still have the processor
        created,   // `context` exists
        ended,     // `context` is gone
        forgotten, // records are missing: the state of `context` is not known any more
        job_began, // a job of `context` began
        // The job of `context` ended; the event shows how, unless `state` is unknown: then records are missing.
        job_ended,
        interrupt_began, // `object` is the vector
        interrupt_ended, // `object` is the vector; only reported if the begin was
        inherits,        // `context` runs on behalf of `other`
        returns,         // `context` runs on its own behalf again
        gap,             // the processor ran `other`; what it runs from here on is not known
        lost,            // `object` records were dropped before this event
    };

    Kind kind = Kind::lost;
    TaskState state = TaskState::unknown;
    TaskState before = TaskState::unknown; // the former state of `context`, in all changes that concern it
    std::uint32_t context = kUnknownContext;
    std::uint32_t other = kUnknownContext; // if `context` waits for a mutex: its holder, as far as it is known
    std::uint32_t object = 0;

    // Returns whether the change concerns a task, not only the processor.
    [[nodiscard]] constexpr bool concerns_task() const { return context != kUnknownContext; }

    // Returns whether a wait within a job ends with this change, or begins.
    [[nodiscard]] constexpr bool ends_wait() const {
        return is_blocked(before) && (kind >= Kind::woken && kind <= Kind::forgotten);
    }

    [[nodiscard]] constexpr bool begins_wait() const { return kind == Kind::waits && is_blocked(state); }
};

class Schedule {
  public:
    struct alignas(64) Processor { // a power of two as size makes indexing fast
        // Deeper nesting is ignored: it only occurs in damaged traces.
        static constexpr std::size_t kNestedMax = 32;

        std::uint32_t running = kUnknownContext;      // the task whose code it executes (exec_shadow)
        std::uint32_t switched_to = kUnknownContext;  // the task of its latest context_switch since a gap
        std::uint32_t place = kUnknownContext;        // the task in whose place `running` runs (exec); mostly the same
        std::uint32_t chosen = kUnknownContext;       // that the latest decision chose; if none: `place` is a guess
        std::uint32_t chosen_place = kUnknownContext; // the task in whose place `chosen` is to run
        std::uint32_t dispatched = kUnknownContext;   // the task of the latest task_dispatch
        std::uint32_t depth = 0;                      // how many interrupt handlers are nested
        std::array<std::uint16_t, kNestedMax> vectors{}; // those of the nested handlers, outermost first
    };

    Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // Returns what this event changes, in order; mostly nothing. The span is valid until the next call of a function
    // that is not const. Events that are not sound or not of our table change nothing.
    [[nodiscard]] std::span<const Change> take(const trace::Event& event) {
        return kMayChange[event.code] || event.after_hole ? follow(event) : std::span<const Change>();
    }

    // As take(), but without the test of the event's code.
    [[nodiscard]] std::span<const Change> follow(const trace::Event& event);

    // Events of other codes change nothing.
    static constexpr const auto& kMayChange =
        trace::kAnyOf<"context_switch", "inheritance", "interrupt_start", "interrupt_end", "blackout_start",
                      "blackout_end", "trace_start", "task_schedule", "task_dispatch", "task_epilogue", "task_create",
                      "task_end", "task_activate", "job_release", "task_unblock", "task_block", "task_end_cycle",
                      "task_disable", "job_abort", "task_sleep", "set_mutex_block", "set_mutex_acquire",
                      "set_mutex_timeout", "set_mutex_unlock", "set_mutex_owner_died", "filter_general", "filter_task",
                      "filter_interrupt", "filter_CPU", "filter_priority", "filter_mutex", "filter_server",
                      "filter_timer", "filter_job">;

    // Must be called at the end of the trace. Returns all open jobs and waits, as job_ended and forgotten.
    [[nodiscard]] std::span<const Change> finish();

    // Returns the state of a processor; everything is unknown for a processor without events.
    [[nodiscard]] const Processor& processor(std::uint16_t cpu) const {
        return cpu < m_processors.size() ? m_processors[cpu] : m_unknown;
    }

    [[nodiscard]] std::uint32_t running(std::uint16_t cpu) const { return processor(cpu).running; }

    [[nodiscard]] std::uint32_t interrupt_depth(std::uint16_t cpu) const { return processor(cpu).depth; }

    [[nodiscard]] TaskState state(std::uint32_t context) const { return m_tasks[std::min(context, kContexts)].state; }

    // Returns whether records are filtered from which this follows.
    [[nodiscard]] bool is_hidden(trace::Families families) const { return m_filters.hide(families); }

    // Returns the task that holds the mutex; kUnknownContext if none does, or if it is not known.
    [[nodiscard]] std::uint32_t holder(std::uint32_t mutex) const {
        return mutex < m_holders.size() ? m_holders[mutex] : kUnknownContext;
    }

  private:
    // Maps a mutex to contexts, in the order of their waits.
    using Lenders = std::multimap<std::uint32_t, std::uint32_t>;

    struct Task {
        TaskState state = TaskState::unknown;
        bool known = false; // its context is in m_known
        bool job = false;   // it has an open job
        bool heir = false;  // it runs on behalf of another task
        // It lends its place to the owner of a mutex; if it is ready, the mutex has been unlocked and it may retry
        bool lends = false;
        std::uint16_t cpu = 0;    // the processor that ran it last; it runs there if `running` is this task
        Lenders::iterator lender; // valid if it lends
    };

    Processor& at(std::uint16_t cpu) {
        if (cpu >= m_processors.size()) [[unlikely]] {
            add_processors(cpu);
        }
        return m_processors[cpu];
    }

    // Precondition: the context is that of an event, so it has 16 bits.
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

    void follow_task(const trace::Event& event);
    void follow_mutex(const trace::Event& event);
    void follow_gap(const trace::Event& event);
    void follow_filter(const trace::Event& event);
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
    std::size_t m_changed = 0;           // how many elements of m_changes are valid
    std::vector<Processor> m_processors; // by number
    Processor m_unknown;                 // for those without events
    std::vector<Task> m_tasks;           // by context; the last one is that of kUnknownContext
    std::vector<std::uint32_t> m_known;  // contexts with a state or a job
    Lenders m_lenders;
    std::vector<std::uint32_t> m_holders; // the holding context of each mutex
    trace::Filters m_filters;
};

} // namespace host::schedule
