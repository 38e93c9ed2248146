// SPDX-License-Identifier: MIT
// Stored rows in groups: all rows of a group have the same values in some columns, the groups are in SQLite's order of
// these values, and within a group rows are in the order in which what they are about began.
//
//        group task=a                group task=b
//   begin  10   30   70   90           5   60   80
//   end    20   65   75   95          50   70   90
//   latest 20   65   75   95          50   70   90      the greatest end so far: it rises also where rows are nested
//
// Rows that overlap a stretch of time are found by halving: those that begin before its end, and from the first one on
// whose `latest` is not before its begin.
#pragma once

#include "host/sql/bounds.hpp"
#include "host/sql/tables.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace host::sql {

class StoredRows;

// Positions in an index, `end` excluded.
struct RowRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

class RowIndex {
  public:
    // columns: by which rows are grouped, in the order of their weight; none: all rows are one group. rows outlives the
    // index, and is complete.
    RowIndex(const StoredRows& rows, Table table, const std::vector<std::uint8_t>& columns);

    // The row at a position.
    [[nodiscard]] std::uint32_t row(std::uint32_t position) const { return m_rows[position]; }

    // The groups whose first columns have these values: consecutive ones.
    [[nodiscard]] std::span<const RowRange> find(std::span<const Cell> values) const;

    // The rows of a group that begin within bounds and end at a time or later, and perhaps others. Without times in the
    // table: the whole group.
    [[nodiscard]] RowRange narrowed(const RowRange& group, const Bounds& begin, const Bounds& end) const;

  private:
    void make_groups();
    void order_by_time(const RowRange& group);

    const StoredRows& m_stored;
    std::vector<std::uint8_t> m_columns;
    std::optional<std::size_t> m_begin; // columns
    std::optional<std::size_t> m_end;
    std::vector<std::uint32_t> m_rows;
    std::vector<std::int64_t> m_latest; // by position
    std::vector<RowRange> m_groups;
};

} // namespace host::sql
