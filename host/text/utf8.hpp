// SPDX-License-Identifier: MIT
// One character of UTF-8 by the rules of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace host::text {

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

} // namespace host::text
