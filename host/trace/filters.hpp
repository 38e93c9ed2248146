// SPDX-License-Identifier: MIT
// Knows which families of records are filtered (FTrace_set_filter), and so which of the machine's states the records do
// not show. Where a filter of such a family begins or ends, what it hid is unknown, as after a hole.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>

namespace host::trace {

// Is a set of families.
using Families = std::uint32_t;

[[nodiscard]] constexpr Families families(std::initializer_list<tracer::Family> members) {
    Families set = 0;
    for (const tracer::Family family : members) {
        set |= Families{1} << static_cast<unsigned>(family);
    }
    return set;
}

class Filters {
  public:
    // The states of tasks, their jobs and the holders of mutexes follow from these.
    static constexpr Families kStates =
        families({tracer::Family::general, tracer::Family::task, tracer::Family::attribute, tracer::Family::mutex,
                  tracer::Family::job});
    // What a processor executes follows from these.
    static constexpr Families kExecution = families(
        {tracer::Family::general, tracer::Family::attribute, tracer::Family::interrupt, tracer::Family::timer});
    // The parts of a response time follow from these.
    static constexpr Families kParts = kStates | kExecution | families({tracer::Family::cpu, tracer::Family::server});

    // Returns whether at this event a filter of one of these families begins or ends.
    [[nodiscard]] static constexpr bool changes(const Event& event, Families families) {
        return kSetsFilter[event.code] && event.is_sound() && (families >> (event.code & 0x0FU) & 1U) != 0;
    }

    // Must be called with each event that sets a filter, and may be called with any other.
    void take(const Event& event) {
        if (kSetsFilter[event.code] && event.is_sound()) [[unlikely]] {
            const Families family = Families{1} << (event.code & 0x0FU);
            m_hidden = event.par1 != 0 ? m_hidden | family : m_hidden & ~family;
            m_used |= m_hidden;
        }
    }

    // Returns whether records of one of these families are filtered.
    [[nodiscard]] bool hide(Families families) const { return (m_hidden & families) != 0; }

    // Returns the families of which a filter was set at any time.
    [[nodiscard]] Families used() const { return m_used; }

  private:
    Families m_hidden = 0;
    Families m_used = 0;
};

// Returns "filters hid records: filter_mutex, filter_job"; empty if there are no such families.
[[nodiscard]] std::string filters_text(Families filtered);

} // namespace host::trace
