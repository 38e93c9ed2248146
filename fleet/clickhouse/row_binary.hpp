// SPDX-License-Identifier: MIT
// Encodes rows in ClickHouse's format RowBinary: a number in its width, little-endian; a text after its length in
// groups of 7 bits; before the value of a column that can be NULL, one more byte. Events have an encoder of their own,
// because there are millions of them a second.
#pragma once

#include "fleet/store.hpp"
#include "fleet/tables.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace host::fleet::clickhouse {

// Appends a value. A number that the type cannot hold becomes the nearest one that it can. NULL becomes 0 or "" in a
// column without NULL.
void append_cell(std::string& rows, ColumnType type, const sql::Cell& cell);

void append_text(std::string& rows, std::string_view text);

// Encodes the rows of one chunk in `events`, in the columns in which they are stored (schema.hpp). Columns that are
// equal in all rows are encoded once.
class EventRows {
  public:
    explicit EventRows(const ReadChunk& chunk);

    void append(std::string& rows, std::span<const trace::Event> events);

    [[nodiscard]] std::uint64_t events() const { return m_events; }

  private:
    // Returns a number that differs among events of the chunk with equal ticks; 0 for the first of them.
    [[nodiscard]] std::uint16_t turn_of(std::uint64_t ticks);

    std::string m_prefix;
    std::uint64_t m_events = 0;
    std::uint64_t m_greatest_ticks = 0;
    std::uint16_t m_turn = 0; // of the last event with the greatest ticks
    std::uint16_t m_late = 0; // events with lower ticks
};

} // namespace host::fleet::clickhouse
