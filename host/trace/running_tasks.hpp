// SPDX-License-Identifier: MIT
// Knows in which task an event of the application was logged: the one that had the processor, also if a handler of its
// interrupts logged it. The records of these events do not name it.
#pragma once

#include "host/trace/event.hpp"

#include <cstdint>
#include <optional>

namespace host::trace {

using OptionalTask = std::optional<std::uint16_t>;

class RunningTasks {
  public:
    // Must be called with each event, in time order. Returns the task of an event of the application; none for any
    // other event, and where no record states what runs (trace_start does).
    OptionalTask take(const Event& event) {
        if (event.after_hole) [[unlikely]] {
            m_running[event.cpu].reset();
        }
        return kConcerns[event.code] && event.is_sound() && !is_foreign(event) ? follow(event) : std::nullopt;
    }

  private:
    static constexpr const auto& kOfApplication =
        kAnyOf<"typed_event", "formatted_event", "ipoint", "user_event_0", "user_event_1", "user_event_2",
               "user_event_3", "user_event_4", "user_event_5", "user_event_6", "user_event_7", "user_event_8",
               "user_event_9", "user_event_10", "user_event_11", "user_event_12", "user_event_13", "user_event_14">;

    static constexpr auto kConcerns = [] {
        auto set = kOfApplication;
        for (const std::uint8_t code : {kCodeOf<"context_switch">, kCodeOf<"blackout_start">, kCodeOf<"blackout_end">,
                                        kCodeOf<"trace_start">, kCodeOf<"filter_priority">}) {
            set[code] = true;
        }
        return set;
    }();

    OptionalTask follow(const Event& event) {
        OptionalTask& running = m_running[event.cpu];
        if (kOfApplication[event.code]) {
            return running;
        }
        const bool starts = event.code == kCodeOf<"trace_start"> && event.par1 != 0; // 0: no task yet
        if (starts || event.code == kCodeOf<"context_switch">) {
            running = event.par1;
        } else if (event.code == kCodeOf<"filter_priority">) {
            m_running.clear(); // switches are not recorded, on any processor
        } else {
            running.reset(); // records are missing, or tracing was off
        }
        return std::nullopt;
    }

    NumberMap<OptionalTask> m_running; // by processor
};

} // namespace host::trace
