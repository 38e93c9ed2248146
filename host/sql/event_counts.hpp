// SPDX-License-Identifier: MIT
// Events counted by the columns that mostly follow from an event's code and processor. A query that uses no other
// column and groups by some of these, as in `select event, count(*) from events group by event`, sees one event after
// the other of a group without sorting the trace.
#pragma once

#include "host/sql/event_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace host::sql {

class EventCounts {
  public:
    static constexpr std::array kColumns = {EventColumn::cpu, EventColumn::family, EventColumn::code,
                                            EventColumn::event};

    // used: a bit for each column, as SQLite's colUsed.
    [[nodiscard]] static constexpr bool covers(std::uint64_t used) {
        for (const EventColumn column : kColumns) {
            used &= ~(std::uint64_t{1} << static_cast<unsigned>(column));
        }
        return used == 0;
    }

    void add(const trace::Event& event);

    // After the last event: to its first row. order: of the rows, all of kColumns.
    void start(std::span<const EventColumn> order);

    [[nodiscard]] bool at_end() const { return m_place == m_in_order.size(); }

    // To the next row.
    void next() {
        if (++m_row == m_in_order[m_place]->events) {
            m_row = 0;
            ++m_place;
        }
    }

    // Of the current row; column: one of kColumns. Valid while the object lives.
    [[nodiscard]] Cell cell(EventColumn column) const { return m_in_order[m_place]->cell(column); }

  private:
    struct Kind {
        std::int64_t cpu = 0;
        std::int64_t code = 0;
        std::string family;
        std::string event; // empty: NULL
        std::uint64_t events = 0;

        [[nodiscard]] Cell cell(EventColumn column) const;
    };

    [[nodiscard]] Kind& kind_of(const trace::Event& event);

    std::deque<Kind> m_kinds;
    std::unordered_map<std::uint32_t, Kind*> m_simple; // by processor and code
    std::map<std::tuple<std::int64_t, std::int64_t, std::string, std::string>, Kind*> m_named;
    std::vector<const Kind*> m_in_order;
    std::size_t m_place = 0;
    std::uint64_t m_row = 0; // of the kind
};

} // namespace host::sql
