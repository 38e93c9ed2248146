// SPDX-License-Identifier: MIT
// Publishes to JetStream: many messages are on their way at the same time, each with an acknowledgement that is waited
// for. It needs no more rights than to publish REMORA.> and to subscribe _INBOX.>, unless the stream is to be made.
#pragma once

#include "fleet/network/nats_connection.hpp"
#include "fleet/network/nats_replies.hpp"
#include "fleet/outlet.hpp"

#include <memory>
#include <optional>
#include <string>

namespace host::fleet {

class NatsOutlet final : public Outlet {
  public:
    NatsOutlet(std::string addresses, Credentials credentials)
        : m_addresses(std::move(addresses))
        , m_credentials(std::move(credentials)) {}

    // As publish(); also when there is nothing to publish.
    [[nodiscard]] lib::Result<void, NetworkFailure> connect();

    [[nodiscard]] lib::Result<void, NetworkFailure> publish(std::span<const Message> messages,
                                                            std::size_t& stored) override;

    [[nodiscard]] std::size_t body_bytes_max() const override;

  private:
    // Of one attempt: what the server answered.
    struct Attempt {
        std::vector<bool> stored;
        std::optional<NetworkFailure> failed; // the first
        bool no_stream = false;
    };

    [[nodiscard]] lib::Result<void, NetworkFailure> send(const Message& message);
    [[nodiscard]] Attempt attempt(std::span<const Message> messages);
    void judge(std::size_t number, natsMsg* answer, const Message& message, Attempt& attempt) const;

    std::string m_addresses;
    Credentials m_credentials;
    std::shared_ptr<NatsConnection> m_connection;
    std::shared_ptr<NatsReplies> m_replies;
    std::size_t m_body_max = 0; // of the last server
};

[[nodiscard]] lib::Result<std::shared_ptr<Outlet>, NetworkFailure> nats_outlet(const std::string& addresses,
                                                                               const Credentials& credentials);

} // namespace host::fleet
