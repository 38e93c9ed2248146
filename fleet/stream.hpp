// SPDX-License-Identifier: MIT
// The two ends of a stream of messages: an outlet, to which they are published, and a source, from which a loader takes
// them. Implementations: fleet/network/ (JetStream); a source is in fleet/local/, too (directories of sessions, so that
// everything works without a server). Tests have fakes.
#pragma once

#include "fleet/message.hpp"
#include "host/trace/failure.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Each message is given until it is acknowledged or rejected; one that is given back, or whose loader ends, is given
// again, to any loader.
class Source {
  public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    // At most so many messages, and bytes of bodies (one message at least). Waits up to `wait` for the first; none: an
    // empty vector. A message whose headers or subject cannot be read is rejected here, with its reason.
    [[nodiscard]] virtual lib::Result<std::vector<Message>, NetworkFailure>
    take(std::size_t messages_max, std::size_t bytes_max, std::chrono::milliseconds wait) = 0;

    // What take() has left out since the last call, because it is no message of ours: a line of text for each. It is
    // not given again.
    [[nodiscard]] virtual std::vector<std::string> take_rejected() { return {}; }

    // It is in the store. The server knows that when this returns.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) = 0;

    // Not now: to be given again after this time.
    virtual void give_back(const Message& message, std::chrono::milliseconds delay) = 0;

    // Still at work on them: the server is not to give them to another loader yet.
    virtual void keep(std::span<const Message> messages) = 0;

    // It can never be stored: to the dead letters, with the reason, and not given again.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) = 0;

    // The message of this sequence again, also if it was acknowledged. not_found: the stream does not have it any more.
    [[nodiscard]] virtual lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) = 0;

    // Of a message that was given, and is not acknowledged: everything before it is acknowledged or rejected, so
    // nothing that was published before it still comes.
    [[nodiscard]] virtual lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) = 0;

    // How many messages are neither acknowledged nor rejected.
    [[nodiscard]] virtual lib::Result<std::uint64_t, NetworkFailure> pending() = 0;
};

} // namespace host::fleet
