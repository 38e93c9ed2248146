// SPDX-License-Identifier: MIT
// A binary heap of timers, earliest first; equal times keep the order in which they were posted. Removal of any element
// is O(log n) because every index knows its place. Pure data structure, no clock, no hardware. Context: serialised by
// the caller.
//
//              m_heap[0]                    m_place[index] = position in m_heap, or kNowhere
//             /         \                   an element is a time and its order: a sequence number above the index
//       m_heap[1]     m_heap[2]
#pragma once

#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace kernel {

// The greatest time.
inline constexpr lib::Ticks kNever{~std::uint64_t{0}};

template <std::size_t Capacity>
class TimerHeap {
  public:
    using Index = std::uint16_t;
    static_assert(Capacity < 0xFFFF);

    constexpr TimerHeap() {
        m_place.fill(kNowhere);
        m_heap[0].time = kNever;
    }

    TimerHeap(const TimerHeap&) = delete;
    TimerHeap& operator=(const TimerHeap&) = delete;

    [[nodiscard]] constexpr bool empty() const { return m_size == 0; }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    [[nodiscard]] constexpr bool contains(Index index) const { return m_place[index] != kNowhere; }

    // Precondition: not empty.
    [[nodiscard]] constexpr Index top() const {
        ASSERT(!lib::kChecked || !empty());
        return m_heap[0].index();
    }

    // kNever: empty.
    [[nodiscard]] constexpr lib::Ticks top_time() const { return m_heap[0].time; }

    // Precondition: index < Capacity and not contained.
    constexpr void push(Index index, lib::Ticks time) {
        ASSERT(!lib::kChecked || (index < Capacity && !contains(index)));
        rise(m_size++, fresh(index, time));
        check(m_place[index]);
    }

    // Another time, after its equals. Precondition: contained.
    constexpr void move(Index index, lib::Ticks time) {
        ASSERT(!lib::kChecked || contains(index));
        settle(m_place[index], fresh(index, time));
        check(m_place[index]);
    }

    // Precondition: contained.
    constexpr void remove(Index index) {
        ASSERT(!lib::kChecked || contains(index));
        const std::size_t hole = m_place[index];
        m_place[index] = kNowhere;
        --m_size;
        if (hole == m_size) {
            m_heap[hole].time = kNever;
            return;
        }
        settle(hole, m_heap[m_size]);
        check(hole);
    }

  private:
    static constexpr std::uint16_t kNowhere = 0xFFFF;
    static constexpr unsigned kIndexBits = 16;

    struct Element {
        lib::Ticks time;
        std::uint64_t order = 0;

        [[nodiscard]] constexpr Index index() const { return static_cast<Index>(order); }

        friend constexpr auto operator<=>(const Element&, const Element&) = default;
    };

    constexpr Element fresh(Index index, lib::Ticks time) { return {time, m_sequence++ << kIndexBits | index}; }

    constexpr void place(const Element& element, std::size_t position) {
        m_heap[position] = element;
        m_place[element.index()] = static_cast<std::uint16_t>(position);
    }

    // The element goes into the hole, or where the hole comes to be when others move into it.
    constexpr void settle(std::size_t hole, const Element element) {
        if (hole > 0 && element < m_heap[(hole - 1) / 2]) {
            rise(hole, element);
        } else {
            sink(hole, element);
        }
    }

    constexpr void rise(std::size_t hole, const Element element) {
        while (hole > 0 && element < m_heap[(hole - 1) / 2]) {
            place(m_heap[(hole - 1) / 2], hole);
            hole = (hole - 1) / 2;
        }
        place(element, hole);
    }

    constexpr void sink(std::size_t hole, const Element element) {
        for (std::size_t child = 2 * hole + 1; child < m_size; child = 2 * hole + 1) {
            if (child + 1 < m_size && m_heap[child + 1] < m_heap[child]) {
                ++child;
            }
            if (element < m_heap[child]) {
                break;
            }
            place(m_heap[child], hole);
            hole = child;
        }
        place(element, hole);
    }

    // A position and its neighbours are in order, and its index knows it.
    constexpr void check(std::size_t position) const {
        ASSERT(!lib::kChecked || (position < m_size && m_place[m_heap[position].index()] == position));
        ASSERT(!lib::kChecked || (position == 0 || m_heap[(position - 1) / 2] < m_heap[position]));
        ASSERT(!lib::kChecked || (2 * position + 1 >= m_size || m_heap[position] < m_heap[2 * position + 1]));
    }

    std::array<Element, Capacity> m_heap{};
    std::array<std::uint16_t, Capacity> m_place{};
    std::size_t m_size = 0;
    std::uint64_t m_sequence = 0;
};

} // namespace kernel
