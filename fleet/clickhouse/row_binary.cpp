// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/row_binary.hpp"

#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <limits>

namespace host::fleet::clickhouse {

namespace {

// Turns of events that are not in the order of their ticks begin here. To count the earlier events with the same ticks,
// all events would have to be compared; a turn only has to be different.
constexpr std::uint16_t kLateTurns = 0x8000;

// Appends the lower bytes of a number.
void append_number(std::string& rows, std::uint64_t number, std::size_t bytes) {
    static_assert(std::endian::native == std::endian::little);
    rows.append(reinterpret_cast<const char*>(&number), bytes); // NOLINT(*-reinterpret-cast)
}

void append_size(std::string& rows, std::size_t size) {
    for (; size >= 0x80; size >>= 7) {
        rows += static_cast<char>(0x80 | (size & 0x7F));
    }
    rows += static_cast<char>(size);
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
    const TypeRow& row = row_of(type);
    if (row.is_text()) {
        append_text(rows, cell.text().value_or(""));
        return;
    }
    const auto number = cell.number();
    if (row.optional) {
        rows += number ? '\0' : '\1';
        if (!number) {
            return;
        }
    }
    using Limits = std::numeric_limits<std::int64_t>;
    const std::int64_t least = type == ColumnType::optional_i64 ? Limits::min() : 0;
    const std::int64_t most = row.bytes == sizeof least ? Limits::max() : (std::int64_t{1} << (8 * row.bytes)) - 1;
    append_number(rows, static_cast<std::uint64_t>(std::clamp(number.value_or(0), least, most)), row.bytes);
}

EventRows::EventRows(const ReadChunk& chunk) {
    append_text(m_prefix, chunk.run.from.site);
    append_text(m_prefix, chunk.run.from.node);
    append_text(m_prefix, boot_text(chunk.run.boot_id));
    append_cell(m_prefix, ColumnType::u32, sql::Cell(chunk.run.started_s));
    append_number(m_prefix, chunk.key.cpu, sizeof chunk.key.cpu);
    append_number(m_prefix, chunk.key.chunk, sizeof chunk.key.chunk);
    append_number(m_prefix, chunk.key.generation, sizeof chunk.key.generation);
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
