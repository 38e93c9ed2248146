// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/row_binary.hpp"

#include "host/formats/dat/manifest.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <limits>

namespace host::fleet::clickhouse {

namespace {

// Turns of events that are not in the order of their ticks begin here. To count the earlier events with the same ticks,
// all events would have to be compared; a turn only has to be different.
constexpr std::uint16_t kLateTurns = 0x8000;

template <std::unsigned_integral T>
void append_number(std::string& rows, T number) {
    std::array<std::byte, sizeof(T)> bytes{};
    lib::store_le(std::span(bytes), number);
    rows.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); // NOLINT(*-reinterpret-cast)
}

void append_size(std::string& rows, std::size_t size) {
    for (; size >= 0x80; size >>= 7) {
        rows += static_cast<char>(0x80 | (size & 0x7F));
    }
    rows += static_cast<char>(size);
}

template <std::unsigned_integral T>
void append_bounded(std::string& rows, const sql::Cell& cell) {
    const auto most = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max()));
    append_number(rows, static_cast<T>(std::clamp<std::int64_t>(cell.number().value_or(0), 0, most)));
}

// Appends the byte before a value that can be NULL. Returns false if no value follows.
bool append_presence(std::string& rows, const sql::Cell& cell) {
    rows += cell.number() ? '\0' : '\1';
    return cell.number().has_value();
}

template <typename... Values>
void append_cells(std::string& rows, std::span<const Column> columns, const Values&... values) {
    std::size_t place = 0;
    (append_cell(rows, columns[place++].type, values), ...);
}

sql::Cell of(std::string_view text) {
    return sql::Cell(text);
}

// Builds a row of numbers before it is appended to the buffer.
class Row {
  public:
    template <std::unsigned_integral T>
    void add(T number) {
        lib::store_le(std::span(m_bytes).subspan(m_size), number);
        m_size += sizeof(T);
    }

    [[nodiscard]] std::string_view view() const {
        return {reinterpret_cast<const char*>(m_bytes.data()), m_size}; // NOLINT(*-reinterpret-cast)
    }

  private:
    std::array<std::byte, 32> m_bytes;
    std::size_t m_size = 0;
};

} // namespace

void append_text(std::string& rows, std::string_view text) {
    append_size(rows, text.size());
    rows += text;
}

void append_cell(std::string& rows, ColumnType type, const sql::Cell& cell) {
    switch (type) {
    case ColumnType::u8:
    case ColumnType::event:
        append_bounded<std::uint8_t>(rows, cell);
        break;
    case ColumnType::u16:
        append_bounded<std::uint16_t>(rows, cell);
        break;
    case ColumnType::u32:
        append_bounded<std::uint32_t>(rows, cell);
        break;
    case ColumnType::u64:
        append_bounded<std::uint64_t>(rows, cell);
        break;
    case ColumnType::optional_u8:
        if (append_presence(rows, cell)) {
            append_bounded<std::uint8_t>(rows, cell);
        }
        break;
    case ColumnType::optional_u16:
        if (append_presence(rows, cell)) {
            append_bounded<std::uint16_t>(rows, cell);
        }
        break;
    case ColumnType::optional_i64:
        if (append_presence(rows, cell)) {
            append_number(rows, static_cast<std::uint64_t>(*cell.number()));
        }
        break;
    case ColumnType::text:
        append_text(rows, cell.text().value_or(""));
        break;
    }
}

void append_chunk(std::string& rows, const ReadChunk& chunk) {
    static const std::vector<Column> columns = columns_of(Table::chunks);
    const std::string boot = boot_text(chunk.run.boot_id);
    const std::string encoding = formats::dat::encoding_name(chunk.description);
    append_cells(rows, columns, of(chunk.run.from.site), of(chunk.run.from.node), of(boot),
                 sql::Cell(chunk.run.started_s), sql::Cell(chunk.key.cpu), sql::Cell(chunk.key.chunk),
                 sql::Cell(chunk.key.generation), of(encoding), sql::Cell(chunk.description.records),
                 sql::Cell(chunk.events), sql::Cell(chunk.message->body.size()), sql::Cell(chunk.crc32c),
                 sql::Cell::of(chunk.first_ticks), sql::Cell::of(chunk.last_ticks),
                 sql::Cell(chunk.description.dropped), sql::Cell(chunk.description.refused),
                 sql::Cell(chunk.description.overwritten), sql::Cell(chunk.message->sequence));
}

EventRows::EventRows(const ReadChunk& chunk) {
    append_text(m_prefix, chunk.run.from.site);
    append_text(m_prefix, chunk.run.from.node);
    append_text(m_prefix, boot_text(chunk.run.boot_id));
    append_cell(m_prefix, ColumnType::u32, sql::Cell(chunk.run.started_s));
    append_number(m_prefix, chunk.key.cpu);
    append_number(m_prefix, chunk.key.chunk);
    append_number(m_prefix, chunk.key.generation);
}

std::uint16_t EventRows::turn_of(std::uint64_t ticks) {
    if (m_events == 0 || ticks > m_greatest_ticks) {
        m_greatest_ticks = ticks;
        m_turn = 0;
        return m_turn;
    }
    // Events with the greatest ticks are counted, even if events with lower ticks are between them.
    return ticks == m_greatest_ticks ? ++m_turn : static_cast<std::uint16_t>(kLateTurns + m_late++);
}

void EventRows::append(std::string& rows, std::span<const trace::Event> events) {
    for (const trace::Event& event : events) {
        const std::uint64_t ticks = event.ticks.value;
        Row row;
        row.add(ticks >> 16);
        row.add(static_cast<std::uint16_t>(ticks & 0xFFFF));
        row.add(turn_of(ticks));
        row.add(event.code);
        row.add(event.par1);
        row.add(event.par2);
        rows += m_prefix;
        rows += row.view();
        append_text(rows, {reinterpret_cast<const char*>(event.payload.data()), // NOLINT(*-reinterpret-cast)
                           event.payload.size()});
        ++m_events;
    }
}

} // namespace host::fleet::clickhouse
