// SPDX-License-Identifier: MIT
// Messages of the library and ours.
#pragma once

#include "fleet/network/nats_connection.hpp"

#include <string>

namespace host::fleet {

[[nodiscard]] natsStatus set_headers(natsMsg* into, const Message& message);

// Empty: there is no such header.
[[nodiscard]] std::string_view header_of(natsMsg* message, std::string_view name);

[[nodiscard]] MessageHead head_of(natsMsg* message);

[[nodiscard]] std::string_view body_of(const natsMsg* message);

} // namespace host::fleet
