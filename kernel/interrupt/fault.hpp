// SPDX-License-Identifier: MIT
// The one funnel of processor exceptions. Each is recorded: task_fault, fault_instruction, fault_address. Then either
// the task ends or loses its job (Reactions::fault is `kill` or `abort`), or the system panics.
//
//   stub (own stack) -> fault_entry -> [records] -> a task's own fault: its reaction (exception.hpp), schedule
//                                               \-> else: panic
//
// It is a task's own fault if the task was running with interrupts on: never in an interrupt handler, in a section of
// the kernel with interrupts off, at boot or at the end. So a fault in this funnel, which runs with interrupts off, is
// always a panic, and nothing recurs. Double fault and machine check do not identify a culprit, so they are a panic.
#pragma once

#include "arch/arch.hpp"

#include <cstdint>

namespace kernel {

// The upcall for exceptions. Context: irq-off.
[[noreturn]] void fault_entry(const arch::Exception& fault);

// Returns how many tasks were killed for a fault since boot. Context: any.
[[nodiscard]] std::uint64_t tasks_killed_by_faults();

} // namespace kernel
