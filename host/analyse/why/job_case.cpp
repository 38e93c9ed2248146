// SPDX-License-Identifier: MIT
#include "host/analyse/why/job_case.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace host::analyse::why {

namespace {

using Role = Item::Role;

struct Work {
    lib::Ticks arrival{};
    lib::Ticks left{};
};

class Replay {
  public:
    Replay(std::span<const Item> items, const Removed& removed) {
        for (const Item& item : items) {
            const lib::Ticks left = item.length() - std::min(item.length(), removed(item));
            if (item.role == Role::preceding && left > lib::Ticks{}) {
                m_preceding.push_back({std::min(item.arrival, item.begin), left});
            }
        }
        std::ranges::stable_sort(m_preceding, {}, &Work::arrival);
        m_now = items.empty() ? lib::Ticks{} : items.front().begin;
    }

    void step(const Item& item, lib::Ticks left) {
        switch (item.role) {
        case Role::own:
            execute(left);
            break;
        case Role::path:
            if (left > lib::Ticks{}) {
                // The task that ends a wait may arrive later; the holder of a mutex has arrived.
                wait(item.cause == Cause::late_event ? std::min(item.arrival, item.begin) : lib::Ticks{});
                execute(left);
            }
            break;
        case Role::until:
            // An item without a length is a release.
            if (left > lib::Ticks{} || item.length() == lib::Ticks{}) {
                wait(item.end);
            }
            break;
        case Role::delay:
            wait(m_now + left);
            break;
        case Role::preceding:
        case Role::undecided:
        case Role::note:
            break;
        }
    }

    [[nodiscard]] lib::Ticks now() const { return m_now; }

  private:
    // The task does nothing until `end`; what precedes it has the processor.
    void wait(lib::Ticks end) {
        while (m_now < end && m_next < m_preceding.size() && m_preceding[m_next].arrival < end) {
            Work& work = m_preceding[m_next];
            m_now = std::max(m_now, work.arrival);
            const lib::Ticks ran = std::min(work.left, end - m_now);
            m_now = m_now + ran;
            work.left = work.left - ran;
            m_next += work.left == lib::Ticks{} ? 1U : 0U;
        }
        m_now = std::max(m_now, end);
    }

    void execute(lib::Ticks length) {
        while (length > lib::Ticks{}) {
            const bool more = m_next < m_preceding.size();
            if (more && m_preceding[m_next].arrival <= m_now) {
                m_now = m_now + m_preceding[m_next++].left;
                continue;
            }
            const lib::Ticks ran = more ? std::min(length, m_preceding[m_next].arrival - m_now) : length;
            m_now = m_now + ran;
            length = length - ran;
        }
    }

    std::vector<Work> m_preceding; // by arrival
    std::size_t m_next = 0;
    lib::Ticks m_now{};
};

} // namespace

lib::Ticks end_without(std::span<const Item> items, const Removed& removed) {
    Replay replay(items, removed);
    for (const Item& item : items) {
        replay.step(item, item.length() - std::min(item.length(), removed(item)));
    }
    return replay.now();
}

namespace {

constexpr std::uint64_t kSameCulprit = 8; // neighbours with the same main culprit cost this many times less to unite
constexpr std::uint64_t kShortest = 200;  // the shortest passage is this part of the whole
constexpr std::size_t kPortionsMax = 64;  // of a passage; further ones are added to the last portion

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

// Returns what is lost when the two passages are united.
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
