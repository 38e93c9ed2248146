// SPDX-License-Identifier: MIT
// Publishes to JetStream. Many messages are sent before their acknowledgements arrive, and every acknowledgement is
// awaited. The user needs only the rights to publish REMORA.> and to subscribe _INBOX.>, unless the stream must be
// created.
#include "fleet/network/nats.hpp"
#include "fleet/network/network.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/json.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace host::fleet {

namespace {

// At most this many messages have no acknowledgement yet; the server would only queue more.
constexpr std::size_t kWaitingMax = 1024;

constexpr std::size_t kHeadersMax = 1024; // of a message; those of ours take about 200 bytes

// A rejection is the answer of a server that has not stored a message.
struct Rejection {
    int code = 0;
    int detail = 0;
    std::string text;
};

std::optional<Rejection> rejection_of(std::string_view answer) {
    if (answer.find("\"error\"") == std::string_view::npos) {
        return std::nullopt;
    }
    const trace::Json json = trace::Json::parse(answer, nullptr, false);
    const trace::Json error = json.is_object() ? json.value("error", trace::Json::object()) : trace::Json::object();
    if (!error.is_object()) {
        return Rejection{.text = "an answer that is none of JetStream"};
    }
    const auto number = [&error](const char* key) {
        const auto found = error.find(key);
        return found != error.end() && found->is_number_integer() ? found->get<int>() : 0;
    };
    const auto text = error.find("description");
    return Rejection{.code = number("code"),
                     .detail = number("err_code"),
                     .text = text != error.end() && text->is_string() ? text->get<std::string>() : "no reason given"};
}

constexpr int kTemporary = 503;

class NatsOutlet final : public Outlet {
  public:
    NatsOutlet(std::string addresses, Credentials credentials)
        : m_addresses(std::move(addresses))
        , m_credentials(std::move(credentials)) {}

    // Connects. Failures are those of publish().
    [[nodiscard]] lib::Result<void, NetworkFailure> connect();

    [[nodiscard]] lib::Result<void, NetworkFailure> publish(std::span<const Message> messages,
                                                            std::size_t& stored) override;

    [[nodiscard]] std::size_t body_bytes_max() const override;

  private:
    // States what the server answered in one attempt.
    struct Attempt {
        std::vector<bool> stored;
        std::optional<NetworkFailure> failed; // the first failure
        bool no_stream = false;
    };

    [[nodiscard]] lib::Result<void, NetworkFailure> send(const Message& message);
    [[nodiscard]] Attempt attempt(std::span<const Message> messages);
    void judge(std::size_t number, natsMsg* answer, const Message& message, Attempt& attempt) const;

    std::string m_addresses;
    Credentials m_credentials;
    std::shared_ptr<NatsConnection> m_connection;
    std::shared_ptr<NatsReplies> m_replies;
    std::size_t m_body_max = 0; // limit of the last server
};

} // namespace

lib::Result<void, NetworkFailure> NatsOutlet::connect() {
    if (m_connection != nullptr && m_connection->alive()) {
        return {};
    }
    m_replies = nullptr;
    m_connection = nullptr;
    auto connection = NatsConnection::open(m_addresses, m_credentials);
    if (!connection) {
        return connection.error();
    }
    auto replies = NatsReplies::open(connection.value());
    if (!replies) {
        return replies.error();
    }
    const std::size_t payload = connection.value()->payload_max();
    m_body_max = payload - std::min(payload, kHeadersMax);
    m_connection = std::move(connection.value());
    m_replies = std::move(replies.value());
    return {};
}

std::size_t NatsOutlet::body_bytes_max() const {
    return m_body_max;
}

lib::Result<void, NetworkFailure> NatsOutlet::send(const Message& message) {
    if (message.body.size() > body_bytes_max()) {
        return m_connection->failure(
            lib::Error::too_small,
            fmt::format("{} has {} bytes, the server takes at most {}: set max_payload in its configuration to {} or "
                        "more",
                        message.id, message.body.size(), body_bytes_max(), message.body.size() + kHeadersMax));
    }
    natsMsg* made = nullptr;
    const std::string subject = subject_of(message.from);
    natsStatus status = natsMsg_Create(&made, subject.c_str(), m_replies->next_subject().c_str(), message.body.data(),
                                       static_cast<int>(message.body.size()));
    const NatsOwned<natsMsg> owned(made);
    status = status == NATS_OK ? set_headers(made, message) : status;
    status = status == NATS_OK ? natsConnection_PublishMsg(m_connection->handle(), made) : status;
    if (status != NATS_OK) {
        m_replies->cancel_last();
        return m_connection->failure(status, "publishing");
    }
    return {};
}

