// SPDX-License-Identifier: MIT
#include "convert/table/stored_events.hpp"

#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"

#include <utility>
#include <vector>

namespace host::convert::table {

namespace {

using sql::Cell;
using sql::EventColumn;
using tracer::Unit;

// So many are remembered; a kind that is met again after that has two rows.
constexpr std::size_t kKindsMax = 1 << 16;

constexpr std::uint8_t kPar1 = 1;
constexpr std::uint8_t kPar2 = 2;

// In the order of the table.
constexpr auto kKindColumns = [] {
    using enum EventColumn;
    return std::to_array({family, code, event, state, context, task, pid, level, vector, interrupt, mutex, semaphore,
                          condition, port, server, signal, timer, wait});
}();

// Numbers without a name stay in the parameters. none: the column is of the kind.
constexpr Unit bare_number(EventColumn column) {
    return column == EventColumn::pid      ? Unit::pid
           : column == EventColumn::signal ? Unit::signal
           : column == EventColumn::timer  ? Unit::timer
                                           : Unit::none;
}

// Its code says which parameters it has.
bool has_parameters(const trace::Event& event) {
    return event.row != nullptr && event.row->shape == tracer::Shape::simple && event.is_sound();
}

bool has_words(Unit unit) {
    return trace::may_have_meaning(unit) && !trace::is_hexadecimal(unit);
}

std::string_view name_of(EventColumn column) {
    return sql::kEventColumnRows[static_cast<std::size_t>(column)].name;
}

// How the view computes a column. A time without conditions is found by the key.
std::string expression(EventColumn column, bool all_timed) {
    const std::string_view name = name_of(column);
    if (column == EventColumn::time_ns && !all_timed) {
        return "iif(is_timed, event_rows.time_ns, NULL)";
    }
    if (column == EventColumn::par1 || column == EventColumn::par2) {
        return fmt::format("CASE is_foreign WHEN 0 THEN event_rows.{} END", name);
    }
    if (bare_number(column) != Unit::none) {
        return fmt::format("CASE {} WHEN 1 THEN event_rows.par1 WHEN 2 THEN event_rows.par2 END", name);
    }
    if (column == EventColumn::parameters) {
        return "ifnull(parameters, words || iif(shows & 1, event_rows.par1, '') || more || iif(shows & 2, "
               "event_rows.par2, ''))";
    }
    return std::string(name);
}

} // namespace

std::string StoredEvents::create_view() const {
    std::string text = "CREATE VIEW events AS SELECT ";
    for (std::size_t i = 0; i < sql::kEventColumns; ++i) {
        const auto [name, type] = sql::kEventColumnRows[i];
        const std::string value = expression(static_cast<EventColumn>(i), m_all_timed);
        text += i == 0 ? "" : ", ";
        text += value == name ? value : fmt::format("CAST({} AS {}) AS {}", value, type, name);
    }
    return text + " FROM event_rows LEFT JOIN event_kinds ON id = kind;"; // LEFT: the rows stay in order
}

std::size_t StoredEvents::Hash::operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15U;
    return ((key.what ^ key.version << 20) * kOdd >> 20) ^ std::hash<std::string>()(key.name);
}

StoredEvents::StoredEvents(Sink sink)
    : m_sink(std::move(sink)) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Plan& plan = m_plans[row.code];
        plan.in_row = trace::is_hexadecimal(row.par1.unit) || trace::is_hexadecimal(row.par2.unit);
        for (const auto& [unit, bit] : {std::pair{row.par1.unit, kPar1}, std::pair{row.par2.unit, kPar2}}) {
            const bool shown = unit != Unit::none && !has_words(unit);
            plan.kept |= has_words(unit) && unit != Unit::block ? bit : std::uint8_t{0};
            plan.shown |= shown ? bit : std::uint8_t{0};
        }
    }
}

void StoredEvents::add(const trace::Event& event) {
    const std::int64_t kind = kind_of(event);
    const bool in_kind = has_parameters(event) && !m_plans[event.code].in_row;
    const Place place = place_of(event);
    const auto cell = [&](EventColumn column) { return sql::event_cell(event, column, m_parameters); };
    const std::array cells = {Cell(place.time_ns),
                              Cell(place.turn),
                              cell(EventColumn::ticks),
                              cell(EventColumn::cpu),
                              cell(EventColumn::chunk),
                              cell(EventColumn::record),
                              Cell(kind),
                              Cell(event.par1),
                              Cell(event.par2),
                              in_kind ? Cell() : cell(EventColumn::parameters),
                              event.payload.empty() && event.words.empty()
                                  ? Cell()
                                  : sql::event_cell(event, EventColumn::payload, m_payload)};
    m_sink(place.part, cells);
}

