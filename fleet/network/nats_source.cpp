// SPDX-License-Identifier: MIT
// Takes messages from JetStream through one durable consumer, which all loaders into one store share. A message that no
// loader acknowledges within kNatsAckWait is given again, to any of them. After a loss of the connection the next call
// opens a new one.
#include "fleet/network/nats.hpp"
#include "fleet/network/network.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace host::fleet {

namespace {

// JetStream knows these answers to a message.
constexpr std::string_view kAcknowledged = "+ACK";
constexpr std::string_view kWorking = "+WPI";
constexpr std::string_view kTerminated = "+TERM";

// These headers of a dead letter have those of the rejected message.
constexpr const char* kFirstIdHeader = "Remora-Id";
constexpr const char* kFirstSubjectHeader = "Remora-Subject";
constexpr const char* kCutHeader = "Remora-Cut"; // only if the body is cut: its size before

// A longer header of a dead letter is cut; kLetterHeadBytes is the room for all of them.
constexpr std::size_t kLetterTextMax = 512;
constexpr std::size_t kLetterHeadBytes = 8192;

// A message has at most this many bytes beside its body; a server counts them against the limit of a request.
constexpr std::size_t kHeadBytes = 4096;

constexpr std::size_t kTakeMax = 4096;

// Messages that the server has arrive within this time, unless another loader takes them.
constexpr std::chrono::milliseconds kMore{250};

constexpr std::chrono::milliseconds kTakeLeast{5}; // the library needs a time in every request

// Returns the node for messages whose subject names none.
NodeName unnamed_node() {
    return {.site = "_", .node = "_"};
}

struct DeadLetter {
    NodeName from;
    std::uint64_t sequence = 0;
    std::string_view subject;
    std::string_view id;
    std::string_view kind;
    std::string_view started;
    std::string_view body;
    std::string_view reason;
};

class NatsSource final : public Source {
  public:
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
    // This maps the handle of a message to the subject that acknowledges it, which stays valid on a new connection.
    std::unordered_map<std::uint64_t, std::string> m_given;
    std::uint64_t m_last_handle = 0;
    std::vector<std::string> m_rejected;
    std::uint64_t m_pending = 0; // as the last message stated
};

} // namespace

lib::Result<void, NetworkFailure> NatsSource::connect() {
    if (m_connection != nullptr && m_connection->alive() && m_subscription != nullptr) {
        return {};
    }
    m_subscription = nullptr;
    m_replies = nullptr;
    m_connection = nullptr;
    auto opened = open();
    if (!opened) {
        m_subscription = nullptr;
        m_replies = nullptr;
        m_connection = nullptr;
    }
    return opened;
}

lib::Result<void, NetworkFailure> NatsSource::open() {
    auto connection = NatsConnection::open(m_addresses, m_credentials);
    if (!connection) {
        return connection.error();
    }
    m_connection = std::move(connection.value());
    for (const std::string_view stream : {kStream, kDeadStream}) {
        if (auto made = ensure_stream(*m_connection, stream); !made) {
            return made;
        }
    }
    auto replies = NatsReplies::open(m_connection);
    if (!replies) {
        return replies.error();
    }
    m_replies = std::move(replies.value());
    return subscribe(*m_connection);
}

lib::Result<void, NetworkFailure> NatsSource::subscribe(NatsConnection& connection) {
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = kStream.data();
    options.ManualAck = true;
    if (auto made = ensure_consumer(connection, m_consumer); !made) {
        return made;
    }
    natsSubscription* subscription = nullptr;
    jsErrCode code{};
    options.Consumer = m_consumer.c_str();
    const natsStatus status =
        js_PullSubscribe(&subscription, connection.streams(), nullptr, m_consumer.c_str(), nullptr, &options, &code);
    m_subscription.reset(subscription);
    return status == NATS_OK ? lib::Result<void, NetworkFailure>()
                             : connection.failure(status, fmt::format("consumer {}", m_consumer), code);
}

