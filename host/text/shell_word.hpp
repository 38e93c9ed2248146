// SPDX-License-Identifier: MIT
// A text as one word of a command line that is shown to be copied: in quotes if a shell would see more than a word.
#pragma once

#include <string>
#include <string_view>

namespace host::text {

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

} // namespace host::text
