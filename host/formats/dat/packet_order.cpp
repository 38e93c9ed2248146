// SPDX-License-Identifier: MIT
#include "host/formats/dat/packet_order.hpp"

#include "lib/crc32c.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace host::formats::dat {

PacketOrder::PacketOrder(Deliver deliver)
    : m_deliver(std::move(deliver))
    , m_checksums(kRemembered) {}

void PacketOrder::accept(std::uint32_t number, std::span<const std::byte> records) {
    const bool begun = m_counts.delivered != 0;
    const bool first = !begun && m_held.empty(); // the sender may have begun long before this receiver
    const std::uint64_t from = begun || first ? m_expected : m_held.begin()->first;
    if (number == 0 || (!first && number > from + kJumpMax)) {
        ++m_counts.implausible;
        return;
    }
    if (number < m_expected) {
        ++(was_given_up(number)               ? m_counts.late
           : is_as_delivered(number, records) ? m_counts.duplicate
                                              : m_counts.conflict);
        return;
    }
    if (number == m_expected) {
        if (!m_held.empty()) {
            ++m_counts.reordered;
        }
        deliver(records);
        deliver_held();
        return;
    }
    const auto [held, is_new] = m_held.try_emplace(number, records.begin(), records.end());
    if (!is_new) {
        ++(std::ranges::equal(held->second, records) ? m_counts.duplicate : m_counts.conflict);
        return;
    }
    // The number of packets that wait, not the greatest number, decides that a gap is given up, so that one wrong
    // number has no effect.
    while (m_held.size() >= kWindow) {
        give_up_to(m_held.begin()->first);
        deliver_held();
    }
}

void PacketOrder::flush() {
    while (!m_held.empty()) {
        give_up_to(m_held.begin()->first);
        deliver_held();
    }
}

void PacketOrder::deliver(std::span<const std::byte> records) {
    ++m_counts.delivered;
    m_checksums[m_expected % kRemembered] = lib::crc32c(records);
    ++m_expected;
    m_deliver(records, std::exchange(m_lost_before, 0));
}

void PacketOrder::deliver_held() {
    while (!m_held.empty() && m_held.begin()->first == m_expected) {
        deliver(m_held.begin()->second);
        m_held.erase(m_held.begin());
    }
}

void PacketOrder::give_up_to(std::uint64_t number) {
    if (number == m_expected) {
        return;
    }
    m_counts.lost += number - m_expected;
    m_lost_before += number - m_expected;
    m_gaps.push_back({m_expected, number});
    if (m_gaps.size() > kGapsMax) {
        m_gaps.pop_front();
    }
    m_expected = number;
}

bool PacketOrder::was_given_up(std::uint64_t number) const {
    const auto after = std::ranges::upper_bound(m_gaps, number, {}, &Gap::first); // gaps are in order
    return after != m_gaps.begin() && number < std::prev(after)->end;
}

bool PacketOrder::is_as_delivered(std::uint64_t number, std::span<const std::byte> records) const {
    return m_expected - number <= kRemembered && m_checksums[number % kRemembered] == lib::crc32c(records);
}

} // namespace host::formats::dat
