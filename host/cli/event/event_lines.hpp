// SPDX-License-Identifier: MIT
// Lines of events for traces of millions: the same text as append_line(), byte for byte, with everything prepared that
// does not change from event to event. What is not a sound event of one slot goes through append_line() itself.
#pragma once

#include "host/cli/event/event_text.hpp"
#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <vector>

namespace host::cli {

class EventLines {
  public:
    explicit EventLines(TimeUnit unit);

    void append(fmt::memory_buffer& out, const trace::Event& event);

  private:
    // The constant pieces of an event's line.
    struct Prepared {
        text::ShortText to_par1; // the name, padded to its column, and " context="
        text::ShortText to_par2;
        bool prepared = false; // else append_line() does it
        trace::ValueKind par1 = trace::ValueKind::nothing;
        trace::ValueKind par2 = trace::ValueKind::nothing;
    };

    [[nodiscard]] char* put_line(char* at, const trace::Event& event, const Prepared& prepared);
    [[nodiscard]] char* put_value(char* at, const trace::Event& event, trace::ValueKind kind, tracer::Unit unit,
                                  std::uint32_t value);

    TimeUnit m_unit;
    std::vector<Prepared> m_prepared; // by code
    trace::ValueTexts m_values;       // with their names, "12 (sensor)"
};

} // namespace host::cli
