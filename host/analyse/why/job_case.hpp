// SPDX-License-Identifier: MIT
// Collects what is known of one job and of what surrounded it, as the input of the diagnosis: its story, the replay of
// its window, and the causes that can make it late.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/executor.hpp"
#include "host/schedule/share.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::analyse::why {

// Names what can make a job late.
enum class Cause : std::uint8_t {
    missing_inheritance, // a task that does not hold the mutex ran while the holder could not
    lock_across_wait,    // the holder of a mutex waited for something else
    own_overrun,         // the job executed for longer than its task declares
    others_overrun,      // another task, or an earlier job of this one, executed for longer than declared
    server_budget,       // the job's server had no budget, or had postponed its deadline
    priority_order,      // tasks with later deadlines preceded it
    interrupts_off,      // a task kept interrupts off when the job was due to be released or to run
    interrupt_load,      // the handlers of one vector
    critical_section,    // that of the task that held the mutex
    late_event,          // what the job waited for came late
    tracing,             // the records that were written meanwhile
    load,                // tasks that precede it executed, as declared
    execution,           // the job executed, as declared
    kernel,              // switches and decisions of the kernel
    unknown,             // no record states what ran, or who held the mutex
};

inline constexpr std::array<std::string_view, 15> kCauseNames = {
    "missing_inheritance", "lock_across_wait", "own_overrun",      "others_overrun", "server_budget", "priority_order",
    "interrupts_off",      "interrupt_load",   "critical_section", "late_event",     "tracing",       "load",
    "execution",           "kernel",           "unknown"};

[[nodiscard]] constexpr std::string_view cause_name(Cause cause) {
    return kCauseNames[static_cast<std::size_t>(cause)];
}

// A mutex on the way from a task that waits for one to the task that keeps the first of them from running.
struct Link {
    std::uint32_t mutex = 0;
    std::uint32_t holder = schedule::kUnknownContext;
    std::optional<lib::MutexProtocol> protocol{}; // none: no record states it
};

// The first mutex is the one that the task waits for. Each holder but the last waits for the next mutex.
using Chain = std::vector<Link>;

// The replay finds when a job would have ended without some of the work around it: it runs what the processor did once
// more, with parts left out, from the time when the processor was free for the task to the end of the job.
//
//   items      |section      |H  |own  |own|      H precedes the task, and arrives when the job still waits
//   without    |own  |H  |own|                    the section: H arrives when it did, and the job ends earlier
//
// Work that precedes the task runs as soon as it arrives. The task's own path is the rest, in order: its execution, and
// what it cannot continue without. A wait until a moment ends at this moment, whenever it begins.
struct Item {
    enum class Role : std::uint8_t {
        own,       // the task executes
        path,      // the task cannot continue before this is done
        until,     // the task cannot continue before `end`
        delay,     // the task cannot continue before this much time has passed
        preceding, // runs when it arrives, whatever the task has to do
        undecided, // preceding if the executor precedes the task, else `otherwise`
        note,      // does not delay the task; it only has a length
    };

    Role role = Role::note;
    Role otherwise = Role::note;
    Cause cause = Cause::kernel;
    std::uint32_t who = schedule::kUnknownContext;    // the task, vector or server; for a mutex its holder
    std::uint32_t object = 0;                         // the mutex, or what the task waits for
    std::uint32_t wait = 0;                           // for lock_across_wait: what the holder waits for
    std::uint32_t for_wait = 0;                       // the item only counts while the task waits for this
    std::uint32_t worker = schedule::kUnknownContext; // the task that ends this wait
    schedule::Executor executor{};
    schedule::Executor ended_by{};
    schedule::Executor begun_by{}; // a task that suspended this one; else unknown
    lib::Ticks begin{};
    lib::Ticks end{};
    lib::Ticks arrival{};
    lib::Ticks excess{};    // the part of the length beyond what the executing job's task declares
    lib::Ticks total{};     // the execution of that job so far
    std::uint64_t job = 0;  // the number of the task's job; 0: it had none
    bool later = false;     // the deadlines of the executing job are later, relative and absolute
    bool postponed = false; // it happened after the server had postponed the task's deadline
    bool quiet = false;     // its length is that of another item
    schedule::RecordPlace place{};
    std::shared_ptr<const Chain> chain{}; // null: no mutex kept the task from running

