// SPDX-License-Identifier: MIT
// SQLite has the tables of a fleet, which are derived from fleet/tables.hpp, and the table `images` with the bytes of
// the chunks whose session is not stored yet. The file states its program (application_id) and its version.
#pragma once

#include "fleet/local/connection.hpp"
#include "fleet/store.hpp"
#include "fleet/tables.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>

namespace host::fleet::local {

inline constexpr std::int64_t kApplicationId = 0x524D'464C; // "RMFL"

// All tables are stored but that of the events.
[[nodiscard]] constexpr bool is_stored(Table table) {
    return table != Table::events;
}

// Returns "site, node, ...": all columns of a table, in their order.
[[nodiscard]] std::string column_names(Table table);

// Creates the tables, and adds columns that are missing. refused: the file is another program's, or of a later version.
[[nodiscard]] lib::Result<void, StoreFailure> make_schema(const Connection& connection, const std::string& path);

// Checks the version. refused: the file is another program's, or of a later or an earlier version.
[[nodiscard]] lib::Result<void, StoreFailure> check_schema(const Connection& connection, const std::string& path);

// Inserts the rows of a session in one transaction: those that the session makes, those that are derived from its jobs,
// and last the row that marks it as complete. Earlier rows of the same run are replaced; the files of the chunks that
// the session lists are removed. corrupt: the session makes no rows.
[[nodiscard]] lib::Result<void, StoreFailure> insert_session(const Connection& connection, const ReadSession& session);

} // namespace host::fleet::local
