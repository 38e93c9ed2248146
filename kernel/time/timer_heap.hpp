// SPDX-License-Identifier: MIT
// A TimerHeap holds timers, the earliest first; equal times keep the order in which they were posted. Removal of any
// element is O(log n), because every index knows its position. A node has four children, which makes half as many
// levels as two would, so a new timer is compared with fewer others. It has no clock and no hardware. Context:
// serialised by the caller.
//
//                   m_heap[0]                     m_place[index] = position in m_heap, or kNowhere
//          /       /         \      \             an element is a time and its order: a sequence number above the index
//    m_heap[1] m_heap[2] m_heap[3] m_heap[4]      positions after the last one have elements that follow all others:
//                                                 the least of four children is found without counting them
#pragma once

#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernel {

inline constexpr lib::Ticks kNever{~std::uint64_t{0}};

template <std::size_t Capacity>
class TimerHeap {
  public:
    using Index = std::uint16_t;
    static_assert(Capacity < 0xFFFF);

    constexpr TimerHeap() {
        m_place.fill(kNowhere);
        m_heap.fill({kNever, kLastOrder});
    }

    TimerHeap(const TimerHeap&) = delete;
    TimerHeap& operator=(const TimerHeap&) = delete;

    [[nodiscard]] constexpr bool empty() const { return m_size == 0; }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    [[nodiscard]] constexpr bool contains(Index index) const { return m_place[index] != kNowhere; }

    // Returns the index at the top. Precondition: the heap is not empty.
    [[nodiscard]] constexpr Index top() const {
        ASSERT(!lib::kChecked || !empty());
        return m_heap[0].index();
    }

    // Returns the order of the top, as push() returned it. Precondition: the heap is not empty.
    [[nodiscard]] constexpr std::uint64_t top_order() const { return m_heap[0].order; }

    // Returns the time of the top, or kNever if the heap is empty.
    [[nodiscard]] constexpr lib::Ticks top_time() const { return m_heap[0].time; }

    // Inserts an element and returns its order, which no other push or move has. Precondition: index < Capacity, and it
    // is not contained.
    constexpr std::uint64_t push(Index index, lib::Ticks time) {
        ASSERT(!lib::kChecked || (index < Capacity && !contains(index)));
        const Element element = fresh(index, time);
        rise(m_size++, element);
        check(m_place[index]);
        return element.order;
    }

    [[nodiscard]] static constexpr Index index_of(std::uint64_t order) { return static_cast<Index>(order); }

    // Gives an element another time, after its equals. Precondition: it is contained.
    constexpr void move(Index index, lib::Ticks time) {
        ASSERT(!lib::kChecked || contains(index));
        settle(m_place[index], fresh(index, time));
        check(m_place[index]);
    }

    // Removes an element. Precondition: it is contained.
    constexpr void remove(Index index) {
        ASSERT(!lib::kChecked || contains(index));
        const std::size_t hole = m_place[index];
        m_place[index] = kNowhere;
        const Element last = take_last();
        if (hole != m_size) {
            settle(hole, last);
            check(hole);
        }
    }

    // Removes the top. Precondition: the heap is not empty.
    constexpr void pop() {
        ASSERT(!lib::kChecked || !empty());
        m_place[top()] = kNowhere;
        const Element last = take_last();
        if (m_size != 0) {
            sink(0, last);
            check(0);
        }
    }

  private:
    static constexpr std::uint16_t kNowhere = 0xFFFF;
    static constexpr unsigned kIndexBits = 16;
    static constexpr std::size_t kChildren = 4;
    static constexpr std::uint64_t kLastOrder = ~std::uint64_t{0};

    struct Element {
        lib::Ticks time;
        std::uint64_t order = 0;

        [[nodiscard]] constexpr Index index() const { return index_of(order); }

        friend constexpr bool operator<(const Element& a, const Element& b) {
            return a.time < b.time || (a.time == b.time && a.order < b.order);
        }
    };

    constexpr Element fresh(Index index, lib::Ticks time) { return {time, m_sequence++ << kIndexBits | index}; }

    constexpr Element take_last() {
        Element& end = m_heap[--m_size];
        const Element last = end;
        end = {kNever, kLastOrder};
        return last;
    }

    static constexpr std::size_t parent(std::size_t position) { return (position - 1) / kChildren; }

    static constexpr std::size_t first_child(std::size_t position) { return kChildren * position + 1; }

    constexpr void place(const Element& element, std::size_t position) {
        m_heap[position] = element;
        m_place[element.index()] = static_cast<std::uint16_t>(position);
    }

    // Puts the element into the hole, or where the hole comes to be when others move into it.
    constexpr void settle(std::size_t hole, const Element element) {
        if (hole > 0 && element < m_heap[parent(hole)]) {
            rise(hole, element);
        } else {
            sink(hole, element);
        }
    }

    constexpr void rise(std::size_t hole, const Element element) {
        while (hole > 0 && element < m_heap[parent(hole)]) {
            const std::size_t up = parent(hole);
            place(m_heap[up], hole);
            hole = up;
        }
        place(element, hole);
    }

    [[gnu::noinline]] constexpr void sink(std::size_t hole, const Element element) {
        for (std::size_t child = first_child(hole); child < m_size; child = first_child(hole)) {
            const Element* least = &m_heap[child];
            least = earlier(&m_heap[child + 1], least);
            least = earlier(&m_heap[child + 2], least);
            least = earlier(&m_heap[child + 3], least);
            if (element < *least) {
                break;
            }
            place(*least, hole);
            hole = static_cast<std::size_t>(least - m_heap.data());
        }
        place(element, hole);
    }

    static constexpr const Element* earlier(const Element* a, const Element* b) { return *a < *b ? a : b; }

    // Asserts that a position and its neighbours are in order, and that its index knows it.
    constexpr void check(std::size_t position) const {
        ASSERT(!lib::kChecked || (position < m_size && m_place[m_heap[position].index()] == position));
        ASSERT(!lib::kChecked || (position == 0 || m_heap[parent(position)] < m_heap[position]));
        ASSERT(!lib::kChecked || (first_child(position) >= m_size || m_heap[position] < m_heap[first_child(position)]));
    }

    std::array<Element, Capacity + kChildren> m_heap{};
    std::array<std::uint16_t, Capacity> m_place{};
    std::size_t m_size = 0;
    std::uint64_t m_sequence = 1; // 0 with index 0 would be an id that zeroed memory holds
};

} // namespace kernel
