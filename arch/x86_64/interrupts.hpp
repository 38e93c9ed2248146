// SPDX-License-Identifier: MIT
// Holds the interrupt descriptor table and the debug hook. Source: Intel SDM volume 3 sections 6.10 to 6.14.
#pragma once

#include "arch/x86_64/interrupt_frame.hpp"

#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

// The hook is called for debug exceptions, with interrupts off, instead of the kernel's panic; it may change the frame.
// Without a hook they are a panic.
using DebugHook = void (*)(InterruptFrame& frame);
void set_debug_hook(DebugHook hook);

// Returns false if this is not a debug exception, or no hook is set. Context: irq-off.
bool serve_debug(InterruptFrame& frame);

// Copies the 16 bytes of a gate to a table that temporarily replaces ours. Precondition: the table is loaded.
void copy_gate(std::uint8_t vector, std::byte* target);

// Fills the table with the 256 stubs and loads it. Context: irq-off.
void load_interrupt_table();

} // namespace arch::x86_64
