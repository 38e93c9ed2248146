// SPDX-License-Identifier: MIT
// A scheduling level: one policy with its own ready queue. The scheduler asks the levels in registration order, so an
// earlier level always beats a later one. The function set follows the published module interface: level functions for
// models, public functions for tasks. Levels are static objects; they know the kernel's timers but never each other.
//
//   create --> activate --> [ready queue] --> dispatch .. epilogue --> end_cycle / block / sleep --> ... --> end
//                                ^                                            |
//                                +--------------- release / unblock ----------+
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/sched/resource.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

// Whether a task has the processor by its own place in a queue or by one that it inherited through a mutex.
enum class Behalf : std::uint8_t {
    own,
    inherited,
};

// What becomes of a task whose job has ended.
enum class JobEnd : std::uint8_t {
    task_stays,
    task_over, // it was the task's only job: the caller ends the task
};

class Reservations;

// All functions irq-off. A task is given to its own level only.
class Level {
  public:
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    // Short and constant: it appears in the trace.
    [[nodiscard]] virtual std::string_view name() const = 0;

    // Position in the search order, known once registered.
    [[nodiscard]] std::uint16_t index() const { return m_index; }

    // For register_level() alone.
    void set_index(std::uint16_t index) { m_index = index; }

    // The register of what this level promises in guarantee(), or null: all levels that promise share one.
    [[nodiscard]] virtual const Reservations* promises() const { return nullptr; }

    // --- models
    [[nodiscard]] virtual bool accepts(const TaskModel& model) const = 0;

    // Called with interrupts on when guarantee() is about to be asked: may do the work that takes time. Context: any.
    virtual void prepare(const TaskModel& /*model*/) {}

    // invalid_argument: parameters outside their ranges. refused: cannot be guaranteed beside the tasks there are.
    [[nodiscard]] virtual lib::Result<void> guarantee(const TaskModel& model, IrqOff) = 0;

    // Another relative deadline for a task, guaranteed again. invalid_argument: out of range. refused: cannot be
    // guaranteed beside the tasks there are. busy: releases are pending. unsupported: this level knows no deadlines.
    [[nodiscard]] virtual lib::Result<void> set_deadline(Task& /*task*/, lib::Nanoseconds /*relative*/, IrqOff) {
        return lib::Error::unsupported;
    }

    // --- a task's life. create() follows a successful guarantee() of task.model.
    virtual void create(Task& task, IrqOff) = 0;

    // Whether activate() would say busy.
    [[nodiscard]] virtual bool refuses_activation(const Task& task, IrqOff) const {
        return task.state != TaskState::sleeping;
    }

    // The task has a job from now on, released at `at`. busy: it is active and the level does not queue activations.
    [[nodiscard]] virtual lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) = 0;

    // The running task's job is complete (the published message 0).
    [[nodiscard]] virtual JobEnd end_cycle(Task& task, IrqOff) = 0;

    // The running task wants no further job until it is activated (the published message 1).
    [[nodiscard]] virtual JobEnd sleep(Task& task, IrqOff) = 0;

    // The running task waits for something: out of the queue. The caller sets the new state.
    virtual void block(Task& task, IrqOff) = 0;

    // Back into the queue, state ready.
    virtual void unblock(Task& task, IrqOff) = 0;

    // The task leaves, from any state: queue, timers and reservation are given back.
    virtual void end(Task& task, IrqOff) = 0;

    // The ready queue of the level, guests included. Null: its tasks are guests in another's.
    [[nodiscard]] virtual const ReadyQueue* ready_queue() const { return nullptr; }

    // The key of a place that counts again after it was parked (ready_queue.hpp). The default is the key it had.
    [[nodiscard]] virtual std::uint64_t unparked(Task& task, IrqOff) { return task.ready_key; }

    // How urgent a task of this level is for its preemption level and for whoever wakes waiters: its relative deadline
    // or its server's period, in nanoseconds. The shorter the higher; the default is for tasks without one.
    [[nodiscard]] virtual std::uint64_t preemption_level(const Task& /*task*/, IrqOff) const {
        return kPreemptionLevelNone;
    }

    // The level in whose queue its tasks are: what counts when tasks of different levels are compared.
    [[nodiscard]] virtual std::uint16_t queue_index() const { return m_index; }

    // --- suspension of a task that is ready: its place has been parked, or is queued again.
    virtual void suspended(Task& /*task*/, IrqOff) {}

    virtual void resumed(Task& /*task*/, IrqOff) {}

    // --- running. dispatch/epilogue bracket every interval in which the task has the processor.
    virtual void dispatch(Task& /*task*/, Behalf /*behalf*/, IrqOff) {}

    virtual void epilogue(Task& /*task*/, lib::Ticks /*elapsed*/, IrqOff) {}

    // Brackets every interval in which the task's *place in the queue* is used, by itself or by the owner of a mutex it
    // waits for.
    virtual void slot_begin(Task& /*task*/, IrqOff) {}

    virtual void slot_end(Task& /*task*/, lib::Ticks /*elapsed*/, IrqOff) {}

  protected:
    constexpr Level() = default;
    ~Level() = default; // levels are static: never deleted through this interface

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
// than the levels there are: two would promise the same time twice. Context: irq-off, before run().
lib::Result<void> register_level(Level& level, IrqOff);

[[nodiscard]] inline std::span<Level* const> levels() {
    return std::span(detail::level_registry.levels).first(detail::level_registry.count);
}

// The task that runs when every ready queue is empty. It is in none, so it has no place to lend. Null until the run has
// one.
[[nodiscard]] inline Task* idle_task() {
    return detail::level_registry.idle;
}

inline void set_idle_task(Task& task, IrqOff) {
    detail::level_registry.idle = &task;
}

// Those of the levels, in the search order: beside the levels, so that a decision calls no level.
[[nodiscard]] inline std::span<const ReadyQueue* const> ready_queues() {
    return std::span(detail::level_registry.queues).first(detail::level_registry.queue_count);
}

} // namespace kernel
