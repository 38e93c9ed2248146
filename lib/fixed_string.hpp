// SPDX-License-Identifier: MIT
// A FixedString passes a string literal as a template argument: log<"name">. Host-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace lib {

template <std::size_t Size>
struct FixedString {
    char characters[Size]{}; // NOLINT(modernize-avoid-c-arrays): a template argument must be structural

    consteval FixedString(const char (&text)[Size]) { // NOLINT: implicit, so that log<"name"> reads as it does
        for (std::size_t i = 0; i < Size; ++i) {
            characters[i] = text[i];
        }
    }

    [[nodiscard]] constexpr std::string_view view() const { return {characters, Size - 1}; }
};

} // namespace lib
