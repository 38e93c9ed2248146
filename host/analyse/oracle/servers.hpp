// SPDX-License-Identifier: MIT
// The theories of servers: polling and deferrable servers, the constant bandwidth server, greedy reclamation, and the
// meter that they share.
#pragma once

#include "host/analyse/oracle/theory.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace host::analyse::oracle {

// Measures the time for which each server's place was used, by its task or on its behalf, since its budget was last
// recorded: the plain time, and the time scaled by the active bandwidth.

inline constexpr std::uint64_t kWholeProcessor = 0xFFFF'FFFF; // bandwidths are fractions of this number

// Returns value * numerator / denominator, rounded up.
[[nodiscard]] std::uint64_t scaled_up(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator);

struct Use {
    std::uint64_t ran = 0;
    std::uint64_t charged = 0; // `ran`, scaled by the active bandwidth
    std::uint64_t intervals = 0;
    bool known = false; // a budget has been recorded, so the use since then is known
};

class ServerMeter : public Theory {
  public:
    using Theory::Theory;

    // Counts the running interval up to this stamp. Must be called before any event that ends an interval, changes a
    // rate or records a budget.
    void flush(std::uint64_t now);

    // Must be called when the budget was recorded: begins to count from 0.
    void restart(std::uint16_t server);

    void set_bandwidth(std::uint64_t bandwidth) { m_bandwidth = bandwidth; }

    [[nodiscard]] const std::optional<std::uint64_t>& bandwidth() const { return m_bandwidth; }

    [[nodiscard]] const Use& use(std::uint16_t server) { return m_uses[server]; }

    void forget();

  private:
    std::map<std::uint16_t, Use> m_uses;
    std::optional<std::uint64_t> m_bandwidth;
    std::uint64_t m_counted_to = 0;
};

// The theory of polling and deferrable servers under fixed priorities: they are replenished every T from one origin on,
// and charged for what ran in their place. A polling server without requests loses its budget at once; a deferrable one
// keeps it until the next replenishment.
class FixedServers : public Theory {
  public:
    FixedServers(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition of the functions with an id but remove(): the server's kind is polling or deferrable.
    void replenish(std::uint16_t id, const trace::Event& event);
    void exhaust(std::uint16_t id);
    // recorded: none if the record saturates.
    void budget(std::uint16_t id, std::optional<std::uint64_t> recorded);
    void deadline(std::uint16_t id, const trace::Event& event);

    void remove(std::uint16_t id) { m_accounts.erase(id); }

    void settle();

    void forget() { m_accounts.clear(); }

  private:
    struct Account {
        bool refilled = false; // the next recorded budget must be Q
        bool advances = false; // the next recorded deadline is the next replenishment
        std::optional<std::uint64_t> origin{};
        std::uint64_t number = 0;
        // Requests, with their numbers of insertion, that must leave: the budget was lost before their waits were
        // recorded.
        std::vector<std::pair<std::uint16_t, std::uint64_t>> leaving{};
        std::uint64_t debt = 0;  // use beyond the budget, as far as stamps show it
        bool debt_known = false; // all use since the latest replenishment was measured
    };

    [[nodiscard]] Account& account_of(std::uint16_t id) {
        return m_accounts.try_emplace(id, Account{.debt_known = model().servers().at(id).whole}).first->second;
    }

    void judge_first(std::uint16_t id, const Server& server, std::optional<std::uint64_t> stated,
                     const trace::Event& event);
    void settle(std::uint16_t id, std::uint64_t budget);

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
};

// The theory of the constant bandwidth server: how an arrival, an exhaustion and an interval of running change budget
// and deadline. GRUB is the same server with another clock for its budget, so it is judged here too, by the charged
// time.
//
//   arrival      server_active, [server_replenish], server_budget, server_deadline, [job_release]
//   exhaustion   server_exhaust, server_replenish, server_budget, server_deadline
//   charge       server_budget alone
class Cbs : public Theory {
  public:
    Cbs(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition of the functions but remove(): the server's kind is CBS or GRUB.
    void active(std::uint16_t id, const trace::Event& event);
    void exhaust(std::uint16_t id);
    // recorded: none if the record saturates.
    void budget(std::uint16_t id, std::optional<std::uint64_t> recorded);
    void deadline(std::uint16_t id);

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
        std::uint64_t arrived = 0; // stamp of the arrival
        std::optional<std::uint64_t> old_budget{};
        std::optional<std::uint64_t> new_budget{};
        std::optional<std::uint64_t> debt{}; // charge beyond the budget, as far as stamps show it
        std::uint64_t slack = 0;
        // These are for the rule of isolation: the use since a new deadline.
        std::optional<std::uint64_t> since{};
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
    };

    void judge_charge(std::uint16_t id, const Server& server, Account& account, std::optional<std::uint64_t> recorded);
    void judge_arrival(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded);
    void judge_exhaustion(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded);
    void judge_isolation(std::uint16_t id, const Server& server, const Account& account);
    [[nodiscard]] std::string server_text(std::uint16_t id) const;

    ServerMeter& m_meter;
    std::map<std::uint16_t, Account> m_accounts;
};

// The theory of greedy reclamation of unused bandwidth: which bandwidth is active, and when a server without work gives
// its own back. Arrivals, exhaustions and charges are those of a CBS whose budget decreases with the active bandwidth,
// so Cbs judges them.
class Grub : public Theory {
  public:
    Grub(const Model& model, Verdicts& verdicts, const Timing& timing, ServerMeter& meter)
        : Theory(model, verdicts, timing)
        , m_meter(meter) {}

    // Precondition of the functions with an id but remove(): the server's kind is GRUB.
    void active(std::uint16_t id);
    void reclaiming(std::uint16_t id, const trace::Event& event);
    void job_ended(std::uint16_t id, const trace::Event& event);
    void job_begins(std::uint16_t id);

    void remove(std::uint16_t id) {
        m_accounts.erase(id);
        m_retired = true;
    }

    // Must be called when a task has ended, because its reservation may still count.
    void task_ended(std::uint16_t context) {
        m_retired = true;
        m_changed.erase(context);
    }

    void deadline_changed(std::uint16_t context) { m_changed.insert(context); }

    void settle(const trace::Event& event);

    void forget() {
        m_accounts.clear();
        m_retired = true;
    }

  private:
    struct Account {
        bool counted = false;                // the server's bandwidth is active
        std::optional<std::uint64_t> idle{}; // stamp of the end of its last job, if it has no job and is active
    };

    // Returns the time from which the budget is no longer ahead of the fluid server; none if it is not known.
    [[nodiscard]] std::optional<std::uint64_t> zero_lag(const Server& server) const;

    struct Share {
        std::uint64_t part = 0;
        std::uint64_t whole = 0;
        unsigned more = 0; // how often the part counts in the shortest interval that can matter
    };

    // Sums of shares, each rounded up.
    struct Load {
        std::uint64_t all = 0;
        std::uint64_t active = 0; // without servers that have given their bandwidth back
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
    std::set<std::uint16_t> m_changed; // contexts of tasks whose relative deadline was changed
    bool m_retired = false;            // a reservation that has ended may still count
};

} // namespace host::analyse::oracle
