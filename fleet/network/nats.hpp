// SPDX-License-Identifier: MIT
// What publisher and loader need of the NATS library. Context: one thread.
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

// One connection. It never reconnects by itself: a connection that is lost stays lost, and its user makes another one,
// because only so the order of messages is known: the library would send on a new connection what was written after the
// loss, before what was lost with the old one.
class NatsConnection {
  public:
    // refused: the user or a certificate; unreachable; invalid_argument: it is no address.
    [[nodiscard]] static lib::Result<std::shared_ptr<NatsConnection>, NetworkFailure>
    open(const std::string& addresses, const Credentials& credentials);

    NatsConnection(NatsOwned<natsConnection> connection, NatsOwned<jsCtx> context, std::string shown);

    [[nodiscard]] natsConnection* handle() const { return m_connection.get(); }

    [[nodiscard]] jsCtx* streams() const { return m_context.get(); }

    [[nodiscard]] bool alive() const { return natsConnection_Status(m_connection.get()) == NATS_CONN_STATUS_CONNECTED; }

    // Returns the largest message in bytes, as the server announced it.
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

[[nodiscard]] natsStatus set_headers(natsMsg* into, const Message& message);

// Empty: there is no such header.
[[nodiscard]] std::string_view header_of(natsMsg* message, std::string_view name);

[[nodiscard]] MessageHead head_of(natsMsg* message);

[[nodiscard]] std::string_view body_of(const natsMsg* message);

// In which a second message of the same id is recognised as the first one.
inline constexpr std::chrono::minutes kDuplicatesWindow{2};

// Makes the stream NAME if there is none. One that an operator has made stays as it is: replicas, limits and placement
// are chosen there. A new one has the subjects NAME.> and is on the disk.
[[nodiscard]] lib::Result<void, NetworkFailure> ensure_stream(const NatsConnection& connection, std::string_view name);

// Within which a loader acknowledges a message; else it is given again, to any loader.
inline constexpr std::chrono::seconds kNatsAckWait{60};

// Makes the durable consumer of the stream of messages if there is none.
[[nodiscard]] lib::Result<void, NetworkFailure> ensure_consumer(const NatsConnection& connection,
                                                                const std::string& name);

// Messages that came together.
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

// Many requests on their way at the same time, each with an answer: every request has a reply subject of its own, all
// of them below one that is subscribed to. So what must be certain (stored, acknowledged) is not waited for one by one.
class NatsReplies {
  public:
    [[nodiscard]] static lib::Result<std::shared_ptr<NatsReplies>, NetworkFailure>
    open(std::shared_ptr<NatsConnection> connection);

    NatsReplies(std::shared_ptr<NatsConnection> connection, NatsOwned<natsSubscription> subscription,
                std::string inbox);

    // Requests are numbered from 0 on again; answers to earlier ones are not wanted any more.
    void begin();

    // Returns the subject for the answer to the request that is sent next.
    [[nodiscard]] std::string next_subject();

    // It was not sent.
    void cancel_last();

    // Passes on every answer that comes, with the number of its request, until all requests since begin() have one.
    // not_found: the subject of one of them is taken by nothing; unreachable: the connection is lost, or nothing comes
    // for kNatsRequest; refused: the user has not the permission.
    [[nodiscard]] lib::Result<void, NetworkFailure>
    await(std::string_view doing, const std::function<void(std::size_t request, natsMsg* answer)>& use);

    // Waits until at most waiting_max requests have no answer.
    [[nodiscard]] lib::Result<void, NetworkFailure>
    await_until(std::size_t waiting_max, std::string_view doing,
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
