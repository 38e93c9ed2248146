// SPDX-License-Identifier: MIT
// The task pool and the primitives that act on tasks. Every primitive that takes the running task off the processor has
// the same shape: give up, change the state, schedule.
#include "kernel/task.hpp"

#include "kernel/clock.hpp"
#include "kernel/cpu_clock.hpp"
#include "kernel/exception.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/level.hpp"
#include "kernel/ready_queue.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/section_meter.hpp"
#include "kernel/signal.hpp"
#include "kernel/stacks.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/task_object.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_steps.hpp"

#include <array>
#include <bit>

namespace kernel {

namespace {

constexpr std::size_t kWordBits = 64;

struct Pool {
    std::array<Task, kTasksMax> tasks{};
    std::array<std::uint64_t, (kTasksMax + kWordBits - 1) / kWordBits> used{}; // bit n: slot n
    std::array<std::uint64_t, 0x10000 / kWordBits> contexts{1};                // bit n: in use; 0 is the boot context
    std::uint16_t last_context = 0;
};

constinit Pool s_pool;

// 1..65535, going round; never 0, never one that a live task has. At most a few words are looked at: no more than
// kTasksMax bits are set.
std::uint16_t fresh_context_irq_off() {
    const std::size_t begin = (s_pool.last_context + std::size_t{1}) % 0x10000;
    std::uint64_t free = ~s_pool.contexts[begin / kWordBits] & (~std::uint64_t{0} << (begin % kWordBits));
    std::size_t word = begin / kWordBits;
    while (free == 0) {
        word = (word + 1) % s_pool.contexts.size();
        free = ~s_pool.contexts[word];
    }
    const auto bit = static_cast<std::size_t>(std::countr_zero(free));
    s_pool.contexts[word] |= std::uint64_t{1} << bit;
    s_pool.last_context = static_cast<std::uint16_t>(word * kWordBits + bit);
    return s_pool.last_context;
}

// The lowest; a look at one word for each 64 slots. Never the slot whose stack is in use right now, even if its task
// has just been killed.
Task* free_slot_irq_off() {
    const Task* const loaded = this_processor().loaded;
    for (std::size_t word = 0; word < s_pool.used.size(); ++word) {
        std::uint64_t taken = s_pool.used[word];
        if (loaded != nullptr && loaded->pid.value / kWordBits == word) {
            taken |= std::uint64_t{1} << (loaded->pid.value % kWordBits);
        }
        const std::size_t slot = word * kWordBits + static_cast<std::size_t>(std::countr_one(taken));
        if (slot < (word + 1) * kWordBits) {
            return slot < kTasksMax ? &s_pool.tasks[slot] : nullptr;
        }
    }
    return nullptr;
}

void take_slot_irq_off(Task& task, std::uint16_t slot) {
    s_pool.used[slot / kWordBits] |= std::uint64_t{1} << (slot % kWordBits);
    task.pid = Pid{slot};
    task.context = fresh_context_irq_off();
}

void give_slot_back_irq_off(const Task& task) {
    s_pool.used[task.pid.value / kWordBits] &= ~(std::uint64_t{1} << (task.pid.value % kWordBits));
    s_pool.contexts[task.context / kWordBits] &= ~(std::uint64_t{1} << (task.context % kWordBits));
}

bool is_reaction(Reaction reaction) {
    return reaction <= Reaction::panic;
}

bool valid(const Reactions& reactions) {
    return is_reaction(reactions.deadline_miss) && is_reaction(reactions.wcet) && is_reaction(reactions.activation) &&
           (reactions.fault == Reaction::abort || reactions.fault == Reaction::kill ||
            reactions.fault == Reaction::panic);
}

void prepare_level(const TaskModel& model) {
    for (Level* const level : levels()) {
        if (level->accepts(model)) {
            level->prepare(model);
            return;
        }
    }
}

lib::Result<Level*> find_level(const TaskModel& model) {
    lib::Error error = lib::Error::unsupported;
    for (Level* const level : levels()) {
        if (!level->accepts(model)) {
            continue;
        }
        const auto guaranteed = level->guarantee(model);
        if (guaranteed.ok()) {
            return level;
        }
        error = error == lib::Error::unsupported ? guaranteed.error() : error;
    }
    return error;
}

void task_entry(void* argument) {
    const Task& self = *static_cast<Task*>(argument);
    trace_points::context_begins(self);
    trace_points::interrupts_enabled();
    section_ends();
    arch::irq_enable();
    deliver_upcalls();
    self.body(self.argument);
    task_exit();
}

Task& self_irq_off() {
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
}

void leave_processor_irq_off(const Task& task) {
    const Processor& cpu = this_processor();
    if (&task == cpu.exec || &task == cpu.exec_shadow) {
        give_up_irq_off();
    }
}

// Whatever it waits for, it does so no longer.
void forget_waits_irq_off(Task& task) {
    leave_waits_irq_off(task);
    task.upcalls.awaited = 0;
}

// The place stays where it is, and is parked: it counts for nobody, not even for the owner of a mutex.
void suspend_irq_off(Task& task) {
    leave_processor_irq_off(task);
    task.suspended = true;
    if (task.state == TaskState::ready) {
        leave_line_irq_off(task);
    }
}

void resume_irq_off(Task& task) {
    task.suspended = false;
    if (task.state == TaskState::ready) {
        task.out = false;
        trace_points::task_resumed(task);
    }
    unpark_irq_off(task);
}

void wake_up(void* argument) {
    unblock_task_irq_off(*static_cast<Task*>(argument));
    schedule_irq_off();
}

} // namespace

std::span<Task, kTasksMax> task_table() {
    return s_pool.tasks;
}

Task* find_task(Pid pid) {
    if (pid.value >= kTasksMax || s_pool.tasks[pid.value].state == TaskState::free) {
        return nullptr;
    }
    return &s_pool.tasks[pid.value];
}

lib::Result<Pid> task_create(const TaskOptions& options) {
    if (options.body == nullptr || !valid(options.reactions)) {
        return lib::Error::invalid_argument;
    }
    prepare_level(options.model);
    const IrqGuard guard;
    for (const Mutex* const mutex : options.mutexes) {
        if (mutex == nullptr || mutex->id() == 0 || !mutex->has_ceiling()) {
            return lib::Error::invalid_argument;
        }
    }
    Task* const task = free_slot_irq_off();
    if (task == nullptr) {
        return lib::Error::no_space;
    }
    const auto level = find_level(options.model);
    if (!level.ok()) {
        return level.error();
    }
    const auto slot = static_cast<std::uint16_t>(task - s_pool.tasks.data());
    take_slot_irq_off(*task, slot);
    task->group = options.group;
    task->immortal = false;
    task->job_begun = false;
    task->suspended = false;
    task->out = false;
    task->restart = false;
    task->name = lib::Text<kTaskNameBytes>(options.name);
    task->model = options.model;
    task->reactions = options.reactions;
    task->level = level.value();
    task->body = options.body;
    task->argument = options.argument;
    task->stack_pointer = arch::prepare_stack(task_stack(slot), &task_entry, task);
    task->blocked_on = nullptr;
    task->locking = nullptr;
    task->waiting_on = nullptr;
    task->timed_out = false;
    task->cpu_time = {};
    task->jobs = {};
    task->reaction = {};
    task->upcalls = {};
    task->cpu_alarm_signal = 0;
    trace_points::task_created(*task);
    task->level->create(*task);
    for (Mutex* const mutex : options.mutexes) {
        ceilings().declare_user(*mutex, *task);
    }
    return task->pid;
}

lib::Result<void> task_activate(Pid pid) {
    return task_activate_at(pid, now());
}

lib::Result<void> task_activate_at(Pid pid, lib::Ticks at) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (task->level->refuses_activation(*task)) {
        return lib::Error::busy;
    }
    trace_points::task_activated(*task);
    const auto activated = task->level->activate(*task, at);
    schedule_irq_off();
    return activated;
}

