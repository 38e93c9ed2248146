// SPDX-License-Identifier: MIT
// Declares the fields of user events: the types a field may have, the encoding of each in the payload, and the
// declaration that is exported with every chunk (event_declaration), so that a reader shows a typed event by name,
// field and unit. Host-safe: the kernel encodes with these types, the host tools decode with the same ones.
//
//   typed_event:      u16 length | u16 type id   | the fields, in the order of the declaration
//   formatted_event:  u16 length | u32 format id | for each argument: u8 type, value
//
// Values are little-endian, in the width of their type; a text is u8 size, then that many bytes. The kernel has no
// floating-point registers, so a float or double is passed as its bit pattern (Float32, Float64), and Fixed is the type
// for fractions that are computed there.
#pragma once

#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

// Values are part of the format: they are never reused.
enum class FieldType : std::uint8_t {
    none = 0,
    u8 = 1,
    u16 = 2,
    u32 = 3,
    u64 = 4,
    i8 = 5,
    i16 = 6,
    i32 = 7,
    i64 = 8,
    boolean = 9, // one byte, 0 or 1
    character = 10,
    pointer = 11, // eight bytes
    float32 = 12, // IEEE 754 bit pattern
    float64 = 13,
    text = 14,
};

inline constexpr std::size_t kFieldTypes = 15;

inline constexpr std::array<std::string_view, kFieldTypes> kFieldTypeNames = {
    "none", "u8",   "u16",  "u32",     "u64",     "i8",      "i16", "i32",
    "i64",  "bool", "char", "pointer", "float32", "float64", "text"};

// Returns the bytes of a value, or 0 for a text, whose size precedes it, and for an invalid type.
[[nodiscard]] constexpr std::size_t field_bytes(FieldType type) {
    switch (type) {
    case FieldType::u8:
    case FieldType::i8:
    case FieldType::boolean:
    case FieldType::character:
        return 1;
    case FieldType::u16:
    case FieldType::i16:
        return 2;
    case FieldType::u32:
    case FieldType::i32:
    case FieldType::float32:
        return 4;
    case FieldType::u64:
    case FieldType::i64:
    case FieldType::pointer:
    case FieldType::float64:
        return 8;
    case FieldType::none:
    case FieldType::text:
        break;
    }
    return 0;
}

[[nodiscard]] constexpr bool is_signed_field(FieldType type) {
    return type >= FieldType::i8 && type <= FieldType::i64;
}

[[nodiscard]] constexpr bool is_integer_field(FieldType type) {
    return type >= FieldType::u8 && type <= FieldType::i64;
}

struct FieldDeclaration {
    FieldType type = FieldType::none;
    std::uint8_t detail = 0; // integers: how many of the bits are a binary fraction; texts: the most bytes
    Name name;
    Name unit; // empty: none

    friend bool operator==(const FieldDeclaration&, const FieldDeclaration&) = default;
};

inline constexpr std::size_t kFieldsMax = 16;

// States that an event type of this number was declared.
struct EventDeclaration {
    static constexpr std::string_view kEvent = "event_declaration";
    std::uint16_t id = 0;
    Name name;
    std::uint8_t field_count = 0;
    std::array<FieldDeclaration, kFieldsMax> items{};

    friend bool operator==(const EventDeclaration&, const EventDeclaration&) = default;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.id, self.name, self.field_count);
        for (std::size_t i = 0; i < self.field_count && i < kFieldsMax; ++i) {
            archive(self.items[i].type, self.items[i].detail, self.items[i].name, self.items[i].unit);
        }
    }

    // Returns whether a reader may use the declaration.
    [[nodiscard]] constexpr bool is_sensible() const {
        if (field_count > kFieldsMax || name.size == 0) {
            return false;
        }
        for (std::size_t i = 0; i < field_count; ++i) {
            const FieldDeclaration& field = items[i];
            const bool known = field.type > FieldType::none && static_cast<std::size_t>(field.type) < kFieldTypes;
            if (!known || field.name.size == 0 ||
                (is_integer_field(field.type) && field.detail > 8 * field_bytes(field.type))) {
                return false;
            }
        }
        return true;
    }
};

// This type id is never assigned: the registry was full at first use.
inline constexpr std::uint16_t kUndeclared = 0xFFFF;

inline constexpr std::size_t kTypedHeadBytes = 2 * sizeof(std::uint16_t);
inline constexpr std::size_t kFormattedHeadBytes = sizeof(std::uint16_t) + sizeof(std::uint32_t);
inline constexpr std::size_t kLongEventBytesMax = kCombineSlotsMax * kPayloadBytesPerSlot;

} // namespace tracer
