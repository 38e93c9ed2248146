// SPDX-License-Identifier: MIT
// Rows on their way into a table of SQLite, many with each execution of the statement: executing it costs as much as
// storing the numbers of a row. Source: sqlite.org, "INSERT".
#pragma once

#include "host/sql/cell.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::table {

class BatchInsert {
  public:
    BatchInsert() = default;
    BatchInsert(const BatchInsert&) = delete;
    BatchInsert& operator=(const BatchInsert&) = delete;
    ~BatchInsert();

    // All calls: SQLite's code. The database outlives the object or its close().
    [[nodiscard]] int open(sqlite3* database, std::string_view table, int columns);

    // A row; texts are copied.
    [[nodiscard]] int add(std::span<const sql::Cell> cells);

    // The rows that are left.
    [[nodiscard]] int finish();

    void close();

  private:
    static constexpr std::size_t kRows = 64;

    [[nodiscard]] int prepare(std::size_t rows);
    [[nodiscard]] int run();

    sqlite3* m_database = nullptr;
    sqlite3_stmt* m_statement = nullptr;
    std::string m_table;
    std::size_t m_columns = 0;
    std::vector<sql::Cell> m_cells;
    std::vector<std::string> m_texts; // a place for each cell
};

} // namespace host::convert::table
