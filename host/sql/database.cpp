// SPDX-License-Identifier: MIT
// SQLite around the virtual tables. Source: sqlite.org, "Compile-Time Authorization Callbacks" and "Defense Against The
// Dark Arts".
#include "host/sql/database.hpp"

#include "host/sql/percentile.hpp"
#include "host/sql/views.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>

namespace host::sql {

namespace {

// Pragmas that only report.
constexpr std::array<std::string_view, 4> kPragmas = {"table_info", "table_xinfo", "table_list", "compile_options"};

// SQLite's instructions between two questions to the watch: about a millisecond.
constexpr int kInstructionsPerWatch = 100'000;

// Of a value or a row, in bytes. SQLite does not ask the watch while it makes one.
constexpr int kValueBytesMax = 64 << 20;

int authorize(void* /*unused*/, int action, const char* first, const char* second, const char* /*database*/,
              const char* /*trigger*/) {
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return first != nullptr && std::ranges::find(kPragmas, std::string_view(first)) != kPragmas.end() ? SQLITE_OK
                                                                                                          : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using Statement = std::unique_ptr<sqlite3_stmt, Finalizer>;

Value value_at(sqlite3_stmt* statement, int column) {
    Value value;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value.kind = Value::Kind::integer;
        break;
    case SQLITE_FLOAT:
        value.kind = Value::Kind::real;
        break;
    case SQLITE_TEXT:
        value.kind = Value::Kind::text;
        break;
    case SQLITE_BLOB: {
        value.kind = Value::Kind::blob;
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
        value.text = {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
        return value;
    }
    default:
        return value;
    }
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    value.text = {text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
    return value;
}

// Preparing a query makes SQLite ask a table for its columns. That counts as creating it, so it happens before creating
// is forbidden; for the pragmas that are written as tables, too.
int connect_tables(sqlite3* database) {
    std::string queries = "SELECT 1 FROM events LIMIT 0;";
    for (const std::string_view pragma : kPragmas) {
        queries += fmt::format("SELECT 1 FROM pragma_{} LIMIT 0;", pragma);
    }
    for (const TableRow& table : kTableRows) {
        queries += fmt::format("SELECT 1 FROM {} LIMIT 0;", table.name);
    }
    return sqlite3_exec(database, queries.c_str(), nullptr, nullptr, nullptr);
}

} // namespace

lib::Result<std::unique_ptr<Database>> Database::open(Source& source) {
    auto database = std::unique_ptr<Database>(new Database(source));
    for (std::size_t i = 0; i < kTables; ++i) {
        database->m_contexts[i] = {.tables = &database->m_tables, .table = static_cast<Table>(i)};
    }
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    sqlite3*& handle = database->m_database;
    const std::string views = create_views();
    if (sqlite3_open_v2(":memory:", &handle, kFlags, nullptr) != SQLITE_OK ||
        register_event_table(handle, source) != SQLITE_OK || register_percentile(handle) != SQLITE_OK ||
        register_row_tables(handle, database->m_contexts) != SQLITE_OK || connect_tables(handle) != SQLITE_OK ||
        sqlite3_exec(handle, views.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK ||
        sqlite3_set_authorizer(handle, authorize, nullptr) != SQLITE_OK) {
        return lib::Error::no_space;
    }
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kValueBytesMax);
    sqlite3_progress_handler(
        handle, kInstructionsPerWatch, [](void* given) { return static_cast<Source*>(given)->may_continue() ? 0 : 1; },
        &source);
    return database;
}

Database::~Database() {
    sqlite3_close(m_database);
}

Database::Failure Database::failure() const {
    const bool too_big = sqlite3_errcode(m_database) == SQLITE_TOOBIG;
    return {.text = too_big ? fmt::format("a value or a row has more than {} MiB: ask for a part of it, or for less",
                                          kValueBytesMax >> 20)
                            : sqlite3_errmsg(m_database),
            .offset = sqlite3_error_offset(m_database),
            .stopped = m_source.stopped()};
}

std::optional<Database::Failure> Database::run(std::string_view text, const Receiver& receiver) {
    m_tables.begin_statement();
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(m_database, text.data(), static_cast<int>(text.size()), &prepared, &rest) != SQLITE_OK) {
        return failure();
    }
    const Statement statement(prepared);
    if (statement == nullptr) {
        return Failure{.text = "there is no statement"};
    }
    const auto offset = rest - text.data();
    sqlite3_stmt* second = nullptr;
    const bool more = sqlite3_prepare_v2(m_database, rest, static_cast<int>(text.size()) - static_cast<int>(offset),
                                         &second, nullptr) != SQLITE_OK ||
                      second != nullptr;
    sqlite3_finalize(second);
    if (more) {
        return Failure{.text = "one statement at a time: a second one begins here", .offset = offset};
    }
    const int columns = sqlite3_column_count(statement.get());
    std::vector<std::string> names;
    for (int i = 0; i < columns; ++i) {
        const char* const name = sqlite3_column_name(statement.get(), i);
        names.emplace_back(name != nullptr ? name : "");
    }
    receiver.begin(names);
    std::vector<Value> values(static_cast<std::size_t>(columns));
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
        for (int i = 0; i < columns; ++i) {
            values[static_cast<std::size_t>(i)] = value_at(statement.get(), i);
        }
        if (!receiver.row(values)) {
            return std::nullopt;
        }
    }
    return code == SQLITE_DONE ? std::nullopt : std::optional(failure());
}

} // namespace host::sql
