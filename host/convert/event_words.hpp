// SPDX-License-Identifier: MIT
// What an event says, as one line of words, for formats that carry text: `context=3 (sensor) wait=1/2 (semaphore bus)`.
// Text from the trace is escaped, so a line stays a line.
#pragma once

#include "host/trace/event.hpp"

#include <fmt/format.h>
#include <string>

namespace host::convert {

// The parameters of a record with their names, the fields of a typed event, the text of a formatted one, the words of
// another system's event; the state and raw code of a damaged one.
void append_event_words(fmt::memory_buffer& out, const trace::Event& event);

// The text of a formatted event; if nobody has its format, the format's number and the arguments. Not escaped.
[[nodiscard]] std::string formatted_text(const trace::Event& event);

// What stands behind the number of a parameter: the name of a task, mutex and so on, or the words of the event table.
// Empty if it has none. Escaped.
[[nodiscard]] std::string meaning_of(const trace::Event& event, tracer::Unit unit, std::uint32_t value);

} // namespace host::convert
