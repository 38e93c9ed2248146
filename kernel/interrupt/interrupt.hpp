// SPDX-License-Identifier: MIT
// Declares interrupts: handlers, driver tasks, counts, and the one funnel through which every interrupt enters and
// leaves the kernel. Handlers run with interrupts off and must be short; longer work belongs to a driver task.
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

// Attaches a handler to a vector. The name appears in the trace and must outlive the attachment (a literal). A handler
// of vector 2 runs in NMI context: it may record events and change its own data, and nothing else. An NMI without a
// handler is a panic.
// exists: the vector has a handler.
// Context: task or irq-off.
[[nodiscard]] lib::Result<void> interrupt_attach(arch::Vector vector, std::string_view name, InterruptHandler handler,
                                                 void* argument);

// States what a driver's fast handler requests of its task.
enum class DriverWork : std::uint8_t {
    none,     // nothing is left to do
    activate, // the task has work
};

using FastHandler = DriverWork (*)(void* argument);

// Attaches a fast handler and a driver task that does the rest, typically a sporadic HARD one. The fast handler runs
// with interrupts off, and its answer activates the task before the interrupt ends. A task that is busy keeps, drops or
// refuses the activation as its model says (Overlap); refusals are counted. The name is that of interrupt_attach().
// exists: the vector has a handler.
// not_found: no task has the pid `driver`.
// refused: the vector is 2, because no task can be activated in an NMI.
// Context: task or irq-off.
[[nodiscard]] lib::Result<void> interrupt_attach_driver(arch::Vector vector, std::string_view name, FastHandler fast,
                                                        void* argument, Pid driver);

// Detaches the handler of a vector.
// not_found: the vector has no handler.
// Context: task or irq-off.
[[nodiscard]] lib::Result<void> interrupt_detach(arch::Vector vector);

struct InterruptCounters {
    std::uint64_t taken = 0;
    std::uint64_t unassigned = 0; // had no handler: acknowledged and counted
    std::uint64_t spurious = 0;   // raised by a controller, not by a device: no handler ran
    std::uint64_t nmi = 0;
    std::uint64_t nmi_nested = 0;     // those of them that came while another was being served
    std::uint64_t driver_refused = 0; // the driver task was busy and does not queue, or has ended
    std::uint64_t storms = 0;         // a line was masked for raising too many
};

// Returns the counts of all vectors together.
// Context: any.
[[nodiscard]] InterruptCounters interrupt_counters();

// Returns the counts of one vector; nmi and nmi_nested are 0.
// Context: any.
[[nodiscard]] InterruptCounters interrupt_counters(arch::Vector vector);

// --- how much of the interrupts the trace shows

// Sets how much of a vector's interrupts the trace shows. Interrupts that were counted so far are recorded first. A
// kernel without the tracer ignores the call.
// every: the number of interrupts for one record of InterruptDetail::count, 1 to 2^32-1; the other details ignore it.
// Context: any but the vector's own handler.
void record_interrupt(arch::Vector vector, InterruptDetail detail, std::uint32_t every = kInterruptCountEvery);

// Records how many interrupts were counted since the last interrupt_count, for each vector that counted any. The
// numbers are kept while their family is not recorded. A kernel without the tracer ignores the call.
// Context: any but NMI.
void flush_interrupt_counts();

// Switches the records CLI and STI of the outermost sections with interrupts off. They are off at first, because they
// outnumber all other records. A kernel without the tracer ignores the call.
// Context: any.
void record_interrupt_sections(bool on);

// --- for the kernel: the upcalls of arch

// Serves an interrupt, and may return on another task's time. Context: irq-off.
void interrupt_entry(arch::Vector vector);

// Serves an NMI that is not the watchdog's. Context: that NMI.
void nmi_entry(const arch::Exception& interrupted);

// All processor exceptions pass through one funnel. Each is recorded: task_fault, fault_instruction, fault_address.
// Then either the task ends or loses its job (Reactions::fault is `kill` or `abort`), or the system panics.
//
//   stub (own stack) -> fault_entry -> [records] -> a task's own fault: its reaction (exception.hpp), schedule
//                                               \-> else: panic
//
// It is a task's own fault if the task was running with interrupts on: never in an interrupt handler, in a section of
// the kernel with interrupts off, at boot or at the end. So a fault in this funnel, which runs with interrupts off, is
// always a panic, and no fault recurs. Double fault and machine check do not identify a culprit, so they are a panic.

// Serves an exception. Context: irq-off.
[[noreturn]] void fault_entry(const arch::Exception& fault);

// Returns how many tasks were killed for a fault since boot. Context: any.
[[nodiscard]] std::uint64_t tasks_killed_by_faults();

} // namespace kernel
