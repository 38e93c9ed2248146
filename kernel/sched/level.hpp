// SPDX-License-Identifier: MIT
// A scheduling level is one policy with its own ready queue. The scheduler asks the levels in registration order, so an
// earlier level always beats a later one. The functions follow the published module interface: level functions for
// models, public functions for tasks. Levels are static objects; they know the kernel's timers but never each other.
//
//   create --> activate --> [ready queue] --> dispatch .. epilogue --> end_cycle / block / sleep --> ... --> end
//                                ^                                            |
//                                +--------------- release / unblock ----------+
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/sched/chain.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/trace/task.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

// A task has the processor by its own position in a queue, or by one that it inherited through a mutex.
enum class Behalf : std::uint8_t {
    own,
    inherited,
};

// States the consequence of a job's end for its task.
enum class JobEnd : std::uint8_t {
    task_stays,
    task_over, // it was the task's only job: the caller ends the task
};

class Reservations;

// All functions need interrupts off. A task is given to its own level only.
class Level {
  public:
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    // Returns the level's name, which is short and constant, because it appears in the trace.
    [[nodiscard]] virtual std::string_view name() const = 0;

    // Returns the position in the search order, which is known once the level is registered.
    [[nodiscard]] std::uint16_t index() const { return m_index; }

    // Only register_level() calls this.
    void set_index(std::uint16_t index) { m_index = index; }

    // Returns the register of what this level promises in guarantee(), or null. All levels that promise share one.
    [[nodiscard]] virtual const Reservations* promises() const { return nullptr; }

    // --- models
    [[nodiscard]] virtual bool accepts(const TaskModel& model) const = 0;

    // Is called with interrupts on before guarantee() is asked, and may do the work that takes time. Context: any.
    virtual void prepare(const TaskModel& /*model*/) {}

    // Returns whether a task with this model can be guaranteed. invalid_argument: parameters are outside their ranges.
    // refused: the model cannot be guaranteed beside the tasks that exist.
    [[nodiscard]] virtual lib::Result<void> guarantee(const TaskModel& model, IrqOff) = 0;

    // Gives a task another relative deadline and guarantees it again. invalid_argument: it is out of range. refused: it
    // cannot be guaranteed beside the tasks that exist. busy: releases are pending. unsupported: this level knows no
    // deadlines.
    [[nodiscard]] virtual lib::Result<void> set_deadline(Task& /*task*/, lib::Nanoseconds /*relative*/, IrqOff) {
        return lib::Error::unsupported;
    }

    // --- a task's life. create() follows a successful guarantee() of task.model.
    virtual void create(Task& task, IrqOff) = 0;

    // Returns whether activate() would return busy.
    [[nodiscard]] virtual bool refuses_activation(const Task& task, IrqOff) const {
        return task.state != TaskState::sleeping;
    }

