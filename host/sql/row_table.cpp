// SPDX-License-Identifier: MIT
// The virtual tables beside `events`. Equality of a column that is no time, bounds of the times at which what a row is
// about begins and ends, and grouping by columns that are no times are answered by an index; SQLite checks every row
// again.
//
// A plan is two characters per condition, and after those of all conditions one for each column of the grouping:
//   e COLUMN        equal             b COMPARISON    of the begin             n COMPARISON    of the end
//   a =             the argument of a table that is a function: which rows it has
#include "host/sql/stored_tables.hpp"
#include "host/sql/virtual_tables.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

namespace {

struct RowTable : sqlite3_vtab {
    TableContext context;
    std::vector<Column> columns;

    // By which rows can be grouped: a time is hardly ever equal.
    [[nodiscard]] bool is_key(int column) const {
        if (column < 0 || is_argument(column)) {
            return false;
        }
        const Column& of = columns[static_cast<std::size_t>(column)];
        return !of.is_real && !of.name.ends_with("_ns") && !of.name.ends_with("_ticks");
    }

    // A hidden column, after the others.
    [[nodiscard]] bool is_argument(int column) const { return column == static_cast<int>(columns.size()); }

    // column: one of `columns`.
    [[nodiscard]] bool is(int column, std::string_view name) const {
        return columns[static_cast<std::size_t>(column)].name == name;
    }
};

struct RowCursor : sqlite3_vtab_cursor {
    const StoredRows* rows = nullptr;
    const RowIndex* index = nullptr;      // null: all rows, as they are stored
    std::optional<std::int64_t> argument; // of a table that is a function
    std::vector<RowRange> rest;           // after the current one, the next one last
    RowRange current;

    [[nodiscard]] std::uint32_t row() const { return index != nullptr ? index->row(current.begin) : current.begin; }

    void skip_empty() {
        while (current.begin == current.end && !rest.empty()) {
            current = rest.back();
            rest.pop_back();
        }
    }
};

RowCursor& cursor_of(sqlite3_vtab_cursor* base) {
    return *static_cast<RowCursor*>(base);
}

char letter_of(int column) {
    return static_cast<char>('A' + column);
}

std::uint8_t column_of(char letter) {
    return static_cast<std::uint8_t>(letter - 'A');
}

int connect(sqlite3* database, void* context, int /*count*/, const char* const* /*arguments*/, sqlite3_vtab** table,
            char** /*error*/) {
    const auto& given = *static_cast<const TableContext*>(context);
    const TableRow& row = row_of(given.table);
    const std::string hidden = row.argument.empty() ? "" : fmt::format(", {} INTEGER HIDDEN", row.argument);
    const std::string declaration = fmt::format("CREATE TABLE x({}{})", row.columns, hidden);
    if (const int code = sqlite3_declare_vtab(database, declaration.c_str()); code != SQLITE_OK) {
        return code;
    }
    auto* const made = new (std::nothrow) RowTable();
    if (made == nullptr) {
        return SQLITE_NOMEM;
    }
    made->context = given;
    made->columns = columns_of(given.table);
    *table = made;
    return SQLITE_OK;
}

// The two characters of a condition, and in `share` which part of the rows fulfils it, about; empty: SQLite's alone.
std::string planned(const RowTable& table, sqlite3_index_info& info, int number, double& share) {
    const auto& constraint = info.aConstraint[number];
    const char comparison = comparison_letter(constraint.op);
    if (constraint.usable == 0 || comparison == 0 || constraint.iColumn < 0) {
        return {};
    }
    if (table.is_argument(constraint.iColumn)) {
        if (comparison != '=') {
            return {};
        }
        share = 0.9;
        return "a=";
    }
    const TableRow& row = row_of(table.context.table);
    if (table.is(constraint.iColumn, row.begin)) {
        share = 0.3;
        return {'b', comparison};
    }
    if (table.is(constraint.iColumn, row.end) && comparison != '<' && comparison != 'l') {
        share = 0.03; // with a bound of the begin little is left
        return {'n', comparison};
    }
    // Texts are compared byte by byte here; another collation is SQLite's alone.
    if (table.is_key(constraint.iColumn) && comparison == '=' &&
        std::string_view(sqlite3_vtab_collation(&info, number)) == "BINARY") {
        share = 0.1;
        return {'e', letter_of(constraint.iColumn)};
    }
    return {};
}

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
    const auto& table = *static_cast<RowTable*>(base);
    StoredTables& tables = *table.context.tables;
    tables.want(table.context.table);
    std::string plan;
    double rows = tables.rows_estimate(table.context.table);
    for (int i = 0; i < info->nConstraint; ++i) {
        if (table.is_argument(info->aConstraint[i].iColumn) && info->aConstraint[i].usable == 0) {
            return SQLITE_CONSTRAINT; // rows of which function it is not known
        }
        double share = 1;
        plan += planned(table, *info, i, share);
        if (share < 1) {
            info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.size() / 2);
            rows *= share;
        }
    }
    const std::span wanted_order(info->aOrderBy, static_cast<std::size_t>(info->nOrderBy));
    if (!wanted_order.empty() && std::ranges::all_of(wanted_order, [&](const auto& term) {
            return term.desc == 0 && table.is_key(term.iColumn);
        })) {
        for (const auto& term : wanted_order) {
            plan += letter_of(term.iColumn);
        }
        info->orderByConsumed = 1;
    }
    constexpr double kStart = 10; // finding the first row
    info->estimatedCost = rows + kStart;
    info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
    info->idxStr = sqlite3_mprintf("%s", plan.c_str());
    info->needToFreeIdxStr = 1;
    return info->idxStr != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

