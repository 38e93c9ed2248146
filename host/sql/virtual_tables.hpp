// SPDX-License-Identifier: MIT
// The tables of `remora sql` as SQLite sees them: eponymous virtual tables, so that nothing has to be created and what
// a query does not need is not computed. Source: sqlite.org, "The Virtual Table Mechanism Of SQLite".
#pragma once

#include "host/sql/source.hpp"
#include "host/sql/stored_tables.hpp"
#include "host/sql/tables.hpp"

#include <array>
#include <sqlite3.h>

namespace host::sql {

// What the module of a table beside `events` receives when it is registered. Outlives the database.
struct TableContext {
    StoredTables* tables = nullptr;
    Table table = Table::tasks;
};

using TableContexts = std::array<TableContext, kTables>;

// A module whose tables and cursors are of these types, made with new. No xCreate: its tables are there without being
// created.
template <typename VirtualTable, typename Cursor>
[[nodiscard]] constexpr sqlite3_module
module_of(decltype(sqlite3_module::xConnect) connect, decltype(sqlite3_module::xBestIndex) best_index,
          decltype(sqlite3_module::xOpen) open, decltype(sqlite3_module::xFilter) filter,
          decltype(sqlite3_module::xNext) next, decltype(sqlite3_module::xEof) at_end,
          decltype(sqlite3_module::xColumn) column, decltype(sqlite3_module::xRowid) row_id) {
    sqlite3_module module{};
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = [](sqlite3_vtab* table) {
        delete static_cast<VirtualTable*>(table);
        return SQLITE_OK;
    };
    module.xOpen = open;
    module.xClose = [](sqlite3_vtab_cursor* cursor) {
        delete static_cast<Cursor*>(cursor);
        return SQLITE_OK;
    };
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = at_end;
    module.xColumn = column;
    module.xRowid = row_id;
    return module;
}

// Each returns an SQLite result code.
[[nodiscard]] int register_event_table(sqlite3* database, Source& source);
[[nodiscard]] int register_row_tables(sqlite3* database, TableContexts& contexts);

} // namespace host::sql
