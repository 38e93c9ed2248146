// SPDX-License-Identifier: MIT
// Writes the metadata language of CTF 1.8 (TSDL), as far as our converters need it: types, the table's events, names as
// enumerations. Text from a trace is quoted or made an identifier here.
#pragma once

#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/user_fields.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace host::convert::ctf {

// Returns a string literal with its quotes.
[[nodiscard]] std::string quoted(std::string_view text_untrusted);

// Returns an identifier. It begins with an underscore, which readers remove, so that it is never a keyword. Characters
// that an identifier cannot have become underscores.
[[nodiscard]] std::string identifier(std::string_view text_untrusted);

// Appends the declarations of trace, stream and types. clock: name of the clock of the stamps.
void append_head(fmt::memory_buffer& out, std::string_view clock);

// Appends type aliases that show the trace's names for the numbers of contexts, vectors, mutexes and so on.
void append_name_types(fmt::memory_buffer& out, const trace::Names& names);

// Appends an event class. fields: declarations, each with its semicolon.
void append_event(fmt::memory_buffer& out, std::string_view name_untrusted, std::uint32_t id, std::string_view fields);

// Returns the fields of a simple record: 0, 2, 4 or 6 bytes, as `row` uses its parameters.
[[nodiscard]] std::string record_fields(const tracer::EventRow& row);

// Returns the fields of a typed event in the layout of the writer: an integer with fraction bits is a double, a text
// ends in a zero.
[[nodiscard]] std::string declared_fields(const tracer::EventDeclaration& declaration);

} // namespace host::convert::ctf
