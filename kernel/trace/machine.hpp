// SPDX-License-Identifier: MIT
// The bridge's part for the machine: real mode, processor exceptions, a panic. See bridge.hpp for the rules.
#pragma once

#include "arch/arch.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/trace/bridge.hpp"

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

// The text is in the kernel's memory, below 4 GiB; its address is in the record after that of the panic.
[[gnu::always_inline]] inline void panicked(std::uint32_t reason, const char* text) {
    if constexpr (detail::kOn) {
        tracer::log<"panic">(detail::context_of(this_processor().loaded), reason);
        tracer::log<"data_pointer">(tracer::kDataChar,
                                    static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text)));
    }
}

} // namespace kernel::trace_points
