// SPDX-License-Identifier: MIT
#include "host/sql/stored_tables.hpp"

#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/sql/utilisation_rows.hpp"

#include <span>
#include <utility>

namespace host::sql {

StoredRows* StoredTables::rows(Table table) {
    if (at(table) == nullptr) {
        want(table);
        if (table == Table::utilisation) {
            at(table) = utilisation(0);
        } else if (row_of(table).follows_events) {
            follow_events();
        } else {
            at(table) = std::make_unique<StoredRows>(table);
            const auto what = table == Table::tasks ? Source::FactsOf::events : Source::FactsOf::metadata;
            fact_rows(table, m_source.facts(what),
                      [this](Table of, std::span<const Cell> cells) { at(of)->add(cells); });
        }
        if (m_source.stopped()) {
            at(table).reset();
        }
    }
    return at(table).get();
}

// A pass of its own: it does not follow the schedule.
std::unique_ptr<StoredRows> StoredTables::utilisation(std::uint64_t window_ns) {
    auto rows = std::make_unique<StoredRows>(Table::utilisation);
    const RowSink sink = [&rows](Table /*table*/, std::span<const Cell> cells) { rows->add(cells); };
    UtilisationRows uses(sink, window_ns);
    const auto scan = m_source.scan({});
    for (trace::Event event; !uses.overflows() && m_source.take(*scan, event);) {
        uses.add(event, scan->facts().clock.khz);
    }
    if (m_source.stopped() || uses.overflows()) {
        return nullptr;
    }
    uses.finish(scan->facts().clock.khz);
    return rows;
}

StoredRows* StoredTables::windows(std::uint64_t window_ns) {
    std::unique_ptr<StoredRows>& rows = m_windows[window_ns];
    if (rows == nullptr) {
        rows = utilisation(window_ns);
    }
    return rows.get();
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
    const auto wants = [&rows](Table table) { return rows[static_cast<std::size_t>(table)] != nullptr; };
    ScheduleRows schedule(sink, wants(Table::jobs) || wants(Table::shares) || wants(Table::preemptions));
    const auto scan = m_source.scan({});
    for (trace::Event event; m_source.take(*scan, event);) {
        schedule.add(event, scan->facts());
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
