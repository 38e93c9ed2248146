// SPDX-License-Identifier: MIT
#include "host/analyse/why/replay.hpp"

#include <algorithm>
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
                // Who ends a wait may not have arrived yet; a holder has.
                wait(item.cause == Cause::late_event ? std::min(item.arrival, item.begin) : lib::Ticks{});
                execute(left);
            }
            break;
        case Role::until:
            // One without a length is a release.
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
    // The task does nothing until then; what precedes it has the processor.
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

} // namespace host::analyse::why
