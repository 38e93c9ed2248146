// SPDX-License-Identifier: MIT
// A StaticPool is a fixed number of objects in static storage: the kernel's only allocator. The taker initialises the
// object. Context: any, serialised by the caller. The pool owns the objects; users hold references until release().
#pragma once

#include "lib/assert.hpp"

#include <array>
#include <cstddef>

namespace lib {

template <typename T, std::size_t Capacity>
class StaticPool {
  public:
    constexpr StaticPool() = default;
    StaticPool(const StaticPool&) = delete;
    StaticPool& operator=(const StaticPool&) = delete;

    // Returns the object of the lowest free slot, or null if all are in use. O(Capacity).
    [[nodiscard]] constexpr T* take() {
        for (std::size_t i = 0; i < Capacity; ++i) {
            if (!m_used[i]) {
                m_used[i] = true;
                ++m_count;
                return &m_objects[i];
            }
        }
        return nullptr;
    }

    // Releases an object. Precondition: it was returned by take() and has not been released.
    constexpr void release(const T& object) {
        const std::size_t slot = index(object);
        ASSERT(m_used[slot]);
        m_used[slot] = false;
        --m_count;
    }

    // Returns the index of an object. Precondition: it is in this pool.
    [[nodiscard]] constexpr std::size_t index(const T& object) const {
        const auto slot = static_cast<std::size_t>(&object - m_objects.data());
        ASSERT(slot < Capacity);
        return slot;
    }

    // Returns the object in use at this index, or null.
    [[nodiscard]] constexpr T* at(std::size_t slot) {
        return slot < Capacity && m_used[slot] ? &m_objects[slot] : nullptr;
    }

    [[nodiscard]] constexpr std::size_t in_use() const { return m_count; }

    [[nodiscard]] static constexpr std::size_t capacity() { return Capacity; }

  private:
    std::array<T, Capacity> m_objects{};
    std::array<bool, Capacity> m_used{};
    std::size_t m_count = 0;
};

} // namespace lib
