// SPDX-License-Identifier: MIT
// A Task is the kernel's own view of a task, which scheduler, levels and synchronisation share. Applications use
// kernel/task/task.hpp. Interrupts are off wherever it is accessed.
//
//   state ready, blocked_on null or free    may run, unless a mutex's ceiling stops its job before it begins
//   state ready, blocked_on owned           held up by a mutex: keeps its position in the queue, lends it to the owner
//   state ready, suspended                  has a position that does not count: parked at itself
//   any other state                         in no ready queue
#pragma once

#include "arch/arch.hpp"
#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/state/task_model.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"
#include "lib/text.hpp"
#include "lib/wire_numbers.hpp"

#include <cstddef>
#include <cstdint>

namespace kernel {

class Level;
class ReadyQueue;
class Resource;
class WaitQueue;

struct ReadyTag {};

struct ParkedTag {};

struct StalledTag {};

struct WaitTag {};

struct OwnedTag {};

struct ReactionTag {};

struct GroupTag {};

using lib::WaitKind;

struct Wait {
    WaitKind kind = WaitKind::delay;
    std::uint16_t id = 0; // of the object; 0: there is none
};

// The exceptions and signals that may interrupt a task in its own context are bits of one word. A pending bit calls its
// handler as soon as the task is about to return to its own code, the lowest bit first, unless the bit is masked or its
// handler is running already. A pending bit without a handler waits until there is one.
//
//   bit 1..4   TaskException       bit 4 + n   signal n, 1..31
inline constexpr unsigned kSignalShift = 4;

[[nodiscard]] constexpr std::uint64_t upcall_bit(TaskException exception) {
    return std::uint64_t{1} << static_cast<unsigned>(exception);
}

[[nodiscard]] constexpr std::uint64_t upcall_bit(std::uint8_t signo) {
    return std::uint64_t{1} << (kSignalShift + signo);
}

struct Upcalls {
    std::uint64_t pending = 0;
    std::uint64_t masked = 0;
    std::uint64_t active = 0;  // their handlers are running
    std::uint64_t handled = 0; // they have a handler
    std::uint64_t awaited = 0; // signal_wait() waits for them

    [[nodiscard]] constexpr std::uint64_t due() const {
        if (pending == 0) [[likely]] {
            return 0;
        }
        return pending & handled & ~masked & ~active;
    }
};

// Holds an abort or a kill that is decided but not yet carried out (exception.hpp).
struct PendingReaction {
    Reaction reaction = Reaction::count; // count: none
    TaskException cause = TaskException::fault;
    std::uint64_t job = 0; // jobs.completed at that time: a job that has ended since is not aborted
};

struct Task : lib::TreeLink<ReadyTag>,
              lib::ListLink<ParkedTag>,
              lib::ListLink<StalledTag>,
              lib::TreeLink<WaitTag>,
              lib::ListLink<ReactionTag>,
              lib::TreeLink<GroupTag> {
    // --- identity, from its creation on
    Pid pid;
    std::uint16_t context = 0; // the number that trace records carry; 0: none
    std::uint16_t group = 0;
    std::uint16_t level_index = 0;   // of `level`, as the trace shows it
    bool immortal = false;           // task_kill() refuses it
    bool uses_ceilings = false;      // it was declared a user of a mutex
    void (*ended)(IrqOff) = nullptr; // is called when it has ended
    lib::Text<kTaskNameBytes> name;
    TaskModel model;
    Level* level = nullptr;

    // --- its context
    TaskBody body = nullptr;
    void* argument = nullptr;
    arch::StackPointer stack_pointer;
    bool restart = false; // its context is abandoned: it starts at its entry next

    // --- what it does now
    TaskState state = TaskState::free;
    bool suspended = false;
    bool out = false;       // out of its ready queue in the middle of a job, as the trace has it: task_block was last
    bool job_begun = false; // the current job has been dispatched; a level clears it when a job starts
    lib::Ticks released_at; // of the job in progress, or of the next one

    // --- its position in a ready queue
    ReadyQueue* ready_in = nullptr; // the queue where it is; null: in none
    std::uint64_t ready_key = 0;    // of that position, or of the last one
    std::uint64_t ready_rank = 0;   // among equal keys
    Task* parked_on = nullptr;      // the task at the end of its chain that cannot run; null: not parked
    lib::IntrusiveList<Task, ParkedTag> parked_here;

    // --- what it owns and waits for
    lib::IntrusiveList<Resource, OwnedTag> owned;
    Resource* blocked_on = nullptr;  // the mutex that must be free before it runs again, or null
    Resource* locking = nullptr;     // the mutex that it asked for last: with ceilings, another one may block it
    WaitQueue* waiting_on = nullptr; // where it is while it waits outside its ready queue
    std::byte* message = nullptr;    // its message, or where it receives one, while it waits at a port
    bool wait_limited = false;       // its latest wait has a limit
    bool timed_out = false;          // the limit was reached
    Wait waits_for;                  // the reason of its latest wait

    // --- what it has used, and what it has done wrong
    lib::Ticks cpu_time;               // up to the last dispatch
    lib::Ticks cpu_alarm_at;           // of its cpu_time
    std::uint8_t cpu_alarm_signal = 0; // 0: no alarm
    JobCounts jobs;
    Reactions reactions;
    PendingReaction reaction;
    Upcalls upcalls;

    // Returns whether the task would use the processor if it got it.
    [[nodiscard]] bool can_run() const { return state == TaskState::ready && !suspended; }

    // Returns whether a job of the task is in progress: released, and not complete.
    [[nodiscard]] bool in_job() const { return state == TaskState::ready || out; }
};

} // namespace kernel
