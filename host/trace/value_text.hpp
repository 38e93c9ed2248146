// SPDX-License-Identifier: MIT
// The value of a parameter as text: its digits, and their meaning: `1/2 (semaphore samples)`,
// `0x101a3c (work(unsigned int)+0x1c)`. Every printer and converter shows values as these functions do.
#pragma once

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace host::trace {

enum class ValueKind : std::uint8_t {
    nothing, // the event has no such parameter
    number,  // digits of one number, and nothing else
    named,   // all others
};

[[nodiscard]] constexpr bool is_hexadecimal(tracer::Unit unit) {
    using enum tracer::Unit;
    return unit == pointer || unit == hexadecimal || unit == code;
}

// Whether values of this unit can have a meaning.
[[nodiscard]] constexpr bool may_have_meaning(tracer::Unit unit) {
    using enum tracer::Unit;
    return !tracer::words_of(unit).words.empty() || unit == context || unit == code ||
           std::ranges::find(kNameEvents, unit, &NameEvent::unit) != kNameEvents.end();
}

[[nodiscard]] constexpr ValueKind kind_of(tracer::Unit unit) {
    return unit == tracer::Unit::none                       ? ValueKind::nothing
           : may_have_meaning(unit) || is_hexadecimal(unit) ? ValueKind::named
                                                            : ValueKind::number;
}

// "7"; "0xe9"; "1/2" for a number of two parts.
void append_digits(fmt::memory_buffer& out, tracer::Unit unit, std::uint32_t value);

// The meaning of a value: the name that the trace gives a task, mutex and so on, the words of the event table, the
// function and the offset in it. Empty if the number says it all, or no meaning is known. Escaped.
[[nodiscard]] std::string meaning_of(const Event& event, tracer::Unit unit, std::uint32_t value);

// Both, the meaning in parentheses.
void append_digits_and_meaning(fmt::memory_buffer& out, const Event& event, tracer::Unit unit, std::uint32_t value);

// The object that a task waits for, by the word of a task_block: "semaphore samples", "port #3", "delay". Escaped.
[[nodiscard]] std::string wait_text(const Names& names, std::uint32_t wait);

// The name that belongs to a number, or "#number" if it has none. Escaped.
[[nodiscard]] std::string name_or_number(const Names& names, tracer::Unit unit, std::uint32_t number);

// "work(unsigned int)+0x1c", "work(unsigned int)" at its first instruction; empty if the address is in no function that
// the image knows, or there is no image. Escaped.
[[nodiscard]] std::string place_of(const KernelImage* image, std::uint64_t address);

} // namespace host::trace
