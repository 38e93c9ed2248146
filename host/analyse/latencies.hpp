// SPDX-License-Identifier: MIT
// Measures how long it took from the raise of an interrupt to the first instruction of the task that its handler wakes,
// in three legs (host/schedule/latency.hpp), by vector and task. All times are in ticks.
#pragma once

#include "host/analyse/summary.hpp"
#include "host/schedule/latency.hpp"
#include "host/schedule/schedule.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::analyse {

struct Leg {
    Durations durations;
    std::optional<schedule::Entry> greatest; // the interrupt of the greatest duration; of equal ones the first

    void add(lib::Ticks duration, const schedule::Entry& entry);
};

struct LatencyLegs {
    Leg to_entry; // from the raise to interrupt_start, for interrupts whose raise is known
    Leg to_ready;
    Leg to_first;
};

class Latencies {
  public:
    struct Pair {
        std::uint16_t vector = 0;
        std::uint16_t context = 0;

        friend auto operator<=>(const Pair&, const Pair&) = default;
    };

    // observed: what an observer saw of the run; none if there was no observer.
    explicit Latencies(std::optional<std::vector<schedule::Observed>> observed)
        : m_observed(std::move(observed)) {}

    // Must be called in time order for all events. changes: what Schedule::take() returned for the event. schedule: its
    // state after the event.
    void add(const trace::Event& event, std::span<const schedule::Change> changes, const schedule::Schedule& schedule) {
        if (m_observed) {
            add_entry(event);
        }
        m_model.take(event, changes, schedule);
    }

    // Must be called once, after the last event.
    void finish();

    [[nodiscard]] const std::map<Pair, LatencyLegs>& pairs() const { return m_pairs; }

    // Returns which interrupts were observed; none if there was no observer.
    [[nodiscard]] const std::optional<schedule::Raises>& raises() const { return m_raises; }

  private:
    void add(const schedule::Latency& latency);
    void add_entry(const trace::Event& event);

    std::optional<std::vector<schedule::Observed>> m_observed;
    std::optional<schedule::Raises> m_raises;
    std::vector<schedule::Entry> m_entries;     // those of all interrupts; empty without an observer
    std::vector<schedule::Latency> m_latencies; // those of all tasks that were woken; empty without an observer
    std::map<Pair, LatencyLegs> m_pairs;
    schedule::Latencies m_model{[this](const schedule::Latency& latency) { add(latency); }};
};

// The legs of a latency in their order, with their names in text and JSON.
struct LegName {
    Leg LatencyLegs::*leg;
    std::string_view text;
    std::string_view key;
};

inline constexpr std::array<LegName, 3> kLegs = {LegName{&LatencyLegs::to_entry, "raise to entry", "raise_to_entry"},
                                                 LegName{&LatencyLegs::to_ready, "entry to ready", "entry_to_ready"},
                                                 LegName{&LatencyLegs::to_first, "ready to first", "ready_to_first"}};

// Returns why no raise is known; empty if some are.
[[nodiscard]] inline std::string_view raises_missing(const Latencies& latencies) {
    if (!latencies.raises()) {
        return "no observer outside of the machine (--raises)";
    }
    switch (latencies.raises()->fit) {
    case schedule::Raises::Fit::none:
        return "the observer saw another run, or rows are missing in its file, or the clock does not count "
               "instructions";
    case schedule::Raises::Fit::several:
        return "the interrupts of the trace fit several parts of what the observer saw";
    case schedule::Raises::Fit::one:
        break;
    }
    return "";
}

} // namespace host::analyse
