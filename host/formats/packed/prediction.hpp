// SPDX-License-Identifier: MIT
// What a record says (code and both parameters, not its time), guessed from the records before it. Packing and
// unpacking make the same guesses from the same history, so a right guess costs next to nothing.
#pragma once

#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace host::formats::packed {

// code | par1 << 16 | par2 << 32.
[[nodiscard]] inline std::uint64_t content_of(const tracer::Record& record) {
    return record.code | (std::uint64_t{record.par1} << 16) | (std::uint64_t{record.par2} << 32);
}

// Which guess was right.
enum class Guess : std::uint8_t { long_memory, short_memory, none };

// Each memory keeps, per context, what followed it last time. The context of the long one is three records, which
// distinguishes tasks that make the same calls; that of the short one is a single record, so that it learns at once.
class Prediction {
  public:
    [[nodiscard]] std::uint64_t from_long() const { return m_long[m_long_at]; }

    [[nodiscard]] std::uint64_t from_short() const { return m_short[m_short_at]; }

    void learn(std::uint64_t content) {
        m_long[m_long_at] = content;
        m_short[m_short_at] = content;
        // The older a record is, the further its bits have been shifted out: three are left of it.
        m_history = (m_history << kBitsPerRecord) ^ mix(content);
        m_long_at = mix(m_history & kHistoryMask) >> (64 - kIndexBits);
        m_short_at = mix(content) >> (64 - kIndexBits);
    }

  private:
    static constexpr unsigned kIndexBits = 13;
    static constexpr unsigned kBitsPerRecord = 20;
    static constexpr std::uint64_t kHistoryMask = (std::uint64_t{1} << (3 * kBitsPerRecord)) - 1;

    // 2^64 divided by the golden ratio: neighbours end up far apart, in the upper bits.
    [[nodiscard]] static std::uint64_t mix(std::uint64_t value) {
        constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
        value *= kGolden;
        return value ^ (value >> 32);
    }

    std::array<std::uint64_t, std::size_t{1} << kIndexBits> m_long{};
    std::array<std::uint64_t, std::size_t{1} << kIndexBits> m_short{};
    std::uint64_t m_history = 0;
    std::size_t m_long_at = 0;
    std::size_t m_short_at = 0;
};

} // namespace host::formats::packed
