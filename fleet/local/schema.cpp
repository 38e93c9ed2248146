// SPDX-License-Identifier: MIT
#include "fleet/local/schema.hpp"

#include "fleet/session_rows.hpp"
#include "fleet/tables.hpp"
#include "host/sql/filler.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace host::fleet::local {

namespace {

using sql::Cell;

constexpr std::int64_t kApplicationId = 0x524D'464C; // "RMFL"

constexpr int kCpuOfFormats = -1; // in `images`

constexpr std::string_view kImages =
    "CREATE TABLE IF NOT EXISTS images(site TEXT, node TEXT, boot TEXT, cpu INTEGER, chunk INTEGER, "
    "generation INTEGER, bytes BLOB, UNIQUE(site, node, boot, cpu, chunk, generation))";

// Returns the tables that are stored: all but that of the events.
std::vector<Table> stored_tables() {
    std::vector<Table> tables;
    for (std::size_t i = 0; i < kTables; ++i) {
        if (static_cast<Table>(i) != Table::events) {
            tables.push_back(static_cast<Table>(i));
        }
    }
    return tables;
}

// Returns "site, node, ...": all columns of a table, in their order.
std::string names_of(Table table) {
    return text::joined(columns_of(table), ", ", &Column::name);
}

std::string declared(const Column& column) {
    const TypeRow& type = row_of(column.type);
    return fmt::format("{} {}", column.name,
                       type.is_text()  ? "TEXT NOT NULL DEFAULT ''"
                       : type.optional ? "INTEGER"
                                       : "INTEGER NOT NULL DEFAULT 0");
}

// The table has no row numbers: the key is long, and a separate index would store it a second time.
void make_table(const Connection& connection, Table table) {
    const std::vector<Column> columns = columns_of(table);
    const std::string_view name = row_of(table).name;
    connection.run(fmt::format("CREATE TABLE IF NOT EXISTS {}({}, PRIMARY KEY ({})) WITHOUT ROWID", name,
                               text::joined(columns, ", ", declared), key_of(table)));
    const auto present = connection.query(fmt::format("SELECT name FROM pragma_table_info('{}')", name)).rows;
    for (const Column& column : columns) {
        if (std::ranges::find(present, std::vector<Value>{std::string(column.name)}) == present.end()) {
            connection.run(fmt::format("ALTER TABLE {} ADD COLUMN {}", name, declared(column)));
        }
    }
}

void refuse(const Connection& connection, std::string_view text) {
    throw StoreFailure{lib::Error::refused, fmt::format("{}: {}", text::escaped(connection.path()), text)};
}

// Returns the version of the tables. refused: the file is another program's, or of a later version.
std::int64_t version_of(const Connection& connection) {
    if (connection.number("PRAGMA application_id") != kApplicationId) {
        refuse(connection, "another program's database: name another directory");
    }
    const std::int64_t version = connection.number("PRAGMA user_version");
    if (version > kSchemaVersion) {
        refuse(connection, fmt::format("a later remora made it (version {} of the tables, this one knows {}): use that "
                                       "one",
                                       version, kSchemaVersion));
    }
    return version;
}

} // namespace

void make_schema(const Connection& connection) {
    Transaction transaction(connection);
    const bool fresh =
        connection.number("PRAGMA application_id") == 0 && connection.number("SELECT count(*) FROM sqlite_schema") == 0;
    if (!fresh) {
        static_cast<void>(version_of(connection));
    }
    for (const Table table : stored_tables()) {
        make_table(connection, table);
    }
    connection.run(fmt::format("{}; PRAGMA application_id = {}; PRAGMA user_version = {}", kImages, kApplicationId,
                               kSchemaVersion));
    transaction.commit();
}

void check_schema(const Connection& connection) {
    if (version_of(connection) < kSchemaVersion) {
        refuse(connection, "an earlier remora made it: `remora load --to` this directory changes it once");
    }
}

