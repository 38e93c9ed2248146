// SPDX-License-Identifier: MIT
// SipHash-2-4 with 64 bits of result: a keyed hash that is fast on short messages. Source: Aumasson and Bernstein,
// "SipHash: a fast short-input PRF" (2012), with the test vector of its appendix A. It authenticates; it hides nothing.
// Context: any.
#pragma once

#include "lib/endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::reliable {

// 128 bits; `first` is the first eight bytes of the key, little-endian.
struct SipKey {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    friend bool operator==(const SipKey&, const SipKey&) = default;
};

// A message in pieces: the result is that of all bytes added, however they were cut.
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

    // Ends the message: to be called once.
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

} // namespace tracer::reliable
