// SPDX-License-Identifier: MIT
// The text of a key, the same in the collector's file and in the guest's: 32 hexadecimal digits, the bytes of the key
// in their order, and perhaps a line end; and what two sources of a key say together. Context: any.
#pragma once

#include "lib/result.hpp"
#include "tracer/reliable/siphash.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer::reliable {

inline constexpr std::size_t kKeyDigits = 32;
inline constexpr std::size_t kKeyTextMax = kKeyDigits + 2; // CR, LF

// corrupt: anything else.
[[nodiscard]] constexpr lib::Result<SipKey> key_of_text(std::string_view text) {
    while (text.size() > kKeyDigits && (text.back() == '\n' || text.back() == '\r')) {
        text.remove_suffix(1);
    }
    if (text.size() != kKeyDigits) {
        return lib::Error::corrupt;
    }
    SipKey key;
    for (std::size_t i = 0; i < kKeyDigits; ++i) {
        const char digit = text[i];
        const std::uint64_t value = digit >= '0' && digit <= '9'   ? static_cast<std::uint64_t>(digit - '0')
                                    : digit >= 'a' && digit <= 'f' ? static_cast<std::uint64_t>(digit - 'a') + 10
                                    : digit >= 'A' && digit <= 'F' ? static_cast<std::uint64_t>(digit - 'A') + 10
                                                                   : 16;
        if (value > 15) {
            return lib::Error::corrupt;
        }
        // The first digit of a byte is its upper half; the first byte of a half is its lowest.
        const std::size_t shift = (i % 16 / 2 * 8) + (i % 2 == 0 ? 4 : 0);
        (i < 16 ? key.first : key.second) |= value << shift;
    }
    return key;
}

// Of what each source gave: a key, not_found (it has none), or corrupt (what it has is none). The same errors; refused:
// two keys that differ.
[[nodiscard]] constexpr lib::Result<SipKey> agreed_key(const lib::Result<SipKey>& one,
                                                       const lib::Result<SipKey>& other) {
    for (const auto* source : {&one, &other}) {
        if (!source->ok() && source->error() != lib::Error::not_found) {
            return source->error();
        }
    }
    if (one.ok() && other.ok() && one.value() != other.value()) {
        return lib::Error::refused;
    }
    return one.ok() ? one : other;
}

} // namespace tracer::reliable
