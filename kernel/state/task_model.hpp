// SPDX-License-Identifier: MIT
// What a task asks of the scheduler, in the published words: HARD (a worst-case execution time and a deadline,
// promised), SOFT (a share of the processor, by a server of its own), served (requests of a shared server), a single
// guaranteed job, NRT (no guarantee, time slices), and BACKGROUND (only when nothing else wants the processor). A level
// is chosen by the model alone. All times in nanoseconds.
#pragma once

#include "kernel/config.hpp"
#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <variant>

namespace kernel {

// How HARD tasks compete: by absolute deadlines (EDF), or by fixed priorities, the shorter relative deadline first (RM,
// where deadlines are periods).
enum class HardPriority : std::uint8_t {
    dynamic,
    fixed,
};

enum class Arrival : std::uint8_t {
    periodic, // released by the kernel, every period
    sporadic, // released by task_activate(), at least a period apart: sooner is an activation violation, and waits
};

// What becomes of an activation that finds the task busy.
enum class Overlap : std::uint8_t {
    refuse, // the caller gets busy
    skip,   // dropped and counted (the published SKIP)
    save,   // kept and counted: the job follows when the one before is complete (the published SAVE)
};

struct HardModel {
    lib::Nanoseconds wcet;                // of one job; 0 < wcet <= relative deadline
    lib::Nanoseconds period;              // the published "mit"; > 0
    lib::Nanoseconds relative_deadline{}; // 0 means the period; at most the period
    lib::Nanoseconds offset{};            // from activation to the first release
    HardPriority priority = HardPriority::dynamic;
    Arrival arrival = Arrival::periodic;
};

enum class Reclaiming : std::uint8_t {
    none, // constant bandwidth server (CBS)
    grub, // greedy reclamation of unused bandwidth (GRUB)
};

struct SoftModel {
    lib::Nanoseconds budget; // of the task's server in each period; 0 < budget <= period
    lib::Nanoseconds period; // > 0
    Overlap overlap = Overlap::save;
    Reclaiming reclaiming = Reclaiming::none;
    bool periodic = false; // released by the kernel every `period`, else by task_activate()
};

// Small, from 1 on, as in the trace; 0 is no server.
struct ServerId {
    std::uint16_t value = 0;

    friend constexpr bool operator==(ServerId, ServerId) = default;
};

struct ServedModel {
    ServerId server; // of server_create()
    Overlap overlap = Overlap::save;
};

// One job, then the task ends by itself; its reservation lasts until the deadline.
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
    std::uint32_t weight = 1;               // for proportional-share levels; round robin treats all alike
    Overlap overlap = Overlap::refuse;
    NrtPolicy policy = NrtPolicy::round_robin;
};

struct BackgroundModel {};

using TaskModel = std::variant<HardModel, NrtModel, BackgroundModel, SoftModel, ServedModel, JobModel>;

// Precondition: the model is of this kind.
template <typename Kind>
[[nodiscard]] const Kind& model_as(const TaskModel& model) {
    const Kind* const kind = std::get_if<Kind>(&model);
    ASSERT(kind != nullptr);
    return *kind;
}

} // namespace kernel
