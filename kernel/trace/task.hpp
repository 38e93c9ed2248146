// SPDX-License-Identifier: MIT
// This part of the bridge records a task's life: its jobs, waits, exceptions and signals. bridge.hpp has the rules.
//
// Deadlines are recorded twice: in microseconds of the kernel's clock, low 32 bits, and exactly, low 32 bits of ticks.
#pragma once

#include "arch/arch.hpp"
#include "kernel/trace/bridge.hpp"
#include "tracer/typed_event.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

namespace kernel::trace_points {

namespace detail {

[[nodiscard]] inline tracer::TaskParameters parameters_of(const Task& task) {
    tracer::TaskParameters parameters;
    parameters.level = task.level_index;
    if (const auto* const hard = std::get_if<HardModel>(&task.model)) {
        parameters.wcet_ns = hard->wcet.value;
        parameters.period_ns = hard->period.value;
        parameters.deadline_ns =
            hard->relative_deadline.value != 0 ? hard->relative_deadline.value : hard->period.value;
        parameters.offset_ns = hard->offset.value;
    } else if (const auto* const soft = std::get_if<SoftModel>(&task.model)) {
        parameters.budget_ns = soft->budget.value;
        parameters.period_ns = soft->period.value;
    } else if (const auto* const job = std::get_if<JobModel>(&task.model)) {
        parameters.wcet_ns = job->wcet.value;
        parameters.deadline_ns = job->deadline.value;
    } else if (const auto* const nrt = std::get_if<NrtModel>(&task.model)) {
        parameters.budget_ns = nrt->policy == NrtPolicy::fifo ? 0 : nrt->slice.value;
    }
    return parameters;
}

[[nodiscard]] inline std::uint32_t exception_word(TaskException exception, Reaction reaction) {
    return (static_cast<std::uint32_t>(exception) << 16) | static_cast<std::uint32_t>(reaction);
}

[[nodiscard]] inline std::uint32_t wait_word(Wait wait) {
    return (static_cast<std::uint32_t>(wait.kind) << 16) | wait.id;
}

inline constinit tracer::TypedEvent<std::string_view, std::string_view> g_task_refused{"task_refused",
                                                                                       {{"task"}, {"error"}}};

} // namespace detail

// A task that the application asked for does not exist: no context is free, or admission control refused it.
inline void task_refused(std::string_view name, lib::Error error) {
    if constexpr (detail::kOn) {
        detail::g_task_refused.log(name, lib::error_name(error));
    }
}

[[gnu::always_inline]] inline void task_created(const Task& task) {
    if constexpr (detail::kOn) {
        tracer::instance().names.add_task(task.context, task.pid.value, task.name.view(), detail::parameters_of(task));
    }
    tracer::log<"task_create">(task.context, task.pid.value);
}

[[gnu::always_inline]] inline void task_activated(const Task& task) {
    tracer::log<"task_activate">(task.context);
}

[[gnu::always_inline]] inline void task_cycle_begun(const Task& task) {
    tracer::log<"task_begin_cycle">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_cycle_ended(const Task& task) {
    tracer::log<"task_end_cycle">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_slept(const Task& task) {
    tracer::log<"task_sleep">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_disabled(const Task& task) {
    tracer::log<"task_disable">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_timer_released(const Task& task) {
    tracer::log<"task_timer">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_deadline_missed(const Task& task) {
    tracer::log<"task_deadline_miss">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_wcet_violated(const Task& task) {
    tracer::log<"task_wcet_violation">(task.context, task.level_index);
}

// The job becomes the one in progress, and the task enters its ready queue; `release` is when it should.
[[gnu::always_inline]] inline void job_released(const Task& task, lib::Ticks release) {
    tracer::log<"job_release">(task.context, detail::low_half(release));
}

// Records the deadline by which the job competes from here on.
[[gnu::always_inline]] inline void job_deadline_set(const Task& task, lib::Ticks deadline) {
    if constexpr (detail::kOn) {
        tracer::log<"job_deadline">(task.context, detail::low_half(deadline));
        tracer::log<"set_priority">(
            task.context, static_cast<std::uint32_t>(arch::tick_conversion().to_nanoseconds(deadline).value / 1'000));
    }
}

// task_set_deadline() has changed the deadline; that of the job in progress only if job_deadline_set() follows.
[[gnu::always_inline]] inline void deadline_changed(const Task& task, lib::Nanoseconds relative) {
    if constexpr (detail::kOn) {
        tracer::log<"deadline_change">(task.context, detail::saturated_32(relative.value / 1'000));
    }
}

// An activation found the task busy and is dropped.
[[gnu::always_inline]] inline void job_skipped(const Task& task) {
    tracer::log<"job_skipped">(task.context, task.level_index);
}

// An activation found the task busy and waits; `pending` activations wait now.
[[gnu::always_inline]] inline void job_queued(const Task& task, std::uint32_t pending) {
    tracer::log<"job_queued">(task.context, pending);
}

// A sporadic task was activated too early.
[[gnu::always_inline]] inline void activation_violated(const Task& task) {
    tracer::log<"activation_violation">(task.context, task.level_index);
}

// A round-robin position goes to the end of its queue.
[[gnu::always_inline]] inline void slice_ended(const Task& task) {
    tracer::log<"slice_end">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_blocked(const Task& task) {
    tracer::log<"task_block">(task.context, detail::wait_word(task.waits_for));
}

[[gnu::always_inline]] inline void task_unblocked(const Task& task) {
    tracer::log<"task_unblock">(task.context, detail::wait_word(task.waits_for));
}

// The task does not get the processor, whatever its level decides.
[[gnu::always_inline]] inline void task_suspended(const Task& task) {
    tracer::log<"task_block">(task.context, detail::wait_word({.kind = WaitKind::suspended}));
}

[[gnu::always_inline]] inline void task_resumed(const Task& task) {
    tracer::log<"task_unblock">(task.context, detail::wait_word({.kind = WaitKind::suspended}));
}

// The task has broken a promise or failed, and this reaction follows.
[[gnu::always_inline]] inline void task_exception(const Task& task, TaskException exception, Reaction reaction) {
    tracer::log<"task_exception">(task.context, detail::exception_word(exception, reaction));
}

// The job in progress is over, and the task is out of its ready queue if it was in it.
[[gnu::always_inline]] inline void job_aborted(const Task& task, TaskException cause) {
    tracer::log<"job_abort">(task.context, detail::exception_word(cause, Reaction::abort));
}

// Must be called before the context number is free for others.
[[gnu::always_inline]] inline void task_ended(const Task& task) {
    tracer::log<"task_end">(task.context, task.pid.value);
    if constexpr (detail::kOn) {
        static_cast<void>(tracer::instance().instructions.remove(task.context));
    }
}

// --- signals -------------------------------------------------------------------------------------------------------

// The signal is pending from here on.
[[gnu::always_inline]] inline void signal_raised(const Task& target, std::uint8_t signo) {
    tracer::log<"signal_raise">(target.context, signo);
}

// The signal goes to the handler, or to the task that waited for it.
[[gnu::always_inline]] inline void signal_delivered(const Task& task, std::uint8_t signo) {
    tracer::log<"signal">(task.context, signo);
}

} // namespace kernel::trace_points
