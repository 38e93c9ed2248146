// SPDX-License-Identifier: MIT
// What each task did, as intervals: it ran, was ready, waited within a job, rested between jobs, or nothing is known of
// it. The intervals of a task follow each other without gap or overlap from its creation (or the start of the trace) to
// its end (or that of the trace). An interval is reported when it ends.
//
//   activity   begins with                                            ends with
//   running    context_switch to the task                             the next one on that processor
//   ready      release, wake-up, unlock, preemption                   context_switch to it
//   waiting    task_block, set_mutex_block, from when the task has    its wake-up, the unlock of the mutex
//              left its processor
//   resting    the end of a job, likewise; creation                   release, activation of a thread
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

// Why an activity began. The cause of an interval's end is the cause with which the next one begins.
enum class Cause : std::uint8_t {
    unknown,
    created,
    released,
    unblocked,
    dispatched,
    preempted,
    slice_used_up,
    blocked, // `wait` says by what
    completed,
    aborted,
    ended,
    sleeps,
    records_lost,
    end_of_trace,
};

struct Interval {
    std::uint16_t context = 0;
    std::uint16_t cpu = 0; // where it runs, or ran last
    Activity activity = Activity::unknown;
    Cause began = Cause::unknown;
    Cause ended = Cause::unknown;
    std::uint32_t wait = 0;                // waiting: for what, as the parameter of task_block
    std::uint32_t next_wait = 0;           // the same of the next interval, if `ended` is blocked
    std::uint32_t other = kUnknownContext; // waiting for a mutex: who holds it; running: in whose place
    Moment begin;
    Moment end;
};

// What is known of an interval when it begins; see there.
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

    // changes: what Schedule made of the event. schedule: after it.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

    // At the end of the trace: reports what is open, by context.
    void finish();

    // The latest event of a processor; none if it had no event.
    [[nodiscard]] std::optional<Moment> last(std::uint16_t cpu) const;

  private:
    struct Task {
        Beginning now;
        Moment since;
        std::uint16_t cpu = 0;
        Beginning next; // running: what it does once it has left the processor
    };

    struct Processor {
        Moment last;
        std::optional<std::uint16_t> running; // whose interval is open; a record that is missing may have ended it
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

// The interrupt handlers of each processor, nested as they were. A handler is reported when it ends, so after those
// that interrupted it.
struct Handler {
    std::uint32_t vector = 0;
    std::uint16_t cpu = 0;
    std::uint32_t task = kUnknownContext; // that it interrupted
    std::size_t depth = 1;                // 1: it interrupted no other handler
    Moment begin;
    std::optional<Moment> end{}; // none: its record is missing
};

class Handlers {
  public:
    using Sink = std::function<void(const Handler&)>;

    explicit Handlers(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule made of the event. schedule: after it. A handler that ended in a gap is not reported.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

    // At the end of the trace: reports what is open.
    void finish();

  private:
    Sink m_sink;
    std::map<std::uint16_t, std::vector<Handler>> m_open; // by processor, outermost first
};

// Who held which mutex, from when to when. A hold is reported when it ends. Where records were dropped it ends with the
// last record before the gap.
enum class HoldEnd : std::uint8_t {
    unlocked,
    taken, // by another: the record of the unlock is missing
    owner_died,
    records_lost,
    end_of_trace,
};

struct Hold {
    std::uint32_t mutex = 0;
    std::uint32_t context = 0;
    HoldEnd how = HoldEnd::end_of_trace;
    Moment begin;
    std::optional<Moment> end{}; // none: no record of its processor precedes the gap
};

class Holds {
  public:
    using Sink = std::function<void(const Hold&)>;

    explicit Holds(Sink sink)
        : m_sink(std::move(sink)) {}

    // schedule: after the event. before: the event of this processor before this one.
    void take(const trace::Event& event, const Schedule& schedule, const std::optional<Moment>& before);

    // At the end of the trace: reports what is open.
    void finish();

  private:
    void take_mutex(const trace::Event& event, const Schedule& schedule);
    void end(Hold hold, const std::optional<Moment>& now, HoldEnd how);

    Sink m_sink;
    std::map<std::uint32_t, Hold> m_open; // by mutex
    std::optional<Moment> m_latest;       // of all events
};

// Where records were dropped: from the last moment of which something is known to the record that counts them.
struct Loss {
    std::uint16_t cpu = 0;
    std::uint32_t records = 0;
    std::optional<Moment> begin{}; // none: the processor had no event before
    Moment end;
};

class Losses {
  public:
    using Sink = std::function<void(const Loss&)>;

    explicit Losses(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule made of the event. before: the event of this processor before this one.
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
    std::map<std::uint16_t, std::optional<Moment>> m_blackouts; // by processor: since when
};

} // namespace host::schedule
