// SPDX-License-Identifier: MIT
// Writes a SQLite database, so that any client can query a trace. Prepared inserts are in one transaction without a
// journal, because no other program uses the file until it is complete, and a failure removes it. Indices are made at
// the end, which costs less than keeping them while rows arrive. All tables but those of the events are host/sql/'s.
// Source: sqlite.org, "C-language Interface Specification" and "PRAGMA Statements".
//
// Most of the 27 columns of `events` are empty, and many events have equal names and words. So an event is a row of
// numbers and the number of its kind; the row of the kind has the columns that all events of the kind share, and the
// view `events` combines the published columns.
#include "convert/rows.hpp"
#include "host/sql/event_columns.hpp"
#include "host/sql/filler.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace host::convert::table {

namespace {

using sql::Cell;
using sql::EventColumn;
using tracer::Unit;

// pid, signal and timer of a kind name the parameter that has the number, 1 or 2. The text of the parameters is that of
// the row, or else `words`, par1 if `shows` & 1, `more`, par2 if `shows` & 2. `turn` is the number of an event among
// those of its time.
constexpr std::string_view kCreateEvents =
    "CREATE TABLE event_rows(time_ns INTEGER, turn INTEGER, ticks INTEGER, cpu INTEGER, chunk INTEGER, record INTEGER, "
    "kind INTEGER, par1 INTEGER, par2 INTEGER, parameters TEXT, payload TEXT, PRIMARY KEY(time_ns, turn)) WITHOUT "
    "ROWID;"
    "CREATE TABLE event_kinds(id INTEGER PRIMARY KEY, family TEXT, code INTEGER, event TEXT, state TEXT, context "
    "INTEGER, task TEXT, pid INTEGER, level TEXT, vector INTEGER, interrupt TEXT, mutex TEXT, semaphore TEXT, "
    "condition TEXT, port TEXT, server TEXT, signal INTEGER, timer INTEGER, wait TEXT, is_foreign INTEGER, is_timed "
    "INTEGER, words TEXT, more TEXT, shows INTEGER);";
constexpr std::size_t kRowColumns = 11;

// At most this many kinds are remembered; a kind that occurs again after that has two rows.
constexpr std::size_t kKindsMax = 1 << 16;

constexpr std::uint8_t kPar1 = 1;
constexpr std::uint8_t kPar2 = 2;

// The columns are in the order of the table.
constexpr auto kKindColumns = [] {
    using enum EventColumn;
    return std::to_array({family, code, event, state, context, task, pid, level, vector, interrupt, mutex, semaphore,
                          condition, port, server, signal, timer, wait});
}();

// Returns the unit of a column whose numbers without a name are in the parameters. none: the kind has the column.
constexpr Unit bare_number(EventColumn column) {
    return column == EventColumn::pid      ? Unit::pid
           : column == EventColumn::signal ? Unit::signal
           : column == EventColumn::timer  ? Unit::timer
                                           : Unit::none;
}

// Returns whether the code of the event determines its parameters.
bool has_parameters(const trace::Event& event) {
    return event.row != nullptr && event.row->shape == tracer::Shape::simple && event.is_sound();
}

bool has_words(Unit unit) {
    return trace::may_have_meaning(unit) && !trace::is_hexadecimal(unit);
}

std::string_view name_of(EventColumn column) {
    return sql::kEventColumnRows[static_cast<std::size_t>(column)].name;
}

// Returns the expression of a column in the view. A time without conditions is found by the key.
std::string expression(EventColumn column, bool all_timed) {
    const std::string_view name = name_of(column);
    if (column == EventColumn::time_ns && !all_timed) {
        return "iif(is_timed, event_rows.time_ns, NULL)";
    }
    if (column == EventColumn::par1 || column == EventColumn::par2) {
        return fmt::format("CASE is_foreign WHEN 0 THEN event_rows.{} END", name);
    }
    if (bare_number(column) != Unit::none) {
        return fmt::format("CASE {} WHEN 1 THEN event_rows.par1 WHEN 2 THEN event_rows.par2 END", name);
    }
    if (column == EventColumn::parameters) {
        return "ifnull(parameters, words || iif(shows & 1, event_rows.par1, '') || more || iif(shows & 2, "
               "event_rows.par2, ''))";
    }
    return std::string(name);
}

class StoredEvents {
  public:
    StoredEvents();

