// SPDX-License-Identifier: MIT
// Text inside a JSON string, eight characters at a time where nothing of them needs a backslash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace host::convert {

namespace detail {

constexpr std::uint64_t each_byte(std::uint8_t value) {
    return value * 0x0101'0101'0101'0101U;
}

// Of eight characters one may be a quote, a backslash or a control character. Bytes above 0x7F are none of them, but
// what borrows from one byte to the next may accuse its neighbour.
inline bool may_need_escape(std::uint64_t text) {
    const auto has_zero = [](std::uint64_t bytes) { return (bytes - each_byte(1)) & ~bytes & each_byte(0x80); };
    const std::uint64_t control = (text - each_byte(0x20)) & ~text & each_byte(0x80);
    return (has_zero(text ^ each_byte('"')) | has_zero(text ^ each_byte('\\')) | control) != 0;
}

} // namespace detail

// Escaped text needs no more than this; without quotes. Twice the text's size of room, and eight bytes more.
[[nodiscard]] inline char* put_json(char* at, std::string_view text) {
    std::uint64_t eight = 0;
    while (text.size() >= sizeof eight) {
        std::memcpy(&eight, text.data(), sizeof eight);
        if (detail::may_need_escape(eight)) {
            break;
        }
        std::memcpy(at, &eight, sizeof eight);
        at += sizeof eight;
        text.remove_prefix(sizeof eight);
    }
    for (const char character : text) {
        if (character == '"' || character == '\\') {
            *at++ = '\\';
        }
        *at++ = static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
    }
    return at;
}

} // namespace host::convert
