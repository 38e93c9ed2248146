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

    // Connects. What fails is thrown.
    void connect() {
        if (m_connection != nullptr && m_connection->alive() && m_subscription != nullptr) {
            return;
        }
        m_subscription = nullptr;
        m_replies = nullptr;
        m_connection = nullptr;
        const auto connection = std::make_shared<NatsConnection>(m_addresses, m_credentials);
        for (const std::string_view stream : {kStream, kDeadStream}) {
            ensure_stream(*connection, stream);
        }
        auto replies = std::make_shared<NatsReplies>(connection);
        ensure_consumer(*connection, m_consumer);
        jsSubOptions options;
        jsSubOptions_Init(&options);
        options.Stream = kStream.data();
        options.ManualAck = true;
        options.Consumer = m_consumer.c_str();
        natsSubscription* subscription = nullptr;
        jsErrCode code{};
        const natsStatus status = js_PullSubscribe(&subscription, connection->streams(), nullptr, m_consumer.c_str(),
                                                   nullptr, &options, &code);
        NatsOwned<natsSubscription> owned(subscription);
        connection->check(status, fmt::format("consumer {}", m_consumer), code);
        m_connection = connection;
        m_replies = std::move(replies);
        m_subscription = std::move(owned);
    }

    // Waits for the first message. It states how many more there are, and only these are requested, because a request
    // for more would last until it expires.
    [[nodiscard]] lib::Result<std::vector<Message>, NetworkFailure>
    take(std::size_t messages_max, std::size_t bytes_max, std::chrono::milliseconds wait) override {
        return caught([&] {
            connect();
            std::vector<Message> messages;
            request(1, 0, wait, messages);
            const std::size_t more =
                std::min({messages_max - std::min<std::size_t>(messages_max, 1), m_pending, kTakeMax});
            const std::size_t taken = messages.empty() ? 0 : messages.front().body.size();
            if (more != 0 && taken < bytes_max) {
                const std::size_t room = std::max(bytes_max - taken, m_connection->payload_max() + kHeadBytes);
                // A failure is ignored, so that the messages that have come are not lost; the next call reports it.
                static_cast<void>(caught([&] { request(more, room, kMore, messages); }));
            }
            return messages;
        });
    }

    [[nodiscard]] lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) override {
        return caught([&] {
            connect();
            std::vector<std::string> replies;
            for (const Message& message : messages) {
                if (std::string reply = reply_of(message); !reply.empty()) {
                    replies.push_back(std::move(reply));
                }
            }
            say_surely(replies, kAcknowledged);
            for (const Message& message : messages) {
                m_given.erase(message.handle);
            }
        });
    }

    [[nodiscard]] std::vector<std::string> take_rejected() override { return std::exchange(m_rejected, {}); }

    void give_back(const Message& message, std::chrono::milliseconds delay) override {
        say(reply_of(message), fmt::format("-NAK {{\"delay\": {}}}", std::chrono::nanoseconds(delay).count()));
        m_given.erase(message.handle);
    }

    void keep(std::span<const Message> messages) override {
        for (const Message& message : messages) {
            say(reply_of(message), kWorking);
        }
    }

    [[nodiscard]] lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) override {
        return caught([&] {
            connect();
            const std::string subject = subject_of(message.from);
            const std::string started = fmt::format("{}", message.started_s);
            bury({.from = message.from,
                  .sequence = message.sequence,
                  .subject = subject,
                  .id = message.id,
                  .kind = kind_name(message.kind),
                  .started = started,
                  .body = message.body,
                  .reason = reason},
                 reply_of(message));
            m_given.erase(message.handle);
        });
    }

    [[nodiscard]] lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) override {
        return caught([&] {
            connect();
            natsMsg* found = nullptr;
            jsErrCode code{};
            const natsStatus status =
                js_GetMsg(&found, m_connection->streams(), kStream.data(), sequence, nullptr, &code);
            const NatsOwned<natsMsg> owned(found);
            if (code == JSNoMessageFoundErr || status == NATS_NOT_FOUND) {
                throw m_connection->failure(lib::Error::not_found,
                                            fmt::format("message {} is not in stream {} any more", sequence, kStream));
            }
            m_connection->check(status, fmt::format("message {}", sequence), code);
            auto message = message_of(head_of(found));
            if (!message) {
                throw m_connection->failure(lib::Error::not_found, // the stream is not the one that the chunk came from
                                            fmt::format("message {}: {}", sequence, message.error().text));
            }
            message.value().body = body_of(found);
            message.value().sequence = sequence;
            return std::move(message.value());
        });
    }

    [[nodiscard]] lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) override {
        return caught([&] {
            const NatsOwned<jsConsumerInfo> state = consumer();
            // If no other message is pending, everything that was delivered is settled. The floor alone is not enough,
            // because that of a server that was killed may stay too low forever.
            const bool is_alone = state->NumAckPending <= 1;
            const std::uint64_t settled =
                is_alone ? std::max(state->AckFloor.Stream, state->Delivered.Stream) : state->AckFloor.Stream;
            if (settled + 1 >= sequence || !is_alone) {
                return settled + 1 >= sequence;
            }
            // Messages that the stream has removed cannot come any more.
            jsStreamInfo* stream = nullptr;
            jsErrCode code{};
            const natsStatus status =
                js_GetStreamInfo(&stream, m_connection->streams(), kStream.data(), nullptr, &code);
            const NatsOwned<jsStreamInfo> owned(stream);
            m_connection->check(status, fmt::format("stream {}", kStream), code);
            return stream->State.FirstSeq >= sequence;
        });
    }

    [[nodiscard]] lib::Result<std::uint64_t, NetworkFailure> pending() override {
        return caught([&] {
            const NatsOwned<jsConsumerInfo> info = consumer();
            return info->NumPending + static_cast<std::uint64_t>(std::max<std::int64_t>(info->NumAckPending, 0));
        });
    }

  private:
    // bytes: 0 means no limit.
    void request(std::size_t number, std::size_t bytes, std::chrono::milliseconds wait,
                 std::vector<Message>& messages) {
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
            throw failure;
        }
        for (natsMsg* const message : received.all()) {
            receive(message, messages);
        }
    }

    void receive(natsMsg* received, std::vector<Message>& messages) {
        jsMsgMetaData* data = nullptr;
        const natsStatus status = natsMsg_GetMetaData(&data, received);
        const NatsOwned<jsMsgMetaData> owned(data);
        m_connection->check(status, "a message without its place in the stream");
        m_pending = data->NumPending;
        const MessageHead head = head_of(received);
        auto message = message_of(head);
        if (!message) {
            bury({.from = node_of_subject(head.subject).value_or(unnamed_node()),
                  .sequence = data->Sequence.Stream,
                  .subject = head.subject,
                  .id = head.id,
                  .kind = head.kind,
                  .started = head.started,
                  .body = body_of(received),
                  .reason = message.error().text},
                 natsMsg_GetReply(received));
            m_rejected.push_back(
                fmt::format("message {} of {}: {}", data->Sequence.Stream, kStream, message.error().text));
            return;
        }
        message.value().body = body_of(received);
        message.value().sequence = data->Sequence.Stream;
        message.value().deliveries = data->NumDelivered;
        message.value().handle = ++m_last_handle;
        m_given.emplace(m_last_handle, natsMsg_GetReply(received));
        messages.push_back(std::move(message.value()));
    }

    // Stores the letter first, then ends the delivery of its message, so that nothing can be lost in between. A second
    // letter for the same message has the same id.
    void bury(const DeadLetter& letter, const std::string& reply) {
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
        m_connection->check(status, fmt::format("a dead letter to stream {}", kDeadStream), code);
        if (!reply.empty()) {
            say_surely({reply}, kTerminated);
        }
    }

    void say_surely(const std::vector<std::string>& replies, std::string_view word) {
        m_replies->begin();
        for (const std::string& reply : replies) {
            m_connection->check(natsConnection_PublishRequest(m_connection->handle(), reply.c_str(),
                                                              m_replies->next_subject().c_str(), word.data(),
                                                              static_cast<int>(word.size())),
                                "acknowledging");
        }
        try {
            m_replies->await(0, "acknowledging", [](std::size_t /*request*/, natsMsg* /*answer*/) {});
        } catch (const NetworkFailure& failure) {
            if (failure.cause == lib::Error::not_found) {
                lose_consumer();
            }
            throw;
        }
    }

    [[noreturn]] void lose_consumer() {
        m_subscription = nullptr; // the next call creates everything again
        throw m_connection->failure(lib::Error::unreachable, fmt::format("consumer {} has gone", m_consumer));
    }

    void say(const std::string& reply, std::string_view word) {
        if (!reply.empty() && m_connection != nullptr) { // else the server gives it again without this
            static_cast<void>(natsConnection_Publish(m_connection->handle(), reply.c_str(), word.data(),
                                                     static_cast<int>(word.size())));
        }
    }

    [[nodiscard]] NatsOwned<jsConsumerInfo> consumer() {
        connect();
        jsConsumerInfo* info = nullptr;
        jsErrCode code{};
        const natsStatus status =
            js_GetConsumerInfo(&info, m_connection->streams(), kStream.data(), m_consumer.c_str(), nullptr, &code);
        NatsOwned<jsConsumerInfo> owned(info);
        if (code == JSConsumerNotFoundErr || code == JSStreamNotFoundErr || status == NATS_NOT_FOUND) {
            lose_consumer();
        }
        m_connection->check(status, fmt::format("consumer {}", m_consumer), code);
        return owned;
    }

    [[nodiscard]] std::string reply_of(const Message& message) const {
        const auto found = m_given.find(message.handle);
        return found == m_given.end() ? "" : found->second;
    }

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

lib::Result<std::shared_ptr<Source>, NetworkFailure>
nats_source(const std::string& addresses, const Credentials& credentials, const std::string& consumer) {
    return caught([&]() -> std::shared_ptr<Source> {
        auto source = std::make_shared<NatsSource>(addresses, credentials, consumer);
        source->connect();
        return source;
    });
}

} // namespace host::fleet
