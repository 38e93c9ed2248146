// SPDX-License-Identifier: MIT
#include "host/text/json_string.hpp"

#include "host/text/digits.hpp"

namespace host::text {

char* put_json_character(char* at, std::string_view& text) {
    const Utf8Front front = utf8_front(text);
    const std::string_view character = text.substr(0, front.bytes);
    text.remove_prefix(front.bytes);
    if (!front.valid) {
        return put(at, "\xEF\xBF\xBD");
    }
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    if (const std::size_t index = kEscaped.find(character.front()); index != std::string_view::npos) {
        *at++ = '\\';
        *at++ = kLetters[index];
        return at;
    }
    if (const auto code = static_cast<unsigned char>(character.front()); code < 0x20) {
        return put_hexadecimal(put(at, "\\u"), code, 4);
    }
    return put(at, character);
}

std::string json_encoded(std::string_view text) {
    std::string encoded(json_room(text.size()), '\0');
    encoded.resize(static_cast<std::size_t>(put_json(encoded.data(), text) - encoded.data()));
    return encoded;
}

} // namespace host::text
