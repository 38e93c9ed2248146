// SPDX-License-Identifier: MIT
// The bridge's part for tasks in single steps and for the clock that waits for them. A task leaves its steps with the
// processor, and continues in them when it is back; `untraced` informs the clock that time was genuine, before the
// task's first step could remove it. See bridge.hpp for the rules. Context: irq-off.
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/trace/bridge.hpp"
#include "tracer/written_count.hpp"

namespace kernel::trace_points {

// The loaded task is about to leave the processor: what follows is no instruction of its own.
[[gnu::always_inline]] inline void context_leaves(IrqOff) {
    if constexpr (detail::kOn) {
        if (tracer::instance().instructions.in_use() && arch::single_stepping()) {
            arch::single_step(false);
        }
    }
}

// The loaded task has the processor back, inside the kernel. `in_call`: it is in a call of its own; a task from which
// an interrupt took the processor continues in steps when that interrupt is over.
template <typename Untraced>
[[gnu::always_inline]] inline void context_returns(bool in_call, Untraced untraced, IrqOff off) {
    if constexpr (detail::kOn) {
        tracer::InstructionTrace& instructions = tracer::instance().instructions;
        const std::uint16_t context = detail::context_of(this_processor().loaded);
        if (instructions.in_use()) {
            untraced(off);
            if (in_call && instructions.wants(context)) {
                instructions.resumes(context);
                arch::single_step(true);
            }
        }
    }
}

// A task begins, or begins again.
template <typename Untraced>
[[gnu::always_inline]] inline void context_begins(const Task& task, Untraced untraced, IrqOff off) {
    if constexpr (detail::kOn) {
        tracer::InstructionTrace& instructions = tracer::instance().instructions;
        if (instructions.in_use()) {
            untraced(off);
            instructions.resumes(task.context);
            arch::single_step(instructions.wants(task.context));
        }
    }
}

// Records `removed`, the sum since boot, of which the low 48 bits travel. No filter stops the record, because the
// kernel's time is unknown without it.
[[gnu::always_inline]] inline void clock_compensated(lib::Ticks removed) {
    tracer::log_fast<"clock_compensated">(static_cast<std::uint16_t>(removed.value >> 32),
                                          static_cast<std::uint32_t>(removed.value));
}

inline constinit tracer::WrittenCount g_written; // of the only processor

// Returns how many records were written since boot.
[[nodiscard]] inline std::uint64_t records_written(IrqOff) {
    if constexpr (detail::kOn) {
        return g_written.now(tracer::instance());
    } else {
        return 0;
    }
}

} // namespace kernel::trace_points
