// SPDX-License-Identifier: MIT
// Plain records in a row that are left to others to decode: what of the fast path must be done in order.
#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/plain_record.hpp"

#include <algorithm>

namespace host::formats::dat {

std::optional<RecordRun> ChunkCursor::next_run(std::uint64_t key, std::uint64_t least, std::uint64_t limit) {
    const std::span<const std::byte> slots = m_feed.buffered();
    if (!m_plain_may_follow || key >= limit || m_greatest < least) {
        return std::nullopt;
    }
    const std::byte* slot = slots.data();
    std::uint64_t stamp = m_greatest;
    for (; slot != slots.data() + slots.size(); slot += tracer::kRecordBytes) {
        const std::uint64_t next = load_stamp(slot);
        if (plain_row(load_record(slot).code) == nullptr || next - stamp > kStrayTicks || next >= limit) {
            break;
        }
        stamp = next;
    }
    const auto records = static_cast<std::size_t>(slot - slots.data()) / tracer::kRecordBytes;
    if (records < kRunMin) {
        return std::nullopt;
    }
    trace::ChunkReport& chunk = m_scope.chunk();
    trace::Event common = common_of(chunk);
    common.record = m_feed.slots_taken();
    common.offset_bytes = m_feed.offset_bytes();
    RecordRun run(slots.first(records * tracer::kRecordBytes), common);
    take_plain(records, stamp);
    return run;
}

} // namespace host::formats::dat
