// SPDX-License-Identifier: MIT
// The table of events and the index of their kinds on their way into a database. Events come in the order of the table;
// for the index the keys of each kind's events are kept together in a file without a name.
#pragma once

#include "convert/row_spool.hpp"
#include "convert/table/index_tree.hpp"
#include "convert/table/sqlite_row.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace host::convert::table {

class EventTrees {
  public:
    // Of an empty table and index.
    struct Place {
        std::uint32_t pages; // of the database
        std::uint32_t rows_root;
        std::uint32_t kinds_root;
    };

    // no_space, io.
    [[nodiscard]] static lib::Result<EventTrees> create();

    EventTrees() = default; // takes nothing

    // A row of StoredEvents::Part::rows. False: it is too long for a page, and is not taken.
    [[nodiscard]] bool add(std::span<const sql::Cell> cells);

    // Into the database, which SQLite has closed. no_space, io.
    [[nodiscard]] lib::Result<void> append_to(const std::string& path, const Place& place);

  private:
    [[nodiscard]] lib::Result<void> add_kinds();

    IndexTree m_rows;
    IndexTree m_kinds;
    RowSpool m_keys; // a row for each kind
    std::size_t m_last_kind = 0;
    SqliteRow m_row;
};

} // namespace host::convert::table
