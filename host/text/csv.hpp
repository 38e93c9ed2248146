// SPDX-License-Identifier: MIT
// One field of CSV (RFC 4180): in quotes where it holds a comma, a quote or a line break, and a quote in it twice.
#pragma once

#include "host/text/digits.hpp"

#include <string>
#include <string_view>

namespace host::text {

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
