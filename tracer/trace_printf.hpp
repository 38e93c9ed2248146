// SPDX-License-Identifier: MIT
// trace_printf() prints into the trace for a few instructions: the record holds the number of the format and the
// arguments. The format is not in the machine: linker.ld collects the formats in a section of the image that is not
// loaded (.trace_formats), its number is its offset there, and the host tools read the text from the image.
//
//   tracer::trace_printf<"speed %d of %u, %s">(speed, limit, name);
//
// Conversions: %d %i (signed integers), %u (unsigned ones, bool), %x %X %o (any integer), %c (char), %s (texts, at most
// 48 bytes, cut visibly), %p (pointers), %f (Float32, Float64), %%; flags, width and precision are as in C. There are
// no length modifiers, because the types are known. A format with the wrong number or types of arguments does not
// compile, and the message states the reason. Arguments should be cheap to compute, because they are computed even when
// the family `typed` is filtered.
#pragma once

#include "tracer/long_event.hpp"
#include "tracer/names/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tracer {

namespace detail {

// linker.ld finds these objects by the name of their section, which -fdata-sections derives from their mangled name
// (the compiler ignores a section attribute on a template). References take their address as a number.
template <FixedString Format>
inline constexpr auto trace_format_text = Format;

// Returns the offset in .trace_formats; elsewhere (hosted tests) only a unique number.
template <FixedString Format>
[[nodiscard]] inline std::uint32_t format_id() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&trace_format_text<Format>));
}

template <FixedString Format, typename... Arguments>
[[nodiscard]] consteval FormatFault format_fault() {
    constexpr std::array<FieldType, sizeof...(Arguments) + 1> kTypes{FieldOf<Arguments>::kType..., FieldType::none};
    return check_format(Format.view(), kTypes.data(), sizeof...(Arguments));
}

// The compiler's message is the assertion that fails.
template <FormatFault Fault>
consteval void explain_format_fault() {
    static_assert(Fault != FormatFault::malformed,
                  "trace_printf: the format has an unknown conversion (known: d i u x X o c s p f %%; no length "
                  "modifiers, no *), or a width beyond 255");
    static_assert(Fault != FormatFault::too_few_arguments,
                  "trace_printf: the format has more conversions than there are arguments");
    static_assert(Fault != FormatFault::too_many_arguments,
                  "trace_printf: there are more arguments than the format has conversions");
    static_assert(Fault != FormatFault::d_needs_signed, "trace_printf: %d and %i take a signed integer");
    static_assert(Fault != FormatFault::u_needs_unsigned, "trace_printf: %u takes an unsigned integer or a bool");
    static_assert(Fault != FormatFault::x_needs_integer, "trace_printf: %x, %X and %o take an integer");
    static_assert(Fault != FormatFault::c_needs_char, "trace_printf: %c takes a char");
    static_assert(Fault != FormatFault::s_needs_text, "trace_printf: %s takes a std::string_view or a const char*");
    static_assert(Fault != FormatFault::p_needs_pointer, "trace_printf: %p takes a pointer");
    static_assert(Fault != FormatFault::f_needs_float, "trace_printf: %f takes a Float32 or a Float64");
}

template <typename... Arguments>
[[gnu::noinline]] void record_formatted(std::uint32_t format, typename FieldOf<Arguments>::Argument... arguments) {
    constexpr std::size_t kBytesMax = kFormattedHeadBytes + ((1 + FieldOf<Arguments>::kBytesMax) + ... + 0);
    static_assert(kBytesMax <= kLongEventBytesMax, "trace_printf: the arguments need more than 64 slots of 6 bytes");
    LongEventBuffer<kBytesMax> buffer;
    lib::ByteWriter writer(buffer.bytes);
    writer.le(std::uint16_t{0}); // the length
    writer.le(format);
    [[maybe_unused]] const auto put = [&writer]<typename T>(std::type_identity<T>,
                                                            typename FieldOf<T>::Argument argument) {
        writer.le(static_cast<std::uint8_t>(FieldOf<T>::kType));
        FieldOf<T>::put(writer, argument);
    };
    (put(std::type_identity<Arguments>{}, arguments), ...);
    commit(event_code("formatted_event"), buffer, writer);
}

template <typename T>
inline constexpr bool kIsArgument = [] {
    if constexpr (FieldLike<T>) {
        return FieldOf<T>::kType == FieldType::text || FieldOf<T>::kDetail == 0;
    } else {
        return false;
    }
}();

} // namespace detail

// Records the number of the format and the arguments if the family `typed` is enabled.
// Context: any, NMI included.
template <FixedString Format, typename... Arguments>
[[gnu::always_inline]] inline void trace_printf(const Arguments&... arguments) {
    static_assert(!Format.view().empty(), "trace_printf: the format is empty");
    static_assert(
        (detail::kIsArgument<std::decay_t<Arguments>> && ...),
        "trace_printf: an argument is no integer, enumeration, bool, char, text, pointer, Float32 or Float64");
    static_assert(sizeof...(Arguments) <= kFieldsMax, "trace_printf: more than 16 arguments");
    if constexpr ((detail::kIsArgument<std::decay_t<Arguments>> && ...)) {
        detail::explain_format_fault<detail::format_fault<Format, std::decay_t<Arguments>...>()>();
        if constexpr (kTracerBuilt) {
            if (detail::family_enabled(mask_bit(event_code("formatted_event")))) {
                detail::record_formatted<std::decay_t<Arguments>...>(detail::format_id<Format>(), arguments...);
            }
        }
    }
}

} // namespace tracer
