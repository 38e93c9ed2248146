// SPDX-License-Identifier: MIT
// The events that name something, and what they name; tasks apart, of which more than a name is known.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/event_table.hpp"

#include <array>
#include <cstdint>

namespace host::trace {

struct NameEvent {
    std::uint8_t code;
    tracer::Unit unit;
};

inline constexpr auto kNameEvents = std::to_array<NameEvent>({
    {kCodeOf<"interrupt_name">, tracer::Unit::vector},
    {kCodeOf<"mutex_name">, tracer::Unit::mutex},
    {kCodeOf<"semaphore_name">, tracer::Unit::semaphore},
    {kCodeOf<"condition_name">, tracer::Unit::condition},
    {kCodeOf<"port_name">, tracer::Unit::port},
    {kCodeOf<"server_name">, tracer::Unit::server},
    {kCodeOf<"level_name">, tracer::Unit::level},
});

} // namespace host::trace
