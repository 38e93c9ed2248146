// SPDX-License-Identifier: MIT
// A stream of messages has two ends: an outlet, to which they are published, and a source, from which a loader takes
// them. Implementations are in fleet/network/ (JetStream), and of a source in fleet/local/, too (directories of
// sessions, so that everything works without a server). Tests have fakes.
#pragma once

#include "fleet/failure.hpp"
#include "fleet/message.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

class Outlet {
  public:
    Outlet() = default;
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;
    virtual ~Outlet() = default;

    // Publishes the messages in their order and waits until the server has stored them. `stored`: how many of the first
    // ones are stored, also after a failure. A message that was stored earlier with the same id counts.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> publish(std::span<const Message> messages,
                                                                    std::size_t& stored) = 0;

    // Returns the largest body that a message can have beside its headers.
    [[nodiscard]] virtual std::size_t body_bytes_max() const = 0;

    // Returns a text that is the same as long as messages are stored in the same stream. Errors: those of publish().
    [[nodiscard]] virtual lib::Result<std::string, NetworkFailure> stream() = 0;
};

// Each message is given until it is acknowledged or rejected; one that is given back, or whose loader ends, is given
// again, to any loader.
class Source {
  public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    // Returns at most messages_max messages with at most bytes_max bytes of bodies, but one message at least. Waits up
    // to `wait` for the first; the vector is empty if none came. A message whose headers or subject cannot be read is
    // rejected here, with its reason.
    [[nodiscard]] virtual lib::Result<std::vector<Message>, NetworkFailure>
    take(std::size_t messages_max, std::size_t bytes_max, std::chrono::milliseconds wait) = 0;

    // Returns a line of text for each message that take() has left out since the last call because it is not one of
    // ours. Such a message is not given again.
    [[nodiscard]] virtual std::vector<std::string> take_rejected() { return {}; }

    // Acknowledges messages that are in the store. The server knows that when this returns.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) = 0;

    // Returns a message to the source, which gives it again after this time.
    virtual void give_back(const Message& message, std::chrono::milliseconds delay) = 0;

    // Extends the time in which the server gives these messages to no other loader.
    virtual void keep(std::span<const Message> messages) = 0;

    // Moves a message that can never be stored to the dead letters, with the reason. It is not given again.
    [[nodiscard]] virtual lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) = 0;

    // Returns the message with this sequence, even if it was acknowledged. not_found: the stream does not have it any
    // more.
    [[nodiscard]] virtual lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) = 0;

    // sequence: of a message that was given and is not acknowledged. Returns whether all messages before it are
    // acknowledged or rejected, so that none that was published before it can still come.
    [[nodiscard]] virtual lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) = 0;

    // Returns how many messages are neither acknowledged nor rejected.
    [[nodiscard]] virtual lib::Result<std::uint64_t, NetworkFailure> pending() = 0;
};

} // namespace host::fleet
