// SPDX-License-Identifier: MIT
// Many requests on their way at the same time, each with an answer: every request has a reply subject of its own, all
// of them below one that is subscribed to. For what must be certain (stored, acknowledged) without waiting for each.
#pragma once

#include "fleet/network/nats_connection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace host::fleet {

class NatsReplies {
  public:
    [[nodiscard]] static lib::Result<std::shared_ptr<NatsReplies>, NetworkFailure>
    open(std::shared_ptr<NatsConnection> connection);

    NatsReplies(std::shared_ptr<NatsConnection> connection, NatsOwned<natsSubscription> subscription,
                std::string inbox);

    // Requests are numbered from 0 on again; answers to earlier ones are not wanted any more.
    void begin();

    // Of the request that is sent next.
    [[nodiscard]] std::string next_subject();

    // It was not sent.
    void cancel_last();

    // Passes on every answer that comes, with the number of its request, until all requests since begin() have one.
    // not_found: the subject of one of them is taken by nothing; unreachable: the connection is lost, or nothing comes
    // for kNatsRequest; refused: the user has not the permission.
    [[nodiscard]] lib::Result<void, NetworkFailure>
    await(std::string_view doing, const std::function<void(std::size_t request, natsMsg* answer)>& use);

    // Likewise, until at most so many have none.
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
