// SPDX-License-Identifier: MIT
// SQLite has the tables of a fleet, which are derived from fleet/tables.hpp, and the table `images` with the bytes of
// the chunks whose session is not stored yet, and with its formats.json, whose row names no chunk. The file states its
// program (application_id) and its version. What fails is thrown.
#pragma once

#include "fleet/local/connection.hpp"
#include "fleet/store.hpp"

#include <span>
#include <string>
#include <string_view>

namespace host::fleet::local {

// Creates the tables, and adds columns that are missing. refused: the file is another program's, or of a later version.
void make_schema(const Connection& connection);

// Checks the version. refused: the file is another program's, or of a later or an earlier version.
void check_schema(const Connection& connection);

// Returns a condition that selects the chunk in `chunks` and `images`.
[[nodiscard]] std::string condition_of(const Run& run, const formats::dat::ChunkKey& key);

// Inserts the chunks that are not there yet, with their bytes, in one transaction.
void insert_chunks(const Connection& connection, std::span<const ReadChunk> chunks);

// Returns a condition that selects the formats of a run in `images`.
[[nodiscard]] std::string formats_condition_of(const Run& run);

// Inserts the formats of a run, instead of those that are there.
void insert_formats(const Connection& connection, const Run& run, std::string_view text);

// Inserts the rows of a session in one transaction: those that the session makes, those that are derived from its jobs,
// and last the row that marks it as complete. Earlier rows of the same run are replaced; the files of the chunks that
// the session lists, and its formats, are removed. corrupt: the session makes no rows.
void insert_session(const Connection& connection, const ReadSession& session);

} // namespace host::fleet::local
