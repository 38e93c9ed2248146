// SPDX-License-Identifier: MIT
// A SQLite database: the view `events` over what stored_events.hpp says, and the tables of host/sql/tables.hpp, so that
// a trace can be queried with any client. One transaction; indices made at the end: an index that exists while rows
// arrive costs more than one made of them, but that of times, for they arrive in its order. No journal: until it is
// complete no other program uses the file, and a failure removes it. Source: sqlite.org, "C-language Interface
// Specification" and "PRAGMA Statements".
#include "host/convert/rows.hpp"
#include "host/convert/table/batch_insert.hpp"
#include "host/convert/table/stored_events.hpp"
#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/sql/utilisation_rows.hpp"
#include "host/sql/views.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <sqlite3.h>
#include <utility>

namespace host::convert::table {

namespace {

using sql::Cell;
using sql::Table;

constexpr std::string_view kIndices = "CREATE INDEX events_by_kind ON event_rows(kind);"
                                      "CREATE INDEX jobs_by_task ON jobs(task, release_ns);"
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
        , m_stored([this](StoredEvents::Part part, std::span<const Cell> cells) {
            insert(m_parts[static_cast<std::size_t>(part)], cells);
        }) {}

    ~Sqlite() override { close(); }

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_facts = &survey->facts;
        constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // counts under a lock; too late if SQLite was used before
        check(sqlite3_open_v2(m_destination.partial_path().c_str(), &m_database, kFlags, nullptr));
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA encoding = 'UTF-8'; "
            "PRAGMA page_size = 16384; PRAGMA mmap_size = 1099511627776; PRAGMA analysis_limit = 1000; BEGIN;");
        for (std::size_t i = 0; i < StoredEvents::kParts.size(); ++i) {
            const StoredEvents::PartRow& part = StoredEvents::kParts[i];
            make_table(part.name, part.columns, part.count, m_parts[i]);
        }
        run("CREATE INDEX events_by_time ON event_rows(time_ns);");
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
        finish(m_parts);
        finish(m_tables);
        run(kIndices);
        run(StoredEvents::create_view());
        run(sql::create_views());
        run("ANALYZE; COMMIT;");
        auto outcome = result();
        close();
        return outcome;
    }

  private:
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

    template <std::size_t N>
    void finish(std::array<BatchInsert, N>& tables) {
        for (BatchInsert& rows : tables) {
            if (m_error == SQLITE_OK) {
                check(rows.finish());
            }
            rows.close();
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
        std::ranges::for_each(m_parts, &BatchInsert::close);
        std::ranges::for_each(m_tables, &BatchInsert::close);
        check(sqlite3_close(std::exchange(m_database, nullptr)));
    }

    Destination& m_destination;
    sqlite3* m_database = nullptr;
    std::array<BatchInsert, StoredEvents::kParts.size()> m_parts;
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
