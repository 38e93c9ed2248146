// SPDX-License-Identifier: MIT
// Fills the tables of a SQLite database with the rows of a trace. `remora sql` and `remora convert --to sqlite` share
// it, so a table has the same rows in both.
#pragma once

#include "host/sql/schedule_rows.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace host::sql {

// Inserts rows into one table by a prepared statement. All calls return SQLite's code. The database outlives the object
// or its close().
class Insert {
  public:
    // table: its name, followed by the names of the columns in brackets unless all are inserted in their order.
    [[nodiscard]] int open(sqlite3* database, std::string_view table, std::size_t columns);

    [[nodiscard]] int add(std::span<const Cell> cells);

    void close() { m_statement.reset(); }

  private:
    struct Finalizer {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    std::unique_ptr<sqlite3_stmt, Finalizer> m_statement;
};

// Return the statements that create tables, their indices and the views over all tables.
[[nodiscard]] std::string create_tables(TableSet tables);
[[nodiscard]] std::string create_indices(TableSet tables);
[[nodiscard]] std::string create_views();

// Makes the rows of those of the tables that follow from the trace's metadata: tasks, names, chunks, meta. facts: of
// the whole trace.
void add_fact_rows(TableSet tables, const trace::TraceFacts& facts, const RowSink& sink);

class Filler {
  public:
    // The tables exist and are empty. The database outlives the filler.
    Filler(sqlite3* database, TableSet tables);
    Filler(const Filler&) = delete;
    Filler& operator=(const Filler&) = delete;

    // Takes the events in time order. facts: of the trace, as far as they are known.
    void add(const trace::Event& event, const trace::TraceFacts& facts) {
        if (m_schedule) {
            m_schedule->add(event, facts);
        }
        if (m_utilisation) {
            m_utilisation->add(event, facts.clock.khz);
        }
    }

    // Inserts what the end of the trace completes. facts: of the whole trace.
    void finish(const trace::TraceFacts& facts);

    // Returns SQLite's first error, or SQLITE_OK. After an error nothing is inserted.
    [[nodiscard]] int code() const { return m_code; }

  private:
    [[nodiscard]] bool fills(Table table) const { return m_tables[static_cast<std::size_t>(table)]; }

    void insert(Table table, std::span<const Cell> cells);

    TableSet m_tables;
    std::array<Insert, kTables> m_inserts;
    int m_code = SQLITE_OK;
    RowSink m_sink = [this](Table table, std::span<const Cell> cells) { insert(table, cells); };
    std::optional<ScheduleRows> m_schedule;       // if one of its tables is filled
    std::optional<UtilisationRows> m_utilisation; // if that table is filled
};

} // namespace host::sql
