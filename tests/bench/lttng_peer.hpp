// SPDX-License-Identifier: MIT
// LTTng-UST as a peer: a library of its own (lttng_peer.c), loaded only where it is measured, because it brings threads
// along. lttng_session.sh makes the session that must exist before.
#pragma once

#include <cstdint>

namespace bench {

// Loads the library and waits until a session has enabled its event. False, and a line NOTE, if that does not happen.
[[nodiscard]] bool load_lttng_peer(const char* library);

// One event with two u32 an iteration. Precondition: loaded.
void run_lttng_peer(std::uint64_t iterations);

} // namespace bench