Pid task_self() {
    const IrqGuard guard;
    return self_irq_off().pid;
}

lib::Ticks task_cpu_time() {
    const IrqGuard guard;
    return self_irq_off().cpu_time + (now() - this_processor().dispatched_at);
}

void task_endcycle() {
    const IrqGuard guard;
    Task& self = self_irq_off();
    give_up_irq_off();
    self.level->end_cycle(self);
    schedule_irq_off();
}

void task_sleep() {
    const IrqGuard guard;
    Task& self = self_irq_off();
    trace_points::task_slept(self);
    give_up_irq_off();
    self.level->sleep(self);
    schedule_irq_off();
}

void task_delay(lib::Nanoseconds time) {
    const IrqGuard guard;
    Task& self = self_irq_off();
    const lib::Ticks until = after(time);
    block_task_irq_off(self, {.kind = WaitKind::delay});
    delay_task_irq_off(self, until);
    schedule_irq_off();
}

void task_exit() {
    static_cast<void>(arch::irq_save());
    section_begins();
    end_task_irq_off(self_irq_off());
    schedule_irq_off();
    ASSERT(!"a task that has ended was resumed");
    __builtin_unreachable();
}

lib::Result<void> task_kill(Pid pid) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (task->immortal) {
        return lib::Error::refused;
    }
    end_task_irq_off(*task);
    schedule_irq_off();
    return {};
}

