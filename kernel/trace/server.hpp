// SPDX-License-Identifier: MIT
// The bridge's part for the levels that have servers. See bridge.hpp for the rules.
#pragma once

#include "arch/arch.hpp"
#include "kernel/trace/bridge.hpp"
#include "lib/wire_numbers.hpp"

namespace kernel::trace_points {

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

// The next replenishment; `at(server)` computes it.
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
