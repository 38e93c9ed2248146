// SPDX-License-Identifier: MIT
// Implements the funnels of interrupts, NMIs and processor exceptions.
#include "kernel/interrupt/interrupt.hpp"

#include "kernel/interrupt/storm.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/sched/exception.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "kernel/trace/interrupt.hpp"
#include "kernel/trace/machine.hpp"
#include "kernel/trace/task.hpp"

#include <array>

namespace kernel {

namespace {

constexpr arch::Vector kNmi = 2;

struct Attachment {
    InterruptHandler handler = nullptr;
    FastHandler fast = nullptr; // instead of handler
    void* argument = nullptr;
    Pid driver;
    std::uint16_t driver_context = 0; // a pid is used again soon, a context number is not

    [[nodiscard]] bool is_free() const { return handler == nullptr && fast == nullptr; }
};

struct PerVector {
    Attachment attachment;
    std::uint64_t taken = 0;
    std::uint64_t unassigned = 0;
    std::uint64_t spurious = 0;
    std::uint64_t driver_refused = 0;
};

constinit std::array<PerVector, 256> g_vectors{};
constinit InterruptCounters g_counters{};
constinit std::uint32_t g_nmi_depth = 0;

lib::Result<void> attach(arch::Vector vector, std::string_view name, const Attachment& attachment) {
    if (!g_vectors[vector].attachment.is_free()) {
        return lib::Error::exists;
    }
    g_vectors[vector].attachment = attachment;
    trace_points::interrupt_named(vector, name);
    return {};
}

// Nothing is acknowledged or switched, because an NMI may have come anywhere. An NMI during another one (a fault or a
// trap in its handler has unblocked NMIs) is served on a stack of its own. Without a handler the first NMI is a request
// to stop; during a panic it is only counted, because the trace is being exported.
void serve_nmi(const arch::Exception& interrupted) {
    ++g_counters.nmi;
    if (g_nmi_depth++ != 0) {
        ++g_counters.nmi_nested;
    }
    const Attachment& attachment = g_vectors[kNmi].attachment;
    if (attachment.handler != nullptr) {
        attachment.handler(attachment.argument);
    } else if (!panicking()) {
        panic_on_exception(interrupted);
    }
    --g_nmi_depth;
}

void activate_driver(PerVector& vector, IrqOff off) {
    const Attachment& attachment = vector.attachment;
    const Task* const driver = find_task(attachment.driver, off);
    if (driver == nullptr || driver->context != attachment.driver_context || !task_activate(attachment.driver).ok()) {
        ++vector.driver_refused;
        ++g_counters.driver_refused;
    }
}

void serve(PerVector& vector, IrqOff off) {
    const Attachment& attachment = vector.attachment;
    if (attachment.handler != nullptr) {
        attachment.handler(attachment.argument);
    } else if (attachment.fast == nullptr) {
        ++vector.unassigned;
        ++g_counters.unassigned;
    } else if (attachment.fast(attachment.argument) == DriverWork::activate) {
        activate_driver(vector, off);
    }
}

} // namespace

lib::Result<void> interrupt_attach(arch::Vector vector, std::string_view name, InterruptHandler handler,
                                   void* argument) {
    const IrqGuard guard;
    return attach(vector, name, {.handler = handler, .fast = nullptr, .argument = argument, .driver = {}});
}

lib::Result<void> interrupt_attach_driver(arch::Vector vector, std::string_view name, FastHandler fast, void* argument,
                                          Pid driver) {
    const IrqGuard off;
    const Task* const task = find_task(driver, off);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (vector == kNmi) {
        return lib::Error::refused;
    }
    return attach(
        vector, name,
        {.handler = nullptr, .fast = fast, .argument = argument, .driver = driver, .driver_context = task->context});
}

lib::Result<void> interrupt_detach(arch::Vector vector) {
    const IrqGuard guard;
    if (g_vectors[vector].attachment.is_free()) {
        return lib::Error::not_found;
    }
    g_vectors[vector].attachment = {};
    return {};
}

void record_interrupt(arch::Vector vector, InterruptDetail detail, std::uint32_t every) {
    ASSERT(every != 0);
    const IrqGuard guard;
    trace_points::interrupt_detail_set(vector, detail, every);
}

void flush_interrupt_counts() {
    const IrqGuard guard;
    trace_points::interrupt_counts_flushed();
}

void record_interrupt_sections(bool on) {
    trace_points::interrupt_sections_set(on);
}

void interrupt_entry(arch::Vector vector) {
    if constexpr (kCompensationBuilt) {
        if (vector == arch::timer_vector() && compensation::timer_early(IrqOff::from_entry())) {
            return;
        }
    }
    trace_points::interrupt_started(vector);
    ++g_counters.taken;
    PerVector& own = g_vectors[vector];
    ++own.taken;
    const IrqOff off = IrqOff::from_entry();
    section_begins();
    const bool spurious = arch::is_external(vector) && arch::is_spurious(vector);
    interrupt_entered(off);
    if (spurious) {
        ++own.spurious; // the device of that line has no request: its handler does not run
        ++g_counters.spurious;
    } else {
        storm_count(vector, off);
        serve(own, off);
    }
    trace_points::interrupt_ended(vector);
    if constexpr (kCompensationBuilt) {
        compensation::interrupt_ends(off);
    }
    arch::end_of_interrupt(vector);
    return_from_interrupt(off);
    section_ends();
}

void nmi_entry(const arch::Exception& interrupted) {
    trace_points::interrupt_started(kNmi);
    ++g_counters.taken;
    ++g_vectors[kNmi].taken;
    serve_nmi(interrupted);
    trace_points::interrupt_ended(kNmi);
}

InterruptCounters interrupt_counters() {
    InterruptCounters counters = g_counters;
    counters.storms = storms();
    return counters;
}

InterruptCounters interrupt_counters(arch::Vector vector) {
    const PerVector& own = g_vectors[vector];
    return {.taken = own.taken,
            .unassigned = own.unassigned,
            .spurious = own.spurious,
            .driver_refused = own.driver_refused,
            .storms = storms_of(vector)};
}

namespace {

constexpr arch::Vector kDoubleFault = 8;
constexpr arch::Vector kMachineCheck = 18;

constinit std::uint64_t g_killed = 0;

// Returns whether the instruction that is reported is the one that failed.
bool names_culprit(arch::Vector vector) {
    return vector != kNmi && vector != kDoubleFault && vector != kMachineCheck;
}

// Returns the task that failed, or null if the kernel itself did.
Task* culprit(const arch::Exception& fault) {
    const Processor& cpu = this_processor();
    return names_culprit(fault.vector) && fault.interrupts_were_on && !cpu.in_interrupt ? cpu.loaded : nullptr;
}

// Returns whether only the task ends. The system needs the idle task and the task that shuts it down.
bool system_survives(const Task& task) {
    return (task.reactions.fault == Reaction::kill || task.reactions.fault == Reaction::abort) && !task.immortal;
}

// Ends the task or its job. The stack that this runs on is abandoned: the next exception starts at its top.
[[noreturn]] void end(Task& task, const arch::Exception& fault, IrqOff off) {
    const bool killed = task.reactions.fault == Reaction::kill;
    g_killed += killed ? 1U : 0U;
    raise_exception(task, TaskException::fault, off);
    console().mark("task ", task.name.view(), killed ? " killed" : " aborted", ": exception ", fault.vector, " (",
                   exception_name(fault.vector), ")");
    print_fault(fault);
    schedule(off);
    PANIC("a task was resumed after its fault");
}

} // namespace

void fault_entry(const arch::Exception& fault) {
    trace_points::faulted(this_processor().loaded, fault);
    if (Task* const task = culprit(fault); task != nullptr) {
        if (system_survives(*task)) {
            end(*task, fault, IrqOff::from_entry());
        }
        trace_points::task_exception(*task, TaskException::fault, Reaction::panic);
    }
    panic_on_exception(fault);
}

std::uint64_t tasks_killed_by_faults() {
    return g_killed;
}

} // namespace kernel
