// SPDX-License-Identifier: MIT
// Finds what happened over spans of time: the intervals of tasks, the interrupt handlers, the holds of mutexes, and the
// losses of records. The intervals of a task state whether it ran, was ready, waited within a job, rested between jobs,
// or was in an unknown state. They follow each other without gap or overlap, from the creation of the task (or the
// start of the trace) to its end (or that of the trace). An interval is reported when it ends.
//
//   activity   begins with                                            ends with
//   running    context_switch to the task                             the next one on that processor
//   ready      release, wake-up, unlock, preemption                   context_switch to it
//   waiting    task_block, set_mutex_block, from when the task has    its wake-up, the unlock of the mutex
//              left its processor
//   resting    the end of a job, from the same moment; creation       release, activation of a thread
//   unknown    the start of the trace, a gap                          the first record of the task
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::schedule {

enum class Activity : std::uint8_t { unknown, running, ready, waiting, resting };

// States why an activity began. An interval ends for the cause for which the next one begins.
enum class Cause : std::uint8_t {
    unknown,
    created,
    released,
    unblocked,
    dispatched,
    preempted,
    slice_used_up,
    blocked, // `wait` states by what
    completed,
    aborted,
    ended,
    sleeps,
    records_lost,
    end_of_trace,
};

struct Interval {
    std::uint16_t context = 0;
    std::uint16_t cpu = 0; // the processor where the task runs or ran last
    Activity activity = Activity::unknown;
    Cause began = Cause::unknown;
    Cause ended = Cause::unknown;
    std::uint32_t wait = 0;      // if waiting: for what, as the parameter of task_block
    std::uint32_t next_wait = 0; // `wait` of the next interval, if `ended` is blocked
    // This is the holder of the mutex that it waits for, or the task in whose place it runs.
    std::uint32_t other = kUnknownContext;
    Moment begin;
    Moment end;
};

// Holds what is known of an interval when it begins; the members mean the same as those of Interval.
struct Beginning {
    Activity activity = Activity::unknown;
    Cause cause = Cause::unknown;
    std::uint32_t wait = 0;
    std::uint32_t other = kUnknownContext;
};

class Intervals {
  public:
    using Sink = std::function<void(const Interval&)>;

    explicit Intervals(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule::take() returned for the event. schedule: its state after the event.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

    // Must be called at the end of the trace: reports the open intervals, by context.
    void finish();

    // Returns the moment of the processor's latest event; none if it had no event.
    [[nodiscard]] std::optional<Moment> last(std::uint16_t cpu) const;

  private:
    struct Task {
        Beginning now;
        Moment since;
        std::uint16_t cpu = 0;
        Beginning next; // if running: what the task does once it has left the processor
    };

    struct Processor {
        Moment last;
        // The task with the open interval, which a missing record may have ended.
        std::optional<std::uint16_t> running;
    };

    Task& task(std::uint32_t context);
    void begin(std::uint32_t context, Task& task, Moment now, const Beginning& next);
    void switch_to(const trace::Event& event, const Change& change, const Schedule& schedule);
    void create(std::uint32_t context, Moment now);

    Sink m_sink;
    std::map<std::uint16_t, Task> m_tasks;
    std::map<std::uint16_t, Processor> m_processors;
    std::optional<Moment> m_first;
};

// Reports the interrupt handlers of each processor with their nesting. A handler is reported when it ends, so the
// handlers that interrupted it are reported before it.
struct Handler {
    std::uint32_t vector = 0;
    std::uint16_t cpu = 0;
    std::uint32_t task = kUnknownContext; // the task that it interrupted
    std::size_t depth = 1;                // 1 if it interrupted no other handler
    Moment begin;
    std::optional<Moment> end{}; // none if its record is missing
};

class Handlers {
  public:
    using Sink = std::function<void(const Handler&)>;

    explicit Handlers(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes are what Schedule made of the event, schedule its state then. A handler that ends in a gap is left out.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

    // Must be called at the end of the trace: reports what is open.
    void finish();

  private:
    Sink m_sink;
    std::map<std::uint16_t, std::vector<Handler>> m_open; // by processor, outermost first
};

// Reports which task held which mutex, from when to when. A hold is reported when it ends. If records were dropped, it
// ends with the last record before the gap.
enum class HoldEnd : std::uint8_t {
    unlocked,
    taken, // another task acquired the mutex: the record of the unlock is missing
    owner_died,
    records_lost,
    end_of_trace,
};

struct Hold {
    std::uint32_t mutex = 0;
    std::uint32_t context = 0;
    HoldEnd how = HoldEnd::end_of_trace;
    Moment begin;
    std::optional<Moment> end{}; // none if no record of its processor precedes the gap
};

class Holds {
  public:
    using Sink = std::function<void(const Hold&)>;

    explicit Holds(Sink sink)
        : m_sink(std::move(sink)) {}

    // schedule: its state after the event. before: the previous event of this processor.
    void take(const trace::Event& event, const Schedule& schedule, const std::optional<Moment>& before);

    // Must be called at the end of the trace: reports what is open.
    void finish();

  private:
    void take_mutex(const trace::Event& event, const Schedule& schedule);
    void end(Hold hold, const std::optional<Moment>& now, HoldEnd how);

    Sink m_sink;
    std::map<std::uint32_t, Hold> m_open; // by mutex
    std::optional<Moment> m_latest;       // the latest moment of all events
};

// Reports where records were dropped: from the last known moment before the gap to the record that counts them.
struct Loss {
    std::uint16_t cpu = 0;
    std::uint32_t records = 0;
    std::optional<Moment> begin{}; // none if the processor had no event before
    Moment end;
};

class Losses {
  public:
    using Sink = std::function<void(const Loss&)>;

    explicit Losses(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule::take() returned for the event. before: the previous event of this processor.
    void take(const trace::Event& event, std::span<const Change> changes, const std::optional<Moment>& before) {
        for (const Change& change : changes) {
            if (change.kind == Change::Kind::lost) {
                std::optional<Moment> begin = std::exchange(m_blackouts[event.cpu], std::nullopt);
                m_sink({.cpu = event.cpu,
                        .records = change.object,
                        .begin = begin ? begin : before,
                        .end = Moment::of(event)});
            }
        }
        if (event.is(trace::kCodeOf<"blackout_start">)) {
            m_blackouts[event.cpu] = Moment::of(event);
        }
    }

  private:
    Sink m_sink;
    std::map<std::uint16_t, std::optional<Moment>> m_blackouts; // by processor: the begin of the open blackout
};

} // namespace host::schedule
