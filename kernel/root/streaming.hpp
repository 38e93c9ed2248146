// SPDX-License-Identifier: MIT
// The chunks of a run whose application does not trace by itself, and their export while the application runs
// (STREAM=ON):
//
//   0 -> 1 -> ... -> last          a chunk that is full leaves by the network, by a task of the lowest level, and is
//   ^                 |            linked after the last one again when the sink has carried it
//   +----- carried <--+
//
// The task does a bounded piece of work, sleeps a millisecond, and longer while nothing answers. It holds no lock that
// a deadline waits for. Without a collector no chunk comes back: the chunks fill up, and what follows is dropped and
// counted, as in a run that is not streamed. A target or a collector that appears later gets what is still there.
#pragma once

#include "kernel/root/network.hpp"

namespace kernel::root {

// Creates the chunks, linked, and returns the number of the first. Context: boot, irq-off.
[[nodiscard]] int create_linked_chunks(bool streamed);

// Sends the chunks of create_linked_chunks(true) while the application runs. It must be called before the run level
// INIT.
void stream_chunks(const NetworkSetup& setup);

// Queues what is left after the exit, in the order in which it was recorded. It does nothing without stream_chunks().
void stream_rest();

} // namespace kernel::root
