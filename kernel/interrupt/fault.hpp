// SPDX-License-Identifier: MIT
// The one funnel of processor exceptions. Each is recorded: task_fault, fault_instruction, fault_address. Then either
// the task pays for it (Reactions::fault is `kill` or `abort`), or the system does.
//
//   stub (own stack) -> fault_entry -> [records] -> a task's own fault: its reaction (exception.hpp), schedule
//                                               \-> else: panic
//
// It is a task's own fault if the task was running with interrupts on: never in an interrupt handler, in a section of
// the kernel with interrupts off, at boot or at the end. So a fault on this very path, which runs with interrupts off,
// is always a panic, and nothing recurs. Double fault and machine check do not identify a culprit: panic.
#pragma once

#include "arch/arch.hpp"

#include <cstdint>

namespace kernel {

// The upcall for exceptions. irq-off.
[[noreturn]] void fault_entry(const arch::Exception& fault);

// How many tasks were killed for a fault since boot. Context: any.
[[nodiscard]] std::uint64_t tasks_killed_by_faults();

} // namespace kernel
