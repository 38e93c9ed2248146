// SPDX-License-Identifier: MIT
// Keeps the table of registered levels, and takes a task out of its ready queue to wait.
#include "kernel/sched/level.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/schedule.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

lib::Result<void> register_level(Level& level, IrqOff) {
    detail::LevelRegistry& registry = detail::level_registry;
    if (registry.count == registry.levels.size()) {
        return lib::Error::no_space;
    }
    for (const Level* const other : levels()) {
        if (other->promises() != nullptr && level.promises() != nullptr && other->promises() != level.promises()) {
            return lib::Error::refused;
        }
    }
    level.set_index(static_cast<std::uint16_t>(registry.count));
    registry.levels[registry.count++] = &level;
    if (const ReadyQueue* const queue = level.ready_queue()) {
        registry.queues[registry.queue_count++] = queue;
    }
    trace_points::level_registered(level);
    return {};
}

namespace {

void wake_up(Task& task, IrqOff off) {
    unblock_task(task, off);
    schedule(off);
}

} // namespace

void block_task(Task& task, Wait wait, IrqOff off) {
    if (&task == this_processor().exec_shadow) {
        give_up(off);
    }
    ASSERT(!lib::kChecked || task.state == TaskState::ready);
    task.level->block(task, off);
    task.state = TaskState::waiting;
    task.waits_for = wait;
    task.out = true;
    trace_points::task_blocked(task);
    ASSERT(!lib::kChecked || task.ready_in == nullptr);
}

void delay_task(Task& task, lib::Ticks until, IrqOff off) {
    ASSERT(!lib::kChecked || task.ready_in == nullptr);
    task.state = TaskState::delayed;
    task_timer_post<&wake_up>(task, TaskTimer::delay, until, off);
}

} // namespace kernel
