// SPDX-License-Identifier: MIT
#include "fleet/network/nats.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::fleet {

namespace {

constexpr std::chrono::milliseconds kWriteDeadline{10'000};
// A server that does not answer two pings is considered lost.
constexpr std::chrono::milliseconds kPing{5000};
constexpr int kPingsOut = 2;
constexpr int kBufferBytes = 256 * 1024;

// A silent connection is checked at this interval.
constexpr std::chrono::milliseconds kLook{100};

// No message may be dropped, because there is one for each request.
constexpr int kNoLimit = -1;

constexpr std::string_view kEnable = "; unless it is just starting: start nats-server with -js, or with a block "
                                     "jetstream in its configuration (and account), because nothing else stores";

NetworkFailure failed(lib::Error cause, const std::string& shown, std::string_view text) {
    return {cause, fmt::format("{}: {}", shown, text)};
}

// Returns why a connection could not be opened.
NetworkFailure not_connected(natsStatus status, const std::string& shown) {
    const char* const last = nats_GetLastError(nullptr);
    const std::string detail = text::escaped(last != nullptr && *last != '\0' ? last : natsStatus_GetText(status));
    if (status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED) {
        return failed(lib::Error::refused, shown,
                      "the server refuses these credentials: --creds FILE, or --user and --password-file, name others");
    }
    if (status == NATS_SECURE_CONNECTION_REQUIRED) {
        return failed(lib::Error::refused, shown, "the server requires TLS: write its address as tls://HOST");
    }
    if (status == NATS_SECURE_CONNECTION_WANTED) {
        return failed(lib::Error::refused, shown,
                      "the server does not offer TLS: its configuration needs a block tls, or write nats://HOST");
    }
    if (status == NATS_SSL_ERROR) {
        return failed(lib::Error::refused, shown,
                      fmt::format("TLS failed ({}): --tls-ca FILE names what verifies the server's certificate, which "
                                  "must be of this host name; --tls-cert and --tls-key are what it may ask for",
                                  detail));
    }
    // This status is also that of a server that ends meanwhile.
    if (status == NATS_PROTOCOL_ERROR) {
        return failed(lib::Error::unreachable, shown,
                      fmt::format("what answers is no server of NATS, or it closes the connection ({}): one that "
                                  "verifies its clients needs --tls-cert and --tls-key",
                                  detail));
    }
    if (status == NATS_ADDRESS_MISSING || status == NATS_INVALID_ARG) {
        return failed(lib::Error::invalid_argument, shown,
                      fmt::format("no server of NATS ({}): an address is nats://HOST or nats://HOST:PORT", detail));
    }
    return failed(lib::Error::unreachable, shown,
                  fmt::format("no server answers ({}): is nats-server running there, and the port open?", detail));
}

natsStatus set_servers(natsOptions* options, const std::vector<std::string>& addresses) {
    std::vector<const char*> pointers;
    pointers.reserve(addresses.size());
    for (const std::string& address : addresses) {
        pointers.push_back(address.c_str());
    }
    return natsOptions_SetServers(options, pointers.data(), static_cast<int>(pointers.size()));
}

// A server's certificate is always verified; nothing here turns that off.
natsStatus set_tls(natsOptions* options, const Credentials& credentials, bool tls) {
    natsStatus status = NATS_OK;
    if (tls) {
        status = natsOptions_SetSecure(options, true);
    }
    if (status == NATS_OK && !credentials.tls_ca.empty()) {
        status = natsOptions_LoadCATrustedCertificates(options, credentials.tls_ca.c_str());
    }
    if (status == NATS_OK && !credentials.tls_cert.empty()) {
        status = natsOptions_LoadCertificatesChain(options, credentials.tls_cert.c_str(), credentials.tls_key.c_str());
    }
    return status;
}

natsStatus set_user(natsOptions* options, const Credentials& credentials) {
    if (!credentials.creds_file.empty()) {
        return natsOptions_SetUserCredentialsFromFiles(options, credentials.creds_file.c_str(), nullptr);
    }
    if (!credentials.user.empty()) {
        return natsOptions_SetUserInfo(options, credentials.user.c_str(), credentials.password.c_str());
    }
    return NATS_OK;
}

natsStatus set_times(natsOptions* options) {
    natsStatus status = natsOptions_SetTimeout(options, kNatsConnect.count());
    status = status == NATS_OK ? natsOptions_SetAllowReconnect(options, false) : status;
    status = status == NATS_OK ? natsOptions_SetWriteDeadline(options, kWriteDeadline.count()) : status;
    status = status == NATS_OK ? natsOptions_SetPingInterval(options, kPing.count()) : status;
    status = status == NATS_OK ? natsOptions_SetMaxPingsOut(options, kPingsOut) : status;
    status = status == NATS_OK ? natsOptions_SetIOBufSize(options, kBufferBytes) : status;
    return status == NATS_OK ? natsOptions_SetName(options, "remora") : status;
}

} // namespace

NatsConnection::NatsConnection(const std::string& addresses, const Credentials& credentials)
    : m_shown(shown_address(addresses)) {
    const std::vector<std::string> all = addresses_of(addresses);
    const bool tls = std::ranges::any_of(all, [](const std::string& one) { return one.starts_with("tls://"); });
    natsOptions* made = nullptr;
    natsStatus status = natsOptions_Create(&made);
    const NatsOwned<natsOptions> options(made);
    status = status == NATS_OK ? set_servers(made, all) : status;
    status = status == NATS_OK ? set_times(made) : status;
    status = status == NATS_OK ? set_tls(made, credentials, tls) : status;
    status = status == NATS_OK ? set_user(made, credentials) : status;
    natsConnection* connection = nullptr;
    status = status == NATS_OK ? natsConnection_Connect(&connection, made) : status;
    m_connection.reset(connection);
    jsOptions wanted;
    jsOptions_Init(&wanted);
    wanted.Wait = kNatsRequest.count();
    jsCtx* context = nullptr;
    status = status == NATS_OK ? natsConnection_JetStream(&context, connection, &wanted) : status;
    m_context.reset(context);
    if (status != NATS_OK) {
        throw not_connected(status, m_shown);
    }
}

std::size_t NatsConnection::payload_max() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(natsConnection_GetMaxPayload(m_connection.get()), 0));
}

