// SPDX-License-Identifier: MIT
// The link of a block is known when it is written, for each row has the slot of its next block reserved.
#include "host/convert/chain_spool.hpp"

#include "lib/endian.hpp"

#include <algorithm>
#include <utility>

namespace host::convert {

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
    std::array<std::byte, kSlotBytes> slot{};
    const std::uint64_t next = m_slots++;
    lib::store_le(slot, next);
    std::ranges::copy(row.block, slot.begin() + sizeof(next));
    if (m_result) {
        m_result = m_spool.write_at(row.slot * kSlotBytes, slot);
    }
    row.slot = next;
    ++row.blocks;
    row.filled = 0;
    row.block = {};
}

lib::Result<void> ChainSpool::copy_to(OutputFile& file, std::span<const std::size_t> rows) {
    for (Row& row : m_rows) {
        if (row.filled != 0) {
            write_block(row);
        }
    }
    if (!m_result) {
        return m_result;
    }
    const auto source = m_spool.take();
    std::array<std::byte, kSlotBytes> slot{};
    for (const std::size_t row_number : rows) {
        std::uint64_t at = m_rows[row_number].first_slot;
        for (std::uint64_t block = 0; block < m_rows[row_number].blocks; ++block) {
            const auto count = source->read(at * kSlotBytes, slot);
            if (!count || count.value() != slot.size()) {
                return lib::Error::io;
            }
            at = lib::load_le<std::uint64_t>(slot);
            file.append(std::span(slot).subspan(sizeof(at)));
        }
    }
    return {};
}

} // namespace host::convert
