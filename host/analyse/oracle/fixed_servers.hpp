// SPDX-License-Identifier: MIT
// Polling and deferrable servers under fixed priorities: refilled every T from one origin, charged what ran in their
// place. A polling server without requests loses its budget at once, a deferrable one keeps it until the next refill.
#pragma once

#include "host/analyse/oracle/servers.hpp"

#include <utility>
#include <vector>

namespace host::analyse::oracle {

class FixedServers : public Theory {
  public:
    FixedServers(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition of those with an id: the server's kind is polling or deferrable.
    void replenish(std::uint16_t id, const trace::Event& event);
    void exhaust(std::uint16_t id);
    void budget(std::uint16_t id, std::uint64_t recorded);
    void deadline(std::uint16_t id, const trace::Event& event);

    void remove(std::uint16_t id) { m_accounts.erase(id); }

    void settle();

    void forget() { m_accounts.clear(); }

  private:
    struct Account {
        bool refilled = false; // the budget that comes is Q
        bool advances = false; // the deadline that comes is the next replenishment
        std::optional<std::uint64_t> origin{};
        std::uint64_t number = 0;
        // Requests, with their turns, that are to leave: the budget was lost before their waits were recorded.
        std::vector<std::pair<std::uint16_t, std::uint64_t>> leaving;
        std::uint64_t debt = 0; // used beyond the budget, as far as stamps show
    };

    [[nodiscard]] bool has_requests(std::uint16_t id, bool& unknown) const;

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
};

} // namespace host::analyse::oracle
