// SPDX-License-Identifier: MIT
// The only bridge from the kernel to the tracer: one function per thing that happens, in the kernel's words, reduced
// here to an event and its small numbers. A call stands alone on its line and its arguments have no side effects, so
// that a kernel built with TRACER=OFF is bit for bit a kernel without these lines. Context: any, unless a function says
// otherwise; those that register a name are irq-off.
//
// Deadlines are recorded in microseconds of the kernel's clock, low 32 bits.
#pragma once

#include "arch/arch.hpp"
#include "kernel/clock.hpp"
#include "kernel/level.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task_object.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

namespace kernel::trace_points {

namespace detail {

inline constexpr bool kOn = tracer::kTracerBuilt;

// 0 stands for the boot context.
[[nodiscard]] inline std::uint16_t context_of(const Task* task) {
    return task != nullptr ? task->context : std::uint16_t{0};
}

[[nodiscard]] inline tracer::TaskParameters parameters_of(const Task& task) {
    tracer::TaskParameters parameters;
    parameters.level = task.level->index();
    if (const auto* const hard = std::get_if<HardModel>(&task.model)) {
        parameters.wcet_ns = hard->wcet.value;
        parameters.period_ns = hard->period.value;
        parameters.deadline_ns =
            hard->relative_deadline.value != 0 ? hard->relative_deadline.value : hard->period.value;
        parameters.offset_ns = hard->offset.value;
    } else if (const auto* const nrt = std::get_if<NrtModel>(&task.model)) {
        parameters.budget_ns = nrt->slice.value;
    }
    return parameters;
}

inline void add_name(tracer::NameKind kind, std::uint16_t id, std::string_view name) {
    if constexpr (kOn) {
        tracer::instance().names.add_name(kind, id, name);
    }
}

} // namespace detail

// --- names ---------------------------------------------------------------------------------------------------------

inline void level_registered(const Level& level) {
    if constexpr (detail::kOn) {
        detail::add_name(tracer::NameKind::level, level.index(), level.name());
    }
}

inline void interrupt_named(arch::Vector vector, std::string_view name) {
    detail::add_name(tracer::NameKind::interrupt, vector, name);
}

// --- a task's life -------------------------------------------------------------------------------------------------

inline void task_created(const Task& task) {
    if constexpr (detail::kOn) {
        tracer::instance().names.add_task(task.context, task.pid.value, task.name.view(), detail::parameters_of(task));
    }
    tracer::log<"task_create">(task.context, task.pid.value);
}

inline void task_activated(const Task& task) {
    tracer::log<"task_activate">(task.context);
}

inline void task_cycle_begun(const Task& task) {
    tracer::log<"task_begin_cycle">(task.context, task.level->index());
}

inline void task_cycle_ended(const Task& task) {
    tracer::log<"task_end_cycle">(task.context, task.level->index());
}

inline void task_slept(const Task& task) {
    tracer::log<"task_sleep">(task.context, task.level->index());
}

inline void task_disabled(const Task& task) {
    tracer::log<"task_disable">(task.context, task.level->index());
}

inline void task_timer_released(const Task& task) {
    tracer::log<"task_timer">(task.context, task.level->index());
}

inline void task_deadline_missed(const Task& task) {
    tracer::log<"task_deadline_miss">(task.context, task.level->index());
}

inline void task_wcet_violated(const Task& task) {
    tracer::log<"task_wcet_violation">(task.context, task.level->index());
}

inline void task_priority_set(const Task& task, lib::Ticks deadline) {
    if constexpr (detail::kOn) {
        tracer::log<"set_priority">(task.context, static_cast<std::uint32_t>(to_nanoseconds(deadline).value / 1'000));
    }
}

// Before the context number is free for others.
inline void task_ended(const Task& task) {
    tracer::log<"task_end">(task.context, task.pid.value);
}

// --- scheduling ----------------------------------------------------------------------------------------------------

// Every decision, also one that changes nothing.
inline void task_scheduled(const Task& exec_shadow, const Task& exec) {
    tracer::log<"task_schedule">(exec_shadow.context, exec.context);
}

inline void task_dispatched(const Task& task) {
    tracer::log<"task_dispatch">(task.context, task.level->index());
}

inline void task_epilogue(const Task& task) {
    tracer::log<"task_epilogue">(task.context, task.level->index());
}

// At the switch, on the old stack.
inline void context_switched(const Task& to) {
    tracer::log<"context_switch">(to.context);
}

// After a lock that blocked, if the choice was to let an owner run in somebody's place.
inline void inherited(const Processor& cpu) {
    if constexpr (detail::kOn) {
        if (cpu.exec != cpu.exec_shadow) {
            tracer::log<"inheritance">(cpu.exec_shadow->context, cpu.exec->context);
        }
    }
}

// --- interrupts ----------------------------------------------------------------------------------------------------

inline void interrupt_started(arch::Vector vector) {
    tracer::log<"interrupt_start">(vector);
}

inline void interrupt_ended(arch::Vector vector) {
    tracer::log<"interrupt_end">(vector);
}

// --- mutexes and semaphores ----------------------------------------------------------------------------------------

inline void mutex_created(const Task* creator, const Mutex& mutex, std::string_view name) {
    detail::add_name(tracer::NameKind::mutex, mutex.id(), name);
    tracer::log<"set_mutex_create">(detail::context_of(creator), mutex.id());
}

// The attempt, whether or not it blocks. A try that fails is no attempt, so that locks and unlocks pair up.
inline void mutex_lock_attempted(const Task& task, const Mutex& mutex) {
    tracer::log<"set_mutex_lock">(task.context, mutex.id());
}

// A waiter lends its place to the owner.
inline void mutex_inherited(const Task& owner, const Mutex& mutex) {
    tracer::log<"set_mutex_inherit">(owner.context, mutex.id());
}

inline void mutex_unlocked(const Task& task, const Mutex& mutex) {
    tracer::log<"set_mutex_unlock">(task.context, mutex.id());
}

inline void semaphore_created(const Semaphore& semaphore, std::string_view name) {
    detail::add_name(tracer::NameKind::semaphore, semaphore.id(), name);
}

inline void semaphore_waited(const Task& task, const Semaphore& semaphore) {
    tracer::log<"set_mutex_wait">(task.context, semaphore.id());
}

// In an interrupt the context is that of the interrupted task.
inline void semaphore_posted(const Task* task, const Semaphore& semaphore) {
    tracer::log<"set_mutex_post">(detail::context_of(task), semaphore.id());
}

// --- timers --------------------------------------------------------------------------------------------------------

inline void timer_posted(std::uint16_t index) {
    tracer::log<"timer_post">(0, index);
}

inline void timer_deleted(std::uint16_t index) {
    tracer::log<"timer_delete">(0, index);
}

inline void timer_wakeup_started() {
    tracer::log<"timer_wakeup_start">();
}

inline void timer_wakeup_ended(const Task* interrupted) {
    tracer::log<"timer_wakeup_end">(detail::context_of(interrupted));
}

// --- the end -------------------------------------------------------------------------------------------------------

inline void panicked(std::uint32_t reason) {
    tracer::log<"panic">(detail::context_of(this_processor().loaded), reason);
}

} // namespace kernel::trace_points
