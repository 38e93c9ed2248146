// SPDX-License-Identifier: MIT
// The kernel's own view of a task, shared by scheduler, levels and synchronisation. Applications use kernel/task.hpp.
// Serialised by interrupts being off.
//
//   state ready + shadow == this       may run
//   state ready + shadow == owner      held up by a mutex: keeps its place in the queue, lends it to the owner
//   any other state                    in no ready queue
#pragma once

#include "arch/arch.hpp"
#include "kernel/task.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/text.hpp"

#include <cstddef>
#include <span>

namespace kernel {

class Level;
class Mutex;
class Semaphore;

struct ReadyTag {};

struct WaitTag {};

struct OwnedTag {};

struct Task : lib::ListLink<ReadyTag>, lib::ListLink<WaitTag> {
    Pid pid;
    std::uint16_t context = 0;
    std::uint16_t group = 0;
    TaskState state = TaskState::free;
    bool immortal = false;  // task_kill() refuses it
    bool job_begun = false; // the current job has been dispatched; a level clears it when a job starts
    lib::Text<kTaskNameBytes> name;
    TaskModel model;
    Level* level = nullptr;
    TaskBody body = nullptr;
    void* argument = nullptr;
    arch::StackPointer stack_pointer;
    Task* shadow = nullptr;          // itself, or the owner of the mutex it waits for
    Mutex* blocked_on = nullptr;     // set while it stands among a mutex's waiters
    Semaphore* waiting_on = nullptr; // set while it stands in a semaphore's queue
    lib::IntrusiveList<Mutex, OwnedTag> owned;
    lib::Ticks cpu_time; // up to the last dispatch
    JobCounts jobs;

    // Where the chain of shadows ends: the task that would really run. Chains are acyclic because mutex_lock() refuses
    // the lock that would close a cycle.
    [[nodiscard]] Task& chain_end() {
        Task* task = this;
        for (std::size_t steps = 0; task->shadow != task; ++steps) {
            ASSERT(steps < kTasksMax);
            task = task->shadow;
        }
        return *task;
    }
};

// Every slot of the pool; those in state free are unused. irq-off.
[[nodiscard]] std::span<Task, kTasksMax> task_table();

// The live task with this pid, or null. irq-off.
[[nodiscard]] Task* find_task(Pid pid);

// Takes a task that stands in no queue through the state delayed: at that time its level unblocks it. irq-off.
void delay_task_irq_off(Task& task, lib::Ticks until);

// Ends any task but never switches away: the caller schedules. irq-off.
void end_task_irq_off(Task& task);

} // namespace kernel
