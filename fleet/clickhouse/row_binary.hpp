// SPDX-License-Identifier: MIT
// Rows as ClickHouse's format RowBinary has them: numbers in their width, least byte first; a text after its length in
// groups of 7 bits; of a column that can be NULL one byte more before it. Events have an encoder of their own: there
// are millions of them a second.
#pragma once

#include "fleet/store.hpp"
#include "fleet/tables.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::clickhouse {

// What a column of this type cannot hold becomes the nearest that it can. NULL in one that has none is 0 or "".
void append_cell(std::string& rows, ColumnType type, const sql::Cell& cell);

void append_text(std::string& rows, std::string_view text);

// The row of a chunk in `chunks`.
void append_chunk(std::string& rows, const ReadChunk& chunk);

// The rows of one chunk in `events`, in the columns in which they are stored (schema.hpp): those columns that are the
// same in all of them are encoded once.
class EventRows {
  public:
    explicit EventRows(const ReadChunk& chunk);

    void append(std::string& rows, std::span<const trace::Event> events);

    [[nodiscard]] std::uint64_t events() const { return m_events; }

  private:
    // Another one for each event of the chunk with the same ticks: 0, unless there are several.
    [[nodiscard]] std::uint16_t turn_of(std::uint64_t ticks);

    std::string m_prefix;
    std::uint64_t m_events = 0;
    std::uint64_t m_greatest_ticks = 0;
    std::uint16_t m_turn = 0; // of the last event with them
    std::uint16_t m_late = 0; // events with less
};

} // namespace host::fleet::clickhouse
