// SPDX-License-Identifier: MIT
// A database answers questions in the subset of SQL that SQLite and ClickHouse have in common, so that one text serves
// both stores. The subset has select, where, group by, having, order by, limit, union all, subqueries in from, (a, b)
// in (select a, b ...), case, and the aggregates count(*), sum, min, max. It excludes with, window functions, joins,
// integer division (`/` differs), and an alias with the name of a column that is used within an aggregate.
#pragma once

#include "fleet/failure.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace host::fleet {

// A value is NULL, an integer, or a text.
using Value = std::variant<std::monostate, std::int64_t, std::string>;

struct Answer {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;
};

// Reads the values of a row one after the other. No schema checks the answer of a store, so a value of another type, or
// a missing one, counts as unknown.
class Cells {
  public:
    explicit Cells(const std::vector<Value>& values)
        : m_values(values) {}

    [[nodiscard]] std::optional<std::int64_t> optional() {
        const Value* const value = next();
        const auto* const number = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
        return number != nullptr ? std::optional(*number) : std::nullopt;
    }

    // Returns 0 if the value is unknown.
    [[nodiscard]] std::int64_t number() { return optional().value_or(0); }

    // Returns 0 if the value is unknown or negative.
    [[nodiscard]] std::uint64_t count() {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(optional().value_or(0), 0));
    }

    // Returns an empty text if the value is unknown.
    [[nodiscard]] std::string text() {
        const Value* const value = next();
        const auto* const text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
        return text != nullptr ? *text : std::string();
    }

  private:
    const Value* next() {
        const std::size_t at = m_at++;
        return at < m_values.size() ? &m_values[at] : nullptr;
    }

    const std::vector<Value>& m_values;
    std::size_t m_at = 0;
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
