// SPDX-License-Identifier: MIT
// This part of the bridge records the machine: real mode, processor exceptions, a panic, tasks in single steps, and the
// compensated clock. bridge.hpp has the rules.
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/trace/bridge.hpp"
#include "tracer/typed_event.hpp"
#include "tracer/written_count.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernel::trace_points {

// Both are called in protected mode, around a time in which only the BIOS runs.
[[gnu::always_inline]] inline void real_mode_entered() {
    tracer::log<"to_real_mode">();
}

[[gnu::always_inline]] inline void real_mode_left() {
    tracer::log<"to_protected_mode">();
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

// Records whose context was on the processor, and where it failed.
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

namespace detail {

inline constexpr std::size_t kReasonBytesMax = 160;

inline constinit tracer::TypedEvent<tracer::Text<kReasonBytesMax>> g_panic_reason{"panic_reason", {{"text"}}};

} // namespace detail

// The text is in the kernel's memory, below 4 GiB; its address is in the record after that of the panic, and the text
// itself in the event after that.
[[gnu::always_inline]] inline void panicked(std::uint32_t reason, std::string_view text) {
    if constexpr (detail::kOn) {
        tracer::log<"panic">(detail::context_of(this_processor().loaded), reason);
        tracer::log<"data_pointer">(tracer::kDataChar,
                                    static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text.data())));
        detail::g_panic_reason.log(text);
    }
}

// Records an instruction on the way to the panic: the one that failed, then the calls around it, innermost first.
[[gnu::always_inline]] inline void panicked_at(std::uint64_t instruction) {
    if constexpr (detail::kOn) {
        tracer::log<"fault_instruction">(detail::high_address(instruction), detail::low_address(instruction));
    }
}

// --- tasks in single steps, and the clock that waits for them. A task leaves its steps with the
// processor, and continues in them when it is back; `untraced` informs the clock that time was genuine, before the
// task's first step could remove it. Context: irq-off.

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

// Records `removed`, the sum since boot, of which the low 48 bits are recorded. No filter stops the record, because the
// kernel's time is unknown without it.
[[gnu::always_inline]] inline void clock_compensated(lib::Ticks removed) {
    tracer::log_fast<"clock_compensated">(static_cast<std::uint16_t>(removed.value >> 32),
                                          static_cast<std::uint32_t>(removed.value));
}

namespace detail {

inline constinit tracer::WrittenCount g_written; // of the only processor

} // namespace detail

[[nodiscard]] inline std::uint64_t records_written(IrqOff) {
    if constexpr (detail::kOn) {
        return detail::g_written.now(tracer::instance());
    } else {
        return 0;
    }
}

} // namespace kernel::trace_points
