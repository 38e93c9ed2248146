// SPDX-License-Identifier: MIT
// When a job would have ended without some of the work around it: what its processor did, from the time when it was
// free for the task to the end of the job, is run once more, with parts left out.
//
//   items      |section      |H  |own  |own|      H precedes the task, and arrives when the job still waits
//   without    |own  |H  |own|                    the section: H arrives when it did, the job ends so much earlier
//
// Work that precedes the task runs as soon as it arrives. The task's own path is the rest, in order: its execution, and
// what it cannot continue without. A wait until a moment ends at this moment, whenever it begins.
#pragma once

#include "host/analyse/why/cause.hpp"
#include "host/schedule/executor.hpp"
#include "host/schedule/share.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace host::analyse::why {

struct Item {
    enum class Role : std::uint8_t {
        own,       // the task executes
        path,      // it cannot continue before this is done
        until,     // it cannot continue before `end`
        delay,     // it cannot continue before so much time has passed
        preceding, // runs when it arrives, whatever the task has to do
        undecided, // preceding if the executor precedes the task; else `otherwise`
        note,      // only for its length
    };

    Role role = Role::note;
    Role otherwise = Role::note;
    Cause cause = Cause::kernel;
    std::uint32_t who = schedule::kUnknownContext;    // task, vector or server; of a mutex its holder
    std::uint32_t object = 0;                         // mutex, or what the task waits for
    std::uint32_t wait = 0;                           // lock_across_wait: what the holder waits for
    std::uint32_t for_wait = 0;                       // it counts only as long as the task waits for this
    std::uint32_t worker = schedule::kUnknownContext; // the task that ends this wait
    schedule::Executor executor{};
    schedule::Executor ended_by{};
    lib::Ticks begin{};
    lib::Ticks end{};
    lib::Ticks arrival{};
    lib::Ticks excess{};    // of the length, beyond what the executing job declares
    lib::Ticks total{};     // execution of that job so far
    std::uint64_t job = 0;  // of the task; 0: it had none
    bool later = false;     // the executing job's deadlines are later, relative and absolute
    bool postponed = false; // after its server had postponed the task's deadline
    bool quiet = false;     // its length is another item's
    schedule::RecordPlace place{};

    [[nodiscard]] lib::Ticks length() const { return end - begin; }

    friend bool operator==(const Item&, const Item&) = default;
};

// How much of an item is left out.
using Removed = std::function<lib::Ticks(const Item&)>;

// When the last item of the task's path is complete. items: by their begin, none of them undecided.
[[nodiscard]] lib::Ticks end_without(std::span<const Item> items, const Removed& removed);

} // namespace host::analyse::why
