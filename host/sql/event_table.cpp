// SPDX-License-Identifier: MIT
// The virtual table `events`. Its cursor is one walk over the trace; of a grouping by few values, over its counts.
#include "host/sql/constraints.hpp"
#include "host/sql/event_columns.hpp"
#include "host/sql/event_counts.hpp"
#include "host/sql/virtual_tables.hpp"
#include "host/text/format.hpp"

#include "host/text/escape.hpp"
#include "host/trace/foreign.hpp"

#include <new>

namespace host::sql {

namespace {

struct EventTable : sqlite3_vtab {
    Source* source = nullptr;
};

struct EventCursor : sqlite3_vtab_cursor {
    WalkRequest request;
    std::unique_ptr<Scan> scan;
    std::unique_ptr<EventCounts> counts; // null: event by event
    sqlite3_int64 row = 0;               // of the counts
    trace::Event event;
    bool at_end = true;
    std::string scratch;
};

EventCursor& cursor_of(sqlite3_vtab_cursor* base) {
    return *static_cast<EventCursor*>(base);
}

int connect(sqlite3* database, void* source, int /*count*/, const char* const* /*arguments*/, sqlite3_vtab** table,
            char** /*error*/) {
    std::string declaration;
    for (std::size_t i = 0; i < kEventColumns; ++i) {
        const ColumnRow& column = kEventColumnRows[i];
        const bool hidden = static_cast<EventColumn>(i) == EventColumn::payload;
        declaration += fmt::format("{}{} {}{}", i == 0 ? "CREATE TABLE x(" : ", ", column.name, column.type,
                                   hidden ? " HIDDEN" : "");
    }
    declaration += ")";
    if (const int code = sqlite3_declare_vtab(database, declaration.c_str()); code != SQLITE_OK) {
        return code;
    }
    auto* const made = new (std::nothrow) EventTable();
    if (made == nullptr) {
        return SQLITE_NOMEM;
    }
    made->source = static_cast<Source*>(source);
    *table = made;
    return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    return plan_walk(*info, static_cast<EventTable*>(table)->source->records_estimate());
}

int open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** cursor) {
    *cursor = new (std::nothrow) EventCursor();
    return *cursor != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

bool is_wanted(const WalkRequest& request, const trace::Event& event, std::string& scratch) {
    if (request.code) {
        const bool foreign = trace::is_foreign(event);
        if (*request.code != (foreign ? event.number : event.code)) {
            return false;
        }
    }
    if (!request.event) {
        return true;
    }
    const std::string_view name = trace::event_name(event);
    if (name == *request.event) {
        return true;
    }
    // Names of tables need no escape; declared ones may.
    if (event.row != nullptr && event.row->shape == tracer::Shape::simple) {
        return false;
    }
    scratch = text::escaped(name);
    return scratch == *request.event;
}

// To the next event that is wanted. False at the end of the walk.
bool advance(EventCursor& cursor, Source& source) {
    do {
        if (!source.take(*cursor.scan, cursor.event)) {
            return false;
        }
    } while (!is_wanted(cursor.request, cursor.event, cursor.scratch));
    return true;
}

int next(sqlite3_vtab_cursor* base) {
    EventCursor& cursor = cursor_of(base);
    if (cursor.counts != nullptr) {
        ++cursor.row;
        cursor.counts->next();
        cursor.at_end = cursor.counts->at_end();
        return SQLITE_OK;
    }
    Source& source = *static_cast<EventTable*>(base->pVtab)->source;
    cursor.at_end = !advance(cursor, source);
    return source.stopped() ? SQLITE_INTERRUPT : SQLITE_OK;
}

int start_counts(EventCursor& cursor, Source& source) {
    cursor.row = 0;
    cursor.counts = std::make_unique<EventCounts>();
    while (advance(cursor, source)) {
        cursor.counts->add(cursor.event);
    }
    cursor.counts->start(cursor.request.counted);
    cursor.at_end = cursor.counts->at_end();
    return source.stopped() ? SQLITE_INTERRUPT : SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* plan, int count, sqlite3_value** values) {
    EventCursor& cursor = cursor_of(base);
    cursor.scan.reset();
    cursor.counts.reset();
    cursor.request = request_of(plan != nullptr ? plan : "", std::span(values, static_cast<std::size_t>(count)));
    cursor.at_end = cursor.request.nothing;
    if (cursor.at_end) {
        return SQLITE_OK;
    }
    Source& source = *static_cast<EventTable*>(base->pVtab)->source;
    cursor.scan = source.scan(cursor.request.scan);
    return cursor.request.counted.empty() ? next(base) : start_counts(cursor, source);
}

int at_end(sqlite3_vtab_cursor* cursor) {
    return cursor_of(cursor).at_end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
    EventCursor& cursor = cursor_of(base);
    if (cursor.counts != nullptr) {
        cursor.counts->cell(static_cast<EventColumn>(number)).result(context);
        return SQLITE_OK;
    }
    event_cell(cursor.event, static_cast<EventColumn>(number), cursor.scratch).result(context);
    return SQLITE_OK;
}

// Who the event is, whichever way the cursor came to it: SQLite joins the parts of an OR by this number. Where the
// event is in the trace identifies it; of 10^6 events two share a number with a probability of 10^-7.
sqlite3_int64 identity(const trace::Event& event) {
    std::uint64_t mixed = 0;
    for (const std::uint64_t part :
         {event.offset_bytes, event.record, std::uint64_t{event.chunk}, std::uint64_t{event.cpu},
          std::uint64_t{event.generation}, event.ticks.value, std::uint64_t{event.raw_code} << 16 | event.number}) {
        mixed = (mixed ^ part) * 0x9E3779B97F4A7C15U;
        mixed ^= mixed >> 29;
    }
    return static_cast<sqlite3_int64>(mixed);
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
    const EventCursor& cursor = cursor_of(base);
    *number = cursor.counts != nullptr ? cursor.row : identity(cursor.event);
    return SQLITE_OK;
}

constexpr sqlite3_module kModule =
    module_of<EventTable, EventCursor>(connect, best_index, open, filter, next, at_end, column, row_id);

} // namespace

int register_event_table(sqlite3* database, Source& source) {
    return sqlite3_create_module_v2(database, "events", &kModule, &source, nullptr);
}

} // namespace host::sql