NetworkFailure NatsConnection::failure(lib::Error cause, std::string_view text) const {
    return failed(cause, m_shown, text);
}

NetworkFailure NatsConnection::failure(natsStatus status, std::string_view doing, jsErrCode code) const {
    // A server that was just started, or recovers its streams, answers like this, too, so waiting may help.
    if (status == NATS_NO_RESPONDERS) {
        return failure(lib::Error::unreachable, fmt::format("{}: JetStream does not answer{}", doing, kEnable));
    }
    if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr) {
        return failure(lib::Error::refused, fmt::format("JetStream is not enabled{}", kEnable));
    }
    const char* last = nullptr;
    const natsStatus noted = natsConnection_GetLastError(m_connection.get(), &last);
    if (noted == NATS_NOT_PERMITTED) {
        return failure(lib::Error::refused, fmt::format("{}: this user has not the permission: {}", doing,
                                                        text::escaped(last != nullptr ? last : "")));
    }
    if (!alive() || status == NATS_TIMEOUT || status == NATS_CONNECTION_CLOSED || status == NATS_IO_ERROR ||
        status == NATS_STALE_CONNECTION || status == NATS_CONNECTION_DISCONNECTED || code == JSClusterNotAvailErr) {
        return failure(lib::Error::unreachable,
                       fmt::format("{}: the server does not answer ({})", doing, natsStatus_GetText(status)));
    }
    const char* const detail = nats_GetLastError(nullptr);
    return failure(
        lib::Error::refused,
        fmt::format("{}: {}", doing, text::escaped(detail != nullptr ? detail : natsStatus_GetText(status))));
}

natsStatus set_headers(natsMsg* into, const Message& message) {
    natsStatus status = natsMsgHeader_Set(into, kIdHeader.data(), message.id.c_str());
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(into, kKindHeader.data(), kind_name(message.kind).data());
    }
    return status == NATS_OK
               ? natsMsgHeader_Set(into, kStartedHeader.data(), fmt::format("{}", message.started_s).c_str())
               : status;
}

std::string_view header_of(natsMsg* message, std::string_view name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, name.data(), &value) == NATS_OK && value != nullptr ? value : std::string_view();
}

MessageHead head_of(natsMsg* message) {
    return {.subject = natsMsg_GetSubject(message),
            .id = header_of(message, kIdHeader),
            .kind = header_of(message, kKindHeader),
            .started = header_of(message, kStartedHeader)};
}