    // Gives the task a job, which is released at `at`. busy: the task is active and the level does not queue
    // activations.
    [[nodiscard]] virtual lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) = 0;

    // Ends the running task's job, which is complete (the published message 0).
    [[nodiscard]] virtual JobEnd end_cycle(Task& task, IrqOff) = 0;

    // Ends the running task's job and all further ones until it is activated (the published message 1).
    [[nodiscard]] virtual JobEnd sleep(Task& task, IrqOff) = 0;

    // Takes the running task out of the queue, because it waits for something. The caller sets the new state.
    virtual void block(Task& task, IrqOff) = 0;

    // Puts the task back into the queue, in the state ready.
    virtual void unblock(Task& task, IrqOff) = 0;

    // Takes the task out of the level in any state: queue, timers and reservation are given back.
    virtual void end(Task& task, IrqOff) = 0;

    // Returns the ready queue of the level, guests included, or null if its tasks are guests in another level's queue.
    [[nodiscard]] virtual const ReadyQueue* ready_queue() const { return nullptr; }

    // Returns the key of a position that counts again after it was parked (ready_queue.hpp). The default is the key it
    // had.
    [[nodiscard]] virtual std::uint64_t unparked(Task& task, IrqOff) { return task.ready_key; }

    // Returns how urgent a task of this level is, for its preemption level and for those that wake waiters: its
    // relative deadline or its server's period, in nanoseconds. The shorter one is the more urgent; the default is for
    // tasks without one.
    [[nodiscard]] virtual std::uint64_t preemption_level(const Task& /*task*/, IrqOff) const {
        return kPreemptionLevelNone;
    }

    // Returns the index of the level in whose queue its tasks are, which counts when tasks of different levels are
    // compared.
    [[nodiscard]] virtual std::uint16_t queue_index() const { return m_index; }

    // --- suspension of a task that is ready: its position has been parked, or is queued again.
    virtual void suspended(Task& /*task*/, IrqOff) {}

    virtual void resumed(Task& /*task*/, IrqOff) {}

    // --- running. dispatch/epilogue bracket every interval in which the task has the processor.
    virtual void dispatch(Task& /*task*/, Behalf /*behalf*/, IrqOff) {}

    virtual void epilogue(Task& /*task*/, lib::Ticks /*elapsed*/, IrqOff) {}

    // Bracket every interval in which the task's *position in the queue* is used, by itself or by the owner of a mutex
    // it waits for.
    virtual void slot_begin(Task& /*task*/, IrqOff) {}

    virtual void slot_end(Task& /*task*/, lib::Ticks /*elapsed*/, IrqOff) {}

  protected:
    constexpr Level() = default;
    ~Level() = default; // levels are static: none is deleted through this interface

  private:
    std::uint16_t m_index = 0;
};

namespace detail {

struct LevelRegistry {
    std::array<Level*, kLevelsMax> levels{};
    std::size_t count = 0;
    std::array<const ReadyQueue*, kLevelsMax> queues{};
    std::size_t queue_count = 0;
    Task* idle = nullptr;
};

inline constinit LevelRegistry level_registry;

} // namespace detail

// Appends a level to the search order. no_space: kLevelsMax are registered. refused: it promises by another register
// than the levels that exist, so that two would promise the same time twice. Context: irq-off, before run().
lib::Result<void> register_level(Level& level, IrqOff);

[[nodiscard]] inline std::span<Level* const> levels() {
    return std::span(detail::level_registry.levels).first(detail::level_registry.count);
}

// Returns the task that runs when every ready queue is empty. It is in none, so it has no position to lend. It is null
// until the run has one.
[[nodiscard]] inline Task* idle_task() {
    return detail::level_registry.idle;
}

inline void set_idle_task(Task& task, IrqOff) {
    detail::level_registry.idle = &task;
}

// Returns the ready queues of the levels in the search order. They are beside the levels, so that a decision calls no
// level.
[[nodiscard]] inline std::span<const ReadyQueue* const> ready_queues() {
    return std::span(detail::level_registry.queues).first(detail::level_registry.queue_count);
}

// A task leaves its ready queue here to wait for something, and comes back. The caller decides what the task waits for
// and who wakes it. All functions need interrupts off, and none switches contexts: the caller schedules.

// Takes a ready task out of its queue to wait. A task that runs gives up the processor first. The caller enters the
// task where it waits.
void block_task(Task& task, Wait wait, IrqOff);

// Puts a task that block_task() took out of its queue back into it.
inline void unblock_task(Task& task, IrqOff off) {
    if (!task.suspended) { // a suspended task stays out until it is resumed
        task.out = false;
        trace_points::task_unblocked(task);
    }
    ASSERT(!lib::kChecked || (task.state != TaskState::free && task.ready_in == nullptr));
    task.level->unblock(task, off);
    ASSERT(!lib::kChecked || task.state == TaskState::ready);
}

// Delays a task that is in no queue: its level unblocks it at that time.
void delay_task(Task& task, lib::Ticks until, IrqOff);

} // namespace kernel