void NatsOutlet::judge(std::size_t number, natsMsg* answer, const Message& message, Attempt& attempt) const {
    const auto fail = [&attempt](NetworkFailure failure) {
        attempt.failed = attempt.failed ? attempt.failed : std::optional(std::move(failure));
    };
    const auto rejection =
        rejection_of({natsMsg_GetData(answer), static_cast<std::size_t>(natsMsg_GetDataLength(answer))});
    if (!rejection) {
        attempt.stored[number] = true;
    } else if (rejection->detail == JSStreamMessageExceedsMaximumErr) {
        fail(m_connection->failure(lib::Error::too_small,
                                   fmt::format("{} has {} bytes, more than max_msg_size of stream {} allows: raise it "
                                               "with `nats stream edit`",
                                               message.id, message.body.size(), kStream)));
    } else {
        // Trying later may succeed, because a full stream is emptied by its readers or its operator.
        const bool later = rejection->code == kTemporary || rejection->detail == JSStreamStoreFailedErr;
        fail(m_connection->failure(later ? lib::Error::unreachable : lib::Error::refused,
                                   fmt::format("{} is not stored: {}", message.id, text::escaped(rejection->text))));
    }
}

NatsOutlet::Attempt NatsOutlet::attempt(std::span<const Message> messages) {
    Attempt attempt{.stored = std::vector<bool>(messages.size()), .failed = {}, .no_stream = false};
    m_replies->begin();
    const auto use = [&](std::size_t number, natsMsg* answer) { judge(number, answer, messages[number], attempt); };
    const auto wait = [&](std::size_t waiting_max) {
        const auto awaited = m_replies->await_until(waiting_max, "publishing", use);
        if (!awaited && awaited.error().cause == lib::Error::not_found) {
            attempt.no_stream = true;
        } else if (!awaited && !attempt.failed) {
            attempt.failed = awaited.error();
        }
        return awaited.ok();
    };
    for (const Message& message : messages) {
        if (attempt.failed || attempt.no_stream || !wait(kWaitingMax)) {
            break;
        }
        if (const auto sent = send(message); !sent) {
            attempt.failed = sent.error();
        }
    }
    if (m_connection->alive() && !attempt.no_stream) {
        static_cast<void>(wait(0));
    }
    return attempt;
}

lib::Result<void, NetworkFailure> NatsOutlet::publish(std::span<const Message> messages, std::size_t& stored) {
    stored = 0;
    for (int turn = 0;; ++turn) {
        if (const auto connected = connect(); !connected) {
            return connected.error();
        }
        const Attempt done = attempt(messages.subspan(stored));
        stored += static_cast<std::size_t>(std::ranges::find(done.stored, false) - done.stored.begin());
        if (!done.failed && !done.no_stream) {
            return {};
        }
        if (done.failed || turn != 0) {
            auto failure = done.failed.value_or(m_connection->failure(
                lib::Error::refused, fmt::format("no stream takes the subject {}: add it to stream {}",
                                                 subject_of(messages[stored].from), kStream)));
            m_replies = nullptr; // messages of this attempt must not arrive after those of the next one
            m_connection = nullptr;
            return failure;
        }
        if (const auto made = ensure_stream(*m_connection, kStream); !made) {
            return made.error();
        }
        // A new inbox is opened, because further requests of this attempt may stay without an answer, which must not
        // count in the next one.
        auto replies = NatsReplies::open(m_connection);
        if (!replies) {
            return replies.error();
        }
        m_replies = std::move(replies.value());
    }
}

lib::Result<std::shared_ptr<Outlet>, NetworkFailure> nats_outlet(const std::string& addresses,
                                                                 const Credentials& credentials) {
    auto outlet = std::make_shared<NatsOutlet>(addresses, credentials);
    if (const auto connected = outlet->connect(); !connected) {
        return connected.error();
    }
    return std::shared_ptr<Outlet>(std::move(outlet));
}

} // namespace host::fleet
