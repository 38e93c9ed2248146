// SPDX-License-Identifier: MIT
// Tests the timer heap against the obvious model: a list kept in order by insertion.
#include "kernel/time/timer_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace timer_heap_test {

using Heap = kernel::TimerHeap<64>;

std::vector<int> drain(Heap& heap) {
    std::vector<int> order;
    while (!heap.empty()) {
        order.push_back(heap.top());
        heap.remove(heap.top());
    }
    return order;
}

TEST(TimerHeap, ServesTheEarliestFirst) {
    Heap heap;
    heap.push(1, {30});
    heap.push(2, {10});
    heap.push(3, {20});
    EXPECT_EQ(heap.top_time(), lib::Ticks{10});
    EXPECT_EQ(drain(heap), (std::vector{2, 3, 1}));
}

TEST(TimerHeap, ServesEqualTimesInTheOrderOfPosting) {
    Heap heap;
    for (std::uint16_t i = 0; i < 20; ++i) {
        heap.push(static_cast<std::uint16_t>((i * 7) % 20), {5});
    }
    std::vector<int> expected;
    for (int i = 0; i < 20; ++i) {
        expected.push_back((i * 7) % 20);
    }
    EXPECT_EQ(drain(heap), expected);
}

TEST(TimerHeap, AgreesWithASortedListUnderRandomUse) {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): repeatable on purpose
    Heap heap;
    std::vector<std::pair<std::uint64_t, int>> model; // time, index; equal times in order of posting
    std::set<std::uint64_t> orders;                   // that were returned
    for (int step = 0; step < 20'000; ++step) {
        const auto index = static_cast<std::uint16_t>(random() % 64);
        const auto in_model = std::ranges::find(model, int{index}, &std::pair<std::uint64_t, int>::second);
        ASSERT_EQ(heap.contains(index), in_model != model.end());
        if (in_model != model.end()) {
            model.erase(in_model);
        }
        if (heap.contains(index) && random() % 2 == 0) {
            if (heap.top() == index && random() % 2 == 0) {
                heap.pop();
            } else {
                heap.remove(index);
            }
        } else {
            const std::uint64_t time = random() % 50;
            if (heap.contains(index)) {
                heap.move(index, {time});
            } else {
                const std::uint64_t order = heap.push(index, {time});
                ASSERT_TRUE(orders.insert(order).second);
                ASSERT_EQ(Heap::index_of(order), index);
                ASSERT_EQ(heap.top_order() == order, heap.top() == index);
            }
            const auto after = std::ranges::upper_bound(model, time, {}, &std::pair<std::uint64_t, int>::first);
            model.insert(after, {time, index});
        }
        ASSERT_EQ(heap.size(), model.size());
        if (model.empty()) {
            ASSERT_EQ(heap.top_time(), kernel::kNever);
        } else {
            ASSERT_EQ(int{heap.top()}, model.front().second);
            ASSERT_EQ(heap.top_time().value, model.front().first);
        }
    }
}

} // namespace timer_heap_test
