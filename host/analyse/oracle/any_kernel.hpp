// SPDX-License-Identifier: MIT
// Judges what holds for the scheduler of every kernel: a task that waits does not run, and no processor idles while a
// task is ready. With an order that the user names it also judges each choice by that order. It knows of a task only
// whether it is ready, so it needs no record of decisions; one whose state no record has shown is never accused, nor
// are others because of it.
#pragma once

#include "host/analyse/oracle/theory.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

namespace host::analyse::oracle {

// The orders that a user can name (remora check --policy).
enum class Order : std::uint8_t {
    fifo,       // who became ready first; it runs until it waits
    rr,         // the same, but who loses the processor goes to the end
    fixed,      // the lowest number of the level
    fixed_high, // the highest number of the level
    rm,         // the shortest period
    edf,        // the earliest deadline: when it became ready, plus its relative deadline
};

[[nodiscard]] constexpr std::string_view word(Order order) {
    switch (order) {
    case Order::fifo:
        return "fifo";
    case Order::rr:
        return "rr";
    case Order::fixed:
        return "fixed";
    case Order::fixed_high:
        return "fixed-high";
    case Order::rm:
        return "rm";
    case Order::edf:
        return "edf";
    }
    return {};
}

class AnyKernel : public Theory {
  public:
    using Theory::Theory;

    // Must be called before the first event.
    void set_order(std::optional<Order> order) { m_order = order; }

    // Must be called with each event of each processor. Precondition: the model has the names.
    void event(const trace::Event& event);

    // Must be called where records may be missing.
    void forget();

  private:
    struct Ready {
        Truth ready = Truth::unknown;
        bool accused = false;      // since it became ready, it was found waiting too long
        unsigned locks = 0;        // that it holds: by inheritance it may come before others
        std::uint64_t since = 0;   // ready without the processor, in ticks
        std::uint64_t release = 0; // when it became ready
        std::uint64_t queued = 0;  // its number in the order of queueing; 0: not known
        bool runs = false;
    };

    struct Processor {
        std::optional<std::uint16_t> context{}; // that has it
        unsigned handlers = 0;
        std::uint64_t last = 0;     // stamp of its latest event
        std::uint64_t decision = 0; // stamp at which the last task began to lose it
    };

    void take(const trace::Event& event, Processor& here);
    void set_ready(std::uint16_t context, const trace::Event& event);
    void dispatch(const trace::Event& event, Processor& here);
    void judge_choice(const trace::Event& event, const Processor& here);
    void judge_waiting(const trace::Event& event, const Processor& here);
    [[nodiscard]] bool all_idle() const;
    [[nodiscard]] bool waits_for_processor(std::uint16_t context, const Ready& task) const;
    [[nodiscard]] bool is_idle(std::uint16_t context) const;
    // Returns what is least in the task that comes first; none if it is not known.
    [[nodiscard]] std::optional<std::uint64_t> key(std::uint16_t context, const Ready& task) const;

    std::optional<Order> m_order;
    std::map<std::uint16_t, Ready> m_tasks;
    std::map<std::uint16_t, Processor> m_processors;
    std::uint64_t m_queued = 0;
};

} // namespace host::analyse::oracle
