// SPDX-License-Identifier: MIT
// Source: sqlite.org, "Application-Defined SQL Functions".
#include "host/sql/virtual_tables.hpp"

#include "host/analyse/durations.hpp"

#include <new>
#include <span>
#include <vector>

namespace host::sql {

namespace {

struct Number {
    double real = 0;
    sqlite3_int64 integer = 0;
    bool is_real = false;

    friend bool operator<(const Number& a, const Number& b) {
        return a.is_real || b.is_real ? a.real < b.real : a.integer < b.integer;
    }
};

struct Values {
    std::vector<Number> numbers;
    double percent = 0;
    bool percent_is_null = false;
};

// Zeroed memory of SQLite's holds the pointer from the first row on. Null: there was none.
Values** place_of(sqlite3_context* context, bool make) {
    constexpr int kPointerBytes = sizeof(Values*); // NOLINT(bugprone-sizeof-expression): the pointer is what is kept
    return static_cast<Values**>(sqlite3_aggregate_context(context, make ? kPointerBytes : 0));
}

void step(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
    const int type = sqlite3_value_numeric_type(arguments[0]);
    if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) {
        return;
    }
    const bool percent_is_null = sqlite3_value_type(arguments[1]) == SQLITE_NULL;
    const int percent_type = sqlite3_value_numeric_type(arguments[1]);
    const double percent = sqlite3_value_double(arguments[1]);
    const auto is_number = [](int of) { return of == SQLITE_INTEGER || of == SQLITE_FLOAT; };
    if (!is_number(type) || (!percent_is_null && !(is_number(percent_type) && percent >= 0 && percent <= 100))) {
        sqlite3_result_error(context, "percentile(value, percent): numbers, percent from 0 to 100", -1);
        return;
    }
    Values** const place = place_of(context, true);
    if (place != nullptr && *place == nullptr) {
        *place = new (std::nothrow) Values();
    }
    if (place == nullptr || *place == nullptr) {
        sqlite3_result_error_nomem(context);
        return;
    }
    (*place)->percent = percent;
    (*place)->percent_is_null = (*place)->percent_is_null || percent_is_null;
    (*place)->numbers.push_back({.real = sqlite3_value_double(arguments[0]),
                                 .integer = sqlite3_value_int64(arguments[0]),
                                 .is_real = type == SQLITE_FLOAT});
}

void finish(sqlite3_context* context) {
    Values** const place = place_of(context, false);
    Values* const values = place != nullptr ? *place : nullptr;
    if (values == nullptr) {
        sqlite3_result_null(context);
        return;
    }
    if (values->percent_is_null) {
        sqlite3_result_null(context);
    } else {
        const Number found = analyse::percentile(std::span(values->numbers), values->percent);
        found.is_real ? sqlite3_result_double(context, found.real) : sqlite3_result_int64(context, found.integer);
    }
    delete values;
}

} // namespace

int register_percentile(sqlite3* database) {
    constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    return sqlite3_create_function_v2(database, "percentile", 2, kFlags, nullptr, nullptr, step, finish, nullptr);
}

} // namespace host::sql
