// SPDX-License-Identifier: MIT
// One SQL statement over a trace. The database is SQLite's, in a temporary file of its own that holds what exceeds its
// cache. A statement that names a table has it filled first, unless an earlier one had it; `events` and `utilisation`
// are virtual. Whatever would write, open another file or change a setting is refused before it runs.
#pragma once

#include "host/sql/source.hpp"
#include "host/sql/tables.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

struct Value {
    enum class Kind : std::uint8_t { null, integer, real, text, blob };
    Kind kind = Kind::null;
    std::string_view text; // a number in decimal; of a blob its bytes
};

class Database {
  public:
    struct Failure {
        std::string text;
        std::int64_t offset = -1; // of the place in the statement, in bytes; -1: none
        bool stopped = false;     // by the source's watch; there may be more rows than were received
    };

    // begin is called once before the rows, also if there are none; row is called for each row, and returns false if no
    // more is wanted.
    struct Receiver {
        std::function<void(std::span<const std::string> names)> begin;
        std::function<bool(std::span<const Value> values)> row;
    };

    // source outlives the database. no_space: no memory.
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
