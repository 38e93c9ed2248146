// SPDX-License-Identifier: MIT
// The processor raises a debug exception after each instruction of a context with the trap flag. It clears the flag on
// entry to a handler, so handlers run freely. Source: Intel SDM volume 3 sections 17.2.3 (DR6) and 17.3.1.4
// (single-step exception condition).
#pragma once

#include "arch/arch.hpp"
#include "arch/x86_64/interrupts.hpp"

namespace arch::x86_64 {

namespace detail {

inline constinit const StepUpcalls* step_upcalls = nullptr;

void request_steps(InterruptFrame& frame);

} // namespace detail

// Serves a debug exception. It returns false if it is not a single step, or no context runs in steps. Context: irq-off.
bool serve_step(InterruptFrame& frame);

// Must be called on return from an interrupt: the context continues in steps or freely, as the kernel requires now. It
// costs a load and a branch as long as no context has run in steps. Context: irq-off.
inline void leave_in_steps(InterruptFrame& frame) {
    if (detail::step_upcalls != nullptr) [[unlikely]] {
        detail::request_steps(frame);
    }
}

} // namespace arch::x86_64
