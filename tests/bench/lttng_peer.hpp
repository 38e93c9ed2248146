// SPDX-License-Identifier: MIT
// LTTng-UST as a peer: a library of its own (lttng_peer.c), loaded only when it is measured, because it starts threads.
// lttng_session.sh creates the session that must exist before.
#pragma once

#include <cstdint>

namespace bench {

// Loads the library and waits until a session has enabled its event. Returns false, with a line NOTE, on failure.
[[nodiscard]] bool load_lttng_peer(const char* library);

// One event with two u32 per iteration. Precondition: loaded.
void run_lttng_peer(std::uint64_t iterations);

} // namespace bench
