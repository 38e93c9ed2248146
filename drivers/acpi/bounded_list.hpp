// SPDX-License-Identifier: MIT
// The entries of a table in a list of fixed capacity; entries that do not fit are counted. Context: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers::acpi {

template <typename T, std::size_t Capacity>
class BoundedList {
  public:
    constexpr BoundedList() = default;

    constexpr void add(const T& value) {
        if (m_size < Capacity) {
            m_values[m_size++] = value;
        } else {
            ++m_lost;
        }
    }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    // The number of entries that did not fit.
    [[nodiscard]] constexpr std::uint32_t lost() const { return m_lost; }

    [[nodiscard]] constexpr const T& operator[](std::size_t index) const { return m_values[index]; }

    [[nodiscard]] constexpr T* begin() { return m_values.data(); }

    [[nodiscard]] constexpr T* end() { return m_values.data() + m_size; }

    [[nodiscard]] constexpr const T* begin() const { return m_values.data(); }

    [[nodiscard]] constexpr const T* end() const { return m_values.data() + m_size; }

  private:
    std::array<T, Capacity> m_values{};
    std::size_t m_size = 0;
    std::uint32_t m_lost = 0;
};

} // namespace drivers::acpi
