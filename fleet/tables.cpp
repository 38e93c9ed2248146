// SPDX-License-Identifier: MIT
#include "fleet/tables.hpp"

#include "host/text/format.hpp"
#include "host/text/list.hpp"
#include "lib/assert.hpp"

#include <algorithm>

namespace host::fleet {

namespace {

ColumnType type_of(std::string_view word) {
    const auto* const found = std::ranges::find(kTypeRows, word, &TypeRow::word);
    ASSERT(found != kTypeRows.end());
    return static_cast<ColumnType>(found - kTypeRows.begin());
}

// Returns the type of a column of host/sql/. Columns whose numbers are always small take little space.
ColumnType type_of(const sql::Column& column) {
    static constexpr auto kBytes = std::to_array<std::string_view>({"missed", "depth"});
    static constexpr auto kWords = std::to_array<std::string_view>({"cpu", "context", "holder_context", "vector"});
    if (column.is_text) {
        return ColumnType::text;
    }
    return std::ranges::find(kBytes, column.name) != kBytes.end()   ? ColumnType::optional_u8
           : std::ranges::find(kWords, column.name) != kWords.end() ? ColumnType::optional_u16
                                                                    : ColumnType::optional_i64;
}

void append(std::vector<Column>& columns, std::string_view declared) {
    while (!declared.empty()) {
        std::string_view type = text::take_until(declared, ", ");
        const std::string_view name = text::take_until(type, " ");
        columns.push_back({.name = name, .type = type_of(type)});
    }
}

} // namespace

std::vector<Column> columns_of(Table table) {
    const TableRow& row = row_of(table);
    std::vector<Column> columns;
    append(columns, kRunColumns);
    append(columns, row.columns);
    if (row.more) {
        for (const sql::Column& column : sql::columns_of(*row.more)) {
            columns.push_back({.name = column.name, .type = type_of(column)});
        }
    }
    return columns;
}

std::string key_of(Table table) {
    const std::string_view own = row_of(table).key;
    return fmt::format("site, node, boot{}{}", own.empty() ? "" : ", ", own);
}

} // namespace host::fleet
