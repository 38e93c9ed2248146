// SPDX-License-Identifier: MIT
// The one decoder of what this tracer's metadata events say about the machine: names, parameters of tasks,
// declarations, the build, the cost of a record, the totals. Used for every format that carries these events.
// chunk_begin describes a chunk, not the machine, and belongs to the format of chunks.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/names.hpp"
#include "tracer/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace host::trace {

// An event that names an object of the machine, and of which kind the object is.
struct NameEvent {
    std::uint8_t code;
    tracer::Unit unit;
};

// Of all kinds but tasks, of which more than a name is known.
inline constexpr auto kNameEvents = std::to_array<NameEvent>({
    {kCodeOf<"interrupt_name">, tracer::Unit::vector},
    {kCodeOf<"mutex_name">, tracer::Unit::mutex},
    {kCodeOf<"semaphore_name">, tracer::Unit::semaphore},
    {kCodeOf<"condition_name">, tracer::Unit::condition},
    {kCodeOf<"port_name">, tracer::Unit::port},
    {kCodeOf<"server_name">, tracer::Unit::server},
    {kCodeOf<"level_name">, tracer::Unit::level},
});

enum class MetadataOutcome : std::uint8_t {
    taken,   // or an event that says nothing here
    invalid, // a field is cut or makes no sense: nothing was taken
};

// payload: with its length word. Names enter facts.names, and chunk_names as well if it is not null: what is known at
// one chunk, not in the whole trace.
[[nodiscard]] MetadataOutcome take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted,
                                            TraceFacts& facts, Names* chunk_names = nullptr);

} // namespace host::trace
