// SPDX-License-Identifier: MIT
// Greedy reclamation of unused bandwidth: which bandwidth is active, and when that of a server without work ceases to
// be. Arrivals, exhaustions and charges are those of a CBS whose budget falls with the active bandwidth: see cbs.hpp.
#pragma once

#include "host/analyse/oracle/servers.hpp"

#include <set>

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
    void job_begins(std::uint16_t id);

    void remove(std::uint16_t id) {
        m_accounts.erase(id);
        m_retired = true;
    }

    // A task with a reservation has ended.
    void task_ended(std::uint16_t context) {
        m_retired = true;
        m_changed.erase(context);
    }

    void deadline_changed(std::uint16_t context) { m_changed.insert(context); }

    void settle(const trace::Event& event);

    void forget() {
        m_accounts.clear();
        m_retired = true;
        m_forgot = true;
    }

  private:
    struct Account {
        bool counted = false;                // its bandwidth is active
        std::optional<std::uint64_t> idle{}; // stamp of the end of its last job, while it has none and is active
    };

    // When its budget is no longer ahead of the fluid server; none: not known.
    [[nodiscard]] std::optional<std::uint64_t> zero_lag(const Server& server) const;

    struct Share {
        std::uint64_t part = 0;
        std::uint64_t whole = 0;
        unsigned more = 0; // how often it counts in the shortest interval that can matter
    };

    // Sums of shares, each rounded up.
    struct Load {
        std::uint64_t all = 0;
        std::uint64_t active = 0; // without servers that give back
        std::uint64_t parts = 0;

        void add(std::uint64_t part, std::uint64_t whole, bool counted) {
            const std::uint64_t share = scaled_up(part, kWholeProcessor, whole);
            all += share;
            active += counted ? share : 0;
            ++parts;
        }
    };

    [[nodiscard]] std::optional<Load> load() const;
    void count_retired();
    void judge_rate();

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
    std::set<std::uint16_t> m_changed; // tasks whose relative deadline was changed
    bool m_forgot = false;             // a server without an account may be active
    bool m_retired = false;            // a reservation that has ended may still count
};

} // namespace host::analyse::oracle
