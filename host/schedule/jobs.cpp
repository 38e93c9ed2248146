// SPDX-License-Identifier: MIT
#include "host/schedule/jobs.hpp"

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
        job.end = now;
        job.outcome = outcome;
        m_sink(job);
    }
}

const Job* Jobs::open(std::uint16_t context) const {
    const auto found = m_tasks.find(context);
    return found != m_tasks.end() && found->second.open ? &*found->second.open : nullptr;
}

Job* Jobs::open_of(const trace::Event& event) {
    const auto found = m_tasks.find(event.par1);
    return found != m_tasks.end() && found->second.open ? &*found->second.open : nullptr;
}

void Jobs::take(const trace::Event& event, std::span<const Change> changes, std::uint32_t khz) {
    for (const Change& change : changes) {
        const auto context = static_cast<std::uint16_t>(change.context);
        if (change.kind == Kind::job_began) {
            Task& task = m_tasks[context];
            task.open =
                Job{.context = context, .number = ++task.jobs, .release = Moment::nearest(event, event.par2, khz)};
        } else if (change.kind == Kind::job_ended) {
            const Outcome outcome = outcome_of(event);
            end(m_tasks[context], outcome == Outcome::lost ? std::nullopt : std::optional(Moment::of(event)), outcome);
        } else if (change.kind == Kind::switched) {
            switch_to(event, context);
        } else if (change.kind == Kind::created) {
            m_tasks.erase(context); // a task that had the context before is another one
        }
    }
    switch (event.code) {
    case kCodeOf<"job_deadline">:
        if (Job* const job = open_of(event)) {
            job->deadline = Moment::nearest(event, event.par2, khz);
        }
        break;
    case kCodeOf<"task_begin_cycle">:
        if (Job* const job = open_of(event); job != nullptr && !job->start) {
            job->start = Moment::of(event);
            m_beginning[event.cpu] = event.par1;
        }
        break;
    case kCodeOf<"task_deadline_miss">:
        if (Job* const job = open_of(event)) {
            job->missed = true;
        }
        break;
    default:
        break;
    }
}

// The record of the first dispatch comes first; if the task does not have the processor yet, the switch follows.
void Jobs::switch_to(const trace::Event& event, std::uint16_t context) {
    const auto beginning = m_beginning.extract(event.cpu);
    const auto task = m_tasks.find(context);
    if (task == m_tasks.end() || !task->second.open) {
        return;
    }
    Job& job = *task->second.open;
    if (!job.start || (!beginning.empty() && beginning.mapped() == context)) {
        job.start = Moment::of(event);
    }
}

void Jobs::finish() {
    for (auto& [context, task] : m_tasks) {
        end(task, std::nullopt, Outcome::unfinished);
    }
}

} // namespace host::schedule
