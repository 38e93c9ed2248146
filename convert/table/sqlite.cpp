// SPDX-License-Identifier: MIT
// A SQLite database: the view `events` over what stored_events.hpp says, and the tables of host/sql/tables.hpp, so that
// a trace can be queried with any client. SQLite makes the file and all tables but the events, whose pages are appended
// to it after that (event_trees.hpp); events that are late, or long, SQLite inserts then. Indices are made at the end:
// an index that exists while rows arrive costs more than one made of them. No journal: until it is complete no other
// program uses the file, and a failure removes it. Source: sqlite.org, "C-language Interface Specification" and "PRAGMA
// Statements".
#include "convert/rows.hpp"
#include "convert/table/batch_insert.hpp"
#include "convert/table/event_trees.hpp"
#include "convert/table/stored_events.hpp"
#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/sql/utilisation_rows.hpp"
#include "host/sql/views.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sqlite3.h>
#include <utility>

namespace host::convert::table {

namespace {

using sql::Cell;
using sql::Table;

constexpr std::string_view kIndices = "CREATE INDEX jobs_by_task ON jobs(task, release_ns);"
                                      "CREATE INDEX shares_by_job ON shares(context, job);"
                                      "CREATE INDEX intervals_by_task ON intervals(task, begin_ns);"
                                      "CREATE INDEX intervals_by_time ON intervals(begin_ns);"
                                      "CREATE INDEX interrupts_by_time ON interrupts(begin_ns);";

class Sqlite final : public Writer {
  public:
    explicit Sqlite(Destination& destination)
        : m_destination(destination)
        , m_sink([this](Table table, std::span<const Cell> cells) {
            insert(m_tables[static_cast<std::size_t>(table)], cells);
        })
        , m_schedule(m_sink)
        , m_utilisation(m_sink)
        , m_stored([this](StoredEvents::Part part, std::span<const Cell> cells) { insert_part(part, cells); }) {}

    ~Sqlite() override { close(); }

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_facts = &survey->facts;
        auto trees = EventTrees::create();
        if (!trees) {
            return Failure{failure_of(trees.error()).cause, "no temporary file can be made: see TMPDIR"};
        }
        m_trees = std::move(trees.value());
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // counts under a lock; too late if SQLite was used before
        open();
        const auto& [rows, kinds] = StoredEvents::kParts;
        run(fmt::format("CREATE TABLE {}({}, {}) WITHOUT ROWID; CREATE INDEX events_by_kind ON {}(kind);", rows.name,
                        rows.columns, StoredEvents::kKey, rows.name));
        make_table(kinds.name, kinds.columns, kinds.count, m_kinds);
        for (std::size_t i = 0; i < sql::kTables; ++i) {
            const auto table = static_cast<Table>(i);
            make_table(sql::row_of(table).name, sql::row_of(table).columns, sql::column_count(table), m_tables[i]);
        }
        return result();
    }

