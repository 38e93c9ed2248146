// SPDX-License-Identifier: MIT
// Implements the funnel of exceptions.
#include "kernel/sched/exception.hpp"

#include "kernel/panic/panic.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/trace/task.hpp"
#include "lib/text.hpp"

namespace kernel {

namespace {

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

// A kill is never weakened to an abort. The later one of two aborts holds, because the earlier job may be over.
void note(Task& task, Reaction reaction, TaskException exception) {
    if (task.reaction.reaction == Reaction::count) {
        detail::pending_reactions.push_back(task);
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

void raise_exception(Task& task, TaskException exception, IrqOff) {
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

NotedReaction next_reaction(IrqOff off) {
    Task* const task = detail::pending_reactions.front();
    ASSERT(task != nullptr);
    const PendingReaction wanted = task->reaction;
    forget_reaction(*task, off);
    return {*task, wanted};
}

void forget_reaction(Task& task, IrqOff) {
    if (task.reaction.reaction != Reaction::count) {
        detail::pending_reactions.remove(task);
        task.reaction = {};
    }
}

} // namespace kernel
