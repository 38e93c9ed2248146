// SPDX-License-Identifier: MIT
// The tables of `remora sql` as SQLite sees them: eponymous virtual tables, so that nothing has to be created and
// nothing is stored. Source: sqlite.org, "The Virtual Table Mechanism Of SQLite".
#pragma once

#include "host/sql/source.hpp"
#include "host/sql/tables.hpp"

#include <array>
#include <sqlite3.h>

namespace host::sql {

// What a module of a virtual table receives when it is registered. Outlives the database.
struct TableContext {
    Source* source = nullptr;
    Table table = Table::tasks; // of a row table
};

using TableContexts = std::array<TableContext, kTables>;

// Each returns an SQLite result code.
[[nodiscard]] int register_event_table(sqlite3* database, Source& source);
[[nodiscard]] int register_row_tables(sqlite3* database, TableContexts& contexts);

} // namespace host::sql
