// SPDX-License-Identifier: MIT
// The value of a parameter as text: its digits, and their meaning: `1/2 (semaphore samples)`,
// `0x101a3c (work(unsigned int)+0x1c)`. Every printer and converter shows values as these functions do.
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

// What numbers of events are called, kept for output through which millions of them pass. Finding a name costs a search
// and a text, and few numbers occur again and again: each text stays in the one place that its unit and value lead to,
// until another pushes it out.
class ValueTexts {
  public:
    ValueTexts()
        : m_known(kKnown) {}

    using Text = text::TextOf<40>;

    // Digits and meaning of a value by the names of this event. Null if they are too long to be kept. Valid until the
    // next call.
    [[nodiscard]] const Text* of(const Event& event, tracer::Unit unit, std::uint32_t value) {
        return of(event, unit, value,
                  [&](fmt::memory_buffer& out) { append_digits_and_meaning(out, event, unit, value); });
    }

    // Likewise, for the text that make(fmt::memory_buffer&) writes.
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
    static constexpr std::uint64_t kWithImage = std::uint64_t{1} << 63; // addresses have names

    struct alignas(64) Known {     // one line of the cache
        std::uint64_t key = 0;     // 0: none
        std::uint64_t version = 0; // of the names that the text comes from
        Text text;
    };

    static_assert(sizeof(Known) == 64);

    // Apart: with it, of() would be too large to be inlined.
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

// The user's events, decoded: a typed event by its declaration, the arguments of a formatted one, and the text that a
// format makes of them. What does not fit exactly is refused with the reason: neither lengths nor types are trusted.

// A view into the event's payload.
struct FieldValue {
    tracer::FieldType type = tracer::FieldType::none;
    std::uint8_t fraction_bits = 0; // of an integer
    std::uint64_t bits = 0;         // as in the record, not sign-extended
    std::string_view text;          // of a text

    [[nodiscard]] std::int64_t as_signed() const;
};

// At most kFieldsMax of them.
class FieldValues {
  public:
    [[nodiscard]] std::span<const FieldValue> values() const { return std::span(m_values).first(m_count); }

    // False if there are kFieldsMax already.
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

// Refused if the event is damaged or undeclared. Preconditions: event.is(typed_event), event.is(formatted_event).
[[nodiscard]] lib::Result<TypedEventView, Refusal> view_typed(const Event& event);
[[nodiscard]] lib::Result<FormattedEventView, Refusal> view_formatted(const Event& event);

// A value as text; texts as they are, not escaped.
[[nodiscard]] std::string value_text(const FieldValue& value);

// The text. Nothing if format and arguments do not belong together, which the compiler has ruled out for a whole trace.
[[nodiscard]] std::optional<std::string> render(std::string_view format, std::span<const FieldValue> arguments);

// The text of a formatted event. Nothing if its format is not known, or as above.
[[nodiscard]] std::optional<std::string> rendered(const Event& event, const FormattedEventView& view);

// How a typed event is called: by its declaration, else by number; a formatted one by its format.
[[nodiscard]] std::string user_event_name(const Event& event);

} // namespace host::trace