    // Prepares the statements; the tables must exist. Returns SQLite's code.
    [[nodiscard]] int open(sqlite3* database);

    void add(const trace::Event& event);

    // Returns SQLite's first error, or SQLITE_OK.
    [[nodiscard]] int code() const { return m_code; }

    void close() {
        m_row_insert.close();
        m_kind_insert.close();
    }

    // Returns the statement that creates the view `events`, with the columns of sql::kEventColumnRows, for the events
    // so far.
    [[nodiscard]] std::string create_view() const;

  private:
    // These values determine the columns of a kind.
    struct Key {
        std::uint64_t what = 0;    // code, state, values of parameters
        std::uint64_t version = 0; // of the names
        std::string name;          // of an event outside the event table, and its task; else empty

        bool operator==(const Key&) const = default;
    };

    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    // A plan states how the parameters of events with one code are stored.
    struct Plan {
        std::uint8_t kept = 0;  // bit 0, 1: par1, par2 distinguish kinds
        std::uint8_t shown = 0; // bit 0, 1: the row, not the kind, has the digits of par1, par2
        bool in_row = false;    // the row has the text, because few events share it
    };

    // A place is the key of an event in event_rows.
    struct Place {
        std::int64_t time_ns;
        std::int64_t turn;
    };

    [[nodiscard]] Place place_of(const trace::Event& event);
    [[nodiscard]] std::int64_t kind_of(const trace::Event& event, trace::OptionalTask task);
    void add_kind(const trace::Event& event, trace::OptionalTask task, std::int64_t id);

    void check(int code) { m_code = m_code == SQLITE_OK ? code : m_code; }

    sql::Insert m_row_insert;
    sql::Insert m_kind_insert;
    int m_code = SQLITE_OK;
    std::array<Plan, 256> m_plans{}; // by code
    std::unordered_map<Key, std::int64_t, Hash> m_kinds;
    std::int64_t m_last_kind = 0;
    std::int64_t m_time_ns = std::numeric_limits<std::int64_t>::min(); // the greatest time
    std::int64_t m_turn = 0;                                           // of the latest event of that time
    std::int64_t m_late = 0;                                           // events
    bool m_all_timed = true;
    trace::RunningTasks m_running;
    std::string m_parameters;
    std::string m_payload;
};

int StoredEvents::open(sqlite3* database) {
    const int code = m_row_insert.open(database, "event_rows", kRowColumns);
    return code != SQLITE_OK ? code : m_kind_insert.open(database, "event_kinds", kKindColumns.size() + 6);
}

std::string StoredEvents::create_view() const {
    std::string text = "CREATE VIEW events AS SELECT ";
    for (std::size_t i = 0; i < sql::kEventColumns; ++i) {
        const auto [name, type] = sql::kEventColumnRows[i];
        const std::string value = expression(static_cast<EventColumn>(i), m_all_timed);
        text += i == 0 ? "" : ", ";
        text += value == name ? value : fmt::format("CAST({} AS {}) AS {}", value, type, name);
    }
    // A LEFT JOIN keeps the order of the rows.
    return text + " FROM event_rows LEFT JOIN event_kinds ON id = kind;";
}

std::size_t StoredEvents::Hash::operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15U;
    return ((key.what ^ key.version << 20) * kOdd >> 20) ^ std::hash<std::string>()(key.name);
}

StoredEvents::StoredEvents() {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Plan& plan = m_plans[row.code];
        plan.in_row = trace::is_hexadecimal(row.par1.unit) || trace::is_hexadecimal(row.par2.unit);
        for (const auto& [unit, bit] : {std::pair{row.par1.unit, kPar1}, std::pair{row.par2.unit, kPar2}}) {
            const bool shown = unit != Unit::none && !has_words(unit);
            plan.kept |= has_words(unit) && unit != Unit::block ? bit : std::uint8_t{0};
            plan.shown |= shown ? bit : std::uint8_t{0};
        }
    }
}

