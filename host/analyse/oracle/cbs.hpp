// SPDX-License-Identifier: MIT
// The constant bandwidth server: what an arrival, an exhaustion and an interval of running make of budget and deadline.
// GRUB is the same server with another clock for its budget, so it is judged here too, by the charged time.
//
//   arrival      server_active, [server_replenish], server_budget, server_deadline, [job_release]
//   exhaustion   server_exhaust, server_replenish, server_budget, server_deadline
//   charge       server_budget alone
#pragma once

#include "host/analyse/oracle/servers.hpp"

namespace host::analyse::oracle {

class Cbs : public Theory {
  public:
    Cbs(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition: the server's kind is CBS or GRUB.
    void active(std::uint16_t id, const trace::Event& event);
    void exhaust(std::uint16_t id);
    void budget(std::uint16_t id, std::uint64_t recorded);
    void deadline(std::uint16_t id, const trace::Event& event);

    void remove(std::uint16_t id) { m_accounts.erase(id); }

    void forget() { m_accounts.clear(); }

  private:
    enum class Step : std::uint8_t {
        none,
        arrival,
        exhaustion,
    };

    struct Account {
        Step step = Step::none;
        std::uint64_t arrived = 0; // stamp
        std::optional<std::uint64_t> old_budget{};
        std::optional<std::uint64_t> new_budget{};
        std::uint64_t debt = 0; // charged beyond the budget, as far as stamps show
        std::uint64_t slack = 0;
        // isolation: use since a new deadline
        std::optional<std::uint64_t> since{};
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
    };

    void judge_charge(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded);
    void judge_arrival(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded);
    void judge_exhaustion(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded);
    void count_isolation(Account& account, std::uint16_t id);
    void judge_isolation(std::uint16_t id, const Server& server, const Account& account);
    [[nodiscard]] std::string server_text(std::uint16_t id) const;

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
};

} // namespace host::analyse::oracle
