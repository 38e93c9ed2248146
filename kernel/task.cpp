// SPDX-License-Identifier: MIT
// The task pool and the primitives that act on tasks. Every primitive that takes the running task off the processor has
// the same shape: give up, change the state, schedule.
#include "kernel/task.hpp"

#include "kernel/clock.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/level.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/stacks.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/task_object.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

#include <array>

namespace kernel {

namespace {

struct Pool {
    std::array<Task, kTasksMax> tasks{};
    std::uint16_t last_context = 0;
};

constinit Pool s_pool;

bool context_in_use(std::uint16_t context) {
    for (const Task& task : s_pool.tasks) {
        if (task.state != TaskState::free && task.context == context) {
            return true;
        }
    }
    return false;
}

// 1..65535, going round; never 0, never one that a live task has.
std::uint16_t fresh_context_irq_off() {
    do {
        ++s_pool.last_context;
    } while (s_pool.last_context == 0 || context_in_use(s_pool.last_context));
    return s_pool.last_context;
}

// Never the slot whose stack is in use right now, even if its task has just been killed.
Task* free_slot_irq_off() {
    for (Task& task : s_pool.tasks) {
        if (task.state == TaskState::free && &task != this_processor().loaded) {
            return &task;
        }
    }
    return nullptr;
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
        if (error == lib::Error::unsupported) {
            error = guaranteed.error();
        }
    }
    return error;
}

void task_entry(void* argument) {
    const Task& self = *static_cast<Task*>(argument);
    trace_points::interrupts_enabled();
    arch::irq_enable();
    self.body(self.argument);
    task_exit();
}

Task& self_irq_off() {
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
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
    if (options.body == nullptr) {
        return lib::Error::invalid_argument;
    }
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
    task->pid = Pid{slot};
    task->context = fresh_context_irq_off();
    task->group = options.group;
    task->immortal = false;
    task->job_begun = false;
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
    trace_points::task_blocked(task);
}

void unblock_task_irq_off(Task& task) {
    trace_points::task_unblocked(task);
    task.level->unblock(task);
}

void delay_task_irq_off(Task& task, lib::Ticks until) {
    task.state = TaskState::delayed;
    task_timer_post_irq_off(task.pid, TaskTimer::delay, until, &wake_up);
}

void end_task_irq_off(Task& task) {
    const Processor& cpu = this_processor();
    if (&task == cpu.exec || &task == cpu.exec_shadow) {
        give_up_irq_off();
    }
    leave_waits_irq_off(task);
    release_all_mutexes_irq_off(task);
    ceilings().forget_user(task);
    trace_points::task_ended(task);
    task.level->end(task);
    task.state = TaskState::free;
}

lib::Result<TaskInfo> task_info(Pid pid) {
    const IrqGuard guard;
    const Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    const Processor& cpu = this_processor();
    const lib::Ticks running = task == cpu.exec_shadow ? now() - cpu.dispatched_at : lib::Ticks{};
    return TaskInfo{task->context, task->state, task->cpu_time + running, task->jobs};
}

} // namespace kernel
