// SPDX-License-Identifier: MIT
#include "host/sql/bounds.hpp"

#include <algorithm>
#include <cmath>

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
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (type == SQLITE_INTEGER) {
        low = high = sqlite3_value_int64(value);
    } else {
        const double number = sqlite3_value_double(value);
        constexpr double kLimit = 9.2e18;
        low = number <= -kLimit ? kMin : number >= kLimit ? kMax : static_cast<std::int64_t>(std::floor(number));
        high = number <= -kLimit ? kMin : number >= kLimit ? kMax : static_cast<std::int64_t>(std::ceil(number));
    }
    if (comparison == '>' || comparison == 'g' || comparison == '=') {
        first = std::max(first, low);
    }
    if (comparison == '<' || comparison == 'l' || comparison == '=') {
        last = std::min(last, high);
    }
}

} // namespace host::sql
