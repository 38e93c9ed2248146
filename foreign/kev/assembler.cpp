// SPDX-License-Identifier: MIT
#include "foreign/kev/assembler.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::kev {

Assembler::Outcome Assembler::feed(const Slot& slot, std::uint64_t number, std::optional<Assembled>& replaced) {
    const std::uint64_t key = slot.key();
    auto at = m_open.find(key);
    if (slot.kind() == Kind::begin) {
        if (at != m_open.end()) {
            replaced = remove(at);
        } else if (m_open.size() == kOpenMax) {
            replaced = give_up();
        }
        m_open.emplace(key, Assembled{.header = slot.header,
                                      .stamp = slot.stamp,
                                      .slot = number,
                                      .words = {slot.data[0], slot.data[1]}});
        return Outcome::open;
    }
    if (at == m_open.end()) {
        return Outcome::orphan;
    }
    Assembled& event = at->second;
    if (event.too_long) {
        if (slot.kind() == Kind::end) {
            m_open.erase(at);
        }
        return Outcome::skipping;
    }
    if (event.words.size() == kSlotsMax * kWordsPerSlot) {
        event.too_long = true; // It stays open without its words, and its remaining slots are skipped.
        m_done = event;
        event.words.clear();
        if (slot.kind() == Kind::end) {
            m_open.erase(at);
        }
        return Outcome::too_long;
    }
    event.words.insert(event.words.end(), {slot.data[0], slot.data[1]});
    if (slot.kind() == Kind::middle) {
        return Outcome::open;
    }
    m_done = std::move(event);
    m_open.erase(at);
    return Outcome::complete;
}

Assembled Assembler::take() {
    return std::exchange(m_done, {});
}

// An event that was too long has been delivered already.
std::optional<Assembled> Assembler::remove(Open::iterator at) {
    std::optional<Assembled> event;
    if (!at->second.too_long) {
        event = std::move(at->second);
    }
    m_open.erase(at);
    return event;
}

std::optional<Assembled> Assembler::give_up() {
    std::optional<Assembled> event;
    while (!event && !m_open.empty()) {
        event = remove(
            std::ranges::min_element(m_open, {}, [](const Open::value_type& entry) { return entry.second.slot; }));
    }
    return event;
}

} // namespace host::formats::kev
