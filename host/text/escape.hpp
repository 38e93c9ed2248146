// SPDX-License-Identifier: MIT
// Makes text from outside harmless for a terminal, for XML, CSV and JSON, and for a shell.
#pragma once

#include "host/text/digits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace host::text {

// Is one character of UTF-8 by the rules of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
struct Utf8Front {
    std::size_t bytes; // of the character; if it is invalid, of the longest part that a valid one could begin with
    bool valid;
};

// Precondition: text is not empty.
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
    // The range of the second byte excludes overlong forms, surrogates and numbers above U+10FFFF.
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

// Returns the number of a character that utf8_front() calls valid.
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

// Returns the beginning of a text, of at most so many bytes, without a part of a character of UTF-8 at its end.
[[nodiscard]] constexpr std::string_view cut(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) {
        return text;
    }
    std::size_t bytes = bytes_max;
    while (bytes != 0 && bytes_max - bytes < 3 && (static_cast<std::uint8_t>(text[bytes]) & 0xC0U) == 0x80) {
        --bytes;
    }
    // Bytes that are not UTF-8 have no beginning of a character that ends after bytes_max.
    return text.substr(0, utf8_front(text.substr(bytes)).bytes > bytes_max - bytes ? bytes : bytes_max);
}

namespace detail {

constexpr std::uint64_t each_byte(std::uint8_t value) {
    return value * 0x0101'0101'0101'0101U;
}

// Returns whether all eight characters are ASCII and none is a quote, a backslash or a control character. If a
// character is below 0x20, the borrow may also mark the next one; the result is false in either case.
constexpr bool is_plain(std::uint64_t eight) {
    const auto has_zero = [](std::uint64_t bytes) { return bytes - each_byte(1); };
    const std::uint64_t marks =
        has_zero(eight ^ each_byte('"')) | has_zero(eight ^ each_byte('\\')) | (eight - each_byte(0x20)) | eight;
    return (marks & each_byte(0x80)) == 0;
}

} // namespace detail

// Returns the room that put_json() needs for a text of this size, including the bytes that it copies past the end.
[[nodiscard]] constexpr std::size_t json_room(std::size_t text_bytes) {
    return 6 * text_bytes + sizeof(std::uint64_t);
}

// Writes the first character of `text` at `at`, removes it from `text`, and returns where the output ends. The output
// is the character itself, a backslash with a letter such as \n, a number such as \u0007, or U+FFFD for bytes that
// are not UTF-8.
[[nodiscard]] char* put_json_character(char* at, std::string_view& text);

// Writes the contents of a JSON string (RFC 8259) without the quotes and returns where they end. Needs json_room()
// bytes. Copies eight characters at a time if all are ASCII and none needs a backslash.
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
        // Copies the last eight characters again, because some of them are written already.
        if (copied && text.size() < sizeof eight) {
            __builtin_memcpy(&eight, text.end() - sizeof eight, sizeof eight);
            if (detail::is_plain(eight)) {
                __builtin_memcpy(at + text.size() - sizeof eight, &eight, sizeof eight);
                return at + text.size();
            }
        }
        // Copies single characters up to one that must be escaped, or to the end.
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

// Returns the contents of a JSON string, for a text that is written often (JsonWriter::encoded()).
[[nodiscard]] std::string json_encoded(std::string_view text);

inline constexpr std::size_t kEscapedInputMax = 256;

// Returns the text in a form that is harmless for a terminal. A backslash becomes \\. Each byte of control characters
// (C0, DEL, C1), of characters that only format others (direction, no width; U+202E for instance) and of invalid UTF-8
// becomes \xNN. A text longer than kEscapedInputMax bytes is cut and ends in "...".
[[nodiscard]] std::string escaped(std::string_view text_untrusted);

// Escapes as escaped() does, but keeps backslashes and never cuts, for text that already contains escaped parts.
[[nodiscard]] std::string made_printable(std::string_view text_untrusted);

// Returns the text for an XML 1.0 document (W3C, Extensible Markup Language 1.0, section 2.2), valid between tags and
// in the quotes of an attribute. The characters & < > and quotes become references; control characters and characters
// that XML forbids become \xNN. Line breaks are kept.
[[nodiscard]] std::string xml_escaped(std::string_view text_untrusted);

// Returns the text as one word of a command line for the user to copy. It is quoted unless each of its characters is
// plain to a shell.
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

// Returns one field of CSV (RFC 4180). A field with a comma, a quote or a line break is quoted, and a quote in it is
// doubled. What would act on a terminal is escaped as in made_printable(), except line breaks. A text that a
// spreadsheet would take for a formula begins with an apostrophe; numbers stay as they are. It takes at most 4 bytes
// for each of the text, and 3 more.
[[nodiscard]] std::string csv_field(std::string_view text_untrusted);

} // namespace host::text
