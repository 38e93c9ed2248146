// SPDX-License-Identifier: MIT
#include "fleet/local/schema.hpp"

#include "host/sql/filler.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace host::fleet::local {

namespace {

constexpr std::string_view kImages =
    "CREATE TABLE IF NOT EXISTS images(site TEXT, node TEXT, boot TEXT, cpu INTEGER, chunk INTEGER, "
    "generation INTEGER, bytes BLOB, UNIQUE(site, node, boot, cpu, chunk, generation))";

std::string_view declared(ColumnType type) {
    switch (type) {
    case ColumnType::text:
        return "TEXT NOT NULL DEFAULT ''";
    case ColumnType::optional_u8:
    case ColumnType::optional_u16:
    case ColumnType::optional_i64:
        return "INTEGER";
    case ColumnType::u8:
    case ColumnType::u16:
    case ColumnType::u32:
    case ColumnType::u64:
    case ColumnType::event:
        break;
    }
    return "INTEGER NOT NULL DEFAULT 0";
}

// The table has no row numbers: the key is long, and a separate index would store it a second time.
std::string create_table(Table table) {
    std::string columns;
    for (const Column& column : columns_of(table)) {
        columns += fmt::format("{} {}, ", column.name, declared(column.type));
    }
    return fmt::format("CREATE TABLE IF NOT EXISTS {}({}PRIMARY KEY ({})) WITHOUT ROWID", row_of(table).name, columns,
                       key_of(table));
}

lib::Result<void, StoreFailure> make_table(const Connection& connection, Table table) {
    if (auto made = connection.run(create_table(table)); !made) {
        return made;
    }
    auto names = connection.prepare(fmt::format("SELECT name FROM pragma_table_info('{}')", row_of(table).name));
    if (!names) {
        return names.error();
    }
    std::set<std::string, std::less<>> present;
    auto row = names.value().step();
    for (; row && row.value(); row = names.value().step()) {
        present.insert(names.value().bytes(0));
    }
    if (!row) {
        return row.error();
    }
    for (const Column& column : columns_of(table)) {
        if (present.contains(column.name)) {
            continue;
        }
        if (auto added = connection.run(
                fmt::format("ALTER TABLE {} ADD COLUMN {} {}", row_of(table).name, column.name, declared(column.type)));
            !added) {
            return added;
        }
    }
    return {};
}

struct Identity {
    std::int64_t application = 0;
    std::int64_t version = 0;
    std::int64_t tables = 0; // of any program, with views
};

lib::Result<Identity, StoreFailure> identity_of(const Connection& connection) {
    const auto application = connection.number("PRAGMA application_id");
    if (!application) {
        return application.error();
    }
    const auto version = connection.number("PRAGMA user_version");
    if (!version) {
        return version.error();
    }
    const auto tables = connection.number("SELECT count(*) FROM sqlite_schema");
    if (!tables) {
        return tables.error();
    }
    return Identity{.application = application.value(), .version = version.value(), .tables = tables.value()};
}

StoreFailure refuse(const std::string& path, std::string_view text) {
    return {lib::Error::refused, fmt::format("{}: {}", text::escaped(path), text)};
}

lib::Result<void, StoreFailure> check(const Identity& identity, const std::string& path) {
    if (identity.application != kApplicationId) {
        return refuse(path, "another program's database: name another directory");
    }
    if (identity.version > kSchemaVersion) {
        return refuse(path, fmt::format("a later remora made it (version {} of the tables, this one knows {}): use "
                                        "that one",
                                        identity.version, kSchemaVersion));
    }
    return {};
}

} // namespace

std::string column_names(Table table) {
    std::string names;
    for (const Column& column : columns_of(table)) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
    }
    return names;
}

lib::Result<void, StoreFailure> make_schema(const Connection& connection, const std::string& path) {
    auto transaction = Transaction::begin(connection);
    if (!transaction) {
        return transaction.error();
    }
    const auto identity = identity_of(connection);
    if (!identity) {
        return identity.error();
    }
    const bool fresh = identity.value().application == 0 && identity.value().tables == 0;
    if (auto checked = check(identity.value(), path); !fresh && !checked) {
        return checked;
    }
    for (std::size_t i = 0; i < kTables; ++i) {
        const auto table = static_cast<Table>(i);
        if (!is_stored(table)) {
            continue;
        }
        if (auto made = make_table(connection, table); !made) {
            return made;
        }
    }
    if (auto finished = connection.run(fmt::format("{}; PRAGMA application_id = {}; PRAGMA user_version = {}", kImages,
                                                   kApplicationId, kSchemaVersion));
        !finished) {
        return finished;
    }
    return transaction.value()->commit();
}

lib::Result<void, StoreFailure> check_schema(const Connection& connection, const std::string& path) {
    const auto identity = identity_of(connection);
    if (!identity) {
        return identity.error();
    }
    if (auto checked = check(identity.value(), path); !checked) {
        return checked;
    }
    if (identity.value().version < kSchemaVersion) {
        return refuse(path, "an earlier remora made it: `remora load --to` this directory changes it once");
    }
    return {};
}

