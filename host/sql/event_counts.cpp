// SPDX-License-Identifier: MIT
#include "host/sql/event_counts.hpp"

#include "host/trace/foreign.hpp"

#include <compare>
#include <utility>

namespace host::sql {

Cell EventCounts::Kind::cell(EventColumn column) const {
    return column == EventColumn::cpu      ? Cell(cpu)
           : column == EventColumn::family ? Cell(std::string_view(family))
           : column == EventColumn::code   ? Cell(code)
                                           : Cell::named(event);
}

// Of an event of the table the code gives all columns, of others they are compared.
EventCounts::Kind& EventCounts::kind_of(const trace::Event& event) {
    const bool simple = event.row != nullptr && event.row->shape == tracer::Shape::simple && !trace::is_foreign(event);
    Kind** known = nullptr;
    if (simple) {
        known = &m_simple[std::uint32_t{event.cpu} << 8 | event.code];
        if (*known != nullptr) {
            return **known;
        }
    }
    std::string scratch;
    Kind kind;
    kind.cpu = event.cpu;
    kind.code = event_cell(event, EventColumn::code, scratch).number().value_or(0);
    kind.family = event_cell(event, EventColumn::family, scratch).text().value_or("");
    kind.event = event_cell(event, EventColumn::event, scratch).text().value_or("");
    if (!simple) {
        known = &m_named[{kind.cpu, kind.code, kind.family, kind.event}];
    }
    if (*known == nullptr) {
        *known = &m_kinds.emplace_back(std::move(kind));
    }
    return **known;
}

void EventCounts::add(const trace::Event& event) {
    ++kind_of(event).events;
}

void EventCounts::start(std::span<const EventColumn> order) {
    m_in_order.clear();
    for (const Kind& kind : m_kinds) {
        m_in_order.push_back(&kind);
    }
    std::ranges::stable_sort(m_in_order, [&](const Kind* a, const Kind* b) {
        for (const EventColumn column : order) {
            const auto compared = a->cell(column) <=> b->cell(column);
            if (compared != std::strong_ordering::equal) {
                return compared == std::strong_ordering::less;
            }
        }
        return false;
    });
}

} // namespace host::sql
