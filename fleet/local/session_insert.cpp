// SPDX-License-Identifier: MIT
#include "fleet/local/session_insert.hpp"

#include "fleet/local/schema.hpp"
#include "host/sql/filler.hpp"
#include "host/text/format.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace host::fleet::local {

namespace {

using sql::Cell;

struct DerivedRow {
    Table table;
    std::string_view select; // after the columns of the run; of `jobs`
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

// The longest responses of each task in each part; of equal ones the earliest jobs.
std::string insert_worst(std::string_view of_run) {
    return fmt::format(
        "INSERT OR REPLACE INTO worst_jobs({0}) SELECT {0} FROM (SELECT site, node, boot, started_s, part, task, job, "
        "time_s, release_ns, end_ns, deadline_ns, response_ns, lateness_ns, coalesce(missed, 0) AS missed, outcome, "
        "row_number() OVER (PARTITION BY part, task ORDER BY response_ns DESC, job) AS place "
        "FROM jobs WHERE class_ns IS NOT NULL AND {1}) WHERE place <= {2}",
        column_names(Table::worst_jobs), of_run, kWorstPerPart);
}

// Names have no quotes: is_name().
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

// A chunk that came after the session was stored, and is not in it, stays.
lib::Result<void, StoreFailure> remove_images(const Connection& connection, const std::string& of_run) {
    return connection.run(fmt::format("DELETE FROM images WHERE {0} AND (cpu, chunk, generation) IN (SELECT cpu, "
                                      "chunk, generation FROM listed WHERE described = 1 AND {0})",
                                      of_run));
}

// Inserts rows. After a failure it takes none.
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

    // What a column without NULL has instead.
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
