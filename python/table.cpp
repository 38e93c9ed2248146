// SPDX-License-Identifier: MIT
#include "python/table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace python {

namespace {

constexpr std::size_t kLeastBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Returns a new mapping that begins at a huge page, whole ones long; null if there is no memory.
std::byte* mapped(std::size_t bytes) {
    void* const all = mmap(nullptr, bytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        return nullptr;
    }
    auto* const begin = static_cast<std::byte*>(all);
    const std::size_t before = -std::bit_cast<std::size_t>(begin) % kHugePageBytes;
    if (before != 0) {
        munmap(begin, before);
    }
    munmap(begin + before + bytes, kHugePageBytes - before);
    static_cast<void>(madvise(begin + before, bytes, MADV_HUGEPAGE)); // a hint: without huge pages it is only slower
    return begin + before;
}

CellType type_of(const host::sql::Column& column) {
    return column.is_text ? CellType::word : column.is_real ? CellType::real : CellType::int64;
}

} // namespace

Memory::~Memory() {
    if (m_capacity >= kHugePageBytes) {
        munmap(m_data, m_capacity);
    } else {
        std::free(m_data);
    }
}

void Memory::grow(std::size_t bytes) {
    std::size_t capacity = std::max({kLeastBytes, m_capacity * 2, m_size + bytes});
    const bool is_large = capacity >= kHugePageBytes;
    if (is_large) {
        capacity = (capacity + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    }
    auto* const data = is_large ? mapped(capacity) : static_cast<std::byte*>(std::realloc(m_data, capacity));
    if (data == nullptr) {
        throw std::bad_alloc();
    }
    if (is_large && m_capacity >= kHugePageBytes) {
        if (mremap(m_data, m_capacity, m_capacity, MREMAP_MAYMOVE | MREMAP_FIXED, data) == MAP_FAILED) {
            munmap(data, capacity);
            throw std::bad_alloc();
        }
    } else if (is_large) {
        std::copy_n(m_data, m_size, data);
        std::free(m_data);
    }
    m_data = data;
    m_capacity = capacity;
}

std::int32_t Words::number_of(std::string_view text) {
    if (const std::int32_t known = find(text); known != kNoWord) {
        return known;
    }
    const auto number = static_cast<std::int32_t>(m_texts.size());
    m_numbers.emplace(m_texts.emplace_back(text), number);
    return number;
}

std::int32_t Words::find(std::string_view text) const {
    const auto found = m_numbers.find(text);
    return found != m_numbers.end() ? found->second : kNoWord;
}

void Column::mark_unknown(std::size_t row) {
    const std::size_t known = row - unknown.size();
    auto* const marks = static_cast<std::uint8_t*>(unknown.extend(known + 1));
    std::memset(marks, 0, known);
    marks[known] = 1;
}

void Column::finish() {
    if (unknown.size() != 0) {
        const std::size_t known = rows() - unknown.size();
        std::memset(unknown.extend(known), 0, known);
    }
}

std::shared_ptr<Table> Table::of(host::sql::Table table) {
    std::vector<Column> columns;
    for (const host::sql::Column& column : host::sql::columns_of(table)) {
        columns.push_back({.name = std::string(column.name), .type = type_of(column)});
    }
    return std::make_shared<Table>(std::string(host::sql::row_of(table).name), std::move(columns));
}

void Table::add(std::span<const host::sql::Cell> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Column& column = m_columns[i];
        const host::sql::Cell& cell = cells[i];
        if (column.type == CellType::word) {
            const auto text = cell.text();
            *column.extend<std::int32_t>(1) = text ? column.words.number_of(*text) : kNoWord;
            continue;
        }
        const auto number = cell.number();
        if (!number) {
            column.mark_unknown(column.rows());
        }
        // A fraction is given as its bits.
        constexpr auto kNoFraction = std::bit_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN());
        *column.extend<std::int64_t>(1) = number.value_or(column.type == CellType::real ? kNoFraction : kUnknown);
    }
}

void Table::finish() {
    for (Column& column : m_columns) {
        column.finish();
    }
}

const Column* Table::find(std::string_view column) const {
    const auto found = std::ranges::find(m_columns, column, &Column::name);
    return found != m_columns.end() ? &*found : nullptr;
}

} // namespace python
