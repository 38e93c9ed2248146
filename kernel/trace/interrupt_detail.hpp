// SPDX-License-Identifier: MIT
// States how much of an interrupt vector the trace shows. record_interrupt() sets it (kernel/interrupt/interrupt.hpp).
#pragma once

#include <cstdint>

namespace kernel {

enum class InterruptDetail : std::uint8_t {
    span,  // interrupt_start and interrupt_end around the handler: the default
    hit,   // interrupt_hit as the interrupt comes
    count, // interrupt_count after every `every` interrupts, and when the counts are flushed
};

inline constexpr std::uint32_t kInterruptCountEvery = 1'000;

} // namespace kernel