// Waits for the first message. It states how many more there are, and only these are requested, because a request for
// more would last until it expires.
lib::Result<std::vector<Message>, NetworkFailure> NatsSource::take(std::size_t messages_max, std::size_t bytes_max,
                                                                   std::chrono::milliseconds wait) {
    if (const auto connected = connect(); !connected) {
        return connected.error();
    }
    std::vector<Message> messages;
    if (const auto first = request(1, 0, wait, messages); !first) {
        return first.error();
    }
    const std::size_t more = std::min({messages_max - std::min<std::size_t>(messages_max, 1), m_pending, kTakeMax});
    const std::size_t taken = messages.empty() ? 0 : messages.front().body.size();
    if (more != 0 && taken < bytes_max) {
        const std::size_t room = std::max(bytes_max - taken, m_connection->payload_max() + kHeadBytes);
        // A failure is ignored, so that the messages that have come are not lost; the next call reports it.
        static_cast<void>(request(more, room, kMore, messages));
    }
    return messages;
}

// bytes: 0 means no limit.
lib::Result<void, NetworkFailure> NatsSource::request(std::size_t number, std::size_t bytes,
                                                      std::chrono::milliseconds wait, std::vector<Message>& messages) {
    jsFetchRequest wanted;
    jsFetchRequest_Init(&wanted);
    wanted.Batch = static_cast<int>(number);
    wanted.MaxBytes = static_cast<std::int64_t>(bytes);
    wanted.Expires = std::chrono::nanoseconds(std::max(wait, kTakeLeast)).count();
    m_pending = 0;
    NatsMessages received;
    const natsStatus status = natsSubscription_FetchRequest(received.into(), m_subscription.get(), &wanted);
    if (status != NATS_OK && (status != NATS_TIMEOUT || !m_connection->alive())) {
        auto failure = m_connection->failure(status, "taking messages");
        if (failure.text.find("Consumer Deleted") != std::string::npos) {
            failure.cause = lib::Error::unreachable; // the next call creates it again, and its stream
        }
        m_subscription = nullptr;
        return failure;
    }
    for (natsMsg* const message : received.all()) {
        if (auto taken = receive(message, messages); !taken) {
            return taken;
        }
    }
    return {};
}

lib::Result<void, NetworkFailure> NatsSource::receive(natsMsg* received, std::vector<Message>& messages) {
    jsMsgMetaData* data = nullptr;
    const natsStatus status = natsMsg_GetMetaData(&data, received);
    const NatsOwned<jsMsgMetaData> owned(data);
    if (status != NATS_OK) {
        return m_connection->failure(status, "a message without its place in the stream");
    }
    m_pending = data->NumPending;
    const MessageHead head = head_of(received);
    auto message = message_of(head);
    if (!message) {
        auto buried = bury({.from = node_of_subject(head.subject).value_or(unnamed_node()),
                            .sequence = data->Sequence.Stream,
                            .subject = head.subject,
                            .id = head.id,
                            .kind = head.kind,
                            .started = head.started,
                            .body = body_of(received),
                            .reason = message.error().text},
                           natsMsg_GetReply(received));
        if (buried) {
            m_rejected.push_back(
                fmt::format("message {} of {}: {}", data->Sequence.Stream, kStream, message.error().text));
        }
        return buried;
    }
    message.value().body = body_of(received);
    message.value().sequence = data->Sequence.Stream;
    message.value().deliveries = data->NumDelivered;
    message.value().handle = ++m_last_handle;
    m_given.emplace(m_last_handle, natsMsg_GetReply(received));
    messages.push_back(std::move(message.value()));
    return {};
}

std::string NatsSource::reply_of(const Message& message) const {
    const auto found = m_given.find(message.handle);
    return found == m_given.end() ? "" : found->second;
}

void NatsSource::say(const std::string& reply, std::string_view word) {
    if (!reply.empty() && m_connection != nullptr) { // else the server gives it again without this
        static_cast<void>(
            natsConnection_Publish(m_connection->handle(), reply.c_str(), word.data(), static_cast<int>(word.size())));
    }
}

