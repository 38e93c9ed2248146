// SPDX-License-Identifier: MIT
// Single-steps the record path in the guest and interrupts it between two chosen instructions. An interrupt table of
// the test's own sends the debug trap of each step to a stub that rewinds nothing (or no record would ever end); at the
// chosen step that stub jumps into the kernel's own stub of the wanted vector, with the very frame that the processor
// pushed: to the kernel it is that interrupt, at that instruction.
// Context of everything here: irq-off.
#pragma once

#include "arch/x86_64/interrupts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace guest {

inline constexpr std::uint64_t kNeverInterrupted = ~std::uint64_t{0};

// Is one event for the record path, as its registers carry it.
struct RawEvent {
    std::uint64_t rdi = 0;
    std::uint64_t rsi = 0;
    void (*path)() = nullptr; // tracer_record or tracer_record_long
};

// Logs the event in steps. Before instruction number `step` (0: the first of the path) this vector's stub is entered;
// the rest then runs freely. It returns whether there was one. The `ret` after the commit counts as one.
bool record_in_steps(const RawEvent& event, std::uint64_t step = kNeverInterrupted, std::uint8_t vector = 0);

// Logs the event without steps.
void record_freely(const RawEvent& event);

// Only the first kPathMax instructions that the last stepped record executed in the path are kept.
inline constexpr std::size_t kPathMax = 2048;
[[nodiscard]] std::span<const std::uint64_t> path();

} // namespace guest
