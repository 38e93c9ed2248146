// SPDX-License-Identifier: MIT
// Declares the keyed hash that authenticates packets, and the text form of its key.
#pragma once

#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::reliable {

// SipHash-2-4 with 64 bits of result is a keyed hash that is fast on short messages. Source: Aumasson and Bernstein,
// "SipHash: a fast short-input PRF" (2012), with the test vector of its appendix A. It authenticates; it hides nothing.
// Context: any.

// A key has 128 bits; `first` is the first eight bytes of the key, little-endian.
struct SipKey {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    friend bool operator==(const SipKey&, const SipKey&) = default;
};

// Hashes a message in pieces: the result is that of all bytes added, however they were cut.
class SipHash {
  public:
    constexpr explicit SipHash(const SipKey& key)
        : m_v{key.first ^ 0x736f'6d65'7073'6575, key.second ^ 0x646f'7261'6e64'6f6d, key.first ^ 0x6c79'6765'6e65'7261,
              key.second ^ 0x7465'6462'7974'6573} {}

    constexpr void add(std::span<const std::byte> bytes) {
        while (m_length % 8 == 0 && bytes.size() >= 8) {
            absorb(lib::load_le<std::uint64_t>(bytes));
            m_length += 8;
            bytes = bytes.subspan(8);
        }
        for (const std::byte byte : bytes) {
            m_word |= static_cast<std::uint64_t>(byte) << (8 * (m_length % 8));
            if (++m_length % 8 == 0) {
                absorb(m_word);
                m_word = 0;
            }
        }
    }

    constexpr void add(std::uint64_t word) {
        std::array<std::byte, sizeof(word)> bytes{};
        lib::store_le(bytes, word);
        add(bytes);
    }

    // Ends the message; must be called once.
    [[nodiscard]] constexpr std::uint64_t result() {
        absorb(m_word | (m_length << 56));
        m_v[2] ^= 0xFF;
        for (int i = 0; i < 4; ++i) {
            round();
        }
        return m_v[0] ^ m_v[1] ^ m_v[2] ^ m_v[3];
    }

  private:
    static constexpr std::uint64_t rotate(std::uint64_t word, unsigned bits) {
        return (word << bits) | (word >> (64 - bits));
    }

    constexpr void absorb(std::uint64_t word) {
        m_v[3] ^= word;
        round();
        round();
        m_v[0] ^= word;
    }

    constexpr void round() {
        m_v[0] += m_v[1];
        m_v[2] += m_v[3];
        m_v[1] = rotate(m_v[1], 13) ^ m_v[0];
        m_v[3] = rotate(m_v[3], 16) ^ m_v[2];
        m_v[0] = rotate(m_v[0], 32);
        m_v[2] += m_v[1];
        m_v[0] += m_v[3];
        m_v[1] = rotate(m_v[1], 17) ^ m_v[2];
        m_v[3] = rotate(m_v[3], 21) ^ m_v[0];
        m_v[2] = rotate(m_v[2], 32);
    }

    std::array<std::uint64_t, 4> m_v;
    std::uint64_t m_word = 0;   // the bytes of the word that is not full yet
    std::uint64_t m_length = 0; // bytes added
};

// The text of a key is the same in the collector's file and in the guest's: 32 hexadecimal digits, the bytes of the key
// in their order, and perhaps a line end. Context: any.

inline constexpr std::size_t kKeyDigits = 32;
inline constexpr std::size_t kKeyTextMax = kKeyDigits + 2; // CR, LF

// Returns the key of a text. corrupt: it is no key.
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

// Joins what each source gave: a key, not_found (it has none), or corrupt (it has something that is no key). Returns a
// key or one of these errors; refused: the two keys differ.
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
