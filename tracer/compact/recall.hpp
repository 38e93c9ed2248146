// SPDX-License-Identifier: MIT
// Predicts an event from the ones before it: what followed the last time that they were the same. Encoder and decoder
// each feed one with every simple event, so a header alone can mean "as predicted". It is a finite-context predictor
// (Sazeides and Smith, "The predictability of data values", 1997), bounded and without division. Context: any.
//
// The key of an event is the first and the last word of its record, which hold everything except the stamp.
#pragma once

#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer::compact {

[[nodiscard]] constexpr std::uint64_t key_of(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
    return code | std::uint64_t{par1} << 16 | std::uint64_t{par2} << 32;
}

[[nodiscard]] constexpr std::uint64_t key_of(const Record& record) {
    return key_of(record.code, record.par1, record.par2);
}

[[nodiscard]] constexpr Record record_of(std::uint64_t key, lib::Ticks stamp) {
    return make_record(static_cast<std::uint16_t>(key), static_cast<std::uint16_t>(key >> 16),
                       static_cast<std::uint32_t>(key >> 32), stamp);
}

class Recall {
  public:
    static constexpr unsigned kOrders = 2;

    constexpr Recall() = default;

    constexpr void clear() {
        m_after_one.fill(0);
        m_after_two.fill(0);
        m_last = 0;
        m_one = 0;
        m_two = 0;
    }

    // Returns the key predicted from the last `order` events, or 0 if none is. Precondition: order is 1 or 2.
    [[nodiscard]] constexpr std::uint64_t predicted(unsigned order) const {
        return order == 1 ? m_after_one[m_one] : m_after_two[m_two];
    }

    // Takes note of this event. Precondition: key is not 0.
    constexpr void take(std::uint64_t key) {
        m_after_one[m_one] = key;
        m_after_two[m_two] = key;
        m_one = place(key);
        m_two = place(key + m_last * 3);
        m_last = key;
    }

  private:
    static constexpr unsigned kPlaceBits = 10;
    static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;

    // Hashes by multiplication; the format depends on it.
    [[nodiscard]] static constexpr std::size_t place(std::uint64_t key) {
        return (key * 0x9E37'79B9'7F4A'7C15U) >> (64 - kPlaceBits);
    }

    std::array<std::uint64_t, kPlaces> m_after_one{};
    std::array<std::uint64_t, kPlaces> m_after_two{};
    std::uint64_t m_last = 0;
    std::size_t m_one = 0; // index of the prediction for the next event
    std::size_t m_two = 0;
};

} // namespace tracer::compact
