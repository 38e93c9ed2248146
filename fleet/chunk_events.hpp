// SPDX-License-Identifier: MIT
// Decodes one chunk from the bytes of its message, by the reader library. Every chunk has its own metadata, so nothing
// else is needed. A chunk with any damage is refused as a whole, because damage is examined in its session.
#pragma once

#include "fleet/message.hpp"
#include "fleet/store.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "lib/result.hpp"

#include <functional>
#include <span>

namespace host::fleet {

// corrupt: it is no chunk, it is damaged, or it is not the one that its id names; no_space: no memory to read it.
[[nodiscard]] lib::Result<ReadChunk, Failure> read_chunk(const Message& message);

// Passes on the events of a chunk that read_chunk() has accepted, in their order, without metadata. Failures: as
// read_chunk().
[[nodiscard]] lib::Result<void, Failure> for_each_event(const ReadChunk& chunk,
                                                        const std::function<void(std::span<const trace::Event>)>& use);

} // namespace host::fleet
