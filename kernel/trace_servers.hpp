// SPDX-License-Identifier: MIT
// The part of kernel/trace_points.hpp that speaks of servers, for the levels that have some; its rules hold here, too.
#pragma once

#include "kernel/trace_points.hpp"

namespace kernel::trace_points {

namespace detail {

[[nodiscard]] inline std::uint32_t saturated_32(std::uint64_t value) {
    return value < 0xFFFF'FFFF ? static_cast<std::uint32_t>(value) : 0xFFFF'FFFF;
}

} // namespace detail

inline void server_created(std::uint16_t server, std::string_view name, std::uint8_t kind, lib::Nanoseconds budget,
                           lib::Nanoseconds period) {
    detail::add_name(tracer::NameKind::server, server, name);
    tracer::log<"server_create">(0, server);
    tracer::log<"server_capacity">(server, detail::saturated_32(budget.value));
    tracer::log<"server_period">(server, detail::saturated_32(period.value));
    tracer::log<"server_kind">(kind, server);
}

inline void server_attached(std::uint16_t server, const Task& task) {
    tracer::log<"server_attach">(server, task.context);
}

// An idle server gets work.
inline void server_activated(std::uint16_t server, const Task& task) {
    tracer::log<"server_active">(task.context, server);
}

inline void server_replenished(std::uint16_t server) {
    tracer::log<"server_replenish">(0, server);
}

inline void server_exhausted(std::uint16_t server) {
    tracer::log<"server_exhaust">(0, server);
}

inline void server_budget(std::uint16_t server, lib::Ticks left) {
    tracer::log<"server_budget">(server, detail::saturated_32(left.value));
}

// Its deadline, or the next replenishment.
inline void server_deadline(std::uint16_t server, lib::Ticks deadline) {
    tracer::log<"server_deadline">(server, detail::low_half(deadline));
}

// Its bandwidth is free for others.
inline void server_reclaiming(std::uint16_t server) {
    tracer::log<"server_reclaiming">(0, server);
}

// Ran so much longer than it was charged.
inline void server_reclaimed(std::uint16_t server, lib::Ticks amount) {
    if constexpr (detail::kOn) {
        const std::uint32_t amount_us = detail::saturated_32(to_nanoseconds(amount).value / 1'000);
        tracer::log<"server_using_rec">(detail::saturated(amount_us), server);
    }
}

inline void server_bandwidth(std::uint32_t active) {
    tracer::log<"server_bandwidth">(0, active);
}

inline void server_removed(std::uint16_t server) {
    tracer::log<"server_remove">(0, server);
}

} // namespace kernel::trace_points
