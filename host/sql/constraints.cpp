// SPDX-License-Identifier: MIT
// A plan is two letters per condition: the column and the comparison.
#include "host/sql/constraints.hpp"

#include "host/sql/event_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace host::sql {

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Letter {
    EventColumn column;
    char letter;
};

constexpr std::array kLetters = {Letter{EventColumn::ticks, 'k'}, Letter{EventColumn::time_ns, 't'},
                                 Letter{EventColumn::cpu, 'p'}, Letter{EventColumn::event, 'e'},
                                 Letter{EventColumn::code, 'c'}};

// 0: a column of which nothing is known beforehand.
char column_letter(int column) {
    const auto* const found =
        std::ranges::find(kLetters, column, [](const Letter& row) { return static_cast<int>(row.column); });
    return found != kLetters.end() ? found->letter : '\0';
}

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

struct Bounds {
    std::int64_t first = kMin;
    std::int64_t last = kMax;
    bool nothing = false;
};

// Whole numbers; a fraction is rounded towards more rows. Values of other types compare by SQLite's order of types:
// NULL with nothing, a text with a number as SQLite will see when it checks the row.
void narrow(Bounds& bounds, char comparison, sqlite3_value* value) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) {
        bounds.nothing = true;
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
    const bool lower = comparison == '>' || comparison == 'g' || comparison == '=';
    const bool upper = comparison == '<' || comparison == 'l' || comparison == '=';
    if (lower) {
        bounds.first = std::max(bounds.first, low);
    }
    if (upper) {
        bounds.last = std::min(bounds.last, high);
    }
}

} // namespace

int plan_walk(sqlite3_index_info& info, std::uint64_t records) {
    std::string plan;
    bool lower = false;
    bool upper = false;
    bool event = false;
    bool processor = false;
    for (int i = 0; i < info.nConstraint; ++i) {
        const auto& constraint = info.aConstraint[i];
        const char column = constraint.iColumn >= 0 ? column_letter(constraint.iColumn) : '\0';
        const char comparison = comparison_letter(constraint.op);
        const bool range = column == 'k' || column == 't';
        if (constraint.usable == 0 || column == 0 || comparison == 0 || (!range && comparison != '=')) {
            continue;
        }
        // Texts are compared byte by byte here; another collation is SQLite's alone.
        if (column == 'e' && std::string_view(sqlite3_vtab_collation(&info, i)) != "BINARY") {
            continue;
        }
        plan += column;
        plan += comparison;
        info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.size() / 2);
        lower = lower || (range && comparison != '<' && comparison != 'l');
        upper = upper || (range && comparison != '>' && comparison != 'g');
        event = event || column == 'e' || column == 'c';
        processor = processor || column == 'p';
    }
    double visited = static_cast<double>(std::max<std::uint64_t>(records, 1));
    visited *= lower && upper ? 0.01 : lower || upper ? 0.3 : 1.0;
    visited *= processor ? 0.5 : 1.0;
    const double rows = visited * (event ? 0.05 : 1.0);
    // A row that reaches SQLite costs more than one that is passed over here.
    info.estimatedCost = visited + 4 * rows + 100;
    info.estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
    info.idxStr = sqlite3_mprintf("%s", plan.c_str());
    info.needToFreeIdxStr = 1;
    return info.idxStr != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

WalkRequest request_of(std::string_view plan, std::span<sqlite3_value*> values) {
    WalkRequest request;
    Bounds ticks;
    Bounds time;
    Bounds processor;
    Bounds code;
    for (std::size_t i = 0; i < values.size() && 2 * i + 1 < plan.size(); ++i) {
        const char comparison = plan[2 * i + 1];
        switch (plan[2 * i]) {
        case 'k':
            narrow(ticks, comparison, values[i]);
            break;
        case 't':
            narrow(time, comparison, values[i]);
            break;
        case 'p':
            narrow(processor, comparison, values[i]);
            break;
        case 'c':
            narrow(code, comparison, values[i]);
            break;
        case 'e':
            if (sqlite3_value_type(values[i]) == SQLITE_TEXT) {
                const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[i]));
                const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
                if (request.event && *request.event != std::string_view(text, size)) {
                    request.nothing = true;
                }
                request.event = std::string(text, size);
            }
            break;
        default:
            break;
        }
    }
    for (const Bounds& bounds : {ticks, time, processor, code}) {
        request.nothing = request.nothing || bounds.nothing || bounds.first > bounds.last;
    }
    request.nothing = request.nothing || ticks.last < 0;
    if (!request.nothing) {
        request.scan.ticks.first = static_cast<std::uint64_t>(std::max<std::int64_t>(ticks.first, 0));
        // The greatest number represents all stamps that SQLite's integers do not reach.
        request.scan.ticks.last = ticks.last == kMax ? ~std::uint64_t{0} : static_cast<std::uint64_t>(ticks.last);
        request.scan.first_ns = time.first != kMin ? std::optional(time.first) : std::nullopt;
        request.scan.last_ns = time.last != kMax ? std::optional(time.last) : std::nullopt;
        if (processor.first == processor.last && std::in_range<std::uint16_t>(processor.first)) {
            request.scan.cpu = static_cast<std::uint16_t>(processor.first);
        }
        request.code = code.first == code.last ? std::optional(code.first) : std::nullopt;
    }
    return request;
}

} // namespace host::sql
