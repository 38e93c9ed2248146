// SPDX-License-Identifier: MIT
// `events` is one walk over the trace for each use. `utilisation` keeps the rows of each length of windows that was
// asked for.
#include "host/analyse/durations.hpp"
#include "host/sql/database.hpp"
#include "host/sql/event_columns.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/text/format.hpp"

#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace host::sql {

namespace {

// Returns a module without xCreate, so that its table exists without being created. Table and Cursor have what the
// functions call.
template <typename Table, typename Cursor>
constexpr sqlite3_module module_of() {
    sqlite3_module module{};
    module.xConnect = [](sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table, char**) {
        const int code = sqlite3_declare_vtab(database, Table::declaration().c_str());
        if (code != SQLITE_OK) {
            return code;
        }
        *table = new (std::nothrow) Table(*static_cast<Source*>(source));
        return *table != nullptr ? SQLITE_OK : SQLITE_NOMEM;
    };
    module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info* info) { return Table::plan(*info); };
    module.xDisconnect = [](sqlite3_vtab* table) {
        delete static_cast<Table*>(table);
        return SQLITE_OK;
    };
    module.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
        *cursor = new (std::nothrow) Cursor();
        return *cursor != nullptr ? SQLITE_OK : SQLITE_NOMEM;
    };
    module.xClose = [](sqlite3_vtab_cursor* cursor) {
        delete static_cast<Cursor*>(cursor);
        return SQLITE_OK;
    };
    module.xFilter = [](sqlite3_vtab_cursor* cursor, int, const char*, int count, sqlite3_value** values) {
        return static_cast<Cursor*>(cursor)->begin(*static_cast<Table*>(cursor->pVtab),
                                                   count != 0 ? values[0] : nullptr);
    };
    module.xNext = [](sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->next(); };
    module.xEof = [](sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end() ? 1 : 0; };
    module.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
        static_cast<Cursor*>(cursor)->cell(column).result(context);
        return SQLITE_OK;
    };
    module.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
        *row = static_cast<Cursor*>(cursor)->row();
        return SQLITE_OK;
    };
    return module;
}

struct EventTable : sqlite3_vtab {
    explicit EventTable(Source& of)
        : sqlite3_vtab{}
        , source(of) {}

    static std::string declaration() {
        std::string text;
        for (std::size_t i = 0; i < kEventColumns; ++i) {
            const bool hidden = static_cast<EventColumn>(i) == EventColumn::payload;
            text += fmt::format("{}{} {}{}", i == 0 ? "CREATE TABLE x(" : ", ", kEventColumnRows[i].name,
                                kEventColumnRows[i].type, hidden ? " HIDDEN" : "");
        }
        return text + ')';
    }

    // SQLite itself evaluates every condition.
    static int plan(sqlite3_index_info& info) {
        info.estimatedCost = 1e9;
        info.estimatedRows = 100'000'000;
        return SQLITE_OK;
    }

    Source& source;
};

class EventCursor : public sqlite3_vtab_cursor {
  public:
    int begin(EventTable& table, sqlite3_value* /*none*/) {
        m_source = &table.source;
        m_walk = std::make_unique<Walk>(table.source);
        m_running = {};
        m_row = 0;
        return next();
    }

    int next() {
        m_event = m_walk->next();
        m_task = m_event != nullptr ? m_running.take(*m_event) : std::nullopt;
        ++m_row;
        return m_source->stopped() ? SQLITE_INTERRUPT : SQLITE_OK;
    }

    [[nodiscard]] bool at_end() const { return m_event == nullptr; }

    [[nodiscard]] Cell cell(int column) {
        return event_cell(*m_event, static_cast<EventColumn>(column), m_scratch, m_task);
    }

    // The number of the event in the trace, which is the same in every walk: SQLite joins the parts of an OR by it.
    [[nodiscard]] sqlite3_int64 row() const { return m_row; }

  private:
    Source* m_source = nullptr;
    std::unique_ptr<Walk> m_walk;
    const trace::Event* m_event = nullptr; // null: after the last one
    trace::RunningTasks m_running;
    trace::OptionalTask m_task{}; // of m_event, if it is one of the application
    sqlite3_int64 m_row = 0;
    std::string m_scratch;
};

struct UseTable : sqlite3_vtab {
    static constexpr int kWindow = static_cast<int>(UtilisationRows::kColumns); // the column of the argument

    explicit UseTable(Source& of)
        : sqlite3_vtab{}
        , source(of) {}

    static std::string declaration() {
        return fmt::format("CREATE TABLE x({}, window INTEGER HIDDEN)", row_of(Table::utilisation).columns);
    }

    static int plan(sqlite3_index_info& info) {
        info.estimatedCost = 1e6;
        for (int i = 0; i < info.nConstraint; ++i) {
            const auto& constraint = info.aConstraint[i];
            if (constraint.iColumn == kWindow && constraint.usable == 0) {
                return SQLITE_CONSTRAINT; // the argument is not known yet
            }
            if (constraint.iColumn == kWindow && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
                info.estimatedCost > 1) {
                info.aConstraintUsage[i].argvIndex = 1;
                info.estimatedCost = 1;
            }
        }
        return SQLITE_OK;
    }

    // Returns the rows of windows of this length, 0: of the whole trace; null if the watch has ended the walk, or if
    // they are too many.
    const UtilisationRows* rows_of(std::uint64_t window_ns) {
        if (const auto found = known.find(window_ns); found != known.end()) {
            return found->second.get();
        }
        auto rows = std::make_unique<UtilisationRows>(window_ns);
        Walk walk(source);
        for (const trace::Event* event = walk.next(); event != nullptr && !rows->overflows(); event = walk.next()) {
            rows->add(*event, walk.facts().clock.khz);
        }
        if (source.stopped() || rows->overflows()) {
            return nullptr;
        }
        rows->finish(walk.facts().clock.khz);
        return known.emplace(window_ns, std::move(rows)).first->second.get();
    }

