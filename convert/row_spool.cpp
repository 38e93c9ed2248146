// SPDX-License-Identifier: MIT
// Blocks are written in the order in which they became full, many at once. Each row has the numbers of its blocks.
#include "convert/row_spool.hpp"

#include <utility>

namespace host::convert {

lib::Result<RowSpool> RowSpool::create() {
    auto spool = trace::Spool::create();
    if (!spool) {
        return spool.error();
    }
    RowSpool rows;
    rows.m_spool = std::move(spool.value());
    return rows;
}

std::size_t RowSpool::add_row() {
    m_rows.emplace_back();
    return m_rows.size() - 1;
}

std::span<const std::byte> RowSpool::append_blocks(Row& row, std::span<const std::byte> bytes) {
    while (bytes.size() > kBlockBytes - row.filled) {
        const auto fitting = bytes.first(kBlockBytes - row.filled);
        bytes = bytes.subspan(fitting.size());
        row.blocks.push_back(m_blocks++);
        m_ahead.insert(m_ahead.end(), row.end.begin(), row.end.begin() + static_cast<std::ptrdiff_t>(row.filled));
        m_ahead.insert(m_ahead.end(), fitting.begin(), fitting.end());
        row.filled = 0;
        if (m_ahead.size() == kBlocksAtOnce * kBlockBytes) {
            write_out();
        }
    }
    if (const std::size_t needed = row.filled + bytes.size(); needed > row.end.size()) {
        row.end.resize(std::min(kBlockBytes, 2 * needed));
    }
    return bytes;
}

void RowSpool::write_out() {
    if (m_result) {
        m_result = m_spool.append(m_ahead);
    }
    m_ahead.clear();
}

lib::Result<void> RowSpool::read(std::span<const std::size_t> rows, const Take& take) {
    write_out();
    if (!m_result) {
        return m_result;
    }
    const auto source = m_spool.take();
    std::vector<std::byte> block(kBlockBytes);
    for (const std::size_t row_number : rows) {
        const Row& row = m_rows[row_number];
        for (const std::uint32_t number : row.blocks) {
            const auto read = source->read(std::uint64_t{number} * kBlockBytes, block);
            if (!read || read.value() != kBlockBytes) {
                return lib::Error::io;
            }
            take(row_number, block);
        }
        take(row_number, std::span(row.end).first(row.filled));
    }
    return {};
}

} // namespace host::convert
