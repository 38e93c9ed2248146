// SPDX-License-Identifier: MIT
// The part of kernel/trace_points.hpp that speaks of tasks in single steps and of the clock that waits for them; its
// rules hold here, too.
#pragma once

#include "kernel/compensation/compensated_clock.hpp"
#include "kernel/trace_points.hpp"

namespace kernel::trace_points {

namespace detail {

// The time of others is genuine, however densely a task is traced.
inline void untraced() {
    if constexpr (kCompensationBuilt) {
        compensation::untraced_irq_off();
    }
}

} // namespace detail

// --- contexts: irq-off ---------------------------------------------------------------------------------------------

// The loaded task is about to leave the processor: what follows is no instruction of its own.
[[gnu::always_inline]] inline void context_leaves() {
    if constexpr (detail::kOn) {
        if (tracer::instance().instructions.in_use() && arch::single_stepping()) {
            arch::single_step(false);
        }
    }
}

// The loaded task has the processor back, in the kernel's middle. in_call: in a call of its own; one that an interrupt
// took it from goes on in steps when that is over.
[[gnu::always_inline]] inline void context_returns(bool in_call) {
    if constexpr (detail::kOn) {
        tracer::InstructionTrace& instructions = tracer::instance().instructions;
        const std::uint16_t context = detail::context_of(this_processor().loaded);
        if (instructions.in_use()) {
            detail::untraced(); // before its first step, which would take that time away
            if (in_call && instructions.wants(context)) {
                instructions.resumes(context);
                arch::single_step(true);
            }
        }
    }
}

// A task begins, or begins again.
[[gnu::always_inline]] inline void context_begins(const Task& task) {
    if constexpr (detail::kOn) {
        tracer::InstructionTrace& instructions = tracer::instance().instructions;
        if (instructions.in_use()) {
            detail::untraced(); // likewise
            instructions.resumes(task.context);
            arch::single_step(instructions.wants(task.context));
        }
    }
}

// --- the clock -----------------------------------------------------------------------------------------------------

// removed: in all, since boot; the low 48 bits travel. No filter stops it: without it nobody knows the kernel's time.
[[gnu::always_inline]] inline void clock_compensated(lib::Ticks removed) {
    tracer::log_fast<"clock_compensated">(static_cast<std::uint16_t>(removed.value >> 32),
                                          static_cast<std::uint32_t>(removed.value));
}

} // namespace kernel::trace_points
