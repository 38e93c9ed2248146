// SPDX-License-Identifier: MIT
// A heap of keys; the events themselves stay where they are.
#include "foreign/kev/window.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::kev {

namespace {

constexpr std::size_t kWordsMax = 1 << 20;

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.ticks != b.ticks ? a.ticks > b.ticks : a.order > b.order;
};

} // namespace

void Window::fill() {
    while (!m_read_all && m_heap.size() < kWindowEvents && m_words < kWordsMax) {
        std::size_t index = m_pool.size();
        if (m_free.empty()) {
            m_pool.emplace_back();
        } else {
            index = m_free.back();
            m_free.pop_back();
        }
        RawEvent& event = m_pool[index];
        if (!m_reader.next(event)) {
            m_read_all = true;
            return;
        }
        m_words += event.longer.size();
        m_heap.push_back({.ticks = event.ticks, .order = m_order++, .index = index});
        std::ranges::push_heap(m_heap, kLaterFirst);
    }
}

bool Window::next(RawEvent& event) {
    fill();
    if (m_heap.empty()) {
        return false;
    }
    std::ranges::pop_heap(m_heap, kLaterFirst);
    const std::size_t index = m_heap.back().index;
    m_heap.pop_back();
    event = std::exchange(m_pool[index], {});
    m_free.push_back(index);
    m_words -= event.longer.size();
    return true;
}

} // namespace host::formats::kev
