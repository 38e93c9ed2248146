// SPDX-License-Identifier: MIT
// When a row does not fit a page, the last one there goes up, and it begins the next page: no page remains empty.
#include "convert/table/index_tree.hpp"

#include "convert/table/sqlite_row.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace host::convert::table {

namespace {

constexpr std::byte kInterior{0x02};
constexpr std::byte kLeaf{0x0A};
constexpr std::size_t kLeafHeadBytes = 8;
constexpr std::size_t kInteriorHeadBytes = 12;
constexpr std::size_t kLastChildAt = 8;
constexpr std::size_t kPointerBytes = 2;
constexpr std::size_t kChildBytes = 4;

// Around this byte of a file are SQLite's locks: the page is left out.
constexpr std::uint32_t kLockPage = (std::uint32_t{1} << 30) / IndexTree::kPageBytes + 1;

constexpr std::size_t head_bytes(std::size_t level) {
    return level == 0 ? kLeafHeadBytes : kInteriorHeadBytes;
}

constexpr std::size_t child_bytes(std::size_t level) {
    return level == 0 ? 0 : kChildBytes;
}

void store(std::byte* to, std::uint16_t value) {
    lib::store_be(std::span(to, sizeof(value)), value);
}

// The number in the database of the page with number `page` here, of which `pages` come before.
std::uint32_t place_of(std::uint32_t page, std::uint32_t pages) {
    const std::uint32_t place = pages + 1 + page;
    return pages < kLockPage && place >= kLockPage ? place + 1 : place;
}

// Children have their numbers here until the place of the tree is known.
void place_children(std::span<std::byte> page, std::uint32_t pages) {
    if (page[0] != kInterior) {
        return;
    }
    const auto place = [&](std::size_t at) {
        const auto child = page.subspan(at, kChildBytes);
        lib::store_be(child, place_of(lib::load_be<std::uint32_t>(child), pages));
    };
    place(kLastChildAt);
    const auto cells = lib::load_be<std::uint16_t>(page.subspan(3));
    for (std::size_t cell = 0; cell < cells; ++cell) {
        place(lib::load_be<std::uint16_t>(page.subspan(kInteriorHeadBytes + cell * kPointerBytes)));
    }
}

} // namespace

lib::Result<IndexTree> IndexTree::create() {
    auto spool = trace::Spool::create();
    if (!spool) {
        return spool.error();
    }
    IndexTree tree;
    tree.m_spool = std::move(spool.value());
    return tree;
}

void IndexTree::add_cell(std::size_t level, std::uint32_t child, std::span<const std::byte> row) {
    ASSERT(row.size() <= kRowBytesMax);
    if (level == m_levels.size()) {
        m_levels.push_back(std::make_unique<Page>());
    }
    Page& page = *m_levels[level];
    const std::size_t bytes = child_bytes(level) + varint_bytes(row.size()) + row.size();
    if (head_bytes(level) + (page.cells + 1) * kPointerBytes + bytes > page.begin) {
        std::vector<std::byte> between;
        const std::uint32_t last_child = take_last_cell(level, between);
        add_cell(level + 1, spool_page(level, last_child), between);
    }
    page.begin -= bytes;
    store(page.bytes.data() + head_bytes(level) + page.cells * kPointerBytes, static_cast<std::uint16_t>(page.begin));
    ++page.cells;
    std::byte* at = page.bytes.data() + page.begin;
    if (level != 0) {
        lib::store_be(std::span(at, kChildBytes), child);
        at += kChildBytes;
    }
    at = put_varint(at, row.size());
    std::copy(row.begin(), row.end(), at);
}

// Returns its child.
std::uint32_t IndexTree::take_last_cell(std::size_t level, std::vector<std::byte>& row) {
    Page& page = *m_levels[level];
    const auto cell = std::span<const std::byte>(page.bytes).subspan(page.begin);
    const std::uint32_t child = level == 0 ? 0 : lib::load_be<std::uint32_t>(cell);
    std::uint64_t size = 0;
    const std::size_t head = child_bytes(level) + get_varint(cell.subspan(child_bytes(level)), size);
    row.assign(cell.begin() + static_cast<std::ptrdiff_t>(head),
               cell.begin() + static_cast<std::ptrdiff_t>(head + size));
    page.begin += head + size;
    --page.cells;
    return child;
}

void IndexTree::finish_page(std::size_t level, std::uint32_t last_child) {
    Page& page = *m_levels[level];
    page.bytes[0] = level == 0 ? kLeaf : kInterior;
    store(page.bytes.data() + 3, static_cast<std::uint16_t>(page.cells));
    store(page.bytes.data() + 5, static_cast<std::uint16_t>(page.begin));
    if (level != 0) {
        lib::store_be(std::span(page.bytes).subspan(kLastChildAt), last_child);
    }
}

// Returns its number; an empty page follows.
std::uint32_t IndexTree::spool_page(std::size_t level, std::uint32_t last_child) {
    finish_page(level, last_child);
    Page& page = *m_levels[level];
    m_ahead.insert(m_ahead.end(), page.bytes.begin(), page.bytes.end());
    if (m_ahead.size() == kPagesAtOnce * kPageBytes) {
        write_out();
    }
    page = {};
    return m_pages++;
}

void IndexTree::write_out() {
    if (m_result) {
        m_result = m_spool.append(m_ahead);
    }
    m_ahead.clear();
}

lib::Result<std::uint32_t> IndexTree::append_to(OutputFile& file, std::uint32_t pages, std::uint32_t root) {
    if (m_levels.empty()) {
        return pages;
    }
    std::uint32_t last_child = 0;
    for (std::size_t level = 0; level + 1 < m_levels.size(); ++level) {
        last_child = spool_page(level, last_child);
    }
    write_out();
    if (!m_result) {
        return m_result.error();
    }
    const auto source = m_spool.take();
    std::vector<std::byte> buffer(kPageBytes);
    for (std::uint32_t page = 0; page < m_pages; ++page) {
        const auto read = source->read(std::uint64_t{page} * kPageBytes, buffer);
        if (!read || read.value() != kPageBytes) {
            return lib::Error::io;
        }
        if (pages + 1 + page == kLockPage) {
            file.append(std::vector<std::byte>(kPageBytes));
        }
        place_children(buffer, pages);
        file.append(buffer);
    }
    finish_page(m_levels.size() - 1, last_child);
    place_children(m_levels.back()->bytes, pages);
    file.patch(std::uint64_t{root - 1} * kPageBytes, m_levels.back()->bytes);
    return m_pages == 0 ? pages : place_of(m_pages - 1, pages);
}

} // namespace host::convert::table
