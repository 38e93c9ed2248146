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

    // Connects. What fails is thrown.
    void connect() {
        if (m_connection != nullptr && m_connection->alive()) {
            return;
        }
        m_replies = nullptr;
        m_connection = nullptr;
        m_stream.clear();
        auto connection = std::make_shared<NatsConnection>(m_addresses, m_credentials);
        m_replies = std::make_shared<NatsReplies>(connection);
        m_connection = std::move(connection);
        const std::size_t payload = m_connection->payload_max();
        m_body_max = payload - std::min(payload, kHeadersMax);
    }

    [[nodiscard]] lib::Result<void, NetworkFailure> publish(std::span<const Message> messages,
                                                            std::size_t& stored) override {
        stored = 0;
        return caught([&] {
            for (int turn = 0;; ++turn) {
                connect();
                const Attempt done = attempt(messages.subspan(stored));
                stored += static_cast<std::size_t>(std::ranges::find(done.stored, false) - done.stored.begin());
                if (!done.failed) {
                    return;
                }
                const bool no_stream = done.failed->cause == lib::Error::not_found;
                if (!no_stream || turn != 0) {
                    const std::shared_ptr<NatsConnection> last = std::move(m_connection);
                    m_replies = nullptr; // messages of this attempt must not arrive after those of the next one
                    m_connection = nullptr;
                    throw !no_stream ? *done.failed
                                     : last->failure(lib::Error::refused,
                                                     fmt::format("no stream takes the subject {}: add it to stream {}",
                                                                 subject_of(messages[stored].from), kStream));
                }
                ensure_stream(*m_connection, kStream);
                // A new inbox is opened, because further requests of this attempt may stay without an answer, which
                // must not count in the next one.
                m_replies = std::make_shared<NatsReplies>(m_connection);
            }
        });
    }

    [[nodiscard]] std::size_t body_bytes_max() const override { return m_body_max; }

    // A stream that was deleted and made again is another one, so the time at which it was made names it. Messages may
    // be stored in a stream of another name, or this user may not ask about streams: then the server's address is
    // for it.
    [[nodiscard]] lib::Result<std::string, NetworkFailure> stream() override {
        return caught([this] {
            connect();
            if (m_stream.empty()) {
                jsStreamInfo* info = nullptr;
                jsErrCode code{};
                const natsStatus status =
                    js_GetStreamInfo(&info, m_connection->streams(), kStream.data(), nullptr, &code);
                const NatsOwned<jsStreamInfo> owned(info);
                if (code == JSStreamNotFoundErr || status == NATS_NOT_FOUND) {
                    return m_addresses; // asked again the next time, because a message may make it
                }
                m_stream = info != nullptr ? fmt::format("{} of {}", kStream, info->Created) : m_addresses;
            }
            return m_stream;
        });
    }

  private:
    // States what the server answered in one attempt.
    struct Attempt {
        std::vector<bool> stored;
        std::optional<NetworkFailure> failed; // the first failure; not_found: no stream takes the subject
    };

    void send(const Message& message) {
        if (message.body.size() > body_bytes_max()) {
            throw m_connection->failure(
                lib::Error::too_small,
                fmt::format(
                    "{} has {} bytes, the server takes at most {}: set max_payload in its configuration to {} or "
                    "more",
                    message.id, message.body.size(), body_bytes_max(), message.body.size() + kHeadersMax));
        }
        natsMsg* made = nullptr;
        const std::string subject = subject_of(message.from);
        natsStatus status = natsMsg_Create(&made, subject.c_str(), m_replies->next_subject().c_str(),
                                           message.body.data(), static_cast<int>(message.body.size()));
        const NatsOwned<natsMsg> owned(made);
        status = status == NATS_OK ? set_headers(made, message) : status;
        status = status == NATS_OK ? natsConnection_PublishMsg(m_connection->handle(), made) : status;
        if (status != NATS_OK) {
            m_replies->cancel_last();
            throw m_connection->failure(status, "publishing");
        }
    }

    [[nodiscard]] Attempt attempt(std::span<const Message> messages) {
        Attempt attempt{.stored = std::vector<bool>(messages.size()), .failed = {}};
        m_replies->begin();
        const auto note = [&attempt](std::optional<NetworkFailure> failure) {
            attempt.failed = attempt.failed ? attempt.failed : std::move(failure);
        };
        const auto wait = [&](std::size_t waiting_max) {
            m_replies->await(waiting_max, "publishing", [&](std::size_t number, natsMsg* answer) {
                auto failure = rejected(answer, messages[number]);
                attempt.stored[number] = !failure;
                note(std::move(failure));
            });
        };
        const auto sent = caught([&] {
            for (const Message& message : messages) {
                wait(kWaitingMax);
                if (attempt.failed) {
                    return;
                }
                send(message);
            }
        });
        if (!sent) {
            note(sent.error());
        }
        const bool no_stream = attempt.failed && attempt.failed->cause == lib::Error::not_found;
        if (m_connection->alive() && !no_stream) {
            if (const auto awaited = caught([&] { wait(0); }); !awaited) {
                note(awaited.error());
            }
        }
        return attempt;
    }

    // Returns why the server has not stored the message; nothing if it has.
    [[nodiscard]] std::optional<NetworkFailure> rejected(natsMsg* answer, const Message& message) const {
        const auto rejection = rejection_of(body_of(answer));
        if (!rejection) {
            return std::nullopt;
        }
        if (rejection->detail == JSStreamMessageExceedsMaximumErr) {
            return m_connection->failure(
                lib::Error::too_small,
                fmt::format("{} has {} bytes, more than max_msg_size of stream {} allows: raise it "
                            "with `nats stream edit`",
                            message.id, message.body.size(), kStream));
        }
        // Trying later may succeed, because a full stream is emptied by its readers or its operator.
        const bool later = rejection->code == kTemporary || rejection->detail == JSStreamStoreFailedErr;
        return m_connection->failure(later ? lib::Error::unreachable : lib::Error::refused,
                                     fmt::format("{} is not stored: {}", message.id, text::escaped(rejection->text)));
    }

    std::string m_addresses;
    Credentials m_credentials;
    std::shared_ptr<NatsConnection> m_connection;
    std::shared_ptr<NatsReplies> m_replies;
    std::size_t m_body_max = 0; // limit of the last server
    std::string m_stream;       // of the connection; empty: not known
};

} // namespace

lib::Result<std::shared_ptr<Outlet>, NetworkFailure> nats_outlet(const std::string& addresses,
                                                                 const Credentials& credentials) {
    return caught([&]() -> std::shared_ptr<Outlet> {
        auto outlet = std::make_shared<NatsOutlet>(addresses, credentials);
        outlet->connect();
        return outlet;
    });
}

} // namespace host::fleet