void StoredEvents::add(const trace::Event& event) {
    if (m_code != SQLITE_OK) {
        return;
    }
    const trace::OptionalTask task = m_running.take(event);
    const std::int64_t kind = kind_of(event, task);
    const bool in_kind = has_parameters(event) && !m_plans[event.code].in_row;
    const Place place = place_of(event);
    const auto cell = [&](EventColumn column) { return sql::event_cell(event, column, m_parameters, task); };
    const std::array cells = {Cell(place.time_ns),
                              Cell(place.turn),
                              cell(EventColumn::ticks),
                              cell(EventColumn::cpu),
                              cell(EventColumn::chunk),
                              cell(EventColumn::record),
                              Cell(kind),
                              Cell(event.par1),
                              Cell(event.par2),
                              in_kind ? Cell() : cell(EventColumn::parameters),
                              event.payload.empty() && event.words.empty()
                                  ? Cell()
                                  : sql::event_cell(event, EventColumn::payload, m_payload, task)};
    check(m_row_insert.add(cells));
}

// Events without a time are at 0, in their order, because the key cannot be NULL.
StoredEvents::Place StoredEvents::place_of(const trace::Event& event) {
    constexpr std::int64_t kLateTurns = std::int64_t{1} << 40; // greater than the turns of events in order
    const std::int64_t time_ns = event.timed ? event.time_ns : 0;
    m_all_timed = m_all_timed && event.timed;
    if (time_ns < m_time_ns) {
        return {.time_ns = time_ns, .turn = kLateTurns + m_late++};
    }
    m_turn = time_ns == m_time_ns ? m_turn + 1 : 0;
    m_time_ns = time_ns;
    return {.time_ns = time_ns, .turn = m_turn};
}

std::int64_t StoredEvents::kind_of(const trace::Event& event, trace::OptionalTask task) {
    const bool foreign = trace::is_foreign(event);
    Key key{.what = std::uint64_t{event.code} | static_cast<std::uint64_t>(event.state) << 8 |
                    (foreign ? std::uint64_t{1} << 11 : 0) | (event.timed ? std::uint64_t{1} << 12 : 0),
            .version = event.names->version(),
            .name = {}};
    if (has_parameters(event)) {
        const std::uint8_t kept = m_plans[event.code].kept;
        key.what |= ((kept & kPar1) != 0 ? std::uint64_t{event.par1} << 16 : 0) |
                    ((kept & kPar2) != 0 ? std::uint64_t{event.par2} << 32 : 0);
    }
    if (task) {
        key.name = fmt::format("in {} ", *task);
    }
    if (foreign || event.row == nullptr || event.row->shape != tracer::Shape::simple) {
        key.name += fmt::format("{} {} {}", event.event_class, event.number, trace::event_name(event));
    }
    if (const auto found = m_kinds.find(key); found != m_kinds.end()) {
        return found->second;
    }
    if (m_kinds.size() >= kKindsMax) {
        m_kinds.clear();
    }
    add_kind(event, task, ++m_last_kind);
    m_kinds.emplace(std::move(key), m_last_kind);
    return m_last_kind;
}

