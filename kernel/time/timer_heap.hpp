// SPDX-License-Identifier: MIT
// A binary heap of timer indices, earliest first; equal times keep the order in which they were pushed. Removal of any
// element is O(log n) because every index knows its place. Pure data structure, no clock, no hardware. Context:
// serialised by the caller.
//
//              m_heap[0]                    m_place[index] = position in m_heap, or kNowhere
//             /         \                   key = (time, sequence), unique by the sequence
//       m_heap[1]     m_heap[2]
#pragma once

#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace kernel {

template <std::size_t Capacity>
class TimerHeap {
  public:
    using Index = std::uint16_t;
    static_assert(Capacity < 0xFFFF);

    constexpr TimerHeap() { m_place.fill(kNowhere); }

    TimerHeap(const TimerHeap&) = delete;
    TimerHeap& operator=(const TimerHeap&) = delete;

    [[nodiscard]] constexpr bool empty() const { return m_size == 0; }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    [[nodiscard]] constexpr bool contains(Index index) const { return m_place[index] != kNowhere; }

    // Precondition of both: not empty.
    [[nodiscard]] constexpr Index top() const {
        ASSERT(!empty());
        return m_heap[0];
    }

    [[nodiscard]] constexpr lib::Ticks top_time() const { return m_keys[top()].time; }

    // Precondition: index < Capacity and not contained.
    constexpr void push(Index index, lib::Ticks time) {
        ASSERT(index < Capacity && !contains(index));
        m_keys[index] = {time, m_sequence++};
        place(index, m_size++);
        sift_up(m_size - 1);
        check(m_place[index]);
    }

    // Precondition: contained.
    constexpr void remove(Index index) {
        ASSERT(contains(index));
        const std::size_t hole = m_place[index];
        m_place[index] = kNowhere;
        --m_size;
        if (hole == m_size) {
            return;
        }
        place(m_heap[m_size], hole);
        sift_up(hole);
        sift_down(hole);
        check(hole);
    }

  private:
    static constexpr std::uint16_t kNowhere = 0xFFFF;

    struct Key {
        lib::Ticks time;
        std::uint64_t sequence = 0;
        friend constexpr auto operator<=>(const Key&, const Key&) = default;
    };

    [[nodiscard]] constexpr bool earlier(std::size_t a, std::size_t b) const {
        return m_keys[m_heap[a]] < m_keys[m_heap[b]];
    }

    constexpr void place(Index index, std::size_t position) {
        m_heap[position] = index;
        m_place[index] = static_cast<std::uint16_t>(position);
    }

    constexpr void swap(std::size_t a, std::size_t b) {
        const Index index = m_heap[a];
        place(m_heap[b], a);
        place(index, b);
    }

    constexpr void sift_up(std::size_t position) {
        while (position > 0 && earlier(position, (position - 1) / 2)) {
            swap(position, (position - 1) / 2);
            position = (position - 1) / 2;
        }
    }

    constexpr void sift_down(std::size_t position) {
        for (;;) {
            std::size_t least = position;
            for (std::size_t child = 2 * position + 1; child <= 2 * position + 2 && child < m_size; ++child) {
                least = earlier(child, least) ? child : least;
            }
            if (least == position) {
                return;
            }
            swap(position, least);
            position = least;
        }
    }

    // A position and its neighbours are in order, and its index knows it.
    constexpr void check(std::size_t position) const {
        ASSERT(!lib::kChecked || (position < m_size && m_place[m_heap[position]] == position));
        ASSERT(!lib::kChecked || (position == 0 || !earlier(position, (position - 1) / 2)));
        ASSERT(!lib::kChecked || (2 * position + 1 >= m_size || !earlier(2 * position + 1, position)));
    }

    std::array<Key, Capacity> m_keys{};
    std::array<Index, Capacity> m_heap{};
    std::array<std::uint16_t, Capacity> m_place{};
    std::size_t m_size = 0;
    std::uint64_t m_sequence = 0;
};

} // namespace kernel