// Events without a time are at 0, in their order: the key cannot be NULL.
StoredEvents::Place StoredEvents::place_of(const trace::Event& event) {
    constexpr std::int64_t kLateTurns = std::int64_t{1} << 40; // after those of events in order
    const std::int64_t time_ns = event.timed ? event.time_ns : 0;
    m_all_timed = m_all_timed && event.timed;
    if (time_ns < m_time_ns) {
        return {.part = Part::late, .time_ns = time_ns, .turn = kLateTurns + m_late++};
    }
    m_turn = time_ns == m_time_ns ? m_turn + 1 : 0;
    m_time_ns = time_ns;
    return {.part = Part::rows, .time_ns = time_ns, .turn = m_turn};
}

std::int64_t StoredEvents::kind_of(const trace::Event& event) {
    const bool foreign = trace::is_foreign(event);
    Key key{.what = std::uint64_t{event.code} | static_cast<std::uint64_t>(event.state) << 8 |
                    (foreign ? std::uint64_t{1} << 11 : 0) | (event.timed ? std::uint64_t{1} << 12 : 0),
            .version = event.names->version(),
            .name = {}};
    if (has_parameters(event)) {
        const std::uint8_t kept = m_plans[event.code].kept;
        key.what |= ((kept & kPar1) != 0 ? std::uint64_t{event.par1} << 16 : 0) |
                    ((kept & kPar2) != 0 ? std::uint64_t{event.par2} << 32 : 0);
    }
    if (foreign || event.row == nullptr || event.row->shape != tracer::Shape::simple) {
        key.name = fmt::format("{} {} {}", event.event_class, event.number, trace::event_name(event));
    }
    if (const auto found = m_kinds.find(key); found != m_kinds.end()) {
        return found->second;
    }
    if (m_kinds.size() >= kKindsMax) {
        m_kinds.clear();
    }
    add_kind(event, ++m_last_kind);
    m_kinds.emplace(std::move(key), m_last_kind);
    return m_last_kind;
}

void StoredEvents::add_kind(const trace::Event& event, std::int64_t id) {
    std::array<std::string, kKindColumns.size()> texts;
    std::vector<Cell> cells = {Cell(id)};
    for (std::size_t i = 0; i < kKindColumns.size(); ++i) {
        const Cell value = sql::event_cell(event, kKindColumns[i], texts[i]);
        const Unit bare = bare_number(kKindColumns[i]);
        cells.push_back(bare == Unit::none || value.is_null() ? value : Cell(event.row->par1.unit == bare ? 1 : 2));
    }
    cells.emplace_back(trace::is_foreign(event) ? 1 : 0);
    cells.emplace_back(event.timed ? 1 : 0);
    std::array<std::string, 2> words;
    std::uint8_t shows = 0;
    if (has_parameters(event)) {
        std::size_t part = 0;
        const auto put = [&](const tracer::Parameter& parameter, std::uint32_t value, std::uint8_t bit) {
            if (parameter.unit == Unit::none) {
                return;
            }
            words[part] += fmt::format("{}{}=", words[0].empty() ? "" : " ", parameter.name);
            if ((m_plans[event.code].shown & bit) != 0) {
                shows |= bit;
                part = 1;
                return;
            }
            fmt::memory_buffer text;
            trace::append_digits_and_meaning(text, event, parameter.unit, value);
            words[part].append(text.data(), text.size());
        };
        put(event.row->par1, event.par1, kPar1);
        put(event.row->par2, event.par2, kPar2);
    }
    const bool in_kind = !words[0].empty() && !m_plans[event.code].in_row;
    cells.push_back(in_kind ? Cell(std::string_view(words[0])) : Cell());
    cells.emplace_back(std::string_view(words[1]));
    cells.emplace_back(shows);
    m_sink(Part::kinds, cells);
}

} // namespace host::convert::table
