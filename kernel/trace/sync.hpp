// SPDX-License-Identifier: MIT
// This part of the bridge records mutexes, semaphores, conditions and ports, which are identified by their numbers.
// bridge.hpp has the rules. Context: irq-off.
#pragma once

#include "kernel/trace/bridge.hpp"
#include "kernel/trace/task.hpp"
#include "lib/wire_numbers.hpp"

namespace kernel::trace_points {

// --- mutexes and semaphores ----------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void mutex_created(const Task* creator, std::uint16_t mutex, lib::MutexProtocol protocol,
                                                 std::string_view name) {
    detail::add_name(tracer::NameKind::mutex, mutex, name);
    tracer::log<"set_mutex_create">(detail::context_of(creator), mutex);
    tracer::log<"set_mutex_protocol">(static_cast<std::uint16_t>(protocol), mutex);
}

// Records the ceiling, which is in nanoseconds; `none` means that no user has a preemption level.
[[gnu::always_inline]] inline void mutex_ceiling_set(std::uint16_t mutex, std::uint64_t ceiling, std::uint64_t none) {
    if constexpr (detail::kOn) {
        constexpr std::uint64_t kNone = 0xFFFF'FFFF;
        const std::uint64_t length = ceiling == none ? kNone : ceiling / 1'000;
        const bool saturates = length >= kNone && ceiling != none;
        tracer::log<"set_mutex_ceiling">(mutex, static_cast<std::uint32_t>(saturates ? kNone - 1 : length));
    }
}

// Records the attempt, whether or not it blocks. A try that fails is no attempt, so that locks and unlocks pair up.
[[gnu::always_inline]] inline void mutex_lock_attempted(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_lock">(task.context, mutex);
}

// The task owns the mutex from here on.
[[gnu::always_inline]] inline void mutex_acquired(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_acquire">(task.context, mutex);
}

// A lock is refused: the owner waits for the task. No attempt is recorded for it.
[[gnu::always_inline]] inline void mutex_deadlock_refused(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_deadlock">(task.context, mutex);
}

// A timed lock gives up: if the task lent its position, it does so no longer.
[[gnu::always_inline]] inline void mutex_timed_out(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_timeout">(task.context, mutex);
}

// Must be called before the context number is free for others. The mutex is free from here on.
[[gnu::always_inline]] inline void mutex_owner_died(const Task& owner, std::uint16_t mutex) {
    tracer::log<"set_mutex_owner_died">(owner.context, mutex);
}

// The task lends its position until this mutex is free. With ceilings, it may have asked for another mutex.
[[gnu::always_inline]] inline void mutex_blocked(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_block">(task.context, mutex);
}

// Waiters lend their positions to the owner.
[[gnu::always_inline]] inline void mutex_inherited(const Task& owner, std::uint16_t mutex) {
    tracer::log<"set_mutex_inherit">(owner.context, mutex);
}

[[gnu::always_inline]] inline void mutex_unlocked(const Task& task, std::uint16_t mutex) {
    tracer::log<"set_mutex_unlock">(task.context, mutex);
}

[[gnu::always_inline]] inline void semaphore_created(std::uint16_t semaphore, std::string_view name,
                                                     std::uint32_t count) {
    detail::add_name(tracer::NameKind::semaphore, semaphore, name);
    tracer::log<"set_semaphore_create">(detail::saturated(count), semaphore);
}

// Records a wait, or a try that got a unit: as many units were taken as there are records. A try that failed took
// nothing and is not recorded. In an interrupt the context is that of the interrupted task.
[[gnu::always_inline]] inline void semaphore_waited(const Task* task, std::uint16_t semaphore) {
    tracer::log<"set_mutex_wait">(detail::context_of(task), semaphore);
}

// In an interrupt the context is that of the interrupted task.
[[gnu::always_inline]] inline void semaphore_posted(const Task* task, std::uint16_t semaphore) {
    tracer::log<"set_mutex_post">(detail::context_of(task), semaphore);
}

// A wait outside the ready queue gives up, except one for a mutex.
[[gnu::always_inline]] inline void wait_timed_out(const Task& task) {
    if constexpr (detail::kOn) {
        if (task.waits_for.kind == WaitKind::semaphore) {
            tracer::log<"set_mutex_unwait">(task.context, task.waits_for.id);
        } else {
            tracer::log<"wait_timeout">(task.context, detail::wait_word(task.waits_for));
        }
    }
}

// --- condition variables and ports ---------------------------------------------------------------------------------

[[gnu::always_inline]] inline void condition_created(std::uint16_t condition, std::string_view name) {
    detail::add_name(tracer::NameKind::condition, condition, name);
}

// Records a signal, whether or not a task waits. In an interrupt the context is that of the interrupted task.
[[gnu::always_inline]] inline void condition_signalled(const Task* task, std::uint16_t condition) {
    tracer::log<"condition_signal">(detail::context_of(task), condition);
}

[[gnu::always_inline]] inline void condition_broadcast(const Task* task, std::uint16_t condition) {
    tracer::log<"condition_broadcast">(detail::context_of(task), condition);
}

[[gnu::always_inline]] inline void port_created(std::uint16_t port, std::string_view name) {
    detail::add_name(tracer::NameKind::port, port, name);
}

// The port has taken the task's message. In an interrupt the context is that of the interrupted task.
[[gnu::always_inline]] inline void port_sent(const Task* task, std::uint16_t port) {
    tracer::log<"port_send">(detail::context_of(task), port);
}

// The task has the message. In an interrupt the context is that of the interrupted task.
[[gnu::always_inline]] inline void port_received(const Task* task, std::uint16_t port) {
    tracer::log<"port_receive">(detail::context_of(task), port);
}

} // namespace kernel::trace_points
