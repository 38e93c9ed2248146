// SPDX-License-Identifier: MIT
#include "host/analyse/why/story.hpp"

#include <algorithm>
#include <functional>

namespace host::analyse::why {

namespace {

constexpr std::uint64_t kSameCulprit = 8; // a piece between two of the same culprit is united so much earlier
constexpr std::uint64_t kShortest = 200;  // part of the whole
constexpr std::size_t kPortionsMax = 64;  // of a passage: the least of more are not kept apart

void add_portion(std::vector<Portion>& portions, const Portion& portion) {
    auto same = std::ranges::find(portions, portion.culprit, &Portion::culprit);
    if (same == portions.end() && portions.size() < kPortionsMax) {
        portions.push_back(portion);
        return;
    }
    same = same == portions.end() ? portions.end() - 1 : same;
    if (portion.ticks > same->ticks) {
        same->ended_by = portion.ended_by;
    }
    same->ticks = same->ticks + portion.ticks;
}

// How little is lost when the two are united.
std::uint64_t cost(const Passage& a, const Passage& b) {
    const std::uint64_t shorter = std::min(a.length(), b.length()).value;
    return a.portions.front().culprit == b.portions.front().culprit ? shorter / kSameCulprit : shorter;
}

} // namespace

void Story::add(const schedule::Piece& piece) {
    m_passages.push_back(
        {piece.begin, piece.end, piece.place, {{piece.culprit, piece.end - piece.begin, piece.ended_by}}});
    if (m_passages.size() > kPassagesMax) {
        reduce(kPassagesMax / 2);
    }
}

void Story::unite(std::size_t first) {
    Passage& kept = m_passages[first];
    const Passage& other = m_passages[first + 1];
    for (const Portion& portion : other.portions) {
        add_portion(kept.portions, portion);
    }
    std::ranges::stable_sort(kept.portions, std::ranges::greater{}, &Portion::ticks);
    kept.end = other.end;
    m_passages.erase(m_passages.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

void Story::reduce(std::size_t most) {
    if (m_passages.empty()) {
        return;
    }
    const std::uint64_t shortest = (m_passages.back().end - m_passages.front().begin).value / kShortest;
    while (m_passages.size() > 1) {
        std::size_t least = 0;
        for (std::size_t i = 1; i + 1 < m_passages.size(); ++i) {
            if (cost(m_passages[i], m_passages[i + 1]) < cost(m_passages[least], m_passages[least + 1])) {
                least = i;
            }
        }
        const Passage& a = m_passages[least];
        const Passage& b = m_passages[least + 1];
        const bool same = a.portions.front().culprit == b.portions.front().culprit;
        if (m_passages.size() <= most && !same && cost(a, b) >= shortest) {
            break;
        }
        unite(least);
    }
}

} // namespace host::analyse::why
