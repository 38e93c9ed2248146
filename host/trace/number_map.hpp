// SPDX-License-Identifier: MIT
// A map by a number of 16 bits (context, processor, vector) that is asked at most events: after the first time each
// number is found by one look-up in a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace host::trace {

template <typename T>
class NumberMap {
  public:
    NumberMap() = default;

    // The copy finds its own values.
    NumberMap(const NumberMap& other)
        : m_values(other.m_values) {}

    NumberMap(NumberMap&&) noexcept = default;

    NumberMap& operator=(NumberMap other) noexcept {
        m_values.swap(other.m_values);
        m_places.swap(other.m_places);
        return *this;
    }

    ~NumberMap() = default;

    // Made if it is not there.
    T& operator[](std::uint16_t number) {
        if (T* const known = place_of(number)) [[likely]] {
            return *known;
        }
        return make(number);
    }

    // Null if it is not there.
    [[nodiscard]] T* find(std::uint16_t number) {
        if (T* const known = place_of(number)) [[likely]] {
            return known;
        }
        return find_value(number);
    }

    [[nodiscard]] const T* find(std::uint16_t number) const {
        if (const T* const known = place_of(number)) [[likely]] {
            return known;
        }
        const auto found = m_values.find(number);
        return found != m_values.end() ? &found->second : nullptr;
    }

    void erase(std::uint16_t number) {
        if (number < m_places.size()) {
            m_places[number] = nullptr;
        }
        m_values.erase(number);
    }

    void clear() {
        m_places.clear();
        m_values.clear();
    }

    // In the order of the numbers.
    [[nodiscard]] const std::map<std::uint16_t, T>& values() const { return m_values; }

    [[nodiscard]] std::map<std::uint16_t, T>& values() { return m_values; }

  private:
    [[nodiscard]] T* place_of(std::uint16_t number) const {
        return number < m_places.size() ? m_places[number] : nullptr;
    }

    // Apart from the look-up, which is then small enough to be where it is used.
    [[gnu::noinline]] T& make(std::uint16_t number) { return keep(number, m_values[number]); }

    [[gnu::noinline]] T* find_value(std::uint16_t number) {
        const auto found = m_values.find(number);
        return found != m_values.end() ? &keep(number, found->second) : nullptr;
    }

    T& keep(std::uint16_t number, T& value) {
        if (number >= m_places.size()) {
            m_places.resize(std::size_t{number} + 1);
        }
        m_places[number] = &value;
        return value;
    }

    std::map<std::uint16_t, T> m_values;
    std::vector<T*> m_places; // by number, in m_values; null: not asked for yet
};

} // namespace host::trace
