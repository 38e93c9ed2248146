// SPDX-License-Identifier: MIT
// How an exported file holds its events. Most of the 27 columns of `events` are empty, and what the others say of
// names and words, few events say in a way of their own: an event is a row of numbers and the number of its kind, which
// has the columns that all events of the kind share; the view `events` puts the published columns together. It is no
// reader: `remora sql` computes the same columns from the trace.
#pragma once

#include "host/sql/cell.hpp"
#include "host/sql/event_columns.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace host::convert::table {

class StoredEvents {
  public:
    // The tables below the view. A row of `late` belongs to `rows`, but its time is below that of an earlier one.
    enum class Part : std::uint8_t { rows, kinds, late };

    struct PartRow {
        std::string_view name;
        std::string_view columns; // as `create table` wants them
        int count;
    };

    // In the order of the enumeration. pid, signal and timer of a kind: the parameter that has the number, 1 or 2. The
    // text of the parameters is `words`, par1 if `shows` & 1, `more`, par2 if `shows` & 2; or that of the row.
    static constexpr std::array<PartRow, 2> kParts = {{
        {"event_rows",
         "time_ns INTEGER, turn INTEGER, ticks INTEGER, cpu INTEGER, chunk INTEGER, record INTEGER, kind INTEGER, "
         "par1 INTEGER, par2 INTEGER, parameters TEXT, payload TEXT",
         11},
        {"event_kinds",
         "id INTEGER PRIMARY KEY, family TEXT, code INTEGER, event TEXT, state TEXT, context INTEGER, task TEXT, "
         "pid INTEGER, level TEXT, vector INTEGER, interrupt TEXT, mutex TEXT, semaphore TEXT, condition TEXT, "
         "port TEXT, server TEXT, signal INTEGER, timer INTEGER, wait TEXT, is_foreign INTEGER, is_timed INTEGER, "
         "words TEXT, more TEXT, shows INTEGER",
         24},
    }};

    // The key of event_rows: the number of an event among those of its time comes after that.
    static constexpr std::string_view kKey = "PRIMARY KEY(time_ns, turn)";

    // Columns of event_rows that others than SQLite read.
    enum class RowColumn : std::uint8_t { time_ns = 0, turn = 1, kind = 6 };

    // The view `events`, with the columns of sql::kEventColumnRows; of the events so far.
    [[nodiscard]] std::string create_view() const;

    // Takes a row; the cells are valid during the call.
    using Sink = std::function<void(Part part, std::span<const sql::Cell> cells)>;

    explicit StoredEvents(Sink sink);

    void add(const trace::Event& event);

  private:
    // What the columns of a kind follow from.
    struct Key {
        std::uint64_t what = 0;    // code, state, values of parameters
        std::uint64_t version = 0; // of the names
        std::string name;          // of an event that is in no row of the event table, else empty

        bool operator==(const Key&) const = default;
    };

    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    // Of a code: how its parameters are stored.
    struct Plan {
        std::uint8_t kept = 0;  // bit 0, 1: par1, par2 distinguish kinds
        std::uint8_t shown = 0; // likewise: their digits are in the text of the row's parameters
        bool in_row = false;    // the row has the text, which hardly any other event has
    };

    // Of an event: its place in event_rows.
    struct Place {
        Part part;
        std::int64_t time_ns;
        std::int64_t turn;
    };

    [[nodiscard]] Place place_of(const trace::Event& event);
    [[nodiscard]] std::int64_t kind_of(const trace::Event& event);
    void add_kind(const trace::Event& event, std::int64_t id);

    Sink m_sink;
    std::array<Plan, 256> m_plans{}; // by code
    std::unordered_map<Key, std::int64_t, Hash> m_kinds;
    std::int64_t m_last_kind = 0;
    std::int64_t m_time_ns = std::numeric_limits<std::int64_t>::min(); // the greatest
    std::int64_t m_turn = 0;                                           // of the latest event of that time
    std::int64_t m_late = 0;                                           // events
    bool m_all_timed = true;
    std::string m_parameters;
    std::string m_payload;
};

} // namespace host::convert::table
