// SPDX-License-Identifier: MIT
// The trap flag: the processor raises a debug exception behind each instruction of the context whose flags have it. On
// the way into a handler the processor clears it, so handlers run freely. Source: Intel SDM volume 3 sections 17.2.3
// (DR6) and 17.3.1.4 (single-step exception condition).
#pragma once

#include "arch/x86_64/interrupts.hpp"

namespace arch::x86_64 {

// A debug exception: false if it is no single step, or nobody steps. irq-off.
bool serve_step(InterruptFrame& frame);

// An interrupt returns: the context goes on in steps or freely, as the kernel wants it now. irq-off.
void leave_in_steps(InterruptFrame& frame);

} // namespace arch::x86_64
