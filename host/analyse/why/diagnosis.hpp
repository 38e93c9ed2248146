// SPDX-License-Identifier: MIT
// What made a job late: each cause with the time that the job would have ended earlier without it, by a replay of its
// window. The first causes of the list are those without which it would have been on time; one that suffices alone
// comes before several, a fault (a promise that was broken, a protocol that is missing) before load that was to be
// expected.
#pragma once

#include "host/analyse/why/job_case.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace host::analyse::why {

struct Finding {
    Cause cause = Cause::unknown;
    lib::Ticks gain{};                             // so much earlier without it
    lib::Ticks took{};                             // so much it took
    std::uint32_t who = schedule::kUnknownContext; // task, vector or server; of a mutex its holder
    std::uint32_t object = 0;                      // mutex, or what it waited for
    std::uint32_t wait = 0;                        // lock_across_wait: what the holder waited for
    schedule::RecordPlace place{};                 // where the longest piece begins
    lib::Ticks longest{};                          // that piece
    schedule::Executor ended_by{};                 // late_event: what ran when the wait ended
    lib::Ticks greatest{};                         // overruns: execution of a job, as far as it had come
    std::vector<std::uint32_t> tasks{};            // priority_order, load, missing_inheritance: which
    bool decisive = false; // server_budget: before its first deadline the server had less than the job needed
    std::optional<lib::Ticks> since{}; // others_overrun: it counts from there, not from the release
};

struct Diagnosis {
    // f - d; nothing without a deadline.
    std::optional<std::int64_t> lateness{};
    std::vector<Finding> findings; // the most important first
    // Without this number of the first ones it would have been on time; 0 if it was, has no deadline, or no cause and
    // no group of causes suffices.
    std::size_t needed = 0;
    lib::Ticks together{}; // so much earlier without these

    [[nodiscard]] bool is_late() const { return lateness && *lateness > 0; }
};

// Precondition: the job is_known(). ticks_per_record: of the tracer; 0 if it is not known.
[[nodiscard]] Diagnosis diagnose(const JobCase& job, double ticks_per_record);

// Whether what made `first` late, an earlier job of the same task, made `job` late, too.
[[nodiscard]] bool explains(const JobCase& first, const Diagnosis& diagnosis, const JobCase& job);

} // namespace host::analyse::why
