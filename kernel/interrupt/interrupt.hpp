// SPDX-License-Identifier: MIT
// The one funnel through which every interrupt enters and leaves the kernel: trace, handler, acknowledge, trace,
// perhaps another task. Handlers run with interrupts off and must be short; what takes longer is a driver task's.
//
//   stub -> interrupt_entry -> [start] handler, driver task activated [end] -> end of interrupt -> preemption -> stub
//
// A line that interrupts too often is masked for a while (storm.hpp).
#pragma once

#include "arch/arch.hpp"
#include "kernel/task/task.hpp"
#include "kernel/trace/interrupt_detail.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

using InterruptHandler = void (*)(void* argument);

// exists if the vector has a handler. name must outlive the attachment (a literal). irq-off or task.
// A handler of vector 2 runs in NMI context: it may record events and touch what is its own, and nothing else. Without
// one an NMI is a panic.
[[nodiscard]] lib::Result<void> interrupt_attach(arch::Vector vector, std::string_view name, InterruptHandler handler,
                                                 void* argument);

// What a driver's fast handler wants of its task.
enum class DriverWork : std::uint8_t {
    none,     // nothing to do, or done
    activate, // the task has work
};

using FastHandler = DriverWork (*)(void* argument);

// A handler and a task that does the rest, typically a sporadic HARD one: the fast handler runs with interrupts off,
// and its answer activates the task before the interrupt ends. A task that is busy keeps, drops or refuses the
// activation as its model says (Overlap); refusals are counted. Errors: exists; not_found: no such task; refused:
// vector 2, because nothing can be activated in an NMI. name as above. irq-off or task.
[[nodiscard]] lib::Result<void> interrupt_attach_driver(arch::Vector vector, std::string_view name, FastHandler fast,
                                                        void* argument, Pid driver);

// not_found if it has none. irq-off or task.
[[nodiscard]] lib::Result<void> interrupt_detach(arch::Vector vector);

// The upcall for interrupts: may return on another task's time. irq-off.
void interrupt_entry(arch::Vector vector);

// The upcall for NMIs but those of the watchdog. In the context of the NMI.
void nmi_entry(const arch::Exception& interrupted);

struct InterruptCounters {
    std::uint64_t taken = 0;
    std::uint64_t unassigned = 0; // no handler: acknowledged and counted
    std::uint64_t spurious = 0;   // raised by a controller, not by a device: no handler ran
    std::uint64_t nmi = 0;
    std::uint64_t nmi_nested = 0;     // of these, while another was being served
    std::uint64_t driver_refused = 0; // the driver task was busy and does not queue, or has ended
    std::uint64_t storms = 0;         // a line was masked for raising too many
};

// Of all vectors. Context: any.
[[nodiscard]] InterruptCounters interrupt_counters();

// Of one vector; nmi and nmi_nested are 0. Context: any.
[[nodiscard]] InterruptCounters interrupt_counters(arch::Vector vector);

// --- how much of the interrupts the trace shows; ignored by a kernel built with TRACER=OFF -------------------------

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
