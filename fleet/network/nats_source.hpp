// SPDX-License-Identifier: MIT
// Takes from JetStream: one durable consumer that all loaders into one store share. A message that no loader
// acknowledges within kAckWait is given again, to any of them. A connection that is lost is made anew by the next call.
#pragma once

#include "fleet/network/nats_connection.hpp"
#include "fleet/network/nats_replies.hpp"
#include "fleet/source.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace host::fleet {

class NatsSource final : public Source {
  public:
    static constexpr std::chrono::seconds kAckWait{60};
    static constexpr std::int64_t kAckPendingMax = 65'536; // of all loaders together

    NatsSource(std::string addresses, Credentials credentials, std::string consumer)
        : m_addresses(std::move(addresses))
        , m_credentials(std::move(credentials))
        , m_consumer(std::move(consumer)) {}

    [[nodiscard]] lib::Result<void, NetworkFailure> connect();

    [[nodiscard]] lib::Result<std::vector<Message>, NetworkFailure>
    take(std::size_t messages_max, std::size_t bytes_max, std::chrono::milliseconds wait) override;
    [[nodiscard]] lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) override;

    [[nodiscard]] std::vector<std::string> take_rejected() override { return std::exchange(m_rejected, {}); }

    void give_back(const Message& message, std::chrono::milliseconds delay) override;
    void keep(std::span<const Message> messages) override;
    [[nodiscard]] lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) override;
    [[nodiscard]] lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) override;
    [[nodiscard]] lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) override;
    [[nodiscard]] lib::Result<std::uint64_t, NetworkFailure> pending() override;

  private:
    struct DeadLetter;

    [[nodiscard]] lib::Result<void, NetworkFailure> open();
    [[nodiscard]] lib::Result<void, NetworkFailure> subscribe(NatsConnection& connection);
    [[nodiscard]] lib::Result<void, NetworkFailure>
    request(std::size_t number, std::size_t bytes, std::chrono::milliseconds wait, std::vector<Message>& messages);
    [[nodiscard]] lib::Result<void, NetworkFailure> receive(natsMsg* received, std::vector<Message>& messages);
    [[nodiscard]] lib::Result<void, NetworkFailure> bury(const DeadLetter& letter, const std::string& reply);
    [[nodiscard]] lib::Result<void, NetworkFailure> say_surely(const std::vector<std::string>& replies,
                                                               std::string_view word);
    void say(const std::string& reply, std::string_view word);
    [[nodiscard]] lib::Result<NatsOwned<jsConsumerInfo>, NetworkFailure> consumer();
    [[nodiscard]] std::string reply_of(const Message& message) const;

    std::string m_addresses;
    Credentials m_credentials;
    std::string m_consumer;
    std::shared_ptr<NatsConnection> m_connection;
    std::shared_ptr<NatsReplies> m_replies;
    NatsOwned<natsSubscription> m_subscription;
    // Where a message that was given is acknowledged, by its handle; it stays valid over a new connection.
    std::unordered_map<std::uint64_t, std::string> m_given;
    std::uint64_t m_last_handle = 0;
    std::vector<std::string> m_rejected;
    std::uint64_t m_pending = 0; // after the last message that came
};

[[nodiscard]] lib::Result<std::shared_ptr<Source>, NetworkFailure>
nats_source(const std::string& addresses, const Credentials& credentials, const std::string& consumer);

} // namespace host::fleet
