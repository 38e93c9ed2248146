// SPDX-License-Identifier: MIT
#include "host/schedule/executor.hpp"

namespace host::schedule {

void ExecutorHistory::end_batch() {
    lib::Ticks* const stamps = m_stamps.data();
    std::uint64_t kept = m_kept; // in a register
    for (const trace::Event& event : m_batch) {
        stamps[kept++ % kStampsMax] = event.ticks;
    }
    m_records = m_kept = kept;
    m_batch = {};
}

std::uint64_t ExecutorHistory::records_within(lib::Ticks begin, lib::Ticks end) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = m_records; i > 0 && m_records - i < kStampsMax; --i) {
        const lib::Ticks stamp = this->stamp(i - 1);
        if (stamp <= begin) {
            break;
        }
        count += stamp <= end ? 1U : 0U;
    }
    return count;
}

} // namespace host::schedule
