// SPDX-License-Identifier: MIT
// Finds the jobs of tasks. A job lasts from job_release to task_end_cycle, to its abortion, or to the end of the task.
// The times of release and deadline are those that the kernel computed, not the stamps of the records that carry them.
// A server of CBS or GRUB competes by deadlines that it postpones, so the job of its task is due one period of the
// server after its release (docs/metrics.md). A job is reported when it ends.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "host/trace/recorded_times.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace host::schedule {

enum class Outcome : std::uint8_t {
    completed,
    aborted,
    ended,    // its task ended
    replaced, // the next release came first: the record of its end is missing
    lost,     // records are missing: its end is not known
    unfinished,
};

struct Job {
    std::uint16_t context = 0;
    std::uint64_t number = 0;        // counted for each task, from 1
    std::optional<Moment> release{}; // none if it is not known which time the record means
    std::optional<Moment> start{};   // when it got a processor, or kept that of its task: its first instruction
    std::optional<Moment> deadline{};
    std::optional<Moment> end{}; // none if lost or unfinished
    bool missed = false;         // the kernel reported a miss
    bool doubtful = false;       // it began in a damaged chunk, so its records may be those of several jobs
    Outcome outcome = Outcome::unfinished;

    // Returns nanoseconds since the start of the trace; none if the release or the clock's rate is not known.
    [[nodiscard]] std::optional<std::int64_t> release_ns() const { return release ? release->ns : std::nullopt; }

    [[nodiscard]] bool is_late() const {
        return !doubtful && (missed || (end && deadline && end->ticks > deadline->ticks));
    }
};

class Jobs {
  public:
    using Sink = std::function<void(const Job&)>;

    explicit Jobs(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule::take() returned for the event. khz: the clock's rate, 0 if it is not known yet.
    void take(const trace::Event& event, std::span<const Change> changes, std::uint32_t khz) {
        restore(event, khz);
        for (const Change& change : changes) {
            take(event, change, khz);
        }
        if (kConcerns[event.code]) {
            note(event, khz);
        }
    }

    // For callers that iterate over the changes themselves: they call restore(), pass each change, then the event to
    // note() if its code is in kConcerns.
    void restore(const trace::Event& event, std::uint32_t khz) { m_times.take(event, khz); }

    void take(const trace::Event& event, const Change& change, std::uint32_t khz) {
        if (change.kind == Change::Kind::switched) {
            if (m_opened != 0 || !m_beginning.empty()) {
                switch_to(event, static_cast<std::uint16_t>(change.context));
            }
        } else if (change.kind == Change::Kind::created || change.kind == Change::Kind::job_began ||
                   change.kind == Change::Kind::job_ended) {
            follow(event, change, khz);
        }
    }

    void note(const trace::Event& event, std::uint32_t khz) {
        if (m_opened != 0) {
            note_job(event, khz);
        }
    }

    static constexpr const auto& kConcerns =
        trace::kAnyOf<"job_deadline", "set_priority", "task_begin_cycle", "task_deadline_miss">;

    // Must be called at the end of the trace: reports the open jobs, by context.
    void finish();

    [[nodiscard]] const trace::RecordedTimes& times() const { return m_times; }

    // Returns the open job of this task; null if there is none.
    [[nodiscard]] const Job* open(std::uint16_t context) const {
        return context < m_tasks.size() && m_tasks[context].open ? &*m_tasks[context].open : nullptr;
    }

  private:
    struct Task {
        std::uint64_t jobs = 0;
        std::optional<Job> open;
        bool served = false; // at the release of its latest job
    };

    void follow(const trace::Event& event, const Change& change, std::uint32_t khz);
    void note_job(const trace::Event& event, std::uint32_t khz);
    [[nodiscard]] std::optional<Moment> deadline_of(const Job& job, const trace::Event& event, std::uint32_t khz) const;
    void switch_to(const trace::Event& event, std::uint16_t context);
    [[nodiscard]] Task& task(std::uint16_t context);
    void end(Task& task, std::optional<Moment> now, Outcome outcome);

    Sink m_sink;
    std::vector<Task> m_tasks; // by context
    std::size_t m_opened = 0;  // how many jobs are open
    trace::RecordedTimes m_times;
    // Holds by processor the task whose first dispatch awaits its switch, or kUnknownContext.
    std::vector<std::uint32_t> m_beginning;
};

} // namespace host::schedule
