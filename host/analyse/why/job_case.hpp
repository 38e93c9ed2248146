// SPDX-License-Identifier: MIT
// All that is known of one job and of what surrounded it: the input of the diagnosis.
#pragma once

#include "host/analyse/why/story.hpp"
#include "host/schedule/accounting.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace host::analyse::why {

// What another task executed, from the job's release to its end.
struct OtherTask {
    lib::Ticks executed{};
    lib::Ticks excess{};      // of that, beyond the execution time that its jobs declare
    lib::Ticks later{};       // of that, by jobs whose deadline is later than this one's
    lib::Ticks busy_excess{}; // as excess, but since the processor was free for this task's priority
    lib::Ticks greatest{};    // execution of a job, as far as it had come
};

struct ServerFacts {
    std::uint16_t id = 0;
    std::optional<lib::ServerKind> kind{};
    std::uint64_t capacity_ns = 0; // Q
    std::uint64_t period_ns = 0;   // T
    std::uint64_t exhausted = 0;   // how often within the job
    lib::Ticks waited{};           // interference by tasks after that
};

struct JobCase {
    schedule::JobAccount account;
    Story story;
    schedule::RecordPlace released{}; // job_release
    schedule::RecordPlace ended{};
    std::optional<schedule::Moment> first_deadline{}; // as it was before the server postponed it
    std::optional<tracer::TaskParameters> parameters{};
    std::map<std::uint32_t, OtherTask> others{}; // by context; this task too
    lib::Ticks busy_since{};
    std::map<std::uint32_t, std::uint64_t> interrupts{};                    // begun within the job, by vector
    std::map<std::uint32_t, std::optional<lib::MutexProtocol>> protocols{}; // of the mutexes in its shares
    std::map<std::uint32_t, std::uint64_t> declared_ns{};                   // C of each of `others`, if declared
    std::optional<ServerFacts> server{};
    std::shared_ptr<const trace::Names> names; // as they were at its end

    // By which the job is judged: of a task that its server has postponed, the one that it had first. A server's
    // deadline means nothing for work that has no end of its own.
    [[nodiscard]] std::optional<schedule::Moment> deadline() const {
        if (server && account.job.outcome == schedule::Outcome::ended) {
            return std::nullopt;
        }
        return server && server->exhausted != 0 && first_deadline ? first_deadline : account.job.deadline;
    }

    [[nodiscard]] lib::Ticks share_of(schedule::Part part, schedule::By by) const {
        lib::Ticks sum{};
        for (const schedule::Share& share : account.shares) {
            if (share.culprit.part == part && share.culprit.by == by) {
                sum = sum + share.ticks;
            }
        }
        return sum;
    }
};

} // namespace host::analyse::why
