// SPDX-License-Identifier: MIT
// One connection to NATS. It never reconnects by itself: a connection that is lost stays lost, and its user makes
// another one, because only so the order of messages is known: the library would send on a new connection what was
// written after the loss, before what was lost with the old one. Context: one thread.
#pragma once

#include "fleet/network.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <nats/nats.h>
#include <string>
#include <string_view>

namespace host::fleet {

// Frees what the library made.
struct NatsDeleter {
    void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }

    void operator()(natsOptions* options) const { natsOptions_Destroy(options); }

    void operator()(natsMsg* message) const { natsMsg_Destroy(message); }

    void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }

    void operator()(jsCtx* context) const { jsCtx_Destroy(context); }

    void operator()(jsStreamInfo* info) const { jsStreamInfo_Destroy(info); }

    void operator()(jsConsumerInfo* info) const { jsConsumerInfo_Destroy(info); }

    void operator()(jsMsgMetaData* data) const { jsMsgMetaData_Destroy(data); }
};

template <typename T>
using NatsOwned = std::unique_ptr<T, NatsDeleter>;

// How long one request of JetStream, or a connection attempt, may take.
inline constexpr std::chrono::milliseconds kNatsRequest{5000};
inline constexpr std::chrono::milliseconds kNatsConnect{2000};

class NatsConnection {
  public:
    // refused: the user or a certificate; unreachable; invalid_argument: it is no address.
    [[nodiscard]] static lib::Result<std::shared_ptr<NatsConnection>, NetworkFailure>
    open(const std::string& addresses, const Credentials& credentials);

    NatsConnection(NatsOwned<natsConnection> connection, NatsOwned<jsCtx> context, std::string shown);

    [[nodiscard]] natsConnection* handle() const { return m_connection.get(); }

    [[nodiscard]] jsCtx* streams() const { return m_context.get(); }

    [[nodiscard]] bool alive() const { return natsConnection_Status(m_connection.get()) == NATS_CONN_STATUS_CONNECTED; }

    // Of one message, as the server announced it.
    [[nodiscard]] std::size_t payload_max() const;

    // A call of the library that failed. code: of JetStream, or 0. The text begins with the address.
    [[nodiscard]] NetworkFailure failure(natsStatus status, std::string_view doing, jsErrCode code = jsErrCode{}) const;

    [[nodiscard]] NetworkFailure failure(lib::Error cause, std::string_view text) const;

    // Without passwords.
    [[nodiscard]] const std::string& shown() const { return m_shown; }

  private:
    NatsOwned<natsConnection> m_connection;
    NatsOwned<jsCtx> m_context;
    std::string m_shown;
};

} // namespace host::fleet