lib::Result<void, NetworkFailure> NatsSource::say_surely(const std::vector<std::string>& replies,
                                                         std::string_view word) {
    m_replies->begin();
    for (const std::string& reply : replies) {
        const natsStatus status =
            natsConnection_PublishRequest(m_connection->handle(), reply.c_str(), m_replies->next_subject().c_str(),
                                          word.data(), static_cast<int>(word.size()));
        if (status != NATS_OK) {
            return m_connection->failure(status, "acknowledging");
        }
    }
    auto awaited = m_replies->await("acknowledging", [](std::size_t /*request*/, natsMsg* /*answer*/) {});
    if (!awaited && awaited.error().cause == lib::Error::not_found) {
        m_subscription = nullptr; // the next call creates everything again
        return m_connection->failure(lib::Error::unreachable, fmt::format("consumer {} has gone", m_consumer));
    }
    return awaited;
}

lib::Result<void, NetworkFailure> NatsSource::acknowledge(std::span<const Message> messages) {
    if (auto connected = connect(); !connected) {
        return connected;
    }
    std::vector<std::string> replies;
    for (const Message& message : messages) {
        if (std::string reply = reply_of(message); !reply.empty()) {
            replies.push_back(std::move(reply));
        }
    }
    auto said = say_surely(replies, kAcknowledged);
    if (said) {
        for (const Message& message : messages) {
            m_given.erase(message.handle);
        }
    }
    return said;
}

void NatsSource::give_back(const Message& message, std::chrono::milliseconds delay) {
    say(reply_of(message), fmt::format("-NAK {{\"delay\": {}}}", std::chrono::nanoseconds(delay).count()));
    m_given.erase(message.handle);
}

void NatsSource::keep(std::span<const Message> messages) {
    for (const Message& message : messages) {
        say(reply_of(message), kWorking);
    }
}

lib::Result<void, NetworkFailure> NatsSource::reject(const Message& message, std::string_view reason) {
    if (auto connected = connect(); !connected) {
        return connected;
    }
    const std::string subject = subject_of(message.from);
    const std::string started = fmt::format("{}", message.started_s);
    auto buried = bury({.from = message.from,
                        .sequence = message.sequence,
                        .subject = subject,
                        .id = message.id,
                        .kind = kind_name(message.kind),
                        .started = started,
                        .body = message.body,
                        .reason = reason},
                       reply_of(message));
    if (buried) {
        m_given.erase(message.handle);
    }
    return buried;
}

// Stores the letter first, then ends the delivery of its message, so that nothing can be lost in between. A second
// letter for the same message has the same id.
lib::Result<void, NetworkFailure> NatsSource::bury(const DeadLetter& letter, const std::string& reply) {
    natsMsg* made = nullptr;
    // The letter has more headers than the message, which may be as large as the server allows.
    const std::size_t payload = m_connection->payload_max();
    const std::string_view body = letter.body.substr(0, payload - std::min(payload, kLetterHeadBytes));
    natsStatus status = natsMsg_Create(&made, dead_subject_of(letter.from).c_str(), nullptr, body.data(),
                                       static_cast<int>(body.size()));
    const NatsOwned<natsMsg> owned(made);
    const auto set = [&status, made](const char* name, std::string_view value) {
        if (status == NATS_OK) {
            status = natsMsgHeader_Set(made, name, std::string(value.substr(0, kLetterTextMax)).c_str());
        }
    };
    set(kIdHeader.data(), fmt::format("rejected/{}/{}", letter.sequence, letter.id));
    set(kFirstIdHeader, letter.id);
    set(kFirstSubjectHeader, letter.subject);
    set(kKindHeader.data(), letter.kind);
    set(kStartedHeader.data(), letter.started);
    set(kReasonHeader.data(), text::made_printable(letter.reason));
    if (body.size() != letter.body.size()) {
        set(kCutHeader, fmt::format("{}", letter.body.size()));
    }
    jsPubAck* answer = nullptr;
    jsErrCode code{};
    if (status == NATS_OK) {
        status = js_PublishMsg(&answer, m_connection->streams(), made, nullptr, &code);
    }
    jsPubAck_Destroy(answer);
    if (status != NATS_OK) {
        return m_connection->failure(status, fmt::format("a dead letter to stream {}", kDeadStream), code);
    }
    return reply.empty() ? lib::Result<void, NetworkFailure>() : say_surely({reply}, kTerminated);
}

