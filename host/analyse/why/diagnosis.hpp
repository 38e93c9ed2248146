// SPDX-License-Identifier: MIT
// Finds what made a job late: each cause with its gain, the time by which the job would have ended earlier without the
// cause, by a replay of its window. The first causes of the list are those without which the job would have been on
// time. One cause that suffices alone comes before several, and a fault (a broken promise, a missing protocol) before
// load that had to be expected.
#pragma once

#include "host/analyse/why/job_case.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace host::analyse::why {

struct Finding {
    Cause cause = Cause::unknown;
    lib::Ticks gain{};                             // how much earlier the job would have ended without it
    lib::Ticks took{};                             // how much time it took
    std::uint32_t who = schedule::kUnknownContext; // the task, vector or server; for a mutex its holder
    std::uint32_t object = 0;                      // the mutex that `who` holds, or what the job waited for
    std::uint32_t wait = 0;                        // for lock_across_wait: what the holder waited for
    schedule::RecordPlace place{};                 // the record with which the longest piece begins
    lib::Ticks longest{};                          // the length of that piece
    schedule::Executor ended_by{};                 // for late_event: what ran when the wait ended
    schedule::Executor begun_by{};                 // for late_event: the task that suspended the job's
    lib::Ticks greatest{};                         // for overruns: the execution of a job so far
    std::vector<std::uint32_t> tasks{};            // for priority_order, load, missing_inheritance: the tasks that ran
    bool decisive = false; // for server_budget: before its first deadline the server had less than the job needed
    std::shared_ptr<const Chain> chain{}; // from the job to the mutex, in the longest piece; null without a mutex
    std::optional<lib::Ticks> since{};    // for others_overrun: it counts from this time, not from the release
};

struct Diagnosis {
    // This is f - d, none without a deadline.
    std::optional<std::int64_t> lateness{};
    std::vector<Finding> findings; // the most important first
    // Without this number of the first findings the job would have been on time. 0 if it was on time, has no deadline,
    // or no group of causes suffices.
    std::size_t needed = 0;
    lib::Ticks together{}; // how much earlier it would have ended without these

    [[nodiscard]] bool is_late() const { return lateness && *lateness > 0; }
};

// Precondition: is_known() of the job's account. ticks_per_record: the cost of a record; 0 if it is not known.
[[nodiscard]] Diagnosis diagnose(const JobCase& job, double ticks_per_record);

// Returns whether the causes that made `first` late, an earlier job of the same task, also made `job` late.
[[nodiscard]] bool explains(const JobCase& first, const Diagnosis& diagnosis, const JobCase& job);

} // namespace host::analyse::why
