// SPDX-License-Identifier: MIT
// The user's events, decoded: a typed event by its declaration, the arguments of a formatted one, and the text that a
// format makes of them. What does not fit exactly is refused with the reason: neither lengths nor types are trusted.
#pragma once

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/failure.hpp"
#include "lib/result.hpp"
#include "tracer/names/user_fields.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace host::trace {

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
