// SPDX-License-Identifier: MIT
// The aggregate percentile(value, percent) of `remora sql`: by the nearest rank, NULL of no values. Values that are
// NULL are left out.
#pragma once

#include <sqlite3.h>

namespace host::sql {

// Returns an SQLite result code.
[[nodiscard]] int register_percentile(sqlite3* database);

} // namespace host::sql
