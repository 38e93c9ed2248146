// SPDX-License-Identifier: MIT
// Runs one SQL statement over a trace. The database is SQLite's, in a temporary file of its own that has what exceeds
// its cache. The tables that a statement names are filled first, unless an earlier one had them filled; `events` and
// `utilisation` are virtual. A statement that would write, open another file or change a setting is refused before it
// runs.
#pragma once

#include "host/formats/trace.hpp"
#include "host/sql/tables.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

// The work that statements caused.
struct Statistics {
    std::uint64_t visited = 0; // records that were read, metadata included
    std::uint64_t chunks = 0;
};

// Is the trace that `remora sql` asks. A statement may walk over it several times; a pipe is therefore copied to a file
// without a name. Damage is reported once, by the first walk that meets it.
class Source {
  public:
    struct Options {
        std::string path;
        trace::OpenOptions open{};
        // Is called now and then with the number of events that all walks have read. If it returns false, the walks
        // end, and so does the statement.
        std::function<bool(std::uint64_t events)> watch{};
        // Is called with a trace that a walk has read to its end, before the first one of these ends.
        std::function<void(const formats::Trace&)> ended{};
    };

    // Any error is reported to the sink.
    [[nodiscard]] static lib::Result<std::unique_ptr<Source>> open(const Options& options,
                                                                   trace::Diagnostics::Sink sink);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    // Asks the watch. Returns false if the statement must end.
    [[nodiscard]] bool may_continue() {
        m_stopped = m_stopped || (m_options.watch && !m_options.watch(m_statistics.visited));
        return !m_stopped;
    }

    // Returns whether the watch has ended the walks.
    [[nodiscard]] bool stopped() const { return m_stopped; }

    [[nodiscard]] const Statistics& statistics() const { return m_statistics; }

    // Returns about how many records the trace has.
    [[nodiscard]] std::uint64_t records_estimate() const { return m_records_estimate; }

    // Returns what the walks so far have met.
    [[nodiscard]] trace::ExitStatus status() const { return m_status; }

  private:
    friend class Walk;

    Source(const Options& options, trace::Diagnostics::Sink sink);

    [[nodiscard]] bool prepare();
    [[nodiscard]] lib::Result<std::unique_ptr<formats::Trace>> open_trace(trace::Diagnostics& diagnostics) const;

    Options m_options;
    trace::Diagnostics::Sink m_sink; // drops a line that was reported already
    std::set<std::string> m_reported;
    std::shared_ptr<trace::ByteSource> m_kept;                   // a copy of a pipe
    std::shared_ptr<const formats::dat::SessionIndex> m_session; // of a sound session, so that it is opened faster
    std::uint64_t m_records_estimate = 0;
    Statistics m_statistics;
    bool m_stopped = false;
    trace::ExitStatus m_status = trace::ExitStatus::clean;
};

// One pass over the events of a trace, in the order in which `remora print` shows them, without metadata. The source
// must outlive the walk.
class Walk {
  public:
    explicit Walk(Source& source);
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    ~Walk(); // judges the trace, if it was read to its end

    // Returns the next event, which is valid until the next call; null at the end, and when the watch has ended the
    // walk.
    [[nodiscard]] const trace::Event* next() {
        do {
            if (m_batch.empty() && !read()) {
                return nullptr;
            }
            m_event = &m_batch.front();
            m_batch = m_batch.subspan(1);
        } while (m_event->metadata);
        return m_event;
    }

    // Returns what is known of the trace so far.
    [[nodiscard]] const trace::TraceFacts& facts() const { return m_trace != nullptr ? m_trace->facts() : m_none; }

  private:
    static constexpr std::uint64_t kEventsPerWatch = 1 << 16;

    [[nodiscard]] bool read();

    Source& m_source;
    trace::Diagnostics m_diagnostics;
    std::unique_ptr<formats::Trace> m_trace; // null: it cannot be opened any more
    trace::TraceFacts m_none;
    std::span<const trace::Event> m_batch; // what is left of it
    const trace::Event* m_event = nullptr;
};

// These functions register what SQLite calls: the virtual tables `events` and `utilisation`, and the aggregate
// percentile(value, percent). The other tables are SQLite's own. Sources: sqlite.org, "The Virtual Table Mechanism Of
// SQLite" and "Application-Defined SQL Functions".

// Both tables read the trace for each use, because a trace has more events than a database should hold, and
// `utilisation(window)` has other rows for each argument. They need not be created. The source outlives the database.
// Returns SQLite's code.
[[nodiscard]] int register_tables(sqlite3* database, Source& source);

// The percentile is that of the nearest rank, and NULL if there is no value or if percent is NULL. Values that are NULL
// are left out. Returns SQLite's code.
[[nodiscard]] int register_percentile(sqlite3* database);

struct Value {
    enum class Kind : std::uint8_t { null, integer, real, text, blob };
    Kind kind = Kind::null;
    std::string_view text; // a number is in decimal; a blob has its bytes
};

class Database {
  public:
    struct Failure {
        std::string text;
        std::int64_t offset = -1; // offset in the statement, in bytes; -1: none
        bool stopped = false;     // the source's watch ended it; there may be more rows than were received
    };

    // begin is called once before the rows, also if there are none; row is called for each row, and returns false if no
    // more is wanted.
    struct Receiver {
        std::function<void(std::span<const std::string> names)> begin;
        std::function<bool(std::span<const Value> values)> row;
    };

    // source must outlive the database. Error: no_space (no memory).
    [[nodiscard]] static lib::Result<std::unique_ptr<Database>> open(Source& source);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    ~Database() { sqlite3_close(m_database); }

    // Runs the one statement of `text`. Returns nothing on success.
    [[nodiscard]] std::optional<Failure> run(std::string_view text, const Receiver& receiver);

  private:
    explicit Database(Source& source)
        : m_source(source) {}

    static int authorize(void* self, int action, const char* first, const char* second, const char* database,
                         const char* trigger);

    [[nodiscard]] bool prepare();
    [[nodiscard]] bool execute(const std::string& statements) const;
    [[nodiscard]] std::optional<Failure> fill();
    [[nodiscard]] Failure failure() const;

    Source& m_source;
    sqlite3* m_database = nullptr;
    bool m_is_own = true; // what is being prepared is not the user's statement
    TableSet m_named;     // tables that the user's statement names
    TableSet m_filled;
};

} // namespace host::sql
