// SPDX-License-Identifier: MIT
#include "fleet/tables.hpp"

#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <utility>

namespace host::fleet {

namespace {

constexpr auto kTypeWords = std::to_array<std::pair<std::string_view, ColumnType>>({
    {"U8", ColumnType::u8},
    {"U16", ColumnType::u16},
    {"U32", ColumnType::u32},
    {"U64", ColumnType::u64},
    {"OPTIONAL", ColumnType::optional_i64},
    {"TEXT", ColumnType::text},
    {"EVENT", ColumnType::event},
});

ColumnType type_of(std::string_view word) {
    const auto* const found = std::ranges::find(kTypeWords, word, &std::pair<std::string_view, ColumnType>::first);
    ASSERT(found != kTypeWords.end());
    return found->second;
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
        const std::string_view one = declared.substr(0, declared.find(','));
        declared.remove_prefix(std::min(one.size() + 2, declared.size()));
        const std::size_t blank = one.find(' ');
        columns.push_back({.name = one.substr(0, blank), .type = type_of(one.substr(blank + 1))});
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
