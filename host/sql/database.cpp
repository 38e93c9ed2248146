// SPDX-License-Identifier: MIT
// Sources: sqlite.org, "Compile-Time Authorization Callbacks" and "Defense Against The Dark Arts".
#include "host/sql/database.hpp"

#include "host/formats/dat/record_stream.hpp"
#include "host/sql/filler.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace host::sql {

namespace {

constexpr std::uint64_t kRecordsUnknown = 1'000'000;

} // namespace

Source::Source(const Options& options, trace::Diagnostics::Sink sink)
    : m_options(options)
    , m_sink([this, report = std::move(sink)](std::string_view line) {
        if (m_reported.emplace(line).second) {
            report(line);
        }
    }) {}

lib::Result<std::unique_ptr<Source>> Source::open(const Options& options, trace::Diagnostics::Sink sink) {
    auto source = std::unique_ptr<Source>(new Source(options, std::move(sink)));
    if (!source->prepare()) {
        return lib::Error::io;
    }
    return source;
}

lib::Result<std::unique_ptr<formats::Trace>> Source::open_trace(trace::Diagnostics& diagnostics) const {
    return m_kept != nullptr ? formats::Trace::open({.name = "<stdin>", .bytes = m_kept, .keep_open = true},
                                                    m_options.open, diagnostics)
                             : formats::Trace::open(m_options.path, m_options.open, diagnostics, m_session);
}

// Opening the trace finds its kind, and refuses a trace that cannot be read.
bool Source::prepare() {
    trace::Diagnostics diagnostics(m_sink);
    if (trace::ByteSource::is_stream(m_options.path)) {
        const auto input = formats::open_source(m_options.path, m_options.open, diagnostics);
        const auto kept = input ? trace::ByteSource::positioned(input.value()) : lib::Error::io;
        if (!kept) {
            diagnostics.report("E-IO", {.file = m_options.path}, "cannot be kept in a file: TMPDIR names one");
            return false;
        }
        m_kept = kept.value();
    }
    const auto trace = open_trace(diagnostics);
    if (!trace) {
        m_status = diagnostics.exit_status(false);
        return false;
    }
    m_session = trace.value()->index();
    m_records_estimate = kRecordsUnknown;
    if (trace.value()->kind() == trace::InputKind::records) {
        std::uint64_t bytes = 0;
        if (const formats::dat::Manifest* const manifest = trace.value()->manifest()) {
            for (const formats::dat::ManifestChunk& chunk : manifest->chunks) {
                bytes += chunk.bytes;
            }
        } else {
            std::error_code ignored;
            bytes = m_kept != nullptr ? m_kept->size_bytes() : std::filesystem::file_size(m_options.path, ignored);
        }
        m_records_estimate = bytes / tracer::kRecordBytes;
    }
    return true;
}

Walk::Walk(Source& source)
    : m_source(source)
    , m_diagnostics(source.m_sink) {
    if (auto opened = source.open_trace(m_diagnostics)) {
        m_trace = std::move(opened.value());
    }
}

bool Walk::read() {
    if (m_trace == nullptr || m_source.m_stopped) {
        return false;
    }
    std::uint64_t& visited = m_source.m_statistics.visited;
    const std::uint64_t asked = visited / kEventsPerWatch;
    m_batch = m_trace->next_batch();
    visited += m_batch.size();
    if (visited / kEventsPerWatch != asked && !m_source.may_continue()) {
        m_batch = {};
    }
    return !m_batch.empty();
}

Walk::~Walk() {
    const bool has_ended = m_trace != nullptr && m_trace->exhausted();
    const bool usable = m_trace != nullptr && (!has_ended || m_trace->facts().usable_events != 0);
    if (has_ended && !usable) {
        m_diagnostics.report("E-NOTHING", {.file = m_source.m_options.path}, m_trace->nothing_text());
    }
    m_source.m_statistics.chunks += facts().chunks.size();
    m_diagnostics.finish();
    const trace::ExitStatus status = m_diagnostics.exit_status(usable);
    m_source.m_status = std::max(m_source.m_status, status);
    if (has_ended && status == trace::ExitStatus::clean && m_source.m_options.ended) {
        std::exchange(m_source.m_options.ended, {})(*m_trace);
    }
}

// --- database --------------------------------------------------------------------------------------------------------

