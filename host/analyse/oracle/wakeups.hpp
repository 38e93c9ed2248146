// SPDX-License-Identifier: MIT
// Semaphores: how many units there are, who waits, and that a post with waiters wakes the most urgent of them at once.
#pragma once

#include "host/analyse/oracle/theory.hpp"

#include <map>
#include <vector>

namespace host::analyse::oracle {

// Whom a post wakes: the waiter that came first, or the most urgent one, of equal ones the first.
enum class WakeOrder : std::uint8_t {
    arrival,
    urgency,
};

// As kernel/sync/semaphore.hpp promises.
inline constexpr WakeOrder kWakeOrder = WakeOrder::arrival;

class WakeUps : public Theory {
  public:
    using Theory::Theory;

    void event(const trace::Event& event);

    void forget() { m_semaphores.clear(); }

  private:
    struct Semaphore {
        std::optional<std::uint64_t> count;
        std::vector<std::uint16_t> waiters; // in the order in which they came
        bool all_waiters_known = false;
        std::uint64_t owed = 0;             // posts that must wake somebody
        std::optional<std::uint16_t> asked; // waits without a unit: it must block
    };

    void wait(const trace::Event& event);
    void post(const trace::Event& event);
    void block(const trace::Event& event);
    void unblock(const trace::Event& event);
    void leave(std::uint16_t context);
    void settle();
    void judge_wake_order(const Semaphore& semaphore, std::uint32_t id, std::uint16_t woken);

    std::map<std::uint32_t, Semaphore> m_semaphores;
};

} // namespace host::analyse::oracle
