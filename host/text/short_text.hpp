// SPDX-License-Identifier: MIT
// A short text in an array of fixed size: the whole array is copied, which takes a few moves and no loop, and the bytes
// after the text are overwritten next.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace host::text {

template <std::size_t N>
struct TextOf {
    static_assert(N < 256);
    static constexpr std::size_t kBytes = N;
    std::array<char, N> bytes{};
    std::uint8_t size = 0;

    // False if it does not fit.
    [[nodiscard]] bool set(std::string_view text) {
        if (text.size() > N) {
            return false;
        }
        std::ranges::copy(text, bytes.begin());
        size = static_cast<std::uint8_t>(text.size());
        return true;
    }

    [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }

    // kBytes of room.
    [[nodiscard]] char* put(char* at) const {
        __builtin_memcpy(at, bytes.data(), N);
        return at + size;
    }
};

using ShortText = TextOf<48>;

} // namespace host::text