namespace {

using sql::Cell;

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
        column_names(Table::worst_jobs), of_run, kWorstPerPart);
}

// The names need no escaping, because is_name() allows no quotes.
std::string condition_of(const Run& run) {
    return fmt::format("site = '{}' AND node = '{}' AND boot = '{}'", run.from.site, run.from.node,
                       boot_text(run.boot_id));
}

lib::Result<void, StoreFailure> remove_earlier(const Connection& connection, const std::string& of_run) {
    for (std::size_t i = 0; i < kTables; ++i) {
        const auto table = static_cast<Table>(i);
        if (!is_stored(table) || table == Table::chunks) {
            continue;
        }
        if (auto removed = connection.run(fmt::format("DELETE FROM {} WHERE {}", row_of(table).name, of_run));
            !removed) {
            return removed;
        }
    }
    return {};
}

lib::Result<void, StoreFailure> derive(const Connection& connection, const std::string& of_run) {
    for (const DerivedRow& row : kDerived) {
        if (auto derived = connection.run(fmt::format("INSERT INTO {}({}) SELECT site, node, boot, started_s, {}{}{}",
                                                      row_of(row.table).name, column_names(row.table), row.select,
                                                      of_run, row.group));
            !derived) {
            return derived;
        }
    }
    return connection.run(insert_worst(of_run));
}

// Removes the bytes of the chunks that the session lists. A chunk that is not in the session stays.
lib::Result<void, StoreFailure> remove_images(const Connection& connection, const std::string& of_run) {
    return connection.run(fmt::format("DELETE FROM images WHERE {0} AND (cpu, chunk, generation) IN (SELECT cpu, "
                                      "chunk, generation FROM listed WHERE described = 1 AND {0})",
                                      of_run));
}

// Inserts rows. After a failure it ignores further rows.
class Inserter {
  public:
    explicit Inserter(const Connection& connection)
        : m_connection(connection) {}

    void add(Table table, std::span<const Cell> cells) {
        Rows& rows = m_rows[static_cast<std::size_t>(table)];
        if (rows.types.empty()) {
            rows.types = columns_of(table);
            check(rows.insert.open(m_connection.handle(),
                                   fmt::format("{}({})", row_of(table).name, column_names(table)), rows.types.size()));
        }
        m_cells.clear();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            m_cells.push_back(cells[i].is_null() ? absent(rows.types[i].type) : cells[i]);
        }
        if (m_code == SQLITE_OK) {
            check(rows.insert.add(m_cells));
        }
    }

    [[nodiscard]] lib::Result<void, StoreFailure> result() const {
        return m_code == SQLITE_OK ? lib::Result<void, StoreFailure>() : m_failure;
    }

  private:
    struct Rows {
        sql::Insert insert;
        std::vector<Column> types; // empty: no row yet
    };

    // Returns the value that a column without NULL has instead.
    static Cell absent(ColumnType type) {
        switch (type) {
        case ColumnType::text:
            return Cell(std::string_view());
        case ColumnType::optional_u8:
        case ColumnType::optional_u16:
        case ColumnType::optional_i64:
            return {};
        case ColumnType::u8:
        case ColumnType::u16:
        case ColumnType::u32:
        case ColumnType::u64:
        case ColumnType::event:
            break;
        }
        return Cell(0);
    }

    void check(int code) {
        if (m_code == SQLITE_OK && code != SQLITE_OK) {
            m_code = code;
            m_failure = m_connection.failure(code);
        }
    }

    const Connection& m_connection;
    std::array<Rows, kTables> m_rows;
    std::vector<Cell> m_cells;
    int m_code = SQLITE_OK;
    StoreFailure m_failure;
};

lib::Result<void, StoreFailure> insert_rows(Inserter& inserter, const ReadSession& session) {
    if (const auto made =
            session.rows([&inserter](Table table, std::span<const Cell> cells) { inserter.add(table, cells); });
        !made) {
        return StoreFailure{lib::Error::corrupt, made.error().text};
    }
    return inserter.result();
}

} // namespace

lib::Result<void, StoreFailure> insert_session(const Connection& connection, const ReadSession& session) {
    auto transaction = Transaction::begin(connection);
    if (!transaction) {
        return transaction.error();
    }
    const std::string of_run = condition_of(session.run);
    Inserter inserter(connection);
    if (auto removed = remove_earlier(connection, of_run); !removed) {
        return removed;
    }
    if (auto inserted = insert_rows(inserter, session); !inserted) {
        return inserted;
    }
    if (auto derived = derive(connection, of_run); !derived) {
        return derived;
    }
    if (auto removed = remove_images(connection, of_run); !removed) {
        return removed;
    }
    return transaction.value()->commit();
}

} // namespace host::fleet::local
