// SPDX-License-Identifier: MIT
// The schema in ClickHouse is derived from fleet/tables.hpp alone. For each table X it has:
//
//   X_rows      ReplacingMergeTree: rows with the same key become one, at last when they are read FINAL
//   X           view of X_rows FINAL: what is queried
//   X_of_jobs   of a derived table: the materialised view that makes its rows of every block of rows of jobs
//
// In a cluster every shard has these; the view is called X_here, and X is a Distributed table over those views, so that
// each shard groups and filters its own rows. The shards have disjoint runs.
//
// Statements are valid from release 18.16 on; codecs and dictionaries of texts are used where the server has them.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "fleet/tables.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::clickhouse {

struct Version {
    unsigned major = 0;
    unsigned minor = 0;

    friend auto operator<=>(const Version&, const Version&) = default;
};

// text: "18.16.1". A text that cannot be read gives the oldest version.
[[nodiscard]] Version version_of(std::string_view text);

// States where the schema is: database, cluster, and the version of the server.
struct Place {
    std::string database;
    std::string cluster; // empty: one host
    Version version;
};

struct StoredColumn {
    std::string name;
    std::string type;  // as system.columns has it
    std::string codec; // CODEC(...); empty: the server's default
    bool in_key = false;
};

// States how a column of X is stored in X_rows.
enum class Storage : std::uint8_t {
    plain,
    // The view computes the column: the end of an interval and of an interrupt is exactly its begin plus its duration,
    // and a duration takes less space than a time.
    computed,
    // The value >> 16 and its lower 16 bits are two columns. This is for times in tables with many rows: compression
    // without codecs works byte by byte, and the upper part hardly changes from row to row.
    split,
};

[[nodiscard]] Storage storage_of(Table table, const Column& column);

// Returns the columns of X_rows. There an event is its code, so that a name that it gets later changes only the view.
[[nodiscard]] std::vector<StoredColumn> stored_columns(Table table, Version version);

// Returns `name` Type CODEC(...), as CREATE TABLE and ADD COLUMN need it.
[[nodiscard]] std::string declaration_of(const StoredColumn& column);

// Returns the type without the dictionary of texts, which makes no difference to queries.
[[nodiscard]] std::string_view plain_type(std::string_view type);

// Returns the quoted name with the database: `fleet`.`jobs_rows`.
[[nodiscard]] std::string full_name(const Place& place, std::string_view name);
[[nodiscard]] std::string rows_name(Table table);

// Returns INSERT INTO ... FORMAT RowBinary with all stored_columns(table).
[[nodiscard]] std::string insert_statement(const Place& place, Table table);

[[nodiscard]] std::string create_database(const Place& place);

// Returns the statement that creates X_rows if it does not exist.
[[nodiscard]] std::string create_rows(const Place& place, Table table);

// An object is a view or table that can be dropped and created again without a loss.
struct Object {
    std::string name;
    std::string_view engine; // as system.tables has it
    std::string create;      // the statement, with IF NOT EXISTS
};

// Returns the objects in the order in which they are created.
[[nodiscard]] std::vector<Object> derived_objects(const Place& place);

// Creates the schema on one server, or upgrades an older one. No row is ever removed: tables with rows only get
// columns, and only views, which can be derived again, are dropped. Several programs may do this at the same time.
// place: its version is ignored, and the server asked for it. refused: a newer program made the schema, or something
// else uses its names; the text says what to do. What fails is thrown.
void migrate(Client& client, const Endpoint& endpoint, const Place& place);

} // namespace host::fleet::clickhouse
