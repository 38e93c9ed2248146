// SPDX-License-Identifier: MIT
// The rows of one table in memory, column by column: 4 bytes for a text, of which each different one is kept once, 8
// for a number. Indices are made when a query first needs them, and kept.
#pragma once

#include "host/sql/row_index.hpp"
#include "host/sql/tables.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace host::sql {

class StoredRows {
  public:
    explicit StoredRows(Table table);
    StoredRows(const StoredRows&) = delete;
    StoredRows& operator=(const StoredRows&) = delete;

    // A cell for each column. Before the first index; at most 2^32-1 rows.
    void add(std::span<const Cell> cells);

    [[nodiscard]] std::uint32_t size() const { return m_size; }

    // Valid while the rows are there.
    [[nodiscard]] Cell cell(std::uint32_t row, std::size_t column) const;

    // Equal in equal cells of a column, and only there; of a number that is not NULL, the number itself.
    [[nodiscard]] std::int64_t code(std::uint32_t row, std::size_t column) const {
        const Kept& kept = m_columns[column];
        return kept.is_text ? kept.texts[row] : kept.numbers[row];
    }

    // Of the rows grouped by these columns.
    [[nodiscard]] const RowIndex& index(const std::vector<std::uint8_t>& columns);

  private:
    struct Kept {
        bool is_text = false;
        bool is_real = false;
        std::deque<std::uint32_t> texts;  // numbers in m_texts
        std::deque<std::int64_t> numbers; // NULL: the least one; of a fraction the bits
        std::vector<bool> nulls;          // of numbers
    };

    [[nodiscard]] std::uint32_t number_of(std::string_view text);

    Table m_table;
    std::uint32_t m_size = 0;
    std::vector<Kept> m_columns;
    std::deque<std::string> m_texts{std::string()}; // the first is NULL
    std::unordered_map<std::string_view, std::uint32_t> m_numbers;
    std::map<std::vector<std::uint8_t>, RowIndex> m_indices;
};

} // namespace host::sql