    int refuse(std::string_view reason) {
        sqlite3_free(zErrMsg);
        zErrMsg = sqlite3_mprintf("%.*s", static_cast<int>(reason.size()), reason.data());
        return SQLITE_ERROR;
    }

    Source& source;
    std::map<std::uint64_t, std::unique_ptr<UtilisationRows>> known;
};

class UseCursor : public sqlite3_vtab_cursor {
  public:
    int begin(UseTable& table, sqlite3_value* window) {
        m_rows = nullptr;
        m_row = 0;
        m_window = Cell();
        std::int64_t window_ns = 0;
        if (window != nullptr) {
            if (sqlite3_value_type(window) == SQLITE_NULL) {
                return SQLITE_OK;
            }
            window_ns = sqlite3_value_int64(window);
            m_window = Cell(window_ns);
            if (window_ns <= 0) {
                return table.refuse(fmt::format("utilisation({}): a positive number of nanoseconds", window_ns));
            }
        }
        m_rows = table.rows_of(static_cast<std::uint64_t>(window_ns));
        if (m_rows != nullptr) {
            return SQLITE_OK;
        }
        return table.source.stopped()
                   ? SQLITE_INTERRUPT
                   : table.refuse(fmt::format("utilisation({}): more windows than can be kept", window_ns));
    }

    int next() {
        ++m_row;
        return SQLITE_OK;
    }

    [[nodiscard]] bool at_end() const { return m_rows == nullptr || m_row == m_rows->size(); }

    [[nodiscard]] Cell cell(int column) const {
        return column == UseTable::kWindow ? m_window : m_rows->cells(m_row)[static_cast<std::size_t>(column)];
    }

    [[nodiscard]] sqlite3_int64 row() const { return static_cast<sqlite3_int64>(m_row) + 1; }

  private:
    const UtilisationRows* m_rows = nullptr; // null: none
    std::size_t m_row = 0;
    Cell m_window;
};

constexpr sqlite3_module kEvents = module_of<EventTable, EventCursor>();
constexpr sqlite3_module kUses = module_of<UseTable, UseCursor>();

} // namespace

int register_tables(sqlite3* database, Source& source) {
    const int code = sqlite3_create_module_v2(database, "events", &kEvents, &source, nullptr);
    return code != SQLITE_OK ? code : sqlite3_create_module_v2(database, "utilisation", &kUses, &source, nullptr);
}

// --- percentile ------------------------------------------------------------------------------------------------------

// Source: sqlite.org, "Application-Defined SQL Functions".

namespace {

struct Number {
    double real = 0;
    sqlite3_int64 integer = 0;
    bool is_real = false;

    friend bool operator<(const Number& a, const Number& b) {
        return a.is_real || b.is_real ? a.real < b.real : a.integer < b.integer;
    }
};

struct Values {
    std::vector<Number> numbers;
    double percent = 0;
    bool percent_is_null = false;
};

// SQLite's zeroed memory has the pointer from the first row on. Null: there was no row.
Values** place_of(sqlite3_context* context, bool make) {
    constexpr int kPointerBytes = sizeof(Values*); // NOLINT(bugprone-sizeof-expression): the pointer is kept
    return static_cast<Values**>(sqlite3_aggregate_context(context, make ? kPointerBytes : 0));
}

void step(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
    const int type = sqlite3_value_numeric_type(arguments[0]);
    if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) {
        return;
    }
    const bool percent_is_null = sqlite3_value_type(arguments[1]) == SQLITE_NULL;
    const int percent_type = sqlite3_value_numeric_type(arguments[1]);
    const double percent = sqlite3_value_double(arguments[1]);
    const auto is_number = [](int of) { return of == SQLITE_INTEGER || of == SQLITE_FLOAT; };
    if (!is_number(type) || (!percent_is_null && !(is_number(percent_type) && percent >= 0 && percent <= 100))) {
        sqlite3_result_error(context, "percentile(value, percent): numbers, percent from 0 to 100", -1);
        return;
    }
    Values** const place = place_of(context, true);
    if (place != nullptr && *place == nullptr) {
        *place = new (std::nothrow) Values();
    }
    if (place == nullptr || *place == nullptr) {
        sqlite3_result_error_nomem(context);
        return;
    }
    (*place)->percent = percent;
    (*place)->percent_is_null = (*place)->percent_is_null || percent_is_null;
    (*place)->numbers.push_back({.real = sqlite3_value_double(arguments[0]),
                                 .integer = sqlite3_value_int64(arguments[0]),
                                 .is_real = type == SQLITE_FLOAT});
}

void finish(sqlite3_context* context) {
    Values** const place = place_of(context, false);
    Values* const values = place != nullptr ? *place : nullptr;
    if (values == nullptr) {
        sqlite3_result_null(context);
        return;
    }
    if (values->percent_is_null) {
        sqlite3_result_null(context);
    } else {
        const Number found = analyse::percentile(std::span(values->numbers), values->percent);
        found.is_real ? sqlite3_result_double(context, found.real) : sqlite3_result_int64(context, found.integer);
    }
    delete values;
}

} // namespace

int register_percentile(sqlite3* database) {
    constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    return sqlite3_create_function_v2(database, "percentile", 2, kFlags, nullptr, nullptr, step, finish, nullptr);
}

} // namespace host::sql
