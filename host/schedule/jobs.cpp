// SPDX-License-Identifier: MIT
#include "host/schedule/jobs.hpp"

#include <algorithm>
#include <utility>

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

Outcome outcome_of(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_disable">:
        return Outcome::completed;
    case kCodeOf<"job_abort">:
        return Outcome::aborted;
    case kCodeOf<"job_release">:
        return Outcome::replaced;
    case kCodeOf<"task_end">:
    case kCodeOf<"task_create">:
        return Outcome::ended;
    default:
        return Outcome::lost;
    }
}

} // namespace

void Jobs::end(Task& task, std::optional<Moment> now, Outcome outcome) {
    if (task.open) {
        Job job = *std::exchange(task.open, std::nullopt);
        --m_opened;
        job.end = now;
        job.outcome = outcome;
        // The work has no end of its own, so nothing was due.
        if (task.served && outcome == Outcome::ended) {
            job.deadline.reset();
        }
        m_sink(job);
    }
}

Jobs::Task& Jobs::task(std::uint16_t context) {
    if (context >= m_tasks.size()) {
        m_tasks.resize(std::size_t{context} + 1);
    }
    return m_tasks[context];
}

// Precondition: a job began or ended, or a task was created. The task that had the context before a created one is
// another task, and the record of its end is missing.
void Jobs::follow(const trace::Event& event, const Change& change, std::uint32_t khz) {
    const auto context = static_cast<std::uint16_t>(change.context);
    if (change.kind == Kind::job_began) {
        Task& of = task(context);
        m_opened += of.open ? 0U : 1U;
        of.served = m_times.is_served(context);
        of.open = Job{.context = context,
                      .number = ++of.jobs,
                      .release = Moment::at(m_times.release(context), event, khz),
                      .doubtful = event.doubtful};
    } else if (change.kind == Kind::job_ended) {
        const Outcome outcome = change.state == TaskState::unknown ? Outcome::lost : outcome_of(event);
        end(task(context), outcome == Outcome::lost ? std::nullopt : std::optional(Moment::of(event)), outcome);
    } else {
        end(task(context), std::nullopt, Outcome::lost);
        task(context) = {};
    }
}

void Jobs::note_job(const trace::Event& event, std::uint32_t khz) {
    Task& of = task(event.par1);
    if (!of.open) {
        return;
    }
    Job& job = *of.open;
    if (event.code == kCodeOf<"job_deadline"> || event.code == kCodeOf<"set_priority">) {
        job.deadline = deadline_of(job, event, khz);
    } else if (event.code == kCodeOf<"task_deadline_miss">) {
        job.missed = true;
    } else if (!job.start) {
        job.start = Moment::of(event);
        m_beginning.resize(std::max<std::size_t>(m_beginning.size(), std::size_t{event.cpu} + 1), kUnknownContext);
        m_beginning[event.cpu] = event.par1;
    }
}

// Returns the deadline of the task's open job: the one that a record stated, or, of a server's task, one period after
// its release.
std::optional<Moment> Jobs::deadline_of(const Job& job, const trace::Event& event, std::uint32_t khz) const {
    if (!m_times.is_served(job.context)) {
        return Moment::at(m_times.deadline(job.context), event, khz);
    }
    const auto server = m_times.server(job.context);
    if (khz == 0 || !job.release || !server) {
        return std::nullopt;
    }
    const auto period_ns = m_times.server_period_ns(*server);
    if (!period_ns || *period_ns == 0) {
        return std::nullopt;
    }
    return Moment::at((job.release->ticks + lib::TickRate{khz}.to_ticks({*period_ns})).value, event, khz);
}

// The record of the first dispatch precedes the switch if the task does not have the processor yet.
void Jobs::switch_to(const trace::Event& event, std::uint16_t context) {
    const std::uint32_t beginning =
        event.cpu < m_beginning.size() ? std::exchange(m_beginning[event.cpu], kUnknownContext) : kUnknownContext;
    std::optional<Job>& open = task(context).open;
    if (open && (!open->start || beginning == context)) {
        open->start = Moment::of(event);
    }
}

void Jobs::finish() {
    for (Task& task : m_tasks) {
        end(task, std::nullopt, Outcome::unfinished);
    }
}

} // namespace host::schedule