int open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** cursor) {
    *cursor = new (std::nothrow) RowCursor();
    return *cursor != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

// What an index can look up: a value of the column's own type.
std::optional<Cell> key_of(sqlite3_value* value, bool is_text) {
    if (is_text && sqlite3_value_type(value) == SQLITE_TEXT) {
        const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
        return Cell(std::string_view(reinterpret_cast<const char*>(sqlite3_value_text(value)), size));
    }
    return !is_text && sqlite3_value_type(value) == SQLITE_INTEGER ? std::optional(Cell(sqlite3_value_int64(value)))
                                                                   : std::nullopt;
}

// What of a plan and its values an index answers.
struct RowRequest {
    std::vector<std::uint8_t> columns; // first those with a key
    std::vector<Cell> keys;
    Bounds begin;
    Bounds end;
    std::optional<std::int64_t> argument;
    bool nothing = false;
};

RowRequest request_of(const RowTable& table, std::string_view plan, std::span<sqlite3_value*> values) {
    RowRequest request;
    for (sqlite3_value* const value : values) {
        const char detail = plan[1];
        if (plan[0] == 'b') {
            request.begin.narrow(detail, value);
        } else if (plan[0] == 'n') {
            request.end.narrow(detail, value);
        } else if (sqlite3_value_type(value) == SQLITE_NULL) {
            request.nothing = true;
        } else if (plan[0] == 'a') {
            request.argument = sqlite3_value_int64(value);
        } else if (const auto key = key_of(value, table.columns[column_of(detail)].is_text)) {
            request.columns.push_back(column_of(detail));
            request.keys.push_back(*key);
        }
        plan.remove_prefix(2);
    }
    for (const char letter : plan) {
        request.columns.push_back(column_of(letter));
    }
    request.nothing = request.nothing || request.begin.empty() || request.end.empty();
    return request;
}

int refuse(sqlite3_vtab_cursor* base, const std::string& reason) {
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", reason.c_str());
    return SQLITE_ERROR;
}

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* plan, int count, sqlite3_value** values) {
    RowCursor& cursor = cursor_of(base);
    const auto& table = *static_cast<const RowTable*>(base->pVtab);
    const RowRequest request = request_of(table, plan, std::span(values, static_cast<std::size_t>(count)));
    cursor.index = nullptr;
    cursor.rest.clear();
    cursor.current = {};
    cursor.argument = request.argument;
    if (request.nothing) {
        return SQLITE_OK;
    }
    if (request.argument && *request.argument <= 0) {
        return refuse(base, fmt::format("{}({}): a positive number of nanoseconds", row_of(table.context.table).name,
                                        *request.argument));
    }
    StoredTables& tables = *table.context.tables;
    StoredRows* const rows = request.argument ? tables.windows(static_cast<std::uint64_t>(*request.argument))
                                              : tables.rows(table.context.table);
    if (rows == nullptr && !tables.stopped()) {
        return refuse(base, fmt::format("{}({}): more windows than can be kept", row_of(table.context.table).name,
                                        *request.argument));
    }
    if (rows == nullptr) {
        return SQLITE_INTERRUPT;
    }
    cursor.rows = rows;
    if (request.columns.empty() && request.begin.whole() && request.end.whole()) {
        cursor.current = {0, rows->size()};
        return SQLITE_OK;
    }
    cursor.index = &rows->index(request.columns);
    const auto groups = cursor.index->find(request.keys);
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        cursor.rest.push_back(cursor.index->narrowed(*group, request.begin, request.end));
    }
    cursor.skip_empty();
    return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
    RowCursor& cursor = cursor_of(base);
    ++cursor.current.begin;
    cursor.skip_empty();
    return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* base) {
    const RowCursor& cursor = cursor_of(base);
    return cursor.current.begin == cursor.current.end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
    const RowCursor& cursor = cursor_of(base);
    if (static_cast<const RowTable*>(base->pVtab)->is_argument(number)) {
        Cell::of(cursor.argument).result(context);
        return SQLITE_OK;
    }
    cursor.rows->cell(cursor.row(), static_cast<std::size_t>(number)).result(context, SQLITE_STATIC);
    return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
    *number = sqlite3_int64{cursor_of(base).row()} + 1;
    return SQLITE_OK;
}

constexpr sqlite3_module kModule =
    module_of<RowTable, RowCursor>(connect, best_index, open, filter, next, at_end, column, row_id);

} // namespace

int register_row_tables(sqlite3* database, TableContexts& contexts) {
    for (TableContext& context : contexts) {
        const std::string name(row_of(context.table).name);
        if (const int code = sqlite3_create_module_v2(database, name.c_str(), &kModule, &context, nullptr);
            code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}

} // namespace host::sql
