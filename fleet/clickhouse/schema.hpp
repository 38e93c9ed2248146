// SPDX-License-Identifier: MIT
// The schema in ClickHouse, derived from fleet/tables.hpp alone. Of each table X:
//
//   X_rows      ReplacingMergeTree: rows with the same key become one, at last when they are read FINAL
//   X           view of X_rows FINAL: what is queried
//   X_of_jobs   of a derived table: the materialised view that makes its rows of every block of rows of jobs
//
// In a cluster every shard has them, the view under the name X_here, and X is a Distributed table over those views: so
// each shard groups and filters its own rows. The shards have disjoint runs.
//
// Statements are valid from release 18.16 on; codecs and dictionaries of texts are used where the server has them.
#pragma once

#include "fleet/tables.hpp"

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

// "18.16.1"; what cannot be read is the oldest.
[[nodiscard]] Version version_of(std::string_view text);

// Where the schema is, and for which server.
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

// How a column of X is in X_rows.
enum class Storage : std::uint8_t {
    plain,
    // The view computes it: the end of an interval and of an interrupt is exactly its begin and its duration, and the
    // duration takes less space than a time.
    computed,
    // Column >> 16 and its lower 16 bits, as two columns, of times in tables with many rows: the compression without
    // codecs finds what numbers have in common byte by byte, and the upper part hardly changes from row to row.
    split,
};

[[nodiscard]] Storage storage_of(Table table, const Column& column);

// Of X_rows. An event is its code there: a name that is given to it later changes the view alone.
[[nodiscard]] std::vector<StoredColumn> stored_columns(Table table, Version version);

// `name` Type CODEC(...), as CREATE TABLE and ADD COLUMN want it.
[[nodiscard]] std::string declaration_of(const StoredColumn& column);

// Without the dictionary of texts: such columns differ in nothing that is asked.
[[nodiscard]] std::string_view plain_type(std::string_view type);

// Quoted, with the database: `fleet`.`jobs_rows`.
[[nodiscard]] std::string full_name(const Place& place, std::string_view name);
[[nodiscard]] std::string rows_name(Table table);

// INSERT INTO ... FORMAT RowBinary, of all stored_columns(table).
[[nodiscard]] std::string insert_statement(const Place& place, Table table);

[[nodiscard]] std::string create_database(const Place& place);

// X_rows, unless it is there.
[[nodiscard]] std::string create_rows(const Place& place, Table table);

// What can be dropped and made again without a loss.
struct Object {
    std::string name;
    std::string_view engine; // as system.tables has it
    std::string create;      // IF NOT EXISTS
};

// In the order in which they are made.
[[nodiscard]] std::vector<Object> derived_objects(const Place& place);

} // namespace host::fleet::clickhouse
