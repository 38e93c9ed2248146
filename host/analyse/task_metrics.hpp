// SPDX-License-Identifier: MIT
// The quantities of each task that follow from its jobs, as docs/metrics.md defines them. Memory depends on the number
// of tasks, and 8 bytes for each job. All times in ticks.
#pragma once

#include "host/analyse/durations.hpp"
#include "host/schedule/accounting.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace host::analyse {

// Of one task: of its complete jobs, but for missed.
class TaskMetrics {
  public:
    static constexpr std::array<std::uint32_t, 3> kPercentiles = {50, 90, 99};

    // A job that is complete.
    void add(const schedule::JobAccount& account);

    // In per cent, by the nearest rank; 0 without jobs. Reorders the response times.
    [[nodiscard]] lib::Ticks percentile(std::uint32_t percent) const;

    // Greatest less least.
    [[nodiscard]] lib::Ticks absolute_finishing_jitter() const { return response.greatest() - response.least(); }

    [[nodiscard]] lib::Ticks start_jitter() const { return start.greatest() - start.least(); }

    // The greatest difference of two consecutive jobs.
    [[nodiscard]] lib::Ticks relative_finishing_jitter() const { return m_relative; }

    [[nodiscard]] const Durations& part(schedule::Part of) const { return parts[static_cast<std::size_t>(of)]; }

    Durations response; // of all jobs that are complete
    Durations start;    // s - r, of those that ran
    // Of those whose parts are known.
    std::array<Durations, schedule::kPartNames.size()> parts;
    Durations gross;
    Durations records;                                                    // how many, not ticks
    std::array<lib::Ticks, schedule::kInversionNames.size()> blocking_by; // by inversion, in all
    std::uint64_t dispatches = 0;
    std::uint64_t preemptions = 0;
    std::uint64_t migrations = 0;
    std::uint64_t missed = 0; // of all jobs, however they ended

  private:
    mutable std::vector<std::uint64_t> m_responses;
    std::optional<std::uint64_t> m_job; // the latest one, by number
    lib::Ticks m_latest;                // its response time
    lib::Ticks m_relative;
};

// Of all tasks of a trace.
class TraceMetrics {
  public:
    void add(const schedule::JobAccount& account) {
        if (account.job.outcome == schedule::Outcome::completed) {
            m_tasks[account.job.context].add(account);
        }
        if (account.job.is_late()) {
            ++m_tasks[account.job.context].missed;
        }
    }

    // By context; of tasks with complete or missed jobs.
    [[nodiscard]] const std::map<std::uint16_t, TaskMetrics>& tasks() const { return m_tasks.values(); }

  private:
    trace::NumberMap<TaskMetrics> m_tasks;
};

} // namespace host::analyse
