// SPDX-License-Identifier: MIT
#include "kernel/interrupt/fault.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/panic/fault_report.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/sched/exception.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/trace/machine.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

constexpr arch::Vector kNmi = 2;
constexpr arch::Vector kDoubleFault = 8;
constexpr arch::Vector kMachineCheck = 18;

constinit std::uint64_t g_killed = 0;

// Returns whether the instruction that is reported is the one that failed.
bool names_culprit(arch::Vector vector) {
    return vector != kNmi && vector != kDoubleFault && vector != kMachineCheck;
}

// Returns null if the kernel itself failed.
Task* culprit(const arch::Exception& fault) {
    const Processor& cpu = this_processor();
    return names_culprit(fault.vector) && fault.interrupts_were_on && !cpu.in_interrupt ? cpu.loaded : nullptr;
}

// The system needs the idle task and the task that shuts it down.
bool system_survives(const Task& task) {
    return (task.reactions.fault == Reaction::kill || task.reactions.fault == Reaction::abort) && !task.immortal;
}

// The task, or its job, ends here. The stack that this runs on is abandoned: the next exception starts at its top.
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
