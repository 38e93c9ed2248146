// SPDX-License-Identifier: MIT
// Declares the conversions of a trace_printf format, one grammar for both sides: the compiler checks a format against
// its arguments, the host tools render with it.
//
//   %[-+ 0#]*[width][.precision]conversion      conversion: d i u x X o c s p f %
//
// There are no length modifiers (the type of an argument is known) and no `*`. Host-safe.
#pragma once

#include "tracer/names/user_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

enum class Conversion : std::uint8_t {
    none,    // the format has ended
    literal, // text without a conversion
    percent,
    value,
    malformed,
};

struct FormatPiece {
    Conversion kind = Conversion::none;
    std::string_view text{}; // literal: the text; else the conversion as written
    char letter = '\0';      // of a value
    bool left = false;
    bool plus = false;
    bool space = false;
    bool zero = false;
    bool alternate = false;
    std::uint16_t width = 0;
    bool has_precision = false;
    std::uint16_t precision = 0;
};

inline constexpr std::uint16_t kFormatWidthMax = 255;

// Splits a format into pieces.
class FormatReader {
  public:
    constexpr explicit FormatReader(std::string_view format)
        : m_rest(format) {}

    constexpr FormatPiece next() {
        FormatPiece piece;
        if (m_rest.empty()) {
            return piece;
        }
        if (m_rest.front() != '%') {
            std::size_t size = 0; // not find(): with a sanitizer g++ 12 does not accept it as a constant expression
            while (size < m_rest.size() && m_rest[size] != '%') {
                ++size;
            }
            piece.kind = Conversion::literal;
            piece.text = m_rest.substr(0, size);
            m_rest.remove_prefix(piece.text.size());
            return piece;
        }
        const std::string_view whole = m_rest;
        take();
        read_flags(piece);
        bool sound = read_number(piece.width);
        if (peek() == '.') {
            take();
            piece.has_precision = true;
            sound = read_number(piece.precision) && sound;
        }
        piece.letter = take();
        piece.text = whole.substr(0, whole.size() - m_rest.size());
        constexpr std::string_view kLetters = "diuxXocspf";
        if (piece.letter == '%') {
            piece.kind = piece.text.size() == 2 ? Conversion::percent : Conversion::malformed;
        } else {
            const bool known = piece.letter != '\0' && kLetters.find(piece.letter) != std::string_view::npos;
            piece.kind = sound && known ? Conversion::value : Conversion::malformed;
        }
        return piece;
    }

  private:
    [[nodiscard]] constexpr char peek() const { return m_rest.empty() ? '\0' : m_rest.front(); }

    constexpr char take() {
        const char character = peek();
        if (!m_rest.empty()) {
            m_rest.remove_prefix(1);
        }
        return character;
    }

    constexpr void read_flags(FormatPiece& piece) {
        for (;;) {
            switch (peek()) {
            case '-':
                piece.left = true;
                break;
            case '+':
                piece.plus = true;
                break;
            case ' ':
                piece.space = true;
                break;
            case '0':
                piece.zero = true;
                break;
            case '#':
                piece.alternate = true;
                break;
            default:
                return;
            }
            take();
        }
    }

    // Returns false if the number exceeds kFormatWidthMax.
    constexpr bool read_number(std::uint16_t& number) {
        bool fits = true;
        while (peek() >= '0' && peek() <= '9') {
            const int value = number * 10 + (take() - '0');
            fits = fits && value <= kFormatWidthMax;
            number = static_cast<std::uint16_t>(fits ? value : kFormatWidthMax);
        }
        return fits;
    }

    std::string_view m_rest;
};

// Returns whether a conversion takes an argument of this type: d and i signed integers, u unsigned ones and bool, x X o
// any integer, c a character, s a text, p a pointer, f the floating and (fraction != 0) the fixed-point types.
[[nodiscard]] constexpr bool conversion_takes(char letter, FieldType type) {
    switch (letter) {
    case 'd':
    case 'i':
        return is_signed_field(type);
    case 'u':
        return (is_integer_field(type) && !is_signed_field(type)) || type == FieldType::boolean;
    case 'x':
    case 'X':
    case 'o':
        return is_integer_field(type);
    case 'c':
        return type == FieldType::character;
    case 's':
        return type == FieldType::text;
    case 'p':
        return type == FieldType::pointer;
    case 'f':
        return type == FieldType::float32 || type == FieldType::float64;
    default:
        return false;
    }
}

enum class FormatFault : std::uint8_t {
    none,
    malformed,          // an unknown conversion, or a width over kFormatWidthMax
    too_few_arguments,  // the format names more values than there are
    too_many_arguments, // the format names fewer values
    d_needs_signed,
    u_needs_unsigned,
    x_needs_integer,
    c_needs_char,
    s_needs_text,
    p_needs_pointer,
    f_needs_float,
};

// Checks a format against `types` of `count` arguments: at compile time for trace_printf, at run time for the contents
// of a trace.
[[nodiscard]] constexpr FormatFault check_format(std::string_view format, const FieldType* types, std::size_t count) {
    FormatReader reader(format);
    std::size_t used = 0;
    for (FormatPiece piece = reader.next(); piece.kind != Conversion::none; piece = reader.next()) {
        if (piece.kind == Conversion::malformed) {
            return FormatFault::malformed;
        }
        if (piece.kind != Conversion::value) {
            continue;
        }
        if (used == count) {
            return FormatFault::too_few_arguments;
        }
        if (!conversion_takes(piece.letter, types[used++])) {
            switch (piece.letter) {
            case 'd':
            case 'i':
                return FormatFault::d_needs_signed;
            case 'u':
                return FormatFault::u_needs_unsigned;
            case 'c':
                return FormatFault::c_needs_char;
            case 's':
                return FormatFault::s_needs_text;
            case 'p':
                return FormatFault::p_needs_pointer;
            case 'f':
                return FormatFault::f_needs_float;
            default:
                return FormatFault::x_needs_integer;
            }
        }
    }
    return used == count ? FormatFault::none : FormatFault::too_many_arguments;
}

} // namespace tracer
