// SPDX-License-Identifier: MIT
// The tables that a trace's metadata fills.
#pragma once

#include "host/sql/tables.hpp"
#include "host/trace/facts.hpp"

namespace host::sql {

// table: tasks, names, chunks or meta; the others have no rows here.
void fact_rows(Table table, const trace::TraceFacts& facts, const RowSink& sink);

} // namespace host::sql