std::string_view body_of(const natsMsg* message) {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

void ensure_stream(const NatsConnection& connection, std::string_view name) {
    const std::string stream(name);
    jsErrCode code{};
    jsStreamInfo* info = nullptr;
    natsStatus status = js_GetStreamInfo(&info, connection.streams(), stream.c_str(), nullptr, &code);
    NatsOwned<jsStreamInfo> owned(info);
    if (code != JSStreamNotFoundErr && status != NATS_NOT_FOUND) {
        connection.check(status, fmt::format("stream {}", name), code);
        return;
    }
    const std::string subject = stream + ".>";
    std::array<const char*, 1> subjects = {subject.c_str()};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = stream.c_str();
    config.Subjects = subjects.data();
    config.SubjectsLen = static_cast<int>(subjects.size());
    config.Retention = js_LimitsPolicy;
    config.Storage = js_FileStorage;
    config.Duplicates = std::chrono::nanoseconds(kDuplicatesWindow).count();
    code = {};
    info = nullptr;
    status = js_AddStream(&info, connection.streams(), &config, nullptr, &code);
    owned.reset(info);
    if (code != JSStreamNameExistErr) { // else another program has created it
        connection.check(status, fmt::format("stream {} cannot be made", name), code);
    }
}

void ensure_consumer(const NatsConnection& connection, const std::string& name) {
    constexpr std::int64_t kAckPendingMax = 65'536; // of all loaders together
    jsConsumerInfo* info = nullptr;
    jsErrCode code{};
    natsStatus status = js_GetConsumerInfo(&info, connection.streams(), kStream.data(), name.c_str(), nullptr, &code);
    NatsOwned<jsConsumerInfo> owned(info);
    if (code == JSConsumerNotFoundErr || status == NATS_NOT_FOUND) {
        jsConsumerConfig config;
        jsConsumerConfig_Init(&config);
        config.Durable = name.c_str();
        config.DeliverPolicy = js_DeliverAll;
        config.AckPolicy = js_AckExplicit;
        config.AckWait = std::chrono::nanoseconds(kNatsAckWait).count();
        config.MaxDeliver = -1;
        config.MaxAckPending = kAckPendingMax;
        code = {};
        info = nullptr;
        status = js_AddConsumer(&info, connection.streams(), kStream.data(), &config, nullptr, &code);
        owned.reset(info);
    }
    connection.check(status, fmt::format("consumer {}", name), code);
}

NatsReplies::NatsReplies(std::shared_ptr<NatsConnection> connection)
    : m_connection(std::move(connection)) {
    natsInbox* made = nullptr;
    m_connection->check(natsInbox_Create(&made), "replies");
    m_inbox = std::string(made) + '.';
    natsInbox_Destroy(made);
    natsSubscription* subscription = nullptr;
    natsStatus status = natsConnection_SubscribeSync(&subscription, m_connection->handle(), (m_inbox + '>').c_str());
    m_subscription.reset(subscription);
    status = status == NATS_OK ? natsSubscription_SetPendingLimits(subscription, kNoLimit, kNoLimit) : status;
    m_connection->check(status, "replies");
}

void NatsReplies::begin() {
    ++m_round;
    m_answered.clear();
    m_waiting = 0;
}

std::string NatsReplies::next_subject() {
    m_answered.push_back(false);
    ++m_waiting;
    return fmt::format("{}{}.{}", m_inbox, m_round, m_answered.size() - 1);
}

void NatsReplies::cancel_last() {
    m_answered.back() = true;
    --m_waiting;
}

// Returns false if the message answers an earlier request, or one that has an answer.
bool NatsReplies::take(std::string_view subject, std::size_t& request) {
    subject.remove_prefix(std::min(m_inbox.size(), subject.size()));
    const auto round = text::number_of<std::uint64_t>(text::take_until(subject, "."));
    const auto number = text::number_of<std::size_t>(subject);
    if (round != m_round || !number || *number >= m_answered.size() || m_answered[*number]) {
        return false;
    }
    request = *number;
    m_answered[request] = true;
    --m_waiting;
    return true;
}

void NatsReplies::await(std::size_t waiting_max, std::string_view doing,
                        const std::function<void(std::size_t request, natsMsg* answer)>& use) {
    auto silent_since = std::chrono::steady_clock::now();
    while (m_waiting > waiting_max) {
        natsMsg* next = nullptr;
        const natsStatus status = natsSubscription_NextMsg(&next, m_subscription.get(), kLook.count());
        const NatsOwned<natsMsg> answer(next);
        if (status == NATS_OK) {
            if (std::size_t request = 0; take(natsMsg_GetSubject(next), request)) {
                use(request, next);
            }
            silent_since = std::chrono::steady_clock::now();
            continue;
        }
        if (status == NATS_NO_RESPONDERS) { // the library does not state the request
            throw m_connection->failure(lib::Error::not_found, fmt::format("{}: nothing takes the subject", doing));
        }
        const char* noted = nullptr;
        const bool forbidden = natsConnection_GetLastError(m_connection->handle(), &noted) == NATS_NOT_PERMITTED;
        const bool late = std::chrono::steady_clock::now() - silent_since >= kNatsRequest;
        if (status != NATS_TIMEOUT || forbidden || late || !m_connection->alive()) {
            throw m_connection->failure(status, doing);
        }
    }
}

} // namespace host::fleet
