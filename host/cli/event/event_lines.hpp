// SPDX-License-Identifier: MIT
// Prints lines of events for traces with millions of events: the same text as append_line(), byte for byte, but
// everything that does not change from event to event is prepared. An event that is not a valid event of one slot is
// printed by append_line() itself.
#pragma once

#include "host/cli/event/event_text.hpp"
#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace host::cli {

class EventLines {
  public:
    explicit EventLines(TimeUnit unit);

    void append(fmt::memory_buffer& out, const trace::Event& event, trace::OptionalTask task = {});

  private:
    // Holds the constant pieces of an event's line.
    struct Prepared {
        text::ShortText to_par1; // the name, padded to its column, and " context="
        text::ShortText to_par2;
        bool prepared = false; // else append_line() prints the event
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

// The version of everything that commands print with --json; docs/json.md says what it promises.
inline constexpr std::uint32_t kJsonVersion = 1;

// append_json() writes one event as one JSON object. Names from the trace are escaped. JsonLines does the same for
// traces with millions of events: the same text, byte for byte, but everything that does not change from event to event
// is prepared. An event that is not a valid event of one slot is written by append_json() itself.

// Writes {"time_ns":1234567,"ticks":...,"cpu":0,...}: stable keys, one object, newline included. instruction: what
// objdump prints for the event's instruction; no member if it is empty. task: as for append_line().
void append_json(fmt::memory_buffer& out, const trace::Event& event, std::string_view instruction,
                 trace::OptionalTask task = {});

class JsonLines {
  public:
    JsonLines();

    void append(fmt::memory_buffer& out, const trace::Event& event, std::string_view instruction,
                trace::OptionalTask task = {});

  private:
    using Meaning = trace::ValueTexts::Text;

    // Holds the constant texts of one parameter.
    struct Keys {
        text::ShortText value;
        text::ShortText meaning;
        trace::ValueKind kind = trace::ValueKind::nothing;
    };

    // Holds the constant members of an event's object.
    struct Prepared {
        text::TextOf<112> identity; // from its name to its state
        Keys par1;
        Keys par2;
        bool prepared = false; // else append_json() writes the event
    };

    [[nodiscard]] static Prepared prepared_for(const tracer::EventRow& row);
    static void put_object(fmt::memory_buffer& out, const trace::Event& event, const Prepared& prepared,
                           const Meaning& meaning1, const Meaning& meaning2);
    [[nodiscard]] static const Meaning* meaning_of(trace::ValueTexts& meanings, const trace::Event& event,
                                                   const Keys& keys, tracer::Unit unit, std::uint32_t value);

    std::vector<Prepared> m_prepared; // by code
    trace::ValueTexts m_meanings1;    // of first parameters, as text inside a JSON string; empty: none
    trace::ValueTexts m_meanings2;    // of second ones
};

} // namespace host::cli
