// SPDX-License-Identifier: MIT
// Activations that find their task busy, for the levels whose models choose an Overlap: refused, dropped and counted
// (SKIP), or kept with their time until the job before is complete (SAVE). Not for HARD tasks, whose releases have
// promised times. All functions irq-off.
#pragma once

#include "kernel/state/task_object.hpp"
#include "lib/result.hpp"

#include <array>
#include <optional>

namespace kernel {

class SavedArrivals {
  public:
    constexpr SavedArrivals() = default;
    SavedArrivals(const SavedArrivals&) = delete;
    SavedArrivals& operator=(const SavedArrivals&) = delete;

    // busy: the overlap refuses. no_space: kSavedArrivalsMax are kept already; this one is dropped and counted.
    lib::Result<void> add(Task& task, Overlap overlap, lib::Ticks at);

    // The oldest that is kept, no longer kept then.
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

} // namespace kernel
