// SPDX-License-Identifier: MIT
// How much of the interrupts the trace shows, set while the system runs: for each vector start and end, one hit, or a
// count from time to time; and whether the kernel's interrupts-off sections appear as CLI and STI. Everything is
// static; a kernel built with TRACER=OFF ignores it all.
#pragma once

#include "arch/arch.hpp"
#include "kernel/trace/interrupt_detail.hpp"

#include <cstdint>

namespace kernel {

// every: 1 or more, used by `count` alone. Interrupts counted so far are recorded first. Context: any but the vector's
// own handler.
void record_interrupt(arch::Vector vector, InterruptDetail detail, std::uint32_t every = kInterruptCountEvery);

// Records what was counted since the last interrupt_count, for each vector that counted anything. While the family is
// not recorded the numbers are kept. Context: any but NMI.
void flush_interrupt_counts();

// CLI and STI of the outermost interrupts-off sections; off at first, because they outnumber everything else.
// Context: any.
void record_interrupt_sections(bool on);

} // namespace kernel
