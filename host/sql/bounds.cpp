// SPDX-License-Identifier: MIT
#include "host/sql/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace host::sql {

char comparison_letter(unsigned char op) {
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
        return '>';
    case SQLITE_INDEX_CONSTRAINT_GE:
        return 'g';
    case SQLITE_INDEX_CONSTRAINT_LT:
        return '<';
    case SQLITE_INDEX_CONSTRAINT_LE:
        return 'l';
    default:
        return 0;
    }
}

namespace {

// The whole numbers below and above, or the number twice.
std::pair<sqlite3_int64, sqlite3_int64> around(double number) {
    constexpr double kLimit = 9.2e18;
    if (number <= -kLimit) {
        return {Bounds::kMin, Bounds::kMin};
    }
    if (number >= kLimit) {
        return {Bounds::kMax, Bounds::kMax};
    }
    return {static_cast<sqlite3_int64>(std::floor(number)), static_cast<sqlite3_int64>(std::ceil(number))};
}

} // namespace

// A fraction is rounded towards more rows. Values of other types compare by SQLite's order of types: NULL with nothing,
// a text with a number as SQLite will see when it checks the row.
void Bounds::narrow(char comparison, sqlite3_value* value) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) {
        nothing = true;
        return;
    }
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        return;
    }
    const auto [low, high] = type == SQLITE_INTEGER ? std::pair(sqlite3_value_int64(value), sqlite3_value_int64(value))
                                                    : around(sqlite3_value_double(value));
    if (comparison == '>' || comparison == 'g' || comparison == '=') {
        first = std::max<std::int64_t>(first, low);
    }
    if (comparison == '<' || comparison == 'l' || comparison == '=') {
        last = std::min<std::int64_t>(last, high);
    }
}

} // namespace host::sql
