// SPDX-License-Identifier: MIT
// Converts values of events to text. The value of a parameter is shown by its digits and their meaning: `1/2 (semaphore
// samples)`, `0x101a3c (work(unsigned int)+0x1c)`. The user's events are decoded: a typed event by its declaration, a
// formatted event by its format. All printers and converters show values in this way.
#pragma once

#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/result.hpp"
#include "tracer/names/user_fields.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

enum class ValueKind : std::uint8_t {
    nothing, // the event has no such parameter
    number,  // the digits of one number
    named,   // the digits have or may have a meaning, or a prefix
};

[[nodiscard]] constexpr bool is_hexadecimal(tracer::Unit unit) {
    using enum tracer::Unit;
    return unit == pointer || unit == hexadecimal || unit == code;
}

// Returns whether values of this unit can have a meaning.
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

// Appends the digits: "7"; "0xe9"; "1/2" for a number of two parts.
void append_digits(fmt::memory_buffer& out, tracer::Unit unit, std::uint32_t value);

// Returns the meaning of a value: the name that the trace gives a task, mutex and so on, the words of the event table,
// or the function and the offset in it. Empty if the number needs no explanation or its meaning is not known. Escaped.
[[nodiscard]] std::string meaning_of(const Event& event, tracer::Unit unit, std::uint32_t value);

// Appends the digits and, in parentheses, the meaning.
void append_digits_and_meaning(fmt::memory_buffer& out, const Event& event, tracer::Unit unit, std::uint32_t value);

// Returns the object that a task waits for, by the word of a task_block: "semaphore samples", "port #3", "delay".
// Escaped.
[[nodiscard]] std::string wait_text(const Names& names, std::uint32_t wait);

// Returns the name that belongs to a number, or "#number" if it has none. Escaped.
[[nodiscard]] std::string name_or_number(const Names& names, tracer::Unit unit, std::uint32_t number);

// Returns "work(unsigned int)+0x1c", or "work(unsigned int)" at the first instruction; empty if the address is in no
// function of the image, or if there is no image. Escaped.
[[nodiscard]] std::string place_of(const KernelImage* image, std::uint64_t address);

// Caches the texts of values, for output of millions of events. Finding a name costs a search and a text, and few
// numbers occur again and again. Each text has the one slot that its unit and value select, until another text replaces
// it there.
class ValueTexts {
  public:
    ValueTexts()
        : m_known(kKnown) {}

    using Text = text::TextOf<40>;

    // Returns digits and meaning of a value, by the names of this event; null if they are too long to be kept. Valid
    // until the next call.
    [[nodiscard]] const Text* of(const Event& event, tracer::Unit unit, std::uint32_t value) {
        return of(event, unit, value,
                  [&](fmt::memory_buffer& out) { append_digits_and_meaning(out, event, unit, value); });
    }

    // Returns the text that make(fmt::memory_buffer&) writes; null if it is too long to be kept. Valid until the next
    // call.
    template <typename Make>
    [[nodiscard]] const Text* of(const Event& event, tracer::Unit unit, std::uint32_t value, Make make) {
        const std::uint64_t version = event.names->version();
        const auto number = static_cast<std::uint64_t>(unit);
        const std::uint64_t key = (event.image != nullptr ? kWithImage : 0) | ((number + 1) << 32) | value;
        Known& known = m_known[(value ^ (value >> 16) ^ (number << 5) ^ (version << 4)) % kKnown];
        if (known.key == key && known.version == version) [[likely]] {
            return &known.text;
        }
        return replace(known, key, version, make);
    }

  private:
    static constexpr std::size_t kKnown = 512;
    static constexpr std::uint64_t kWithImage = std::uint64_t{1} << 63; // there is an image, so addresses have names

    struct alignas(64) Known {     // one cache line
        std::uint64_t key = 0;     // 0: the slot is empty
        std::uint64_t version = 0; // version of the names that the text comes from
        Text text;
    };

    static_assert(sizeof(Known) == 64);

    // This is a function of its own, because with it of() would be too large to be inlined.
    template <typename Make>
    [[gnu::noinline]] static const Text* replace(Known& known, std::uint64_t key, std::uint64_t version, Make make) {
        fmt::memory_buffer text;
        make(text);
        known.key = 0;
        if (!known.text.set({text.data(), text.size()})) {
            return nullptr;
        }
        known.key = key;
        known.version = version;
        return &known.text;
    }

    std::vector<Known> m_known;
};

// Is one field of a user's event, a view into the event's payload.
struct FieldValue {
    tracer::FieldType type = tracer::FieldType::none;
    std::uint8_t fraction_bits = 0; // only for integers
    std::uint64_t bits = 0;         // the bits in the record, not sign-extended
    std::string_view text;          // only for texts

    [[nodiscard]] std::int64_t as_signed() const;
};

// Holds at most kFieldsMax values.
class FieldValues {
  public:
    [[nodiscard]] std::span<const FieldValue> values() const { return std::span(m_values).first(m_count); }

    // Returns false if there are kFieldsMax values already.
    bool add(const FieldValue& value);

  private:
    std::array<FieldValue, tracer::kFieldsMax> m_values{};
    std::size_t m_count = 0;
};

struct TypedEventView {
    std::uint16_t id = 0;
    const tracer::EventDeclaration* declaration = nullptr;
    FieldValues fields;
};

struct FormattedEventView {
    std::uint32_t id = 0;
    FieldValues arguments;
};

// Each decodes an event, and refuses it with the reason if it is damaged or undeclared: lengths and types must fit
// exactly. Preconditions: event.is(typed_event), event.is(formatted_event).
[[nodiscard]] lib::Result<TypedEventView, Refusal> view_typed(const Event& event);
[[nodiscard]] lib::Result<FormattedEventView, Refusal> view_formatted(const Event& event);

// Returns a value as text; texts are not escaped.
[[nodiscard]] std::string value_text(const FieldValue& value);

// Returns the text of a format and its arguments; nothing if they do not fit, which the compiler has ruled out for the
// records that the kernel writes.
[[nodiscard]] std::optional<std::string> render(std::string_view format, std::span<const FieldValue> arguments);

// Returns the text of a formatted event; nothing if its format is not known, or does not fit the arguments.
[[nodiscard]] std::optional<std::string> rendered(const Event& event, const FormattedEventView& view);

// Returns the name of a typed event in its declaration, or the text of the format of a formatted one; a general name
// with the number if they are not known.
[[nodiscard]] std::string user_event_name(const Event& event);

} // namespace host::trace
