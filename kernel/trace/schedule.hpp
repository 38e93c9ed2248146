// SPDX-License-Identifier: MIT
// This part of the bridge records levels, decisions, context switches, timers and servers. bridge.hpp has the rules.
#pragma once

#include "arch/arch.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/trace/bridge.hpp"
#include "lib/wire_numbers.hpp"

namespace kernel::trace_points {

// The function takes a Level, whose room is above this one. Its name is a virtual call, which no compiler leaves out,
// hence the condition.
template <typename Level>
[[gnu::always_inline]] inline void level_registered(const Level& level) {
    if constexpr (detail::kOn) {
        detail::add_name(tracer::NameKind::level, level.index(), level.name());
    }
}

// Every decision is recorded, also one that changes nothing.
[[gnu::always_inline]] inline void task_scheduled(const Task& exec_shadow, const Task& exec) {
    tracer::log<"task_schedule">(exec_shadow.context, exec.context);
}

[[gnu::always_inline]] inline void task_dispatched(const Task& task) {
    tracer::log<"task_dispatch">(task.context, task.level_index);
}

[[gnu::always_inline]] inline void task_epilogue(const Task& task) {
    tracer::log<"task_epilogue">(task.context, task.level_index);
}

// Must be called at the switch, on the old stack.
[[gnu::always_inline]] inline void context_switched(const Task& to) {
    tracer::log<"context_switch">(to.context);
}

// Must be called after a lock that blocked; records if the choice lets an owner run in another task's position.
[[gnu::always_inline]] inline void inherited(const Processor& cpu) {
    if constexpr (detail::kOn) {
        if (cpu.exec != cpu.exec_shadow) {
            tracer::log<"inheritance">(cpu.exec_shadow->context, cpu.exec->context);
        }
    }
}

// --- timers --------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void timer_posted(std::uint16_t index) {
    tracer::log<"timer_post">(0, index);
}

[[gnu::always_inline]] inline void timer_deleted(std::uint16_t index) {
    tracer::log<"timer_delete">(0, index);
}

[[gnu::always_inline]] inline void timer_wakeup_started() {
    tracer::log<"timer_wakeup_start">();
}

[[gnu::always_inline]] inline void timer_wakeup_ended(const Task* interrupted) {
    tracer::log<"timer_wakeup_end">(detail::context_of(interrupted));
}

// --- servers
// ----------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void server_created(std::uint16_t server, std::string_view name, lib::ServerKind kind,
                                                  lib::Nanoseconds budget, lib::Nanoseconds period) {
    detail::add_name(tracer::NameKind::server, server, name);
    tracer::log<"server_create">(0, server);
    tracer::log<"server_capacity">(server, detail::saturated_32(budget.value));
    tracer::log<"server_period">(server, detail::saturated_32(period.value));
    tracer::log<"server_kind">(static_cast<std::uint16_t>(kind), server);
}

[[gnu::always_inline]] inline void server_attached(std::uint16_t server, const Task& task) {
    tracer::log<"server_attach">(server, task.context);
}

// An idle server gets work.
[[gnu::always_inline]] inline void server_activated(std::uint16_t server, const Task& task) {
    tracer::log<"server_active">(task.context, server);
}

[[gnu::always_inline]] inline void server_replenished(std::uint16_t server) {
    tracer::log<"server_replenish">(0, server);
}

[[gnu::always_inline]] inline void server_exhausted(std::uint16_t server) {
    tracer::log<"server_exhaust">(0, server);
}

[[gnu::always_inline]] inline void server_budget(std::uint16_t server, lib::Ticks left) {
    tracer::log<"server_budget">(server, detail::saturated_32(left.value));
}

[[gnu::always_inline]] inline void server_deadline(std::uint16_t server, lib::Ticks deadline) {
    tracer::log<"server_deadline">(server, detail::low_half(deadline));
}

// Records the next replenishment, which `at(server)` computes.
template <typename Server, typename At>
[[gnu::always_inline]] inline void server_refill_due(const Server& server, At at) {
    if constexpr (detail::kOn) {
        tracer::log<"server_deadline">(server.id, detail::low_half(at(server)));
    }
}

// The server's bandwidth is free for others.
[[gnu::always_inline]] inline void server_reclaiming(std::uint16_t server) {
    tracer::log<"server_reclaiming">(0, server);
}

// The server ran this much longer than it was charged.
[[gnu::always_inline]] inline void server_reclaimed(std::uint16_t server, lib::Ticks amount) {
    if constexpr (detail::kOn) {
        const std::uint64_t amount_ns = arch::tick_conversion().to_nanoseconds(amount).value;
        const std::uint32_t amount_us = detail::saturated_32(amount_ns / 1'000);
        tracer::log<"server_using_rec">(detail::saturated(amount_us), server);
    }
}

[[gnu::always_inline]] inline void server_bandwidth(std::uint32_t active) {
    tracer::log<"server_bandwidth">(0, active);
}

[[gnu::always_inline]] inline void server_removed(std::uint16_t server) {
    tracer::log<"server_remove">(0, server);
}

} // namespace kernel::trace_points
