// SPDX-License-Identifier: MIT
// The virtual tables beside `events`. Those of the metadata are made at once; those of the schedule come row by row
// during a walk over the trace, so memory does not grow with it.
#include "host/sql/fact_rows.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/sql/virtual_tables.hpp"

#include <deque>
#include <fmt/format.h>
#include <new>
#include <vector>

namespace host::sql {

namespace {

// A cell that keeps its text.
struct KeptCell {
    explicit KeptCell(const Cell& cell)
        : text(cell.text().value_or(""))
        , value(cell) {}

    [[nodiscard]] Cell cell() const { return value.text() ? Cell(std::string_view(text)) : value; }

    std::string text;
    Cell value;
};

using KeptRow = std::vector<KeptCell>;

struct RowTable : sqlite3_vtab {
    TableContext context;
};

struct RowCursor : sqlite3_vtab_cursor {
    std::deque<KeptRow> rows; // the first one is the current one
    RowSink sink;
    std::unique_ptr<ScheduleRows> schedule; // null: all rows are there
    std::unique_ptr<Scan> scan;
    sqlite3_int64 row = 0;
};

RowCursor& cursor_of(sqlite3_vtab_cursor* base) {
    return *static_cast<RowCursor*>(base);
}

int connect(sqlite3* database, void* context, int /*count*/, const char* const* /*arguments*/, sqlite3_vtab** table,
            char** /*error*/) {
    const auto& given = *static_cast<const TableContext*>(context);
    const std::string declaration = fmt::format("CREATE TABLE x({})", row_of(given.table).columns);
    if (const int code = sqlite3_declare_vtab(database, declaration.c_str()); code != SQLITE_OK) {
        return code;
    }
    auto* const made = new (std::nothrow) RowTable();
    if (made == nullptr) {
        return SQLITE_NOMEM;
    }
    made->context = given;
    *table = made;
    return SQLITE_OK;
}

bool is_small(Table table) {
    return table == Table::tasks || table == Table::names || table == Table::chunks || table == Table::meta;
}

// A walk over the whole trace belongs outside of a join, a small table within.
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    const TableContext& context = static_cast<RowTable*>(table)->context;
    const auto records = static_cast<double>(context.source->records_estimate());
    constexpr double kSmall = 100;
    constexpr double kEventsPerRow = 20;
    info->estimatedCost = is_small(context.table) ? kSmall : records + kSmall;
    info->estimatedRows =
        static_cast<sqlite3_int64>(is_small(context.table) ? kSmall : records / kEventsPerRow + kSmall);
    return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
    auto* const made = new (std::nothrow) RowCursor();
    if (made == nullptr) {
        return SQLITE_NOMEM;
    }
    const Table wanted = static_cast<RowTable*>(table)->context.table;
    made->sink = [made, wanted](Table of, std::span<const Cell> cells) {
        if (of == wanted) {
            made->rows.emplace_back(cells.begin(), cells.end());
        }
    };
    *cursor = made;
    return SQLITE_OK;
}

// Walks on until there is a row, or the trace ends.
void fetch(RowCursor& cursor) {
    trace::Event event;
    while (cursor.rows.empty() && cursor.schedule != nullptr) {
        if (cursor.scan->next(event)) {
            cursor.schedule->add(event, cursor.scan->facts().clock.khz);
        } else {
            cursor.schedule->finish(cursor.scan->facts().names);
            cursor.schedule.reset();
            cursor.scan.reset();
        }
    }
}

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* /*plan*/, int /*count*/, sqlite3_value** /*values*/) {
    RowCursor& cursor = cursor_of(base);
    const TableContext& context = static_cast<RowTable*>(base->pVtab)->context;
    cursor.rows.clear();
    cursor.row = 1;
    cursor.schedule.reset();
    cursor.scan.reset();
    if (is_small(context.table)) {
        fact_rows(context.table, context.source->facts(), cursor.sink);
        return SQLITE_OK;
    }
    cursor.schedule = std::make_unique<ScheduleRows>(cursor.sink);
    cursor.scan = context.source->scan({});
    fetch(cursor);
    return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
    RowCursor& cursor = cursor_of(base);
    cursor.rows.pop_front();
    ++cursor.row;
    fetch(cursor);
    return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
    return cursor_of(cursor).rows.empty() ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
    cursor_of(base).rows.front()[static_cast<std::size_t>(number)].cell().result(context);
    return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = cursor_of(cursor).row;
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
