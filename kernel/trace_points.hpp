// SPDX-License-Identifier: MIT
// The only bridge from the kernel to the tracer: one function per thing that happens, in the kernel's words, reduced
// here to an event and its small numbers. A call stands alone on its line and its arguments have no side effects, so
// that a kernel built with TRACER=OFF does nothing for these lines. Context: any, unless a function says
// otherwise; those that register a name are irq-off.
//
// Deadlines are recorded twice: in microseconds of the kernel's clock, low 32 bits, and exactly, low 32 bits of ticks.
#pragma once

#include "arch/arch.hpp"
#include "kernel/clock.hpp"
#include "kernel/level.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/task_object.hpp"
#include "kernel/trace_interrupts.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"

#include <array>
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

// Times travel as the low 32 bits of their ticks; a reader finds the rest near the record's stamp.
[[nodiscard]] inline std::uint32_t low_half(lib::Ticks time) {
    return static_cast<std::uint32_t>(time.value);
}

[[nodiscard]] inline std::uint16_t saturated(std::uint32_t value) {
    return static_cast<std::uint16_t>(value < 0xFFFF ? value : 0xFFFF);
}

[[nodiscard]] inline std::uint32_t exception_word(TaskException exception, Reaction reaction) {
    return (static_cast<std::uint32_t>(exception) << 16) | static_cast<std::uint32_t>(reaction);
}

[[nodiscard]] inline std::uint32_t wait_word(Wait wait) {
    return (static_cast<std::uint32_t>(wait.kind) << 16) | wait.id;
}

[[gnu::always_inline]] inline void add_name(tracer::NameKind kind, std::uint16_t id, std::string_view name) {
    if constexpr (kOn) {
        tracer::instance().names.add_name(kind, id, name);
    }
}

} // namespace detail

// --- names ---------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void level_registered(const Level& level) {
    if constexpr (detail::kOn) {
        detail::add_name(tracer::NameKind::level, level.index(), level.name());
    }
}

[[gnu::always_inline]] inline void interrupt_named(arch::Vector vector, std::string_view name) {
    detail::add_name(tracer::NameKind::interrupt, vector, name);
}

