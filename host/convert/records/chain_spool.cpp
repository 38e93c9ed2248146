// SPDX-License-Identifier: MIT
// The link of a block is known when it is written, for each row has the slot of its next block reserved.
#include "host/convert/records/chain_spool.hpp"

#include "lib/endian.hpp"

#include <algorithm>
#include <utility>

namespace host::convert::records {

lib::Result<ChainSpool> ChainSpool::create() {
    auto spool = trace::Spool::create();
    if (!spool) {
        return spool.error();
    }
    ChainSpool chains;
    chains.m_spool = std::move(spool.value());
    return chains;
}

std::size_t ChainSpool::add_row() {
    m_rows.emplace_back();
    m_rows.back().slot = m_slots++;
    m_rows.back().first_slot = m_rows.back().slot;
    return m_rows.size() - 1;
}

void ChainSpool::append(std::size_t row_number, std::span<const std::byte> bytes) {
    Row& row = m_rows[row_number];
    while (!bytes.empty()) {
        const std::size_t count = std::min(bytes.size(), kBlockBytes - row.filled);
        std::copy_n(bytes.begin(), count, row.block.begin() + static_cast<std::ptrdiff_t>(row.filled));
        row.filled += count;
        bytes = bytes.subspan(count);
        if (row.filled == kBlockBytes) {
            write_block(row);
        }
    }
}

void ChainSpool::write_block(Row& row) {
    if (m_ahead_slot + m_ahead.size() / kSlotBytes != row.slot || m_ahead.size() == kSlotsAtOnce * kSlotBytes) {
        write_ahead();
        m_ahead_slot = row.slot;
    }
    const std::uint64_t next = m_slots++;
    const std::size_t at = m_ahead.size();
    m_ahead.resize(at + kSlotBytes);
    const auto slot = std::span(m_ahead).subspan(at);
    lib::store_le(slot, next);
    std::ranges::copy(row.block, slot.subspan(sizeof(next)).begin());
    row.slot = next;
    ++row.blocks;
    row.filled = 0;
    row.block = {};
}

void ChainSpool::write_ahead() {
    if (m_result && !m_ahead.empty()) {
        m_result = m_spool.write_at(m_ahead_slot * kSlotBytes, m_ahead);
    }
    m_ahead.clear();
}

lib::Result<void> ChainSpool::copy_to(OutputFile& file, std::span<const std::size_t> rows) {
    for (Row& row : m_rows) {
        if (row.filled != 0) {
            write_block(row);
        }
    }
    write_ahead();
    if (!m_result) {
        return m_result;
    }
    const auto source = m_spool.take();
    std::vector<std::byte> window(kSlotsAtOnce * kSlotBytes); // the next block mostly follows directly
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    for (const std::size_t row_number : rows) {
        std::uint64_t at = m_rows[row_number].first_slot;
        for (std::uint64_t block = 0; block < m_rows[row_number].blocks; ++block) {
            if (at < first || at - first >= count) {
                const auto read = source->read(at * kSlotBytes, window);
                if (!read || read.value() < kSlotBytes) {
                    return lib::Error::io;
                }
                first = at;
                count = read.value() / kSlotBytes;
            }
            const auto slot = std::span(window).subspan((at - first) * kSlotBytes, kSlotBytes);
            at = lib::load_le<std::uint64_t>(slot);
            file.append(slot.subspan(sizeof(at)));
        }
    }
    return {};
}

} // namespace host::convert::records