namespace {

struct DerivedRow {
    Table table;
    std::string_view select; // the rest of a query of `jobs`, after the columns of the run
    std::string_view group;
};

constexpr std::array<DerivedRow, 2> kDerived = {{
    {Table::task_minutes,
     "part, task, time_s / 60 * 60, count(*), coalesce(sum(missed), 0), "
     "max(CASE WHEN class_ns IS NOT NULL THEN response_ns END) FROM jobs WHERE ",
     " GROUP BY part, task, time_s / 60"},
    {Table::response_classes, "part, task, class_ns, count(*) FROM jobs WHERE class_ns IS NOT NULL AND ",
     " GROUP BY part, task, class_ns"},
}};

// Returns the statement that inserts the longest responses of each task in each part; among equal ones the earliest
// jobs.
std::string insert_worst(std::string_view of_run) {
    return fmt::format(
        "INSERT OR REPLACE INTO worst_jobs({0}) SELECT {0} FROM (SELECT site, node, boot, started_s, part, task, job, "
        "time_s, release_ns, end_ns, deadline_ns, response_ns, lateness_ns, coalesce(missed, 0) AS missed, outcome, "
        "row_number() OVER (PARTITION BY part, task ORDER BY response_ns DESC, job) AS place "
        "FROM jobs WHERE class_ns IS NOT NULL AND {1}) WHERE place <= {2}",
        names_of(Table::worst_jobs), of_run, kWorstPerPart);
}

void derive(const Connection& connection, const std::string& of_run) {
    for (const DerivedRow& row : kDerived) {
        connection.run(fmt::format("INSERT INTO {}({}) SELECT site, node, boot, started_s, {}{}{}",
                                   row_of(row.table).name, names_of(row.table), row.select, of_run, row.group));
    }
    connection.run(insert_worst(of_run));
}

// Inserts the rows of any table.
class Inserter {
  public:
    explicit Inserter(const Connection& connection)
        : m_connection(connection) {}

    void add(Table table, std::span<const Cell> cells) {
        Rows& rows = m_rows[static_cast<std::size_t>(table)];
        if (rows.columns.empty()) {
            rows.columns = columns_of(table);
            m_connection.check(rows.insert.open(m_connection.handle(),
                                                fmt::format("{}({})", row_of(table).name, names_of(table)),
                                                rows.columns.size()));
        }
        m_cells.clear();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            m_cells.push_back(cells[i].is_null() ? absent(row_of(rows.columns[i].type)) : cells[i]);
        }
        m_connection.check(rows.insert.add(m_cells));
    }

  private:
    struct Rows {
        sql::Insert insert;
        std::vector<Column> columns; // empty: no row yet
    };

    // Returns the value that a column without NULL has instead.
    static Cell absent(const TypeRow& type) {
        return type.is_text() ? Cell(std::string_view()) : type.optional ? Cell() : Cell(0);
    }

    const Connection& m_connection;
    std::array<Rows, kTables> m_rows;
    std::vector<Cell> m_cells;
};

} // namespace

std::string condition_of(const Run& run, const formats::dat::ChunkKey& key) {
    return fmt::format("{} AND cpu = {} AND chunk = {} AND generation = {}", condition_of(run), key.cpu, key.chunk,
                       key.generation);
}

void insert_chunks(const Connection& connection, std::span<const ReadChunk> chunks) {
    Transaction transaction(connection);
    Inserter inserter(connection);
    for (const ReadChunk& chunk : chunks) {
        const std::string condition = condition_of(chunk.run, chunk.key);
        if (connection.number(fmt::format("SELECT count(*) FROM chunks WHERE {}", condition)) != 0) {
            continue;
        }
        write_chunk(chunk, [&inserter](Table table, std::span<const Cell> cells) { inserter.add(table, cells); });
        connection.run(fmt::format("INSERT OR REPLACE INTO images SELECT site, node, boot, cpu, chunk, generation, ?1 "
                                   "FROM chunks WHERE {}",
                                   condition),
                       chunk.message->body);
    }
    transaction.commit();
}

std::string formats_condition_of(const Run& run) {
    return fmt::format("{} AND cpu = {}", condition_of(run), kCpuOfFormats);
}

void insert_formats(const Connection& connection, const Run& run, std::string_view text) {
    connection.run(fmt::format("INSERT OR REPLACE INTO images VALUES('{}', '{}', '{}', {}, 0, 0, ?1)", run.from.site,
                               run.from.node, boot_text(run.boot_id), kCpuOfFormats),
                   text);
}

void insert_session(const Connection& connection, const ReadSession& session) {
    Transaction transaction(connection);
    const std::string of_run = condition_of(session.run);
    for (const Table table : stored_tables()) {
        if (table != Table::chunks) {
            connection.run(fmt::format("DELETE FROM {} WHERE {}", row_of(table).name, of_run));
        }
    }
    Inserter inserter(connection);
    if (const auto made =
            session.rows([&inserter](Table table, std::span<const Cell> cells) { inserter.add(table, cells); });
        !made) {
        throw StoreFailure{lib::Error::corrupt, made.error().text};
    }
    derive(connection, of_run);
    // A chunk that is not in the session keeps its bytes.
    connection.run(fmt::format("DELETE FROM images WHERE {0} AND (cpu, chunk, generation) IN (SELECT cpu, chunk, "
                               "generation FROM listed WHERE described = 1 AND {0})",
                               of_run));
    connection.run(fmt::format("DELETE FROM images WHERE {}", formats_condition_of(session.run)));
    transaction.commit();
}

} // namespace host::fleet::local
