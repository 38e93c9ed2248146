// SPDX-License-Identifier: MIT
// Declares what a task is to an application: its number, its states and counts, its model, and the reactions to its
// exceptions. A model is what a task asks of the scheduler, in the published words: HARD (a worst-case execution time
// and a deadline, promised), SOFT (a share of the processor, by a server of its own), served (requests of a shared
// server), a single guaranteed job, NRT (no guarantee, time slices), and BACKGROUND (only when no other task wants the
// processor). The model alone decides which level schedules the task.
#pragma once

#include "kernel/config.hpp"
#include "lib/assert.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <compare>
#include <cstdint>
#include <variant>

namespace kernel {

// The number of a task is an index into the task table, 0 to kTasksMax - 1. It is used again after the task has ended;
// the context number of the trace is used again only after all 65,535 have been.
struct Pid {
    std::uint16_t value = 0;

    friend constexpr auto operator<=>(Pid, Pid) = default;
};

using TaskBody = void (*)(void* argument);

enum class TaskState : std::uint8_t {
    free,     // no task has this number
    sleeping, // created, or after task_sleep(): waits for task_activate()
    ready,    // has work and is in its level's queue; also while it runs, and while a mutex holds it up
    idle,     // its job is complete: waits for the next release
    delayed,  // in task_delay()
    waiting,  // for a unit, a message, a signal of a condition, or a mutex without a protocol
};

// Counts jobs since the task was created.
struct JobCounts {
    std::uint64_t released = 0;
    std::uint64_t completed = 0;
    std::uint64_t deadline_misses = 0;
    std::uint64_t wcet_violations = 0;
    std::uint64_t activation_violations = 0;
    std::uint64_t faults = 0;
    std::uint64_t aborted = 0; // among the completed
    std::uint64_t skipped = 0; // activations that were dropped
};

// --- models

// HARD tasks compete by absolute deadlines (EDF), or by fixed priorities, the shorter relative deadline first (RM,
// where deadlines are periods).
enum class HardPriority : std::uint8_t {
    dynamic,
    fixed,
};

enum class Arrival : std::uint8_t {
    periodic, // the kernel releases a job every period
    sporadic, // task_activate() releases a job; one that is less than a period after the last is a violation, and waits
};

// States the consequence of an activation that finds the task busy.
enum class Overlap : std::uint8_t {
    refuse, // the caller gets the error busy
    skip,   // it is dropped and counted (the published SKIP)
    save,   // it is kept, at most kSavedArrivalsMax of them: its job follows the one before (the published SAVE)
};

struct HardModel {
    lib::Nanoseconds wcet;                // of one job; 0 < wcet <= relative deadline
    lib::Nanoseconds period;              // the published "mit"; > 0
    lib::Nanoseconds relative_deadline{}; // 0 means the period; at most the period
    lib::Nanoseconds offset{};            // from activation to the first release; 0 for a sporadic task
    HardPriority priority = HardPriority::dynamic;
    Arrival arrival = Arrival::periodic;
};

enum class Reclaiming : std::uint8_t {
    none, // constant bandwidth server (CBS)
    grub, // greedy reclamation of unused bandwidth (GRUB)
};

struct SoftModel {
    lib::Nanoseconds budget; // of the task's server in each period; kServerBudgetMin <= budget <= period
    lib::Nanoseconds period;
    Overlap overlap = Overlap::save;
    Reclaiming reclaiming = Reclaiming::none;
    bool periodic = false; // true: the kernel releases a job every period; false: task_activate() does
};

// Is the number of a server, from 1 on, as in the trace; 0 is no server.
struct ServerId {
    std::uint16_t value = 0;

    friend constexpr bool operator==(ServerId, ServerId) = default;
};

struct ServedModel {
    ServerId server; // of server_create()
    Overlap overlap = Overlap::save;
};

// Asks for one job, after which the task ends by itself; its reservation lasts until the deadline.
struct JobModel {
    lib::Nanoseconds wcet;     // 0 < wcet <= deadline
    lib::Nanoseconds deadline; // relative to the activation
};

enum class NrtPolicy : std::uint8_t {
    round_robin,
    fifo, // runs until it blocks or its job is complete
};

struct NrtModel {
    lib::Nanoseconds slice = kSliceDefault; // > 0
    std::uint32_t weight = 1;               // > 0; for proportional-share levels: round robin treats all tasks alike
    Overlap overlap = Overlap::refuse;
    NrtPolicy policy = NrtPolicy::round_robin;
};

struct BackgroundModel {};

using TaskModel = std::variant<HardModel, NrtModel, BackgroundModel, SoftModel, ServedModel, JobModel>;

// --- exceptions and signals

using lib::Reaction;
using lib::TaskException;

// States the kernel's reaction to each kind of exception, when a task breaks its promise, or when the processor raises
// a fault in it. Every exception is counted and recorded first, whatever the reaction is.
struct Reactions {
    Reaction deadline_miss = Reaction::count;
    Reaction wcet = Reaction::count;
    Reaction activation = Reaction::count;
    Reaction fault = Reaction::panic; // `panic`, `abort` or `kill`

    [[nodiscard]] constexpr Reaction to(TaskException exception) const {
        switch (exception) {
        case TaskException::deadline_miss:
            return deadline_miss;
        case TaskException::wcet:
            return wcet;
        case TaskException::activation:
            return activation;
        case TaskException::fault:
            return fault;
        }
        return Reaction::panic;
    }
};

// The handler of exceptions gets the exception and the argument of exception_handler_set(). It runs in the task's own
// context with interrupts on, and is not nested for the same exception. It may block, end the job, or end the task.
using ExceptionHandler = void (*)(TaskException exception, void* argument);

// The handler of a signal gets the signal and the argument of signal_handler_set(), under the same rules.
using SignalHandler = void (*)(std::uint8_t signo, void* argument);

inline constexpr std::uint8_t kSignalMin = 1;
inline constexpr std::uint8_t kSignalMax = 31;

// --- for the kernel

// Precondition: the model is of this kind.
template <typename Kind>
[[nodiscard]] const Kind& model_as(const TaskModel& model) {
    const Kind* const kind = std::get_if<Kind>(&model);
    ASSERT(kind != nullptr);
    return *kind;
}

} // namespace kernel