void StoredEvents::add_kind(const trace::Event& event, trace::OptionalTask task, std::int64_t id) {
    std::array<std::string, kKindColumns.size()> texts;
    std::vector<Cell> cells = {Cell(id)};
    for (std::size_t i = 0; i < kKindColumns.size(); ++i) {
        const Cell value = sql::event_cell(event, kKindColumns[i], texts[i], task);
        const Unit bare = bare_number(kKindColumns[i]);
        cells.push_back(bare == Unit::none || value.is_null() ? value : Cell(event.row->par1.unit == bare ? 1 : 2));
    }
    cells.emplace_back(trace::is_foreign(event) ? 1 : 0);
    cells.emplace_back(event.timed ? 1 : 0);
    std::array<std::string, 2> words;
    std::uint8_t shows = 0;
    if (has_parameters(event)) {
        std::size_t part = 0;
        const auto put = [&](const tracer::Parameter& parameter, std::uint32_t value, std::uint8_t bit) {
            if (parameter.unit == Unit::none) {
                return;
            }
            words[part] += fmt::format("{}{}=", words[0].empty() ? "" : " ", parameter.name);
            if ((m_plans[event.code].shown & bit) != 0) {
                shows |= bit;
                part = 1;
                return;
            }
            fmt::memory_buffer text;
            trace::append_digits_and_meaning(text, event, parameter.unit, value);
            words[part].append(text.data(), text.size());
        };
        put(event.row->par1, event.par1, kPar1);
        put(event.row->par2, event.par2, kPar2);
    }
    const bool in_kind = !words[0].empty() && !m_plans[event.code].in_row;
    cells.push_back(in_kind ? Cell(std::string_view(words[0])) : Cell());
    cells.emplace_back(std::string_view(words[1]));
    cells.emplace_back(shows);
    check(m_kind_insert.add(cells));
}

struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};

class Sqlite final : public Writer {
  public:
    explicit Sqlite(Destination& destination)
        : m_destination(destination) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_facts = &survey->facts;
        constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        sqlite3* database = nullptr;
        check(sqlite3_open_v2(m_destination.partial_path().c_str(), &database, kFlags, nullptr));
        m_database.reset(database);
        const sql::TableSet all = sql::TableSet().set();
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
            "PRAGMA encoding = 'UTF-8'; PRAGMA page_size = 16384; PRAGMA cache_size = -65536; "
            "PRAGMA analysis_limit = 1000; BEGIN;");
        run(std::string(kCreateEvents) + sql::create_tables(all));
        if (m_error == SQLITE_OK) {
            check(m_stored.open(database));
            m_filler.emplace(database, all);
            check(m_filler->code());
        }
        return result();
    }

    void add(const trace::Event& event) override {
        m_stored.add(event);
        m_filler->add(event, *m_facts);
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        m_filler->finish(facts);
        check(m_stored.code());
        check(m_filler->code());
        m_filler.reset();
        m_stored.close();
        run("CREATE INDEX events_by_kind ON event_rows(kind);" + sql::create_indices(sql::TableSet().set()) +
            m_stored.create_view() + sql::create_views());
        // The statistics claim large entries of an index, so that SQLite reads the table when it reads all rows, and
        // these come in the order of the table.
        run("ANALYZE; UPDATE sqlite_stat1 SET stat = stat || ' sz=1000' WHERE idx = 'events_by_kind'; COMMIT;");
        check(sqlite3_close(m_database.release()));
        return result();
    }

  private:
    // Keeps the first error, after which nothing is executed.
    void check(int code) { m_error = m_error == SQLITE_OK ? code : m_error; }

    void run(const std::string& text) {
        if (m_error == SQLITE_OK) {
            check(sqlite3_exec(m_database.get(), text.c_str(), nullptr, nullptr, nullptr));
        }
    }

    [[nodiscard]] lib::Result<void, Failure> result() const {
        if (m_error == SQLITE_OK) {
            return {};
        }
        return Failure{(m_error & 0xFF) == SQLITE_FULL ? Fault::no_space : Fault::unusable, sqlite3_errstr(m_error)};
    }

    Destination& m_destination;
    std::unique_ptr<sqlite3, Closer> m_database; // must outlive the prepared statements
    StoredEvents m_stored;
    std::optional<sql::Filler> m_filler;
    int m_error = SQLITE_OK;
    const trace::TraceFacts* m_facts = nullptr; // of the whole trace
};

} // namespace

const FormatRow kSqliteRow = {
    .name = "sqlite",
    .suffix = ".sqlite",
    .meaning = "a SQLite database of events, tasks, jobs and intervals, for queries; see also `remora sql`",
    .shape = Destination::Shape::library_file,
    .needs_survey = true,
    .make = make_writer<Sqlite>,
};

} // namespace host::convert::table