// --- a task's life -------------------------------------------------------------------------------------------------

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
    tracer::log<"task_begin_cycle">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_cycle_ended(const Task& task) {
    tracer::log<"task_end_cycle">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_slept(const Task& task) {
    tracer::log<"task_sleep">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_disabled(const Task& task) {
    tracer::log<"task_disable">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_timer_released(const Task& task) {
    tracer::log<"task_timer">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_deadline_missed(const Task& task) {
    tracer::log<"task_deadline_miss">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_wcet_violated(const Task& task) {
    tracer::log<"task_wcet_violation">(task.context, task.level->index());
}

// The job becomes the one in progress, and the task enters its ready queue; `release` is when it should.
[[gnu::always_inline]] inline void job_released(const Task& task, lib::Ticks release) {
    tracer::log<"job_release">(task.context, detail::low_half(release));
}

// The deadline by which the job competes from here on.
[[gnu::always_inline]] inline void job_deadline_set(const Task& task, lib::Ticks deadline) {
    if constexpr (detail::kOn) {
        tracer::log<"job_deadline">(task.context, detail::low_half(deadline));
        tracer::log<"set_priority">(task.context, static_cast<std::uint32_t>(to_nanoseconds(deadline).value / 1'000));
    }
}

// An activation found the task busy and is dropped.
[[gnu::always_inline]] inline void job_skipped(const Task& task) {
    tracer::log<"job_skipped">(task.context, task.level->index());
}

// An activation found the task busy and waits; so many wait now.
[[gnu::always_inline]] inline void job_queued(const Task& task, std::uint32_t pending) {
    tracer::log<"job_queued">(task.context, pending);
}

// A sporadic task was activated too early.
[[gnu::always_inline]] inline void activation_violated(const Task& task) {
    tracer::log<"activation_violation">(task.context, task.level->index());
}

// A round-robin place goes to the end of its queue.
[[gnu::always_inline]] inline void slice_ended(const Task& task) {
    tracer::log<"slice_end">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_blocked(const Task& task) {
    tracer::log<"task_block">(task.context, detail::wait_word(task.waits_for));
}

[[gnu::always_inline]] inline void task_unblocked(const Task& task) {
    tracer::log<"task_unblock">(task.context, detail::wait_word(task.waits_for));
}

// The processor stays away from it, whatever its level thinks.
[[gnu::always_inline]] inline void task_suspended(const Task& task) {
    tracer::log<"task_block">(task.context, detail::wait_word({.kind = WaitKind::suspended}));
}

[[gnu::always_inline]] inline void task_resumed(const Task& task) {
    tracer::log<"task_unblock">(task.context, detail::wait_word({.kind = WaitKind::suspended}));
}

// What a task did wrong, and what follows.
[[gnu::always_inline]] inline void task_exception(const Task& task, TaskException exception, Reaction reaction) {
    tracer::log<"task_exception">(task.context, detail::exception_word(exception, reaction));
}

// The job in progress is over, and the task out of its ready queue if it was there.
[[gnu::always_inline]] inline void job_aborted(const Task& task, TaskException cause) {
    tracer::log<"job_abort">(task.context, detail::exception_word(cause, Reaction::abort));
}

// Before the context number is free for others.
[[gnu::always_inline]] inline void task_ended(const Task& task) {
    tracer::log<"task_end">(task.context, task.pid.value);
    if constexpr (detail::kOn) {
        static_cast<void>(tracer::instance().instructions.remove(task.context));
    }
}

// --- scheduling ----------------------------------------------------------------------------------------------------

// Every decision, also one that changes nothing.
[[gnu::always_inline]] inline void task_scheduled(const Task& exec_shadow, const Task& exec) {
    tracer::log<"task_schedule">(exec_shadow.context, exec.context);
}

[[gnu::always_inline]] inline void task_dispatched(const Task& task) {
    tracer::log<"task_dispatch">(task.context, task.level->index());
}

[[gnu::always_inline]] inline void task_epilogue(const Task& task) {
    tracer::log<"task_epilogue">(task.context, task.level->index());
}

// At the switch, on the old stack.
[[gnu::always_inline]] inline void context_switched(const Task& to) {
    tracer::log<"context_switch">(to.context);
}

// After a lock that blocked, if the choice was to let an owner run in somebody's place.
[[gnu::always_inline]] inline void inherited(const Processor& cpu) {
    if constexpr (detail::kOn) {
        if (cpu.exec != cpu.exec_shadow) {
            tracer::log<"inheritance">(cpu.exec_shadow->context, cpu.exec->context);
        }
    }
}

// --- interrupts ----------------------------------------------------------------------------------------------------

namespace detail {

struct InterruptTrace {
    InterruptDetail detail = InterruptDetail::span;
    std::uint32_t every = kInterruptCountEvery;
    std::uint32_t counted = 0; // an NMI may count while others flush: changed by single instructions only
};

inline constinit std::array<InterruptTrace, 256> interrupts{};
inline constinit bool sections_recorded = false;

// Not before somebody listens: a number that was told to nobody would be lost.
[[gnu::always_inline]] inline void tell_count(arch::Vector vector) {
    if (tracer::detail::family_enabled(tracer::mask_bit(tracer::event_code("interrupt_count")))) {
        const std::uint32_t counted = __atomic_exchange_n(&interrupts[vector].counted, 0, __ATOMIC_RELAXED);
        if (counted != 0) {
            tracer::log<"interrupt_count">(vector, counted);
        }
    }
}

// The light modes, apart from the funnel's usual way.
[[gnu::cold, gnu::noinline]] inline void interrupt_taken(arch::Vector vector) {
    InterruptTrace& trace = interrupts[vector];
    if (trace.detail == InterruptDetail::hit) {
        tracer::log<"interrupt_hit">(vector);
    } else if (__atomic_add_fetch(&trace.counted, 1, __ATOMIC_RELAXED) >= trace.every) {
        tell_count(vector);
    }
}

} // namespace detail

[[gnu::always_inline]] inline void interrupt_started(arch::Vector vector) {
    if constexpr (detail::kOn) {
        if (detail::interrupts[vector].detail == InterruptDetail::span) [[likely]] {
            tracer::log<"interrupt_start">(vector);
        } else {
            detail::interrupt_taken(vector);
        }
    }
}

[[gnu::always_inline]] inline void interrupt_ended(arch::Vector vector) {
    if constexpr (detail::kOn) {
        if (detail::interrupts[vector].detail == InterruptDetail::span) [[likely]] {
            tracer::log<"interrupt_end">(vector);
        }
    }
}

// Interrupts off: an interrupt that saw one mode at its start must see the same at its end.
[[gnu::always_inline]] inline void interrupt_detail_set(arch::Vector vector, InterruptDetail wanted,
                                                        std::uint32_t every) {
    if constexpr (detail::kOn) {
        detail::tell_count(vector);
        detail::interrupts[vector].every = every;
        detail::interrupts[vector].detail = wanted;
    }
}

// The storm governor's: how many there were in the window.
[[gnu::always_inline]] inline void interrupt_masked(arch::Vector vector, std::uint32_t count) {
    tracer::log<"interrupt_masked">(vector, count);
}

[[gnu::always_inline]] inline void interrupt_unmasked(arch::Vector vector) {
    tracer::log<"interrupt_unmasked">(vector);
}

[[gnu::always_inline]] inline void interrupt_counts_flushed() {
    if constexpr (detail::kOn) {
        for (std::size_t vector = 0; vector < detail::interrupts.size(); ++vector) {
            if (detail::interrupts[vector].counted != 0) {
                detail::tell_count(static_cast<arch::Vector>(vector));
            }
        }
    }
}

[[gnu::always_inline]] inline void interrupt_sections_set(bool on) {
    if constexpr (detail::kOn) {
        detail::sections_recorded = on;
    }
}

// First and last thing in an interrupts-off section. `former` is what arch::irq_save() returned: only the outermost
// section counts.
[[gnu::always_inline]] inline void interrupts_off(std::uint64_t former) {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded && arch::irq_was_enabled(former)) [[unlikely]] {
            tracer::log<"CLI">();
        }
    }
}

[[gnu::always_inline]] inline void interrupts_on(std::uint64_t former) {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded && arch::irq_was_enabled(former)) [[unlikely]] {
            tracer::log<"STI">();
        }
    }
}

// A fresh task enables interrupts by itself: it was loaded inside somebody's section.
[[gnu::always_inline]] inline void interrupts_enabled() {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded) [[unlikely]] {
            tracer::log<"STI">();
        }
    }
}

// --- real mode -----------------------------------------------------------------------------------------------------

// Both from protected mode, around a stretch in which nobody but the BIOS runs.
[[gnu::always_inline]] inline void real_mode_entered() {
    tracer::log<"to_real_mode">();
}

[[gnu::always_inline]] inline void real_mode_left() {
    tracer::log<"to_protected_mode">();
}

// --- signals -------------------------------------------------------------------------------------------------------

// Pending from here on.
[[gnu::always_inline]] inline void signal_raised(const Task& target, std::uint8_t signo) {
    tracer::log<"signal_raise">(target.context, signo);
}

// To the handler, or to the task that waited for it.
[[gnu::always_inline]] inline void signal_delivered(const Task& task, std::uint8_t signo) {
    tracer::log<"signal">(task.context, signo);
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

// --- processor exceptions ------------------------------------------------------------------------------------------

namespace detail {

[[nodiscard]] inline std::uint16_t high_address(std::uint64_t address) {
    return static_cast<std::uint16_t>(address >> 32);
}

[[nodiscard]] inline std::uint32_t low_address(std::uint64_t address) {
    return static_cast<std::uint32_t>(address);
}

} // namespace detail

// Whose context was on the processor, and where it came to grief.
[[gnu::always_inline]] inline void faulted(const Task* task, const arch::Exception& fault) {
    if constexpr (detail::kOn) {
        tracer::log<"task_fault">(detail::context_of(task), fault.vector);
        tracer::log<"fault_instruction">(detail::high_address(fault.instruction_address),
                                         detail::low_address(fault.instruction_address));
        tracer::log<"fault_address">(detail::high_address(fault.fault_address),
                                     detail::low_address(fault.fault_address));
    }
}

// --- the end -------------------------------------------------------------------------------------------------------

// The text lies in the kernel's memory, below 4 GiB; its address stands in the record behind that of the panic.
[[gnu::always_inline]] inline void panicked(std::uint32_t reason, const char* text) {
    if constexpr (detail::kOn) {
        tracer::log<"panic">(detail::context_of(this_processor().loaded), reason);
        tracer::log<"data_pointer">(tracer::kDataChar,
                                    static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text)));
    }
}

} // namespace kernel::trace_points
