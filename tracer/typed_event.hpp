// SPDX-License-Identifier: MIT
// An application declares a typed user event in one line, with the names, types and units of its fields, and every tool
// shows it by these names.
//
//   constinit tracer::TypedEvent<std::int32_t, std::uint16_t> control_output{
//       "control_output", {{"error", "mrad"}, {"drive", "mV"}}};
//   control_output.log(error, drive);
//
// Fields may be integers of 8 to 64 bits, enumerations, bool, char, pointers, Fixed<Integer, FractionBits>, Float32 and
// Float64 (bit patterns), std::string_view or const char* (at most 48 bytes), Text<BytesMax>. There is one object for
// each kind of event, at namespace scope. Longer texts are cut at their bound, visibly. A field list that does not fit
// the names, a name longer than 48 bytes, an event that could exceed 64 slots, and a declaration of more than 254 bytes
// do not compile.
//
// The declaration costs nothing until the first log(), which registers it, from whatever context; from then on it
// precedes every exported chunk. 128 declarations fit; the events of further ones are recorded under the number
// kUndeclared. The family is `typed` (filter 0xFE).
#pragma once

#include "tracer/long_event.hpp"
#include "tracer/names/names.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

// Holds the name of a field and its unit, at most 48 bytes each.
struct FieldText {
    std::string_view name;
    std::string_view unit{};
};

namespace detail {

// These are never defined: a consteval constructor that would call one of them does not compile.
void a_name_or_unit_is_empty_or_longer_than_48_bytes();
void the_declaration_is_longer_than_254_bytes();

// Registers a declaration with the one instance of this program. Context: any.
[[nodiscard]] std::uint16_t declare_event(const EncodedDeclaration& declaration);

constexpr Name checked_name(std::string_view text, std::size_t bytes_min) {
    if (text.size() < bytes_min || text.size() > kNameBytesMax) {
        a_name_or_unit_is_empty_or_longer_than_48_bytes();
    }
    return {text};
}

constexpr EncodedDeclaration encode_declaration(const EventDeclaration& declaration) {
    EncodedDeclaration encoded;
    const auto size = encode_payload(declaration, std::span<std::byte>(encoded.bytes));
    if (!size.ok()) {
        the_declaration_is_longer_than_254_bytes();
    } else {
        encoded.size = static_cast<std::uint16_t>(size.value());
    }
    return encoded;
}

} // namespace detail

// Is one kind of event. The object is declared at namespace scope, as above.
// Context: any, NMI included.
template <typename... Fields>
class TypedEvent {
    static_assert((detail::FieldLike<Fields> && ...),
                  "TypedEvent: a type is no field; integers up to 64 bits, enumerations, bool, char, pointers, Fixed, "
                  "Float32, Float64, std::string_view, const char* and Text are");
    static_assert(sizeof...(Fields) <= kFieldsMax, "TypedEvent: more than 16 fields");

  public:
    static constexpr std::size_t kPayloadBytesMax = kTypedHeadBytes + (detail::FieldOf<Fields>::kBytesMax + ... + 0);
    static_assert(kPayloadBytesMax <= kLongEventBytesMax,
                  "TypedEvent: the fields need more than 64 slots of 6 bytes; shorten the texts (Text<BytesMax>)");

    template <std::size_t Count>
    consteval TypedEvent(std::string_view name, const FieldText (&texts)[Count]) { // NOLINT: braces, as in the usage
        static_assert(Count == sizeof...(Fields), "TypedEvent: not as many names as there are field types");
        EventDeclaration declaration{.name = detail::checked_name(name, 1), .field_count = Count};
        constexpr std::array<FieldType, Count> kTypes{detail::FieldOf<Fields>::kType...};
        constexpr std::array<std::uint8_t, Count> kDetails{detail::FieldOf<Fields>::kDetail...};
        for (std::size_t i = 0; i < Count; ++i) {
            declaration.items[i] = {.type = kTypes[i],
                                    .detail = kDetails[i],
                                    .name = detail::checked_name(texts[i].name, 1),
                                    .unit = detail::checked_name(texts[i].unit, 0)};
        }
        m_declaration = detail::encode_declaration(declaration);
    }

    // Declares an event without fields.
    consteval explicit TypedEvent(std::string_view name) requires(sizeof...(Fields) == 0)
        : m_declaration(detail::encode_declaration({.name = detail::checked_name(name, 1)})) {}

    TypedEvent(const TypedEvent&) = delete;
    TypedEvent& operator=(const TypedEvent&) = delete;

    // Records the event with these values if the family `typed` is enabled.
    void log(typename detail::FieldOf<Fields>::Argument... values) {
        if constexpr (kTracerBuilt) {
            if (detail::family_enabled(mask_bit(kCode))) {
                record(values...);
            }
        }
    }

    // Registers the event if necessary and returns the number in its records; kUndeclared if the registry is full.
    // Context: any.
    [[nodiscard]] std::uint16_t id() {
        std::uint32_t id = read_shared(m_id);
        if (id == kNoId) {
            // Two contexts may both get here: they obtain the same number or two equal declarations; both work.
            id = detail::declare_event(m_declaration);
            write_shared(m_id, id);
        }
        return static_cast<std::uint16_t>(id);
    }

  private:
    static constexpr std::uint8_t kCode = event_code("typed_event");
    static constexpr std::uint32_t kNoId = 0xFFFF'FFFF;

    [[gnu::noinline]] void record(typename detail::FieldOf<Fields>::Argument... values) {
        detail::LongEventBuffer<kPayloadBytesMax> buffer;
        lib::ByteWriter writer(buffer.bytes);
        writer.le(std::uint16_t{0}); // the length
        writer.le(id());
        (detail::FieldOf<Fields>::put(writer, values), ...);
        detail::commit(kCode, buffer, writer);
    }

    EncodedDeclaration m_declaration;
    std::uint32_t m_id = kNoId;
};

} // namespace tracer
