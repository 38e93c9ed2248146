// SPDX-License-Identifier: MIT
// The one funnel through which every interrupt enters and leaves the kernel: trace, handler, acknowledge, trace,
// perhaps another task. Handlers run with interrupts off and must be short.
//
//   stub -> interrupt_entry -> [start] handler [end] -> end of interrupt -> preemption -> stub
#pragma once

#include "arch/arch.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

using InterruptHandler = void (*)(void* argument);

// exists if the vector has a handler. name must outlive the attachment (a literal). irq-off or task.
[[nodiscard]] lib::Result<void> interrupt_attach(arch::Vector vector, std::string_view name, InterruptHandler handler,
                                                 void* argument);

// not_found if it has none. irq-off or task.
[[nodiscard]] lib::Result<void> interrupt_detach(arch::Vector vector);

// The upcall for interrupts: may return on another task's time. irq-off.
void interrupt_entry(arch::Vector vector);

struct InterruptCounters {
    std::uint64_t taken = 0;
    std::uint64_t unassigned = 0; // no handler: acknowledged and counted
    std::uint64_t spurious = 0;   // raised by a controller, not by a device: no handler ran
    std::uint64_t nmi = 0;
};

[[nodiscard]] const InterruptCounters& interrupt_counters();

} // namespace kernel
