// SPDX-License-Identifier: MIT
// Declares what several levels use: activations that find their task busy, and the numbers of servers.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace kernel {

// Handles activations that find their task busy, for the levels whose models choose an Overlap. They are refused,
// dropped and counted (SKIP), or kept with their time until the job before is complete (SAVE). HARD tasks do not use
// this, because their releases have promised times. All functions need interrupts off.

class SavedArrivals {
  public:
    constexpr SavedArrivals() = default;
    SavedArrivals(const SavedArrivals&) = delete;
    SavedArrivals& operator=(const SavedArrivals&) = delete;

    // Handles an activation. busy: the overlap refuses it. no_space: kSavedArrivalsMax are kept already; this one is
    // dropped and counted.
    lib::Result<void> add(Task& task, Overlap overlap, lib::Ticks at);

    // Returns the oldest activation that is kept, and keeps it no longer.
    [[nodiscard]] std::optional<lib::Ticks> take(const Task& task);

    void drop_all(const Task& task) { m_rings[task.pid.value].count = 0; }

  private:
    struct Ring {
        std::array<lib::Ticks, kSavedArrivalsMax> times{};
        std::uint16_t first = 0;
        std::uint16_t count = 0;
    };

    std::array<Ring, kTasksMax> m_rings{}; // by pid
};

// All kinds of servers share one sequence of numbers, which the trace carries. Numbers begin at 1 and are used again
// only after 65,534 others.

[[nodiscard]] inline std::uint16_t fresh_server_id(IrqOff) {
    static constinit std::uint16_t last = 0;
    ++last;
    last = last != 0 ? last : std::uint16_t{1};
    return last;
}

} // namespace kernel