    void add(const trace::Event& event) override {
        m_stored.add(event);
        m_schedule.add(event, *m_facts);
        m_utilisation.add(event, m_facts->clock.khz);
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        m_schedule.finish(facts.names);
        m_utilisation.finish(m_facts->clock.khz);
        for (const Table table : {Table::tasks, Table::names, Table::chunks, Table::meta}) {
            sql::fact_rows(table, facts, m_sink);
        }
        check(m_kinds.finish());
        check(m_late.finish());
        std::ranges::for_each(m_tables, [this](BatchInsert& rows) { check(rows.finish()); });
        run(kIndices);
        run(m_stored.create_view());
        run(sql::create_views());
        const EventTrees::Place place{
            .pages = number("PRAGMA page_count"),
            .rows_root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'event_rows'"),
            .kinds_root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_kind'")};
        run("COMMIT;");
        close();
        if (m_error == SQLITE_OK) {
            if (const auto stored = m_trees.append_to(m_destination.partial_path(), place); !stored) {
                return failure_of(stored.error());
            }
            open();
            if (m_has_late) {
                run(fmt::format("INSERT INTO {} SELECT * FROM {}; DROP TABLE {};", StoredEvents::kParts[0].name, kLate,
                                kLate));
            }
            // Large entries of an index make SQLite read the table where it reads all: then rows come in its order.
            run("ANALYZE; UPDATE sqlite_stat1 SET stat = stat || ' sz=1000' WHERE idx = 'events_by_kind'; COMMIT;");
        }
        auto outcome = result();
        close();
        return outcome;
    }

  private:
    static constexpr std::string_view kLate = "late_rows";

    void open() {
        constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        check(sqlite3_open_v2(m_destination.partial_path().c_str(), &m_database, kFlags, nullptr));
        run(fmt::format("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA encoding = 'UTF-8'; "
                        "PRAGMA page_size = {}; PRAGMA mmap_size = 1099511627776; PRAGMA analysis_limit = 1000; BEGIN;",
                        IndexTree::kPageBytes));
    }

    void insert_part(StoredEvents::Part part, std::span<const Cell> cells) {
        if (part == StoredEvents::Part::kinds) {
            insert(m_kinds, cells);
        } else if (part == StoredEvents::Part::late || !m_trees.add(cells)) {
            if (!std::exchange(m_has_late, true)) {
                const StoredEvents::PartRow& rows = StoredEvents::kParts[0];
                make_table(kLate, rows.columns, rows.count, m_late);
            }
            insert(m_late, cells);
        }
    }

    // What a query for one number finds.
    std::uint32_t number(const char* query) {
        std::uint32_t found = 0;
        const auto take = [](void* to, int, char** values, char**) {
            *static_cast<std::uint32_t*>(to) = static_cast<std::uint32_t>(std::strtoul(values[0], nullptr, 10));
            return 0;
        };
        if (m_error == SQLITE_OK) {
            check(sqlite3_exec(m_database, query, take, &found, nullptr));
        }
        return found;
    }

    void make_table(std::string_view name, std::string_view columns, int count, BatchInsert& rows) {
        run(fmt::format("CREATE TABLE {}({});", name, columns));
        if (m_error == SQLITE_OK) {
            check(rows.open(m_database, name, count));
        }
    }

    void insert(BatchInsert& rows, std::span<const Cell> cells) {
        if (m_error == SQLITE_OK) {
            check(rows.add(cells));
        }
    }

    // The first error is kept; after it nothing is tried any more.
    void check(int code) {
        if (m_error == SQLITE_OK && code != SQLITE_OK && code != SQLITE_DONE) {
            m_error = code;
            m_reason = m_database != nullptr ? sqlite3_errmsg(m_database) : sqlite3_errstr(code);
        }
    }

    void run(std::string_view text) {
        if (m_error == SQLITE_OK) {
            check(sqlite3_exec(m_database, std::string(text).c_str(), nullptr, nullptr, nullptr));
        }
    }

    [[nodiscard]] lib::Result<void, Failure> result() const {
        if (m_error == SQLITE_OK) {
            return {};
        }
        return Failure{(m_error & 0xFF) == SQLITE_FULL ? Fault::no_space : Fault::unusable, m_reason};
    }

    void close() {
        m_kinds.close();
        m_late.close();
        std::ranges::for_each(m_tables, &BatchInsert::close);
        check(sqlite3_close(std::exchange(m_database, nullptr)));
    }

    Destination& m_destination;
    sqlite3* m_database = nullptr;
    BatchInsert m_kinds;
    BatchInsert m_late; // events that SQLite inserts
    bool m_has_late = false;
    EventTrees m_trees;
    std::array<BatchInsert, sql::kTables> m_tables;
    int m_error = SQLITE_OK;
    std::string m_reason;
    const trace::TraceFacts* m_facts = nullptr; // of the whole trace
    sql::RowSink m_sink;
    sql::ScheduleRows m_schedule;
    sql::UtilisationRows m_utilisation;
    StoredEvents m_stored;
};

} // namespace

const FormatRow kSqliteRow = {
    .name = "sqlite",
    .suffix = ".sqlite",
    .meaning = "a SQLite database of events, tasks, jobs and intervals, for queries; see also `remora sql`",
    .shape = Destination::Shape::library_file,
    .needs_survey = true,
    .make = make_writer<Sqlite>,
};

} // namespace host::convert::table
