// SPDX-License-Identifier: MIT
// A fuzzer's input as a sequence of small numbers and packets: what is missing at its end is zeros, or an empty packet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fuzz {

class Pieces {
  public:
    Pieces(const std::uint8_t* data, std::size_t size)
        : m_rest(std::as_bytes(std::span(data, size))) {}

    [[nodiscard]] bool empty() const { return m_rest.empty(); }

    // The next bytes, at most so many.
    std::span<const std::byte> take(std::size_t size) {
        const auto taken = m_rest.first(std::min(size, m_rest.size()));
        m_rest = m_rest.subspan(taken.size());
        return taken;
    }

    std::uint8_t byte() {
        const auto one = take(1);
        return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one[0]);
    }

    // Little-endian.
    template <typename T>
    T number() {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = static_cast<T>(value | static_cast<T>(T{byte()} << (8 * i)));
        }
        return value;
    }

    // A length of two bytes, then as many as there are of them.
    std::span<const std::byte> packet() { return take(number<std::uint16_t>()); }

  private:
    std::span<const std::byte> m_rest;
};

// A broken promise ends the run.
inline void require(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

} // namespace fuzz
