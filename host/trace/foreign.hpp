// SPDX-License-Identifier: MIT
// Events of other systems' traces. They keep their class, number, name and words; where one says what an event of ours
// says about the schedule, its row, code and parameters are those of ours, so every analysis and view has a schedule.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace host::trace {

// Whether the event is to be shown with its own name and words. False for an event of ours, also in a file of another
// system's format.
[[nodiscard]] inline bool is_foreign(const Event& event) {
    return event.origin != Origin::record && (event.row == nullptr || !event.foreign_name.empty());
}

// par2 of a context_switch that a foreign event means: the task that leaves the processor rests until it is chosen
// again. 0: it is preempted, or another event says what it waits for.
inline constexpr std::uint32_t kLeaverRests = 1;

struct Meaning {
    std::uint8_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

inline void set_meaning(Event& event, const Meaning& meaning) {
    event.row = tracer::find_event(meaning.code);
    event.raw_code = event.code = meaning.code;
    event.par1 = meaning.par1;
    event.par2 = meaning.par2;
}

// Contexts for what another system runs. 0 is left out: it is what ran before there were tasks.
class ForeignContexts {
  public:
    struct Found {
        std::uint16_t context;
        bool is_new;
    };

    // None: there are more than 65,535.
    [[nodiscard]] std::optional<Found> of(std::uint64_t key) {
        const auto known = m_contexts.find(key);
        if (known != m_contexts.end()) {
            return Found{known->second, false};
        }
        if (m_contexts.size() == 0xFFFF) {
            return std::nullopt;
        }
        const auto context = static_cast<std::uint16_t>(m_contexts.size() + 1);
        m_contexts.emplace(key, context);
        return Found{context, true};
    }

    // The contexts of keys from `first` to `last`, as pairs.
    [[nodiscard]] auto between(std::uint64_t first, std::uint64_t last) const {
        return std::pair(m_contexts.lower_bound(first), m_contexts.upper_bound(last));
    }

  private:
    std::map<std::uint64_t, std::uint16_t> m_contexts;
};

} // namespace host::trace
