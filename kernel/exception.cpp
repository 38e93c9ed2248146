// SPDX-License-Identifier: MIT
// See exception.hpp.
#include "kernel/exception.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/panic.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/section_meter.hpp"
#include "kernel/trace_points.hpp"
#include "lib/text.hpp"

#include <array>

namespace kernel {

namespace {

struct Handler {
    ExceptionHandler function = nullptr;
    void* argument = nullptr;
};

constexpr std::uint64_t kExceptionBits = upcall_bit(TaskException::deadline_miss) | upcall_bit(TaskException::wcet) |
                                         upcall_bit(TaskException::activation) | upcall_bit(TaskException::fault);

constinit std::array<Handler, kTasksMax> s_handlers{}; // by pid; valid while upcalls.handled says so
constinit lib::IntrusiveList<Task, ReactionTag> s_pending;

std::string_view name_of(TaskException exception) {
    switch (exception) {
    case TaskException::deadline_miss:
        return "deadline miss";
    case TaskException::wcet:
        return "worst-case execution time exceeded";
    case TaskException::activation:
        return "activated too early";
    case TaskException::fault:
        return "fault";
    }
    return "unknown exception";
}

void count(JobCounts& jobs, TaskException exception) {
    switch (exception) {
    case TaskException::deadline_miss:
        ++jobs.deadline_misses;
        return;
    case TaskException::wcet:
        ++jobs.wcet_violations;
        return;
    case TaskException::activation:
        ++jobs.activation_violations;
        return;
    case TaskException::fault:
        ++jobs.faults;
        return;
    }
}

// A kill is never weakened to an abort; of two aborts the later one holds, for the earlier job may be over.
void note(Task& task, Reaction reaction, TaskException exception) {
    if (task.reaction.reaction == Reaction::count) {
        s_pending.push_back(task);
    } else if (task.reaction.reaction == Reaction::kill) {
        return;
    }
    task.reaction = {.reaction = reaction, .cause = exception, .job = task.jobs.completed};
    this_processor().reschedule = true;
}

[[noreturn]] void give_up_the_system(const Task& task, TaskException exception) {
    lib::Text<160> reason;
    reason.add("task ").add(task.name.view()).add(": ").add(name_of(exception));
    panic(reason.view());
}

} // namespace

void exception_handler_set(ExceptionHandler handler, void* argument) {
    const IrqGuard guard;
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    s_handlers[self->pid.value] = {handler, argument};
    self->upcalls.handled &= ~kExceptionBits;
    self->upcalls.handled |= handler != nullptr ? kExceptionBits : 0;
}

void raise_exception_irq_off(Task& task, TaskException exception) {
    ASSERT(arch::interrupts_disabled() && task.state != TaskState::free);
    const Reaction reaction = task.reactions.to(exception);
    count(task.jobs, exception);
    trace_points::task_exception(task, exception, reaction);
    switch (reaction) {
    case Reaction::count:
        return;
    case Reaction::abort:
    case Reaction::kill:
        if (!task.immortal) {
            note(task, reaction, exception);
            return;
        }
        if (exception != TaskException::fault) {
            return;
        }
        break;
    case Reaction::handler:
        task.upcalls.pending |= upcall_bit(exception);
        return;
    case Reaction::panic:
        break;
    }
    give_up_the_system(task, exception);
}

bool reactions_pending_irq_off() {
    return !s_pending.empty();
}

// Each turn takes one task off the list. It comes back only for a job or a dispatch that began since, or for what
// giving up the processor has shown; so this ends.
void carry_out_reactions_irq_off() {
    while (Task* const task = s_pending.front()) {
        const PendingReaction wanted = task->reaction;
        forget_reaction_irq_off(*task);
        if (wanted.reaction == Reaction::kill) {
            end_task_irq_off(*task);
        } else if (task->in_job() && task->jobs.completed == wanted.job) {
            abort_job_irq_off(*task, wanted.cause);
        }
    }
}

void forget_reaction_irq_off(Task& task) {
    if (task.reaction.reaction != Reaction::count) {
        s_pending.remove(task);
        task.reaction = {};
    }
}

void call_exception_handler_irq_off(const Task& task, TaskException exception) {
    const Handler handler = s_handlers[task.pid.value];
    section_ends();
    arch::irq_enable();
    handler.function(exception, handler.argument);
    static_cast<void>(arch::irq_save());
    section_begins();
}

} // namespace kernel
