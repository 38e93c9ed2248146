// SPDX-License-Identifier: MIT
// All that is known of one job and of what surrounded it: the input of the diagnosis.
#pragma once

#include "host/analyse/why/replay.hpp"
#include "host/analyse/why/story.hpp"
#include "host/schedule/accounting.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace host::analyse::why {

struct ServerFacts {
    std::uint16_t id = 0;
    std::optional<lib::ServerKind> kind{};
    std::uint64_t capacity_ns = 0; // Q
    std::uint64_t period_ns = 0;   // T
    std::uint64_t exhausted = 0;   // how often within the job
};

struct JobCase {
    schedule::JobAccount account;
    Story story;
    schedule::RecordPlace released{}; // job_release
    schedule::RecordPlace ended{};
    std::optional<tracer::TaskParameters> parameters{};
    // What the processor did since it was free for the task; null of jobs that are not explained.
    std::shared_ptr<const std::vector<Item>> window{};
    std::map<std::uint32_t, std::uint64_t> interrupts{};                    // begun within the job, by vector
    std::map<std::uint32_t, std::optional<lib::MutexProtocol>> protocols{}; // of the mutexes in its shares
    std::map<std::uint32_t, std::uint64_t> declared_ns{};                   // C of each task in the window, if declared
    std::optional<ServerFacts> server{};
    std::optional<schedule::Piece> unended_wait{}; // during which the job ended, without having been woken
    std::shared_ptr<const trace::Names> names;     // as they were at its end

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
