// SPDX-License-Identifier: MIT
// Groups are found column by column, with a number for each pair of a group so far and a value: rows are visited in
// order, so those of a group keep their order, which is mostly that of time.
#include "host/sql/row_index.hpp"

#include "host/sql/stored_rows.hpp"

#include <algorithm>
#include <compare>
#include <unordered_map>
#include <utility>

namespace host::sql {

namespace {

struct PairHash {
    std::size_t operator()(const std::pair<std::uint32_t, std::int64_t>& pair) const {
        const std::uint64_t mixed =
            (static_cast<std::uint64_t>(pair.second) * 0x9E3779B97F4A7C15U) ^ (pair.first * 0xC2B2AE3D27D4EB4FU);
        return mixed ^ (mixed >> 32);
    }
};

std::optional<std::size_t> column_named(Table table, std::string_view name) {
    const std::vector<Column> columns = columns_of(table);
    const auto found = std::ranges::find(columns, name, &Column::name);
    return found != columns.end() ? std::optional(static_cast<std::size_t>(found - columns.begin())) : std::nullopt;
}

} // namespace

RowIndex::RowIndex(const StoredRows& rows, Table table, const std::vector<std::uint8_t>& columns)
    : m_stored(rows)
    , m_columns(columns)
    , m_begin(column_named(table, row_of(table).begin))
    , m_end(column_named(table, row_of(table).end))
    , m_rows(rows.size()) {
    make_groups();
    if (m_begin && m_end) {
        m_latest.resize(m_rows.size());
        for (const RowRange& group : m_groups) {
            order_by_time(group);
        }
    }
}

void RowIndex::make_groups() {
    const std::uint32_t size = m_stored.size();
    std::vector<std::uint32_t> group_of(size, 0);
    std::vector<std::uint32_t> samples(1, 0); // a row of each group
    for (const std::uint8_t column : m_columns) {
        std::unordered_map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t, PairHash> numbers;
        samples.clear();
        for (std::uint32_t row = 0; row < size; ++row) {
            const auto [place, is_new] = numbers.try_emplace(std::pair(group_of[row], m_stored.code(row, column)),
                                                             static_cast<std::uint32_t>(samples.size()));
            if (is_new) {
                samples.push_back(row);
            }
            group_of[row] = place->second;
        }
    }
    if (size == 0) {
        return;
    }
    std::vector<std::uint32_t> in_order(samples.size());
    for (std::uint32_t i = 0; i < in_order.size(); ++i) {
        in_order[i] = i;
    }
    std::ranges::sort(in_order, [&](std::uint32_t a, std::uint32_t b) {
        for (const std::uint8_t column : m_columns) {
            const auto order = m_stored.cell(samples[a], column) <=> m_stored.cell(samples[b], column);
            if (order != std::strong_ordering::equal) {
                return order == std::strong_ordering::less;
            }
        }
        return false;
    });
    std::vector<std::uint32_t> sizes(samples.size(), 0);
    for (const std::uint32_t group : group_of) {
        ++sizes[group];
    }
    std::vector<std::uint32_t> next(samples.size(), 0); // position of the group's next row
    std::uint32_t begin = 0;
    for (const std::uint32_t group : in_order) {
        next[group] = begin;
        m_groups.push_back({begin, begin + sizes[group]});
        begin += sizes[group];
    }
    for (std::uint32_t row = 0; row < size; ++row) {
        m_rows[next[group_of[row]]++] = row;
    }
}

void RowIndex::order_by_time(const RowRange& group) {
    const auto began = [this](std::uint32_t row) { return m_stored.code(row, *m_begin); };
    const auto rows = std::span(m_rows).subspan(group.begin, group.end - group.begin);
    if (!std::ranges::is_sorted(rows, {}, began)) {
        std::ranges::stable_sort(rows, {}, began);
    }
    std::int64_t latest = Bounds::kMin;
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
        latest = std::max(latest, m_stored.code(m_rows[i], *m_end));
        m_latest[i] = latest;
    }
}

std::span<const RowRange> RowIndex::find(std::span<const Cell> values) const {
    const auto order = [&](const RowRange& group) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto one = m_stored.cell(m_rows[group.begin], m_columns[i]) <=> values[i];
            if (one != std::strong_ordering::equal) {
                return one;
            }
        }
        return std::strong_ordering::equal;
    };
    const auto first =
        std::ranges::partition_point(m_groups, [&](const RowRange& group) { return std::is_lt(order(group)); });
    const auto last =
        std::partition_point(first, m_groups.end(), [&](const RowRange& group) { return std::is_lteq(order(group)); });
    return {first, last};
}

RowRange RowIndex::narrowed(const RowRange& group, const Bounds& begin, const Bounds& end) const {
    if (!m_begin || !m_end) {
        return group;
    }
    const auto began = [this](std::uint32_t row) { return m_stored.code(row, *m_begin); };
    const auto rows = std::span(m_rows).subspan(group.begin, group.end - group.begin);
    const auto latest = std::span(m_latest).subspan(group.begin, group.end - group.begin);
    const auto first = std::max(std::ranges::lower_bound(rows, begin.first, {}, began) - rows.begin(),
                                std::ranges::lower_bound(latest, end.first) - latest.begin());
    const auto last = std::ranges::upper_bound(rows, begin.last, {}, began) - rows.begin();
    return first < last ? RowRange{group.begin + static_cast<std::uint32_t>(first),
                                   group.begin + static_cast<std::uint32_t>(last)}
                        : RowRange{};
}

} // namespace host::sql
