// SPDX-License-Identifier: MIT
// A plan is two letters per condition: the column and the comparison; after them one letter per column of a grouping.
#include "host/sql/constraints.hpp"

#include "host/sql/event_counts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::sql {

namespace {

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
    const std::span wanted_order(info.aOrderBy, static_cast<std::size_t>(info.nOrderBy));
    if (EventCounts::covers(info.colUsed) && std::ranges::all_of(wanted_order, [](const auto& term) {
            return term.desc == 0 && term.iColumn >= 0 && EventCounts::covers(std::uint64_t{1} << term.iColumn);
        })) {
        for (const auto& term : wanted_order) {
            plan += static_cast<char>('A' + term.iColumn);
        }
        info.orderByConsumed = wanted_order.empty() ? 0 : 1;
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
    for (std::size_t i = 0; i < values.size(); ++i) {
        const char comparison = plan[2 * i + 1];
        switch (plan[2 * i]) {
        case 'k':
            ticks.narrow(comparison, values[i]);
            break;
        case 't':
            time.narrow(comparison, values[i]);
            break;
        case 'p':
            processor.narrow(comparison, values[i]);
            break;
        case 'c':
            code.narrow(comparison, values[i]);
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
    for (const char letter : plan.substr(2 * values.size())) {
        request.counted.push_back(static_cast<EventColumn>(letter - 'A'));
    }
    for (const Bounds& bounds : {ticks, time, processor, code}) {
        request.nothing = request.nothing || bounds.empty();
    }
    request.nothing = request.nothing || ticks.last < 0;
    if (!request.nothing) {
        request.scan.ticks.first = static_cast<std::uint64_t>(std::max<std::int64_t>(ticks.first, 0));
        // The greatest number represents all stamps that SQLite's integers do not reach.
        request.scan.ticks.last =
            ticks.last == Bounds::kMax ? ~std::uint64_t{0} : static_cast<std::uint64_t>(ticks.last);
        request.scan.first_ns = time.first != Bounds::kMin ? std::optional(time.first) : std::nullopt;
        request.scan.last_ns = time.last != Bounds::kMax ? std::optional(time.last) : std::nullopt;
        if (processor.first == processor.last && std::in_range<std::uint16_t>(processor.first)) {
            request.scan.cpu = static_cast<std::uint16_t>(processor.first);
        }
        request.code = code.first == code.last ? std::optional(code.first) : std::nullopt;
    }
    return request;
}

} // namespace host::sql
