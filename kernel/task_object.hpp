// SPDX-License-Identifier: MIT
// The kernel's own view of a task, shared by scheduler, levels and synchronisation. Applications use kernel/task.hpp.
// Serialised by interrupts being off.
//
//   state ready, blocked_on null or free    may run, unless a mutex's ceiling stops its job before it begins
//   state ready, blocked_on owned           held up by a mutex: keeps its place in the queue, lends it to the owner
//   state ready, suspended                  has a place that counts for nobody: parked at itself
//   any other state                         in no ready queue
#pragma once

#include "arch/arch.hpp"
#include "kernel/task.hpp"
#include "kernel/upcalls.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"
#include "lib/text.hpp"

#include <cstddef>
#include <span>

namespace kernel {

class Level;
class Mutex;
class ReadyQueue;
class WaitQueue;

struct ReadyTag {};

struct ParkedTag {};

struct WaitTag {};

struct OwnedTag {};

struct ReactionTag {};

// What a task waits for, as task_block and task_unblock record it.
enum class WaitKind : std::uint8_t {
    semaphore = 1,
    delay = 2,
    condition = 3,
    receive = 4,
    send = 5,
    suspended = 6,
    signal = 7,
    mutex = 8, // without a protocol: with one, a task waits in its ready queue
};

struct Wait {
    WaitKind kind = WaitKind::delay;
    std::uint16_t id = 0; // of the object; 0 where there is none
};

// Abort or kill, decided but not yet carried out (exception.hpp).
struct PendingReaction {
    Reaction reaction = Reaction::count; // count: none
    TaskException cause = TaskException::fault;
    std::uint64_t job = 0; // jobs.completed then: a job that is over since is not aborted
};

struct Task : lib::TreeLink<ReadyTag>, lib::ListLink<ParkedTag>, lib::TreeLink<WaitTag>, lib::ListLink<ReactionTag> {
    Pid pid;
    std::uint16_t context = 0;
    std::uint16_t group = 0;
    TaskState state = TaskState::free;
    bool immortal = false;  // task_kill() refuses it
    bool job_begun = false; // the current job has been dispatched; a level clears it when a job starts
    bool suspended = false;
    bool out = false;     // of its ready queue in the middle of a job, as the trace has it: task_block was the last
    bool restart = false; // its context is abandoned: next it starts at its entry
    lib::Text<kTaskNameBytes> name;
    TaskModel model;
    Reactions reactions;
    Level* level = nullptr;
    TaskBody body = nullptr;
    void* argument = nullptr;
    arch::StackPointer stack_pointer;
    ReadyQueue* ready_in = nullptr; // where its place is; null: in no queue
    std::uint64_t ready_key = 0;    // of that place, or of the last one
    std::uint64_t ready_rank = 0;   // among equal keys
    Task* parked_on = nullptr;      // the task at the end of its chain that cannot run; null: not parked
    lib::IntrusiveList<Task, ParkedTag> parked_here;
    Mutex* blocked_on = nullptr;     // the mutex that it must see free before it runs again, or null
    Mutex* locking = nullptr;        // the mutex that it asked for last: with ceilings, another one may block it
    WaitQueue* waiting_on = nullptr; // where it stands while it waits outside its ready queue
    std::byte* message = nullptr;    // what it sends, or where it receives, while it waits at a port
    bool timed_out = false;          // its latest wait reached its limit
    Wait waits_for;                  // the reason of its latest wait
    lib::IntrusiveList<Mutex, OwnedTag> owned;
    lib::Ticks released_at; // of the job in progress, or of the one to come
    lib::Ticks cpu_time;    // up to the last dispatch
    JobCounts jobs;
    PendingReaction reaction;
    Upcalls upcalls;
    lib::Ticks cpu_alarm_at;           // of its cpu_time
    std::uint8_t cpu_alarm_signal = 0; // 0: no alarm

    // Whether it would use the processor if it got it.
    [[nodiscard]] bool can_run() const { return state == TaskState::ready && !suspended; }

    // Whether a job of it is in progress: released, and not complete.
    [[nodiscard]] bool in_job() const { return state == TaskState::ready || out; }
};

// Every slot of the pool; those in state free are unused. irq-off.
[[nodiscard]] std::span<Task, kTasksMax> task_table();

// The live task with this pid, or null. irq-off.
[[nodiscard]] Task* find_task(Pid pid);

// Takes a ready task out of its queue to wait; if it runs, it gives up first. The caller enters it where it waits, and
// schedules. irq-off.
void block_task_irq_off(Task& task, Wait wait);

// What block_task_irq_off() took away is given back. The caller schedules. irq-off.
void unblock_task_irq_off(Task& task);

// Takes a task that stands in no queue through the state delayed: at that time its level unblocks it. irq-off.
void delay_task_irq_off(Task& task, lib::Ticks until);

// Ends any task but never switches away: the caller schedules. irq-off.
void end_task_irq_off(Task& task);

// The job in progress, if there is one, ends where it is: waits are given up, mutexes are freed, and the task's next
// job starts at its entry. The caller schedules. Not from within a level's function. irq-off.
void abort_job_irq_off(Task& task, TaskException cause);

// Lays out the stack of a task whose context is abandoned. Precondition: it is not the loaded one. irq-off.
void renew_context_irq_off(Task& task);

// The same for the loaded one. irq-off.
[[noreturn]] void restart_loaded_irq_off(Task& task);

} // namespace kernel