namespace {

// These pragmas only report.
constexpr std::array<std::string_view, 4> kPragmas = {"table_info", "table_xinfo", "table_list", "compile_options"};

// SQLite executes so many instructions between two calls of the watch, which is about a millisecond.
constexpr int kInstructionsPerWatch = 100'000;

// The limit of a value or a row, in bytes. SQLite does not ask the watch while it makes one.
constexpr int kValueBytesMax = 64 << 20;

// Nothing of the database outlives the program, so it is never made durable. A journal in memory lets a statement that
// was stopped leave its tables empty.
constexpr const char* kSettings = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;"
                                  "PRAGMA analysis_limit = 1000;";

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

// SQLite asks a virtual table for its columns when a statement first names it. That counts as creating it, so it
// happens before creating is forbidden; pragmas that are written as tables are virtual, too.
std::string connect_virtual_tables() {
    std::string queries = "SELECT 1 FROM events LIMIT 0; SELECT 1 FROM utilisation LIMIT 0;";
    for (const std::string_view pragma : kPragmas) {
        queries += fmt::format("SELECT 1 FROM pragma_{} LIMIT 0;", pragma);
    }
    return queries;
}

} // namespace

lib::Result<std::unique_ptr<Database>> Database::open(Source& source) {
    auto database = std::unique_ptr<Database>(new Database(source));
    if (!database->prepare()) {
        return lib::Error::no_space;
    }
    return database;
}

bool Database::prepare() {
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    TableSet all = TableSet().set();
    all.reset(static_cast<std::size_t>(Table::utilisation)); // it is virtual
    if (sqlite3_open_v2("", &m_database, kFlags, nullptr) != SQLITE_OK ||
        register_tables(m_database, m_source) != SQLITE_OK || register_percentile(m_database) != SQLITE_OK ||
        sqlite3_set_authorizer(m_database, authorize, this) != SQLITE_OK ||
        !execute(kSettings + connect_virtual_tables() + create_tables(all) + create_views())) {
        return false;
    }
    sqlite3_limit(m_database, SQLITE_LIMIT_LENGTH, kValueBytesMax);
    sqlite3_progress_handler(
        m_database, kInstructionsPerWatch,
        [](void* given) { return static_cast<Source*>(given)->may_continue() ? 0 : 1; }, &m_source);
    m_is_own = false;
    return true;
}

bool Database::execute(const std::string& statements) const {
    return sqlite3_exec(m_database, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

int Database::authorize(void* self, int action, const char* first, const char* second, const char* /*database*/,
                        const char* /*trigger*/) {
    Database& database = *static_cast<Database*>(self);
    if (database.m_is_own) {
        return SQLITE_OK;
    }
    switch (action) {
    case SQLITE_READ: {
        const auto* const table = std::ranges::find(kTableRows, std::string_view(first), &TableRow::name);
        if (table != kTableRows.end()) {
            database.m_named.set(static_cast<std::size_t>(table - kTableRows.begin()));
        }
        return SQLITE_OK;
    }
    case SQLITE_SELECT:
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

// One walk fills all tables that the statement names.
std::optional<Database::Failure> Database::fill() {
    TableSet tables = m_named & ~m_filled;
    tables.reset(static_cast<std::size_t>(Table::utilisation));
    if (tables.none()) {
        return std::nullopt;
    }
    m_is_own = true;
    bool is_whole = execute("BEGIN");
    if (is_whole) {
        Filler filler(m_database, tables);
        Walk walk(m_source);
        for (const trace::Event* event = walk.next(); event != nullptr && filler.code() == SQLITE_OK;
             event = walk.next()) {
            filler.add(*event, walk.facts());
        }
        filler.finish(walk.facts());
        is_whole = !m_source.stopped() && filler.code() == SQLITE_OK;
    }
    // Statistics of a part suffice: without any, SQLite prefers an index of its own to one of times.
    is_whole = is_whole && execute(create_indices(tables) + "ANALYZE; COMMIT");
    std::optional<Failure> failed;
    if (is_whole) {
        m_filled |= tables;
    } else {
        failed = failure();
        (void)execute("ROLLBACK"); // SQLite has done it already after some errors
    }
    m_is_own = false;
    return failed;
}

Database::Failure Database::failure() const {
    if (m_source.stopped()) {
        return {.text = "interrupted", .stopped = true};
    }
    const bool too_big = sqlite3_errcode(m_database) == SQLITE_TOOBIG;
    return {.text = too_big ? fmt::format("a value or a row has more than {} MiB: ask for a part of it, or for less",
                                          kValueBytesMax >> 20)
                            : sqlite3_errmsg(m_database),
            .offset = sqlite3_error_offset(m_database)};
}

std::optional<Database::Failure> Database::run(std::string_view text, const Receiver& receiver) {
    m_named.reset();
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
    if (sqlite3_stmt_isexplain(statement.get()) == 0) {
        if (auto failed = fill()) {
            return failed;
        }
    }
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
