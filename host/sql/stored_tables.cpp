// SPDX-License-Identifier: MIT
#include "host/sql/stored_tables.hpp"

#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"

#include <span>
#include <utility>

namespace host::sql {

StoredRows* StoredTables::rows(Table table) {
    if (at(table) == nullptr) {
        want(table);
        if (row_of(table).follows_events) {
            follow_events();
        } else {
            at(table) = std::make_unique<StoredRows>(table);
            fact_rows(table, m_source.facts(), [this](Table of, std::span<const Cell> cells) { at(of)->add(cells); });
        }
        if (m_source.stopped()) {
            at(table).reset();
        }
    }
    return at(table).get();
}

void StoredTables::follow_events() {
    std::array<std::unique_ptr<StoredRows>, kTables> rows;
    for (std::size_t i = 0; i < kTables; ++i) {
        if (m_wanted[i] && m_rows[i] == nullptr && kTableRows[i].follows_events) {
            rows[i] = std::make_unique<StoredRows>(static_cast<Table>(i));
        }
    }
    const RowSink sink = [&rows](Table of, std::span<const Cell> cells) {
        if (StoredRows* const kept = rows[static_cast<std::size_t>(of)].get(); kept != nullptr) {
            kept->add(cells);
        }
    };
    ScheduleRows schedule(sink);
    const auto scan = m_source.scan({});
    for (trace::Event event; m_source.take(*scan, event);) {
        schedule.add(event, scan->facts().clock.khz);
    }
    schedule.finish(scan->facts().names);
    for (std::size_t i = 0; i < kTables; ++i) {
        if (rows[i] != nullptr && !m_source.stopped()) {
            m_rows[i] = std::move(rows[i]);
        }
    }
}

double StoredTables::rows_estimate(Table table) const {
    constexpr double kSmall = 100;
    constexpr double kEventsPerRow = 20;
    if (const StoredRows* const known = m_rows[static_cast<std::size_t>(table)].get(); known != nullptr) {
        return known->size();
    }
    return kSmall +
           (row_of(table).follows_events ? static_cast<double>(m_source.records_estimate()) / kEventsPerRow : 0);
}

} // namespace host::sql
