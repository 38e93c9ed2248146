// SPDX-License-Identifier: MIT
// Text that came from outside, made harmless for a terminal: control characters (C0, DEL, C1), characters that only
// format others (direction, no width, U+202E for instance), backslash and every byte that is not part of valid UTF-8
// become \xNN for each byte (a backslash \\); longer than kEscapedInputMax bytes is cut and marked with "...".
#pragma once

#include "host/text/digits.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace host::text {

inline constexpr std::size_t kEscapedInputMax = 256;

[[nodiscard]] std::string escaped(std::string_view text_untrusted);

// Likewise, but backslashes stay and nothing is cut: for what holds escaped text among other.
[[nodiscard]] std::string made_printable(std::string_view text_untrusted);

// Text for an XML 1.0 document (W3C, Extensible Markup Language 1.0, section 2.2), between tags and in the quotes of an
// attribute: & < > and quotes as references; what XML forbids, and control characters, as \xNN like everywhere else.
//
// Line breaks stay.
[[nodiscard]] std::string xml_escaped(std::string_view text_untrusted);

// A text as one word of a command line that is shown to be copied: in quotes if a shell would see more than a word.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,=";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'";
    for (const char character : text) {
        word += character == '\'' ? std::string("'\\''") : std::string(1, character);
    }
    return word + '\'';
}

// One field of CSV (RFC 4180): in quotes where it holds a comma, a quote or a line break, and a quote in it twice.
//
// Twice the text's size of room, and two bytes more; returns where the field ends.
[[nodiscard]] inline char* put_csv(char* at, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return put(at, text);
    }
    *at++ = '"';
    for (const char character : text) {
        if (character == '"') {
            *at++ = '"';
        }
        *at++ = character;
    }
    *at++ = '"';
    return at;
}

[[nodiscard]] inline std::string csv_field(std::string_view text) {
    std::string field(2 * text.size() + 2, '\0');
    field.resize(static_cast<std::size_t>(put_csv(field.data(), text) - field.data()));
    return field;
}

} // namespace host::text
