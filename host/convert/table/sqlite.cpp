// SPDX-License-Identifier: MIT
// A SQLite database: the table `events` and the tables of host/sql/tables.hpp, so that a trace can be queried with any
// client. One transaction, statements prepared once, indices made at the end: an index that exists while rows arrive
// costs more than one made of them. No journal: until it is complete no other program uses the file, and a failure
// removes it. Most columns of most events are NULL: of a plain record only those are computed that its code fills, and
// texts are not copied before the row is stored. Source: sqlite.org, "C-language Interface Specification" and "PRAGMA
// Statements".
#include "host/convert/event_words.hpp"
#include "host/convert/rows.hpp"
#include "host/sql/event_columns.hpp"
#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/sql/views.hpp"
#include "host/trace/foreign.hpp"

#include <array>
#include <bit>
#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>

namespace host::convert::table {

namespace {

using sql::Cell;
using sql::EventColumn;
using sql::Table;

constexpr std::string_view kIndices = "CREATE INDEX events_by_time ON events(time_ns);"
                                      "CREATE INDEX events_by_event ON events(event, time_ns);"
                                      "CREATE INDEX events_by_task ON events(task, time_ns) WHERE task IS NOT NULL;"
                                      "CREATE INDEX jobs_by_task ON jobs(task, release_ns);"
                                      "CREATE INDEX intervals_by_task ON intervals(task, begin_ns);"
                                      "CREATE INDEX intervals_by_time ON intervals(begin_ns);"
                                      "CREATE INDEX interrupts_by_time ON interrupts(begin_ns);";

std::string placeholders(int count) {
    std::string text = "?";
    for (int i = 1; i < count; ++i) {
        text += ",?";
    }
    return text;
}

class Sqlite final : public Writer {
  public:
    explicit Sqlite(Destination& destination)
        : m_destination(destination)
        , m_sink([this](Table table, std::span<const Cell> cells) {
            insert(m_tables[static_cast<std::size_t>(table)], cells);
        })
        , m_schedule(m_sink) {}

    ~Sqlite() override { close(); }

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_khz = survey->facts.clock.khz;
        constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // counts under a lock; too late if SQLite was used before
        check(sqlite3_open_v2(m_destination.partial_path().c_str(), &m_database, kFlags, nullptr));
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA encoding = 'UTF-8'; "
            "PRAGMA page_size = 16384; PRAGMA mmap_size = 1099511627776; PRAGMA analysis_limit = 1000; BEGIN;");
        std::string columns;
        for (const sql::ColumnRow& column : sql::kEventColumnRows) {
            columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.name, column.type);
        }
        make_table("events", columns, sql::kEventColumns, m_events);
        for (std::size_t i = 0; i < sql::kTables; ++i) {
            const auto table = static_cast<Table>(i);
            make_table(sql::row_of(table).name, sql::row_of(table).columns,
                       static_cast<std::size_t>(sql::column_count(table)), m_tables[i]);
        }
        return result();
    }

    void add(const trace::Event& event) override {
        const bool plain = is_plain(event);
        const std::uint32_t known = plain ? m_filled[event.code] : 0;
        std::uint32_t filled = kAlwaysAsked;
        sqlite3_clear_bindings(m_events);
        for (std::uint32_t rest = known != 0 ? known : kAllColumns; rest != 0; rest &= rest - 1) {
            const auto column = static_cast<std::size_t>(std::countr_zero(rest));
            const Cell cell = plain && column == static_cast<std::size_t>(EventColumn::parameters)
                                  ? Cell::named(m_words.of(event))
                                  : event_cell(event, static_cast<EventColumn>(column), m_scratch[column]);
            if (!cell.is_null()) {
                cell.bind(m_events, static_cast<int>(column) + 1);
                filled |= 1U << column;
            }
        }
        if (plain) {
            m_filled[event.code] = filled;
        }
        step(m_events);
        m_schedule.add(event, m_khz);
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        m_schedule.finish(facts.names);
        for (const Table table : {Table::tasks, Table::names, Table::chunks, Table::meta}) {
            sql::fact_rows(table, facts, m_sink);
        }
        run(kIndices);
        run(sql::create_views());
        run("ANALYZE; COMMIT;");
        auto outcome = result();
        close();
        return outcome;
    }

  private:
    static constexpr std::uint32_t kAllColumns = (1U << sql::kEventColumns) - 1;
    // Whether they are filled depends on more than the code.
    static constexpr std::uint32_t kAlwaysAsked =
        ((1U << static_cast<unsigned>(EventColumn::context)) - 1) | (1U << static_cast<unsigned>(EventColumn::wait));

    // Its code says which of the other columns it fills.
    static bool is_plain(const trace::Event& event) {
        return event.row != nullptr && event.is_sound() && event.row->shape == tracer::Shape::simple &&
               event.payload.empty() && !trace::is_foreign(event);
    }

    void make_table(std::string_view name, std::string_view columns, std::size_t count, sqlite3_stmt*& statement) {
        run(fmt::format("CREATE TABLE {}({});", name, columns));
        if (m_error != SQLITE_OK) {
            return;
        }
        const std::string text = fmt::format("INSERT INTO {} VALUES({})", name, placeholders(static_cast<int>(count)));
        check(sqlite3_prepare_v3(m_database, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    }

    void insert(sqlite3_stmt* statement, std::span<const Cell> cells) {
        int place = 0;
        for (const Cell& cell : cells) {
            cell.bind(statement, ++place);
        }
        step(statement);
    }

    // The first error is kept; after it nothing is tried any more.
    void check(int code) {
        if (m_error == SQLITE_OK && code != SQLITE_OK && code != SQLITE_DONE) {
            m_error = code;
            m_reason = m_database != nullptr ? sqlite3_errmsg(m_database) : sqlite3_errstr(code);
        }
    }

    void step(sqlite3_stmt* statement) {
        if (m_error == SQLITE_OK) {
            check(sqlite3_step(statement));
            sqlite3_reset(statement);
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
        sqlite3_finalize(std::exchange(m_events, nullptr));
        for (sqlite3_stmt*& statement : m_tables) {
            sqlite3_finalize(std::exchange(statement, nullptr));
        }
        check(sqlite3_close(std::exchange(m_database, nullptr)));
    }

    Destination& m_destination;
    sqlite3* m_database = nullptr;
    sqlite3_stmt* m_events = nullptr;
    std::array<sqlite3_stmt*, sql::kTables> m_tables{};
    int m_error = SQLITE_OK;
    std::string m_reason;
    std::array<std::uint32_t, 256> m_filled{}; // columns, a bit each, by code; 0: not yet known
    std::array<std::string, sql::kEventColumns> m_scratch;
    EventWords m_words;
    std::uint32_t m_khz = 0;
    sql::RowSink m_sink;
    sql::ScheduleRows m_schedule;
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
