// SPDX-License-Identifier: MIT
// A database answers questions in the subset of SQL that SQLite and ClickHouse have in common, so that one text serves
// both stores. The subset has select, where, group by, having, order by, limit, union all, subqueries in from, (a, b)
// in (select a, b ...), case, and the aggregates count(*), sum, min, max. It excludes with, window functions, joins,
// integer division (`/` differs), and an alias with the name of a column that is used within an aggregate.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace host::fleet {

// cause: unreachable: the server cannot be reached; corrupt: its answer cannot be read; refused: it refuses the
// statement, or this user; no_space; io.
using StoreFailure = trace::Failure<lib::Error>;

// A value is NULL, an integer, or a text.
using Value = std::variant<std::monostate, std::int64_t, std::string>;

struct Answer {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;
};

class Database {
  public:
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    virtual ~Database() = default;

    [[nodiscard]] virtual lib::Result<Answer, StoreFailure> query(const std::string& statement) = 0;

    // Returns the text as an SQL literal, with its quotes.
    [[nodiscard]] virtual std::string quoted(std::string_view text) const = 0;
};

} // namespace host::fleet
