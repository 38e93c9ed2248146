// SPDX-License-Identifier: MIT
// Some events of the table, as a table by code: one look-up, where a switch before each call would cost more than what
// most events have to do there. Usage: if (kAnyOf<"task_block", "task_unblock">[event.code]).
#pragma once

#include "host/trace/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace host::trace {

template <lib::FixedString... Names>
inline constexpr std::array<bool, 256> kAnyOf = [] {
    std::array<bool, 256> set{};
    ((set[kCodeOf<Names>] = true), ...);
    return set;
}();

// The events that say which records of a family are filtered from there on.
inline constexpr auto kSetsFilter = [] {
    std::array<bool, 256> set{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        set[row.code] = row.name.starts_with("filter_");
    }
    return set;
}();

// A loop over plain events whose body is compiled once for each frequent code: what it does at an event is known where
// the code is, so its switches and tables cost nothing there, and an event that it does nothing with costs a call. All
// other codes have one body, with the code as a variable.
//
// What runs write in their tasks' jobs.
inline constexpr auto kFrequent = std::to_array<std::uint8_t>({kCodeOf<"interrupt_start">,
                                                               kCodeOf<"interrupt_end">,
                                                               kCodeOf<"timer_wakeup_start">,
                                                               kCodeOf<"timer_wakeup_end">,
                                                               kCodeOf<"task_timer">,
                                                               kCodeOf<"task_schedule">,
                                                               kCodeOf<"task_dispatch">,
                                                               kCodeOf<"context_switch">,
                                                               kCodeOf<"task_epilogue">,
                                                               kCodeOf<"job_release">,
                                                               kCodeOf<"job_deadline">,
                                                               kCodeOf<"task_begin_cycle">,
                                                               kCodeOf<"task_end_cycle">,
                                                               kCodeOf<"task_block">,
                                                               kCodeOf<"task_unblock">,
                                                               kCodeOf<"set_mutex_lock">,
                                                               kCodeOf<"set_mutex_acquire">,
                                                               kCodeOf<"set_mutex_unlock">,
                                                               kCodeOf<"CLI">,
                                                               kCodeOf<"STI">,
                                                               kCodeOf<"user_event_0">});

// each(event, position, code): code is a constant (std::integral_constant) if it is frequent.
template <typename Each>
class ByCode {
  public:
    static void run(std::span<const Event> events, Each& each) {
        for (std::size_t i = 0; i < events.size(); ++i) {
            kSteps[events[i].code](events[i], i, each);
        }
    }

  private:
    using Step = void (*)(const Event& event, std::size_t position, Each& each);

    template <std::uint8_t Code>
    static void step(const Event& event, std::size_t position, Each& each) {
        each(event, position, std::integral_constant<std::uint8_t, Code>{});
    }

    static void step_any(const Event& event, std::size_t position, Each& each) { each(event, position, event.code); }

    static constexpr std::array<Step, 256> kSteps = []<std::size_t... Index>(std::index_sequence<Index...>) {
        std::array<Step, 256> steps{};
        steps.fill(step_any);
        ((steps[kFrequent[Index]] = step<kFrequent[Index]>), ...);
        return steps;
    }
    (std::make_index_sequence<kFrequent.size()>());
};

template <typename Each>
void for_each_by_code(std::span<const Event> events, Each each) {
    ByCode<Each>::run(events, each);
}

} // namespace host::trace
