// SPDX-License-Identifier: MIT
// What SQLite asks code of ours for: the virtual tables `events` and `utilisation`, and the aggregate
// percentile(value, percent). The other tables are SQLite's own. Sources: sqlite.org, "The Virtual Table Mechanism Of
// SQLite" and "Application-Defined SQL Functions".
#pragma once

#include "host/sql/source.hpp"

#include <sqlite3.h>

namespace host::sql {

// Both tables read the trace for each use, because a trace has more events than a database should hold, and
// `utilisation(window)` has other rows for each argument. They need not be created. The source outlives the database.
// Returns SQLite's code.
[[nodiscard]] int register_tables(sqlite3* database, Source& source);

// The percentile is that of the nearest rank, and NULL if there is no value or if percent is NULL. Values that are NULL
// are left out. Returns SQLite's code.
[[nodiscard]] int register_percentile(sqlite3* database);

} // namespace host::sql