    [[nodiscard]] lib::Ticks length() const { return end - begin; }

    friend bool operator==(const Item&, const Item&) = default;
};

// Returns how much of an item is left out.
using Removed = std::function<lib::Ticks(const Item&)>;

// Returns when the last item of the task's path is complete. items: in the order of their begin; none may be undecided.
[[nodiscard]] lib::Ticks end_without(std::span<const Item> items, const Removed& removed);

// The story is what happened to one job, from its release to its end, in few passages. Pieces that follow each other
// are united, the shortest first, and neighbours with the same main culprit before others. Every tick stays in the
// portion of its culprit.
//
//   pieces     |CC|k|HHHHHHHH|k|CC|v|CCCC|BBBBBBBBBBBBBBBB|CC|      k kernel   v handler
//   passages   | C |    H      |   C     |       B        |C |

// Is the part of a passage that one culprit took.
struct Portion {
    schedule::Culprit culprit;
    lib::Ticks ticks{};
    schedule::Executor ended_by{}; // for a suspension: what ran when the wait ended
};

struct Passage {
    lib::Ticks begin{};
    lib::Ticks end{};
    schedule::RecordPlace place{}; // the record with which it begins
    std::vector<Portion> portions; // in descending order of ticks

    [[nodiscard]] lib::Ticks length() const { return end - begin; }
};

class Story {
  public:
    // Must be called in time order.
    void add(const schedule::Piece& piece);

    // Unites passages until there are at most `most` and none is shorter than 1 / 200 of the whole.
    void reduce(std::size_t most);

    [[nodiscard]] const std::vector<Passage>& passages() const { return m_passages; }

  private:
    static constexpr std::size_t kPassagesMax = 512; // if there are more, they are reduced to half of it

    void unite(std::size_t first);

    std::vector<Passage> m_passages;
};

struct ServerFacts {
    std::uint16_t id = 0;
    std::optional<lib::ServerKind> kind{};
    std::uint64_t capacity_ns = 0;          // Q
    std::uint64_t period_ns = 0;            // T
    std::uint64_t exhausted = 0;            // how often its budget was used up within the job
    std::optional<lib::Ticks> left{};       // of its budget, at the release
    std::optional<lib::Ticks> found_none{}; // since when it has no budget because it polled and found no request
};

// The number of a handler of exceptions, as opposed to those of signals.
inline constexpr std::uint32_t kExceptionHandlers = 0x1'0000;

struct JobCase {
    schedule::JobAccount account;
    Story story;
    schedule::RecordPlace released{}; // the record job_release
    schedule::RecordPlace ended{};
    std::optional<tracer::TaskParameters> parameters{};
    // Holds what the processor did since it was free for the task; null if the job is not explained.
    std::shared_ptr<const std::vector<Item>> window{};
    std::map<std::uint32_t, std::uint64_t> interrupts{}; // how many began within the job, by vector
    // How often a signal was delivered to it, by its number, or an exception to its handler, by kExceptionHandlers and
    // its number. What their handlers execute is execution of the job.
    std::map<std::uint32_t, std::uint64_t> handlers{};
    std::map<std::uint32_t, std::uint64_t> declared_ns{}; // C of each task in the window that declares it
    std::optional<ServerFacts> server{};
    std::optional<schedule::Piece> latest{};       // its latest piece
    std::optional<schedule::Piece> unended_wait{}; // the wait in which the job ended without having been woken
    bool open_at_end = false;                      // it was not complete when the trace ended
    std::shared_ptr<const trace::Names> names;     // the names as they were at its end

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
