// SPDX-License-Identifier: MIT
// Logs long events: C++ values become the slots of one event. user_fields.hpp lists the types of fields, metadata.hpp
// describes how bytes become slots. The sizes are known at compile time, so an event that could exceed 64 slots does
// not compile. A text is cut at the bound of its field, and its last character is then `~`. The slots are on the
// caller's stack, up to 1.4 KiB for an event of 64 slots. Context: any.
//
// Applications use TypedEvent (typed_event.hpp) and trace_printf (trace_printf.hpp) instead.
#pragma once

#include "tracer/log.hpp"
#include "tracer/names/user_fields.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tracer {

// Is a float or double by its bit pattern: the kernel cannot pass one in a register. Kernel code makes them of
// constants (Float64::of(0.5)) or copies bits from elsewhere.
struct Float32 {
    std::uint32_t bits = 0;

    static consteval Float32 of(float value) { return {__builtin_bit_cast(std::uint32_t, value)}; }
};

struct Float64 {
    std::uint64_t bits = 0;

    static consteval Float64 of(double value) { return {__builtin_bit_cast(std::uint64_t, value)}; }
};

// Is the value raw / 2^FractionBits.
template <typename Integer, unsigned FractionBits>
requires std::is_integral_v<Integer>

struct Fixed {
    static_assert(FractionBits >= 1 && FractionBits <= 8 * sizeof(Integer), "the fraction has 1 to all of the bits");
    Integer raw = 0;
};

// Is a text of at most BytesMax bytes; a longer one is cut.
template <std::size_t BytesMax>
struct Text {
    static_assert(BytesMax >= 1 && BytesMax <= 255, "a text has a bound from 1 to 255 bytes");
};

inline constexpr std::size_t kTextBytesDefault = 48;

// Is the argument of a text field; a null pointer is shown as such. The characters need to live only during the call.
class TextArgument {
  public:
    constexpr TextArgument(std::string_view text) // NOLINT(google-explicit-constructor): a text in any form
        : m_text(text) {}

    constexpr TextArgument(const char* text) // NOLINT(google-explicit-constructor)
        : m_text(text != nullptr ? std::string_view(text) : std::string_view("(null)")) {}

    [[nodiscard]] constexpr std::string_view view() const { return m_text; }

  private:
    std::string_view m_text;
};

namespace detail {

template <typename T>
[[nodiscard]] consteval FieldType integer_type() {
    constexpr bool kSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1:
        return kSigned ? FieldType::i8 : FieldType::u8;
    case 2:
        return kSigned ? FieldType::i16 : FieldType::u16;
    case 4:
        return kSigned ? FieldType::i32 : FieldType::u32;
    default:
        return kSigned ? FieldType::i64 : FieldType::u64;
    }
}

// Encodes a C++ type in a payload: `Argument` is the parameter type, `kBytesMax` the maximum size.
template <typename T>
struct FieldOf {
    static constexpr bool kSupported = false;
};

template <FieldType Type, std::size_t BytesMax, std::uint8_t Detail = 0>
struct FieldBase {
    static constexpr bool kSupported = true;
    static constexpr FieldType kType = Type;
    static constexpr std::uint8_t kDetail = Detail;
    static constexpr std::size_t kBytesMax = BytesMax;
};

template <typename T>

requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && sizeof(T) <= 8)

    struct FieldOf<T> : FieldBase<integer_type<T>(), sizeof(T)> {
    using Argument = T;

    static constexpr void put(lib::ByteWriter& out, T value) { out.le(static_cast<std::make_unsigned_t<T>>(value)); }
};

template <typename T>
requires std::is_enum_v<T>

struct FieldOf<T> : FieldOf<std::underlying_type_t<T>> {
    using Argument = T;

    static constexpr void put(lib::ByteWriter& out, T value) {
        FieldOf<std::underlying_type_t<T>>::put(out, static_cast<std::underlying_type_t<T>>(value));
    }
};

template <>
struct FieldOf<bool> : FieldBase<FieldType::boolean, 1> {
    using Argument = bool;

