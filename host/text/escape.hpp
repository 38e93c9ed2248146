// SPDX-License-Identifier: MIT
// Text that came from outside, made harmless for a terminal: control characters (C0, DEL, C1), characters that only
// format others (direction, no width, U+202E for instance), backslash and every byte that is not part of valid UTF-8
// become \xNN for each byte (a backslash \\); longer than kEscapedInputMax bytes is cut and marked with "...".
#pragma once

#include "host/text/digits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace host::text {

// Text inside a JSON string (RFC 8259): eight characters at a time where they are ASCII and none needs a backslash.

// One character of UTF-8 by the rules of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
struct Utf8Front {
    std::size_t bytes; // of the character; if it is invalid, of the longest part that a valid one could begin with
    bool valid;
};

// text is not empty.
[[nodiscard]] constexpr Utf8Front utf8_front(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) {
        return {1, true};
    }
    if (first < 0xC2 || first > 0xF4) {
        return {1, false};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    // The second byte excludes overlong forms, surrogates and what is too large.
    std::uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    std::uint8_t greatest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size() || byte(i) < least || byte(i) > greatest) {
            return {i, false};
        }
        least = 0x80;
        greatest = 0xBF;
    }
    return {length, true};
}

// The number of a character that utf8_front() calls valid.
[[nodiscard]] constexpr std::uint32_t code_point(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character.front());
    if (first < 0x80) {
        return first;
    }
    std::uint32_t number = first & (0x7FU >> character.size());
    for (const char next : character.substr(1)) {
        number = (number << 6) | (static_cast<std::uint8_t>(next) & 0x3FU);
    }
    return number;
}

namespace detail {

constexpr std::uint64_t each_byte(std::uint8_t value) {
    return value * 0x0101'0101'0101'0101U;
}

// All eight characters are ASCII, and none is a quote, a backslash or a control character. Where a character is below
// 0x20, the borrow may also mark the next one, which changes nothing.
constexpr bool is_plain(std::uint64_t eight) {
    const auto has_zero = [](std::uint64_t bytes) { return bytes - each_byte(1); };
    const std::uint64_t marks =
        has_zero(eight ^ each_byte('"')) | has_zero(eight ^ each_byte('\\')) | (eight - each_byte(0x20)) | eight;
    return (marks & each_byte(0x80)) == 0;
}

} // namespace detail

// Room for the text escaped, and for what is copied beyond its end.
[[nodiscard]] constexpr std::size_t json_room(std::size_t text_bytes) {
    return 6 * text_bytes + sizeof(std::uint64_t);
}

// The character at the front of text and its end in `at`: a backslash, \n, \u0007, or U+FFFD for bytes that are no
// UTF-8. Removes it from text.
[[nodiscard]] char* put_json_character(char* at, std::string_view& text);

// Without quotes; json_room() of room.
[[nodiscard]] inline char* put_json(char* at, std::string_view text) {
    std::uint64_t eight = 0;
    while (!text.empty()) {
        bool copied = false;
        while (text.size() >= sizeof eight) {
            __builtin_memcpy(&eight, text.data(), sizeof eight);
            if (!detail::is_plain(eight)) {
                break;
            }
            __builtin_memcpy(at, &eight, sizeof eight);
            at += sizeof eight;
            text.remove_prefix(sizeof eight);
            copied = true;
        }
        // The last eight characters once more: some of them are in place already.
        if (copied && text.size() < sizeof eight) {
            __builtin_memcpy(&eight, text.end() - sizeof eight, sizeof eight);
            if (detail::is_plain(eight)) {
                __builtin_memcpy(at + text.size() - sizeof eight, &eight, sizeof eight);
                return at + text.size();
            }
        }
        // Up to the character that needs more, or the end.
        for (; !text.empty(); text.remove_prefix(1)) {
            const auto character = static_cast<unsigned char>(text.front());
            if (character < 0x20 || character > 0x7F || character == '"' || character == '\\') {
                at = put_json_character(at, text);
                break;
            }
            *at++ = text.front();
        }
    }
    return at;
}

// Likewise, for a text that is written often (JsonWriter::encoded()).
[[nodiscard]] std::string json_encoded(std::string_view text);

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
