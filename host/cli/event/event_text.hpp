// SPDX-License-Identifier: MIT
// Prints one event as one line of text, and the parts of events that text and JSON have in common. Names from the trace
// are escaped. Long traces are printed by EventLines, which prepares the usual lines and leaves the others to this.
#pragma once

#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/event.hpp"
#include "host/trace/running_tasks.hpp"

#include <cstdint>
#include <string_view>

namespace host::cli {

enum class TimeUnit : std::uint8_t { nanoseconds, ticks };

//      1234567 ns  cpu0  task_dispatch        context=12 (sensor) level=0 (EDF)
// task: in which an event of the application was logged.
void append_line(fmt::memory_buffer& out, const trace::Event& event, TimeUnit unit, trace::OptionalTask task = {});

// Appends a typed event's fields, ` name=value unit ...`, or the text of a trace_printf.
void append_user_event(fmt::memory_buffer& out, const trace::Event& event);

// Writes the fields or the text as members of the event's JSON object.
void add_user_event(text::JsonText& json, const trace::Event& event);

// Appends the fields of a metadata event, as ` name=value ...`; nothing for other events, or if it cannot be decoded.
void append_metadata(fmt::memory_buffer& out, const trace::Event& event);

// Appends the parts of an event that has no row in our table: class, number and words of a .kev event, kind and
// arguments of a tlog event.
void append_foreign(fmt::memory_buffer& out, const trace::Event& event);

// Writes these parts as members of the event's JSON object.
void add_foreign(text::JsonText& json, const trace::Event& event);

void append(fmt::memory_buffer& out, std::string_view text);

// Appends the text in a form that is harmless for a terminal.
void append_escaped(fmt::memory_buffer& out, std::string_view text_untrusted);

} // namespace host::cli
