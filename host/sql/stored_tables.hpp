// SPDX-License-Identifier: MIT
// The tables beside `events`, in memory once a statement needs them. One pass over the trace fills all tables that
// follow from its events and that the statement names, so a join reads the trace once.
#pragma once

#include "host/sql/source.hpp"
#include "host/sql/stored_rows.hpp"
#include "host/sql/tables.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace host::sql {

class StoredTables {
  public:
    // source outlives the tables.
    explicit StoredTables(Source& source)
        : m_source(source) {}

    StoredTables(const StoredTables&) = delete;
    StoredTables& operator=(const StoredTables&) = delete;

    // What was wanted before is not, unless it is in memory.
    void begin_statement() { m_wanted = {}; }

    // The statement that is being prepared names this table.
    void want(Table table) { m_wanted[static_cast<std::size_t>(table)] = true; }

    // Null if the source was stopped before all rows were known.
    [[nodiscard]] StoredRows* rows(Table table);

    // The rows of `utilisation` for windows of this length. Null if the source was stopped, or there are too many.
    [[nodiscard]] StoredRows* windows(std::uint64_t window_ns);

    [[nodiscard]] bool stopped() const { return m_source.stopped(); }

    // How many rows the table has, about.
    [[nodiscard]] double rows_estimate(Table table) const;

  private:
    [[nodiscard]] std::unique_ptr<StoredRows> utilisation(std::uint64_t window_ns);
    void follow_events();

    [[nodiscard]] std::unique_ptr<StoredRows>& at(Table table) { return m_rows[static_cast<std::size_t>(table)]; }

    Source& m_source;
    std::array<bool, kTables> m_wanted{};
    std::array<std::unique_ptr<StoredRows>, kTables> m_rows;
    std::map<std::uint64_t, std::unique_ptr<StoredRows>> m_windows; // of utilisation, by length
};

} // namespace host::sql
