// SPDX-License-Identifier: MIT
// Computes CRC-32C (lib/crc32c.hpp) of pieces of one length with half the instructions. Modulo the CRC's polynomial,
//
//   x^(8*209) = x^(8*144) + x^(8*54) + x^(8*39) + x^(8*14) + 1
//
// so a byte may be removed if it is added to those 65, 155, 170, 195 and 209 bytes after it: the checksum does not
// change. All words but the last ones are removed like that, without a table: each word adds the words that were
// removed at these distances before it. The tables process the rest. Among the sums of six powers that are 0 and whose
// nearest distance is a word or more, this one reaches the least far (all pairs of powers were compared). Context: one
// at a time for each object.
#pragma once

#include "lib/crc32c.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lib {

template <std::size_t Bytes>
class FoldedCrc32c {
  public:
    constexpr FoldedCrc32c() = default;
    FoldedCrc32c(const FoldedCrc32c&) = delete;
    FoldedCrc32c& operator=(const FoldedCrc32c&) = delete;

    [[nodiscard]] std::uint32_t of(std::span<const std::byte, Bytes> bytes) {
        std::uint64_t initial = ~std::uint32_t{0};
        for (std::size_t at = 0; at < kTaken; at += kWord) {
            store(folded(bytes.data(), at) ^ initial, &m_words[kReach + at]);
            initial = 0;
        }
        std::array<std::byte, kReach> rest; // NOLINT(cppcoreguidelines-pro-type-member-init): written below
        for (std::size_t at = 0; at < kReach; at += kWord) {
            store(folded(bytes.data(), kTaken + at), &rest[at]);
        }
        return crc32c(rest, ~std::uint32_t{0});
    }

  private:
    static constexpr std::size_t kWord = sizeof(std::uint64_t);
    static constexpr std::size_t kReach = 216; // 209 bytes, rounded up to whole words
    static constexpr std::size_t kTaken = Bytes - kReach;
    static_assert(Bytes % kWord == 0 && Bytes > 2 * kReach);

    // The words have the processor's own byte order, because load_le() and store_le() would become accesses of single
    // bytes here.
    static_assert(std::endian::native == std::endian::little);

    [[gnu::always_inline]] static std::uint64_t load(const std::byte* from) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, from, kWord);
        return word;
    }

    [[gnu::always_inline]] static void store(std::uint64_t word, std::byte* to) { __builtin_memcpy(to, &word, kWord); }

    // Returns the word plus the words that are added to it.
    [[nodiscard, gnu::always_inline]] std::uint64_t folded(const std::byte* bytes, std::size_t at) const {
        const std::byte* const here = &m_words[kReach + at];
        return load(bytes + at) ^ load(here - 65) ^ load(here - 155) ^ load(here - 170) ^ load(here - 195) ^
               load(here - 209);
    }

    // Holds the removed words, with zeros before and after them.
    std::array<std::byte, kReach + kTaken + kReach> m_words{};
};

} // namespace lib
