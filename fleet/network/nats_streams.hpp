// SPDX-License-Identifier: MIT
// The two streams. What an operator has made stays as it is: replicas, limits and placement are chosen there.
#pragma once

#include "fleet/network/nats_connection.hpp"

#include <chrono>

namespace host::fleet {

// In which a second message of the same id is recognised as the first one.
inline constexpr std::chrono::minutes kDuplicatesWindow{2};

// Makes the stream if there is none: NAME with the subjects NAME.>, on the disk.
[[nodiscard]] lib::Result<void, NetworkFailure> ensure_stream(const NatsConnection& connection, std::string_view name);

} // namespace host::fleet
