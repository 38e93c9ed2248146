// SPDX-License-Identifier: MIT
#include "kernel/fault.hpp"

#include "kernel/console.hpp"
#include "kernel/exception.hpp"
#include "kernel/fault_report.hpp"
#include "kernel/panic.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

constexpr arch::Vector kNmi = 2;
constexpr arch::Vector kDoubleFault = 8;
constexpr arch::Vector kMachineCheck = 18;

constinit std::uint64_t g_killed = 0;

// The instruction that is reported is the one to blame.
bool tells_who(arch::Vector vector) {
    return vector != kNmi && vector != kDoubleFault && vector != kMachineCheck;
}

// Null if it is the kernel that failed.
Task* culprit(const arch::Exception& fault) {
    const Processor& cpu = this_processor();
    return tells_who(fault.vector) && fault.interrupts_were_on && !cpu.in_interrupt ? cpu.loaded : nullptr;
}

// Without the idle task, or the one that shuts the system down, there is no system.
bool may_go_on(const Task& task) {
    return (task.reactions.fault == Reaction::kill || task.reactions.fault == Reaction::abort) && !task.immortal;
}

// The task, or its job, ends here. The stack that this runs on is left for good: the next exception starts at its top.
[[noreturn]] void end(Task& task, const arch::Exception& fault) {
    const bool killed = task.reactions.fault == Reaction::kill;
    g_killed += killed ? 1U : 0U;
    raise_exception_irq_off(task, TaskException::fault);
    console().mark("task ", task.name.view(), killed ? " killed" : " aborted", ": exception ", fault.vector, " (",
                   exception_name(fault.vector), ")");
    print_fault(fault);
    schedule_irq_off();
    PANIC("a task was resumed behind its fault");
}

} // namespace

void fault_entry(const arch::Exception& fault) {
    trace_points::faulted(this_processor().loaded, fault);
    if (Task* const task = culprit(fault); task != nullptr) {
        if (may_go_on(*task)) {
            end(*task, fault);
        }
        trace_points::task_exception(*task, TaskException::fault, Reaction::panic);
    }
    panic_on_exception(fault);
}

std::uint64_t tasks_killed_by_faults() {
    return g_killed;
}

} // namespace kernel
