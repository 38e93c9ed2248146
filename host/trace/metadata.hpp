// SPDX-License-Identifier: MIT
// The one decoder of what this tracer's metadata events say about the machine: names, parameters of tasks,
// declarations, the build, the cost of a record, the totals. Used for every format that carries these events.
// chunk_begin describes a chunk, not the machine, and belongs to the format of chunks.
#pragma once

#include "host/trace/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace host::trace {

// payload: with its length word. False, and nothing was taken: a field is cut or makes no sense. Names enter
// facts.names, and chunk_names as well if it is not null: what is known at one chunk, not in the whole trace.
[[nodiscard]] bool take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted, TraceFacts& facts,
                                 Names* chunk_names = nullptr);

} // namespace host::trace