lib::Result<void> task_suspend(Pid pid) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (task->immortal) {
        return lib::Error::refused;
    }
    if (task->suspended) {
        return lib::Error::busy;
    }
    suspend_irq_off(*task);
    schedule_irq_off();
    return {};
}

lib::Result<void> task_resume(Pid pid) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (!task->suspended) {
        return lib::Error::refused;
    }
    resume_irq_off(*task);
    schedule_irq_off();
    return {};
}

lib::Result<void> task_set_reactions(Pid pid, const Reactions& reactions) {
    if (!valid(reactions)) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    task->reactions = reactions;
    return {};
}

lib::Result<void> task_set_deadline(Pid pid, lib::Nanoseconds relative) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    const auto set = task->level->set_deadline(*task, relative);
    if (set.ok()) {
        ceilings().level_changed(*task);
        schedule_irq_off();
    }
    return set;
}

void block_task_irq_off(Task& task, Wait wait) {
    if (&task == this_processor().exec_shadow) {
        give_up_irq_off();
    }
    task.level->block(task);
    task.state = TaskState::waiting;
    task.waits_for = wait;
    task.out = true;
    trace_points::task_blocked(task);
}

void unblock_task_irq_off(Task& task) {
    if (!task.suspended) { // else it stays out until it is resumed
        task.out = false;
        trace_points::task_unblocked(task);
    }
    task.level->unblock(task);
}

void delay_task_irq_off(Task& task, lib::Ticks until) {
    task.state = TaskState::delayed;
    task_timer_post_irq_off(task.pid, TaskTimer::delay, until, &wake_up);
}

void end_task_irq_off(Task& task) {
    leave_processor_irq_off(task);
    forget_waits_irq_off(task);
    release_all_mutexes_irq_off(task);
    ceilings().forget_user(task);
    trace_points::task_ended(task);
    forget_reaction_irq_off(task);
    task_timer_delete_irq_off(task.pid, TaskTimer::cpu_alarm);
    task.level->end(task);
    task.state = TaskState::free;
    give_slot_back_irq_off(task);
}

void abort_job_irq_off(Task& task, TaskException cause) {
    leave_processor_irq_off(task);
    if (!task.in_job()) {
        return; // giving up may have been the end of its job
    }
    ++task.jobs.aborted;
    trace_points::job_aborted(task, cause);
    forget_waits_irq_off(task);
    release_all_mutexes_irq_off(task);
    if (task.state != TaskState::ready) {
        task.level->unblock(task); // a level ends jobs that are ready
    }
    task.out = false;
    task.restart = true;
    task.upcalls.active = 0;
    task.level->end_cycle(task);
}

void renew_context_irq_off(Task& task) {
    ASSERT(&task != this_processor().loaded);
    task.restart = false;
    task.stack_pointer = arch::prepare_stack(task_stack(task.pid.value), &task_entry, &task);
}

void restart_loaded_irq_off(Task& task) {
    ASSERT(&task == this_processor().loaded);
    task.restart = false;
    arch::restart_context(task_stack(task.pid.value), &task_entry, &task);
}

lib::Result<TaskInfo> task_info(Pid pid) {
    const IrqGuard guard;
    const Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    const Processor& cpu = this_processor();
    const lib::Ticks running = task == cpu.exec_shadow ? now() - cpu.dispatched_at : lib::Ticks{};
    return TaskInfo{task->context, task->state, task->suspended, task->cpu_time + running, task->jobs};
}

} // namespace kernel
