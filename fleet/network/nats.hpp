// SPDX-License-Identifier: MIT
// Wraps the part of the NATS library that publisher and loader need. What fails is thrown as a NetworkFailure. Context:
// one thread.
#pragma once

#include "fleet/server.hpp"
#include "fleet/stream.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nats/nats.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

// Frees an object of the library.
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

// One request of JetStream, or a connection attempt, may take this time.
inline constexpr std::chrono::milliseconds kNatsRequest{5000};
inline constexpr std::chrono::milliseconds kNatsConnect{2000};

// A connection never reconnects by itself. If it is lost, its user opens another one, so that the order of messages is
// known: the library would send what was written after the loss before what was lost.
class NatsConnection {
  public:
    // refused: the user or a certificate is not accepted; unreachable; invalid_argument: it is no address.
    NatsConnection(const std::string& addresses, const Credentials& credentials);

    [[nodiscard]] natsConnection* handle() const { return m_connection.get(); }

    [[nodiscard]] jsCtx* streams() const { return m_context.get(); }

    [[nodiscard]] bool alive() const { return natsConnection_Status(m_connection.get()) == NATS_CONN_STATUS_CONNECTED; }

    // Returns the largest message in bytes, as the server announced it.
    [[nodiscard]] std::size_t payload_max() const;

    // Throws the failure of a call of the library unless it succeeded.
    void check(natsStatus status, std::string_view doing, jsErrCode code = jsErrCode{}) const {
        if (status != NATS_OK) {
            throw failure(status, doing, code);
        }
    }

    // Returns the failure of a call of the library. code: of JetStream, or 0. The text begins with the address.
    [[nodiscard]] NetworkFailure failure(natsStatus status, std::string_view doing, jsErrCode code = jsErrCode{}) const;

    [[nodiscard]] NetworkFailure failure(lib::Error cause, std::string_view text) const;

  private:
    std::string m_shown; // the addresses without passwords
    NatsOwned<natsConnection> m_connection;
    NatsOwned<jsCtx> m_context;
};

[[nodiscard]] natsStatus set_headers(natsMsg* into, const Message& message);

// Returns an empty text if there is no such header.
[[nodiscard]] std::string_view header_of(natsMsg* message, std::string_view name);

[[nodiscard]] MessageHead head_of(natsMsg* message);

[[nodiscard]] std::string_view body_of(const natsMsg* message);

// Within this time the server recognizes a second message with the same id as a duplicate.
inline constexpr std::chrono::minutes kDuplicatesWindow{2};

// Creates the stream NAME if there is none. A stream that an operator has created stays as it is, with its replicas,
// limits and placement. A new one has the subjects NAME.> and is stored on the disk.
void ensure_stream(const NatsConnection& connection, std::string_view name);

// A loader must acknowledge a message within this time; else it is given again, to any loader.
inline constexpr std::chrono::seconds kNatsAckWait{60};

// Creates the durable consumer of the stream of messages if there is none.
void ensure_consumer(const NatsConnection& connection, const std::string& name);

// Owns the messages that one request returned.
class NatsMessages {
  public:
    NatsMessages() = default;
    NatsMessages(const NatsMessages&) = delete;
    NatsMessages& operator=(const NatsMessages&) = delete;

    ~NatsMessages() { natsMsgList_Destroy(&m_list); }

    [[nodiscard]] natsMsgList* into() { return &m_list; }

    [[nodiscard]] std::span<natsMsg*> all() const { return {m_list.Msgs, static_cast<std::size_t>(m_list.Count)}; }

  private:
    natsMsgList m_list{};
};

// Allows many pending requests, each with an answer: every request has a reply subject of its own, and all of them are
// below one that is subscribed to. So confirmations (stored, acknowledged) are not awaited one by one.
class NatsReplies {
  public:
    explicit NatsReplies(std::shared_ptr<NatsConnection> connection);

    // Numbers requests from 0 again; answers to earlier ones are ignored.
    void begin();

    // Returns the subject for the answer to the request that is sent next.
    [[nodiscard]] std::string next_subject();

    // The last request was not sent.
    void cancel_last();

    // Passes on every answer with the number of its request, until at most waiting_max requests since begin() have
    // none. not_found: nothing receives the subject of a request; unreachable: the connection is lost, or nothing comes
    // for kNatsRequest; refused: the user does not have the permission.
    void await(std::size_t waiting_max, std::string_view doing,
               const std::function<void(std::size_t request, natsMsg* answer)>& use);

  private:
    [[nodiscard]] bool take(std::string_view subject, std::size_t& request);

    std::shared_ptr<NatsConnection> m_connection;
    NatsOwned<natsSubscription> m_subscription;
    std::string m_inbox; // with the dot at its end
    std::uint64_t m_round = 0;
    std::vector<bool> m_answered;
    std::size_t m_waiting = 0;
};

} // namespace host::fleet