lib::Result<Message, NetworkFailure> NatsSource::fetch(std::uint64_t sequence) {
    if (const auto connected = connect(); !connected) {
        return connected.error();
    }
    natsMsg* found = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetMsg(&found, m_connection->streams(), kStream.data(), sequence, nullptr, &code);
    const NatsOwned<natsMsg> owned(found);
    if (code == JSNoMessageFoundErr || status == NATS_NOT_FOUND) {
        return m_connection->failure(lib::Error::not_found,
                                     fmt::format("message {} is not in stream {} any more", sequence, kStream));
    }
    if (status != NATS_OK) {
        return m_connection->failure(status, fmt::format("message {}", sequence), code);
    }
    auto message = message_of(head_of(found));
    if (!message) {
        return m_connection->failure(lib::Error::not_found, // the stream is not the one that the chunk came from
                                     fmt::format("message {}: {}", sequence, message.error().text));
    }
    message.value().body = body_of(found);
    message.value().sequence = sequence;
    return std::move(message.value());
}

lib::Result<NatsOwned<jsConsumerInfo>, NetworkFailure> NatsSource::consumer() {
    if (const auto connected = connect(); !connected) {
        return connected.error();
    }
    jsConsumerInfo* info = nullptr;
    jsErrCode code{};
    const natsStatus status =
        js_GetConsumerInfo(&info, m_connection->streams(), kStream.data(), m_consumer.c_str(), nullptr, &code);
    NatsOwned<jsConsumerInfo> owned(info);
    if (code == JSConsumerNotFoundErr || code == JSStreamNotFoundErr || status == NATS_NOT_FOUND) {
        m_subscription = nullptr; // the next call creates everything again
        return m_connection->failure(lib::Error::unreachable, fmt::format("consumer {} has gone", m_consumer));
    }
    if (status != NATS_OK) {
        return m_connection->failure(status, fmt::format("consumer {}", m_consumer), code);
    }
    return owned;
}

lib::Result<bool, NetworkFailure> NatsSource::settled_before(std::uint64_t sequence) {
    const auto info = consumer();
    if (!info) {
        return info.error();
    }
    const jsConsumerInfo& state = *info.value();
    // If no other message is pending, everything that was delivered is settled. The floor alone is not enough, because
    // that of a server that was killed may stay too low forever.
    const bool is_alone = state.NumAckPending <= 1;
    const std::uint64_t settled =
        is_alone ? std::max(state.AckFloor.Stream, state.Delivered.Stream) : state.AckFloor.Stream;
    if (settled + 1 >= sequence) {
        return true;
    }
    if (!is_alone) {
        return false;
    }
    // Messages that the stream has removed cannot come any more.
    jsStreamInfo* stream = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetStreamInfo(&stream, m_connection->streams(), kStream.data(), nullptr, &code);
    const NatsOwned<jsStreamInfo> owned(stream);
    if (status != NATS_OK) {
        return m_connection->failure(status, fmt::format("stream {}", kStream), code);
    }
    return stream->State.FirstSeq >= sequence;
}

lib::Result<std::uint64_t, NetworkFailure> NatsSource::pending() {
    const auto info = consumer();
    if (!info) {
        return info.error();
    }
    return info.value()->NumPending +
           static_cast<std::uint64_t>(std::max<std::int64_t>(info.value()->NumAckPending, 0));
}

lib::Result<std::shared_ptr<Source>, NetworkFailure>
nats_source(const std::string& addresses, const Credentials& credentials, const std::string& consumer) {
    auto source = std::make_shared<NatsSource>(addresses, credentials, consumer);
    const auto connected = source->connect();
    return connected ? lib::Result<std::shared_ptr<Source>, NetworkFailure>(std::move(source)) : connected.error();
}

} // namespace host::fleet
