// SPDX-License-Identifier: MIT
#include "fleet/network/nats_replies.hpp"

#include "host/text/format.hpp"

#include <charconv>
#include <utility>

namespace host::fleet {

namespace {

// How often a silent connection is looked at.
constexpr std::chrono::milliseconds kLook{100};

// None is ever dropped: one for each request.
constexpr int kNoLimit = -1;

} // namespace

lib::Result<std::shared_ptr<NatsReplies>, NetworkFailure>
NatsReplies::open(std::shared_ptr<NatsConnection> connection) {
    natsInbox* made = nullptr;
    natsStatus status = natsInbox_Create(&made);
    const std::unique_ptr<natsInbox, void (*)(natsInbox*)> name(made, &natsInbox_Destroy);
    if (status != NATS_OK) {
        return connection->failure(status, "replies");
    }
    std::string inbox = std::string(made) + '.';
    natsSubscription* subscription = nullptr;
    status = natsConnection_SubscribeSync(&subscription, connection->handle(), (inbox + '>').c_str());
    NatsOwned<natsSubscription> owned(subscription);
    status = status == NATS_OK ? natsSubscription_SetPendingLimits(subscription, kNoLimit, kNoLimit) : status;
    if (status != NATS_OK) {
        return connection->failure(status, "replies");
    }
    return std::make_shared<NatsReplies>(std::move(connection), std::move(owned), std::move(inbox));
}

NatsReplies::NatsReplies(std::shared_ptr<NatsConnection> connection, NatsOwned<natsSubscription> subscription,
                         std::string inbox)
    : m_connection(std::move(connection))
    , m_subscription(std::move(subscription))
    , m_inbox(std::move(inbox)) {}

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

// False: it answers an earlier request, or one that has an answer.
bool NatsReplies::take(std::string_view subject, std::size_t& request) {
    subject.remove_prefix(std::min(m_inbox.size(), subject.size()));
    std::uint64_t round = 0;
    const char* const end = subject.data() + subject.size();
    const auto [dot, error] = std::from_chars(subject.data(), end, round);
    if (error != std::errc{} || dot == end || round != m_round) {
        return false;
    }
    const auto [parsed, failed] = std::from_chars(dot + 1, end, request);
    if (failed != std::errc{} || parsed != end || request >= m_answered.size() || m_answered[request]) {
        return false;
    }
    m_answered[request] = true;
    --m_waiting;
    return true;
}

lib::Result<void, NetworkFailure>
NatsReplies::await(std::string_view doing, const std::function<void(std::size_t request, natsMsg* answer)>& use) {
    return await_until(0, doing, use);
}

lib::Result<void, NetworkFailure>
NatsReplies::await_until(std::size_t waiting_max, std::string_view doing,
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
        if (status == NATS_NO_RESPONDERS) { // the library does not say to which request
            return m_connection->failure(lib::Error::not_found, fmt::format("{}: nothing takes the subject", doing));
        }
        const char* noted = nullptr;
        const bool forbidden = natsConnection_GetLastError(m_connection->handle(), &noted) == NATS_NOT_PERMITTED;
        const bool late = std::chrono::steady_clock::now() - silent_since >= kNatsRequest;
        if (status != NATS_TIMEOUT || forbidden || late || !m_connection->alive()) {
            return m_connection->failure(status, doing);
        }
    }
    return {};
}

} // namespace host::fleet
