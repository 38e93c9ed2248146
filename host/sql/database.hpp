// SPDX-License-Identifier: MIT
// One SQL statement over a trace. The database is in memory and holds nothing but the virtual tables and the views;
// whatever would write, open another file or change a setting is refused before it runs.
#pragma once

#include "host/sql/source.hpp"
#include "host/sql/virtual_tables.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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

    // Called once before the rows, also if there are none; then for each row. False: no more is wanted.
    struct Receiver {
        std::function<void(std::span<const std::string> names)> begin;
        std::function<bool(std::span<const Value> values)> row;
    };

    // source outlives the database. no_space: no memory.
    [[nodiscard]] static lib::Result<std::unique_ptr<Database>> open(Source& source);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    // Runs the one statement of `text`. Nothing on success.
    [[nodiscard]] std::optional<Failure> run(std::string_view text, const Receiver& receiver);

  private:
    explicit Database(Source& source)
        : m_source(source)
        , m_tables(source) {}

    [[nodiscard]] Failure failure() const;

    Source& m_source;
    StoredTables m_tables;
    sqlite3* m_database = nullptr;
    TableContexts m_contexts;
};

} // namespace host::sql
