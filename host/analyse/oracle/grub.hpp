// SPDX-License-Identifier: MIT
// Greedy reclamation of unused bandwidth: which bandwidth is active, and when that of a server without work ceases to
// be. Arrivals, exhaustions and charges are those of a CBS whose budget falls with the active bandwidth: see cbs.hpp.
#pragma once

#include "host/analyse/oracle/servers.hpp"

namespace host::analyse::oracle {

class Grub : public Theory {
  public:
    Grub(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition of those with an id: the server's kind is GRUB.
    void active(std::uint16_t id);
    void reclaiming(std::uint16_t id, const trace::Event& event);
    void job_ended(std::uint16_t id, const trace::Event& event);

    void remove(std::uint16_t id) {
        m_accounts.erase(id);
        m_retired = true;
    }

    // A task with a reservation has ended.
    void task_ended() { m_retired = true; }

    void settle(const trace::Event& event);

    void forget() { m_accounts.clear(); }

  private:
    struct Account {
        bool counted = false;                // its bandwidth is active
        std::optional<std::uint64_t> idle{}; // stamp of the end of its last job, while it has none and is active
    };

    // When its budget is no longer ahead of the fluid server; none: not known.
    [[nodiscard]] std::optional<std::uint64_t> zero_lag(const Server& server) const;
    void judge_rate();

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
    bool m_retired = false; // a reservation that has ended may still count
};

} // namespace host::analyse::oracle
