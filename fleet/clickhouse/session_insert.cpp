// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/session_insert.hpp"

#include "fleet/clickhouse/row_binary.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <utility>

namespace host::fleet::clickhouse {

namespace {

void append_stored(std::string& rows, ColumnType type, Storage storage, const sql::Cell& cell) {
    switch (storage) {
    case Storage::computed:
        return;
    case Storage::split: {
        constexpr std::int64_t kLow = 0xFFFF;
        const auto number = cell.number();
        append_cell(rows, type, number ? sql::Cell(*number >> 16) : cell);
        append_cell(rows, ColumnType::u16, sql::Cell(number.value_or(0) & kLow));
        return;
    }
    case Storage::plain:
        append_cell(rows, type, cell);
    }
}

} // namespace

SessionInsert::SessionInsert(Client& client, const Endpoint& endpoint, Place place)
    : m_client(client)
    , m_endpoint(endpoint)
    , m_place(std::move(place)) {
    for (std::size_t i = 0; i < kTables; ++i) {
        Part& part = m_parts.at(i);
        part.columns = columns_of(static_cast<Table>(i));
        for (const Column& column : part.columns) {
            part.storage.push_back(storage_of(static_cast<Table>(i), column));
        }
        const auto number = std::ranges::find(part.columns, "part", &Column::name);
        if (number != part.columns.end()) {
            part.number_at = static_cast<std::size_t>(number - part.columns.begin());
        }
    }
}

void SessionInsert::begin() {
    for (Part& part : m_parts) {
        part.number.reset();
    }
}

void SessionInsert::add(Table table, std::span<const sql::Cell> cells) {
    Part& part = m_parts.at(static_cast<std::size_t>(table));
    ASSERT(cells.size() == part.columns.size());
    const std::int64_t number = part.number_at ? cells[*part.number_at].number().value_or(0) : 0;
    if (number != part.number && part.rows >= kRowsPerPart && table != Table::nodes) {
        send(table);
    }
    part.number = number;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        append_stored(part.bytes, part.columns[i].type, part.storage[i], cells[i]);
    }
    ++part.rows;
}

lib::Result<void, StoreFailure> SessionInsert::finish() {
    for (std::size_t i = 0; i < kTables; ++i) {
        if (static_cast<Table>(i) != Table::nodes) {
            send(static_cast<Table>(i));
        }
    }
    send(Table::nodes);
    return m_failure ? lib::Result<void, StoreFailure>(*m_failure) : lib::Result<void, StoreFailure>();
}

void SessionInsert::send(Table table) {
    Part& part = m_parts.at(static_cast<std::size_t>(table));
    if (part.rows != 0 && !m_failure) {
        const auto done = m_client.insert(m_endpoint, insert_statement(m_place, table), part.bytes);
        if (!done) {
            m_failure = done.error();
        }
    }
    part.rows = 0;
    part.bytes.clear();
}

} // namespace host::fleet::clickhouse
