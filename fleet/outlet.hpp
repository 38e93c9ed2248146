// SPDX-License-Identifier: MIT
// Where messages are published. The implementation is in fleet/network/; tests have a fake.
#pragma once

#include "fleet/message.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <span>

namespace host::fleet {

// cause: unreachable: the server is away, and trying later may succeed; refused: it does not take this user, or these
// messages; too_small: a message is larger than the server allows (the text says what to change there); io.
using NetworkFailure = trace::Failure<lib::Error>;

class Outlet {
  public:
    Outlet() = default;
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;
    virtual ~Outlet() = default;

    // Publishes them in their order and waits until the server has stored them. `stored`: how many of the first ones
    // are, also in a failure; one that was stored before, by the same id, counts.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> publish(std::span<const Message> messages,
                                                                    std::size_t& stored) = 0;

    // Of the body, with room for the headers.
    [[nodiscard]] virtual std::size_t body_bytes_max() const = 0;
};

} // namespace host::fleet
