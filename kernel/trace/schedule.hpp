// SPDX-License-Identifier: MIT
// The bridge's part for levels, decisions, context switches and timers. See bridge.hpp for the rules.
#pragma once

#include "kernel/state/processor.hpp"
#include "kernel/trace/bridge.hpp"

namespace kernel::trace_points {

// The function takes a Level, whose room is above this one. Its name is a virtual call, which no compiler leaves out,
// hence the condition.
template <typename Level>
[[gnu::always_inline]] inline void level_registered(const Level& level) {
    if constexpr (detail::kOn) {
        detail::add_name(tracer::NameKind::level, level.index(), level.name());
    }
}

// Every decision is recorded, also one that changes nothing.
[[gnu::always_inline]] inline void task_scheduled(const Task& exec_shadow, const Task& exec) {
    tracer::log<"task_schedule">(exec_shadow.context, exec.context);
}

[[gnu::always_inline]] inline void task_dispatched(const Task& task) {
    tracer::log<"task_dispatch">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_epilogue(const Task& task) {
    tracer::log<"task_epilogue">(task.context, task.level_index);
}

// It is called at the switch, on the old stack.
[[gnu::always_inline]] inline void context_switched(const Task& to) {
    tracer::log<"context_switch">(to.context);
}

// It is called after a lock that blocked. It records if the choice was to let an owner run in another task's position.
[[gnu::always_inline]] inline void inherited(const Processor& cpu) {
    if constexpr (detail::kOn) {
        if (cpu.exec != cpu.exec_shadow) {
            tracer::log<"inheritance">(cpu.exec_shadow->context, cpu.exec->context);
        }
    }
}

// --- timers --------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void timer_posted(std::uint16_t index) {
    tracer::log<"timer_post">(0, index);
}

[[gnu::always_inline]] inline void timer_deleted(std::uint16_t index) {
    tracer::log<"timer_delete">(0, index);
}

[[gnu::always_inline]] inline void timer_wakeup_started() {
    tracer::log<"timer_wakeup_start">();
}

[[gnu::always_inline]] inline void timer_wakeup_ended(const Task* interrupted) {
    tracer::log<"timer_wakeup_end">(detail::context_of(interrupted));
}

} // namespace kernel::trace_points