    static constexpr void put(lib::ByteWriter& out, bool value) { out.le(static_cast<std::uint8_t>(value ? 1 : 0)); }
};

template <>
struct FieldOf<char> : FieldBase<FieldType::character, 1> {
    using Argument = char;

    static constexpr void put(lib::ByteWriter& out, char value) { out.le(static_cast<std::uint8_t>(value)); }
};

template <typename T>
struct FieldOf<T*> : FieldBase<FieldType::pointer, 8> {
    using Argument = const volatile void*;

    static void put(lib::ByteWriter& out, Argument value) { out.le(reinterpret_cast<std::uintptr_t>(value)); }
};

template <>
struct FieldOf<Float32> : FieldBase<FieldType::float32, 4> {
    using Argument = Float32;

    static constexpr void put(lib::ByteWriter& out, Float32 value) { out.le(value.bits); }
};

template <>
struct FieldOf<Float64> : FieldBase<FieldType::float64, 8> {
    using Argument = Float64;

    static constexpr void put(lib::ByteWriter& out, Float64 value) { out.le(value.bits); }
};

template <typename Integer, unsigned FractionBits>
struct FieldOf<Fixed<Integer, FractionBits>> : FieldBase<integer_type<Integer>(), sizeof(Integer), FractionBits> {
    using Argument = Fixed<Integer, FractionBits>;

    static constexpr void put(lib::ByteWriter& out, Argument value) { FieldOf<Integer>::put(out, value.raw); }
};

template <std::size_t BytesMax>
struct FieldOf<Text<BytesMax>> : FieldBase<FieldType::text, 1 + BytesMax, BytesMax> {
    using Argument = TextArgument;

    static constexpr void put(lib::ByteWriter& out, TextArgument text) {
        const std::string_view whole = text.view();
        const bool cut = whole.size() > BytesMax;
        const std::string_view shown = whole.substr(0, cut ? BytesMax - 1 : BytesMax);
        out.le(static_cast<std::uint8_t>(shown.size() + (cut ? 1U : 0U)));
        for (const char character : shown) {
            out.le(static_cast<std::uint8_t>(character));
        }
        if (cut) {
            out.le(static_cast<std::uint8_t>('~'));
        }
    }
};

template <>
struct FieldOf<std::string_view> : FieldOf<Text<kTextBytesDefault>> {};

template <>
struct FieldOf<const char*> : FieldOf<Text<kTextBytesDefault>> {};

template <>
struct FieldOf<char*> : FieldOf<Text<kTextBytesDefault>> {};

template <typename T>
concept FieldLike = FieldOf<T>::kSupported;

// Has the number of slots that this many payload bytes can need at most.
template <std::size_t PayloadBytesMax>
struct LongEventBuffer {
    static_assert(PayloadBytesMax <= kLongEventBytesMax, "a long event has at most 64 slots of 6 bytes");
    static constexpr std::size_t kSlots = combine_slots(PayloadBytesMax);

    std::array<std::byte, kSlots * kPayloadBytesPerSlot> bytes;
};

// Records a payload. It is not inlined, so that a caller's frame stays small while it does not log.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-larger-than="

template <std::size_t Slots>
[[gnu::noinline]] void commit_long_event(std::uint8_t code, std::span<const std::byte> payload) {
    std::array<Record, Slots> slots;
    const auto count = encode_combined(code, {}, payload, slots);
    ASSERT(count.ok()); // Slots follows from the maximum size
    record_long(slots.data(), static_cast<std::uint32_t>(count.value()));
}

#pragma GCC diagnostic pop

// Writes the length into the first two bytes and records the event. `writer` wrote into `buffer`.
template <std::size_t PayloadBytesMax>
void commit(std::uint8_t code, LongEventBuffer<PayloadBytesMax>& buffer, const lib::ByteWriter& writer) {
    ASSERT(!writer.failed());
    const std::size_t size = writer.offset();
    lib::store_le(std::span<std::byte>(buffer.bytes), static_cast<std::uint16_t>(size));
    commit_long_event<LongEventBuffer<PayloadBytesMax>::kSlots>(code, std::span(buffer.bytes).first(size));
}

} // namespace detail

} // namespace tracer
