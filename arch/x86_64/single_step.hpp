// SPDX-License-Identifier: MIT
// The trap flag: the processor raises a debug exception behind each instruction of the context whose flags have it. On
// the way into a handler the processor clears it, so handlers run freely. Source: Intel SDM volume 3 sections 17.2.3
// (DR6) and 17.3.1.4 (single-step exception condition).
#pragma once

#include "arch/arch.hpp"
#include "arch/x86_64/interrupts.hpp"

namespace arch::x86_64 {

namespace detail {

inline constinit const StepUpcalls* step_upcalls = nullptr;

void ask_for_steps(InterruptFrame& frame);

} // namespace detail

// A debug exception: false if it is no single step, or nobody steps. irq-off.
bool serve_step(InterruptFrame& frame);

// An interrupt returns: the context goes on in steps or freely, as the kernel wants it now. A load and a branch as long
// as nobody ever stepped. irq-off.
inline void leave_in_steps(InterruptFrame& frame) {
    if (detail::step_upcalls != nullptr) [[unlikely]] {
        detail::ask_for_steps(frame);
    }
}

} // namespace arch::x86_64
