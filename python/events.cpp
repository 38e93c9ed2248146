// SPDX-License-Identifier: MIT
#include "python/events.hpp"

#include "host/sql/event_columns.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>

namespace python {

namespace {

using host::sql::EventColumn;
using host::trace::Event;
using host::trace::EventState;
using tracer::Unit;

constexpr std::size_t kContexts = 0x1'0000;
constexpr std::uint16_t kNoNumber = 0xFFFF; // below the mask

enum class Place : std::uint8_t {
    ticks,
    time_ns,
    cpu,
    chunk,
    record,
    code,
    event,
    state,
    after_hole,
    doubtful,
    par1,
    par2,
    context,
    task,
    parameters,
};

// The columns are in the order of the enumeration.
std::vector<Column> event_columns() {
    std::vector<Column> columns;
    const auto add = [&](std::string_view name, CellType type) {
        columns.push_back({.name = std::string(name), .type = type});
    };
    add("ticks", CellType::uint64);
    add("time_ns", CellType::int64);
    add("cpu", CellType::uint16);
    add("chunk", CellType::uint16);
    add("record", CellType::uint64);
    add("code", CellType::uint16);
    add("event", CellType::word);
    add("state", CellType::word);
    add("after_hole", CellType::boolean);
    add("doubtful", CellType::boolean);
    add("par1", CellType::uint16);
    add("par2", CellType::uint32);
    add("context", CellType::uint16);
    add("task", CellType::word);
    add("parameters", CellType::word);
    return columns;
}

} // namespace

struct EventRows::Fresh {
    Fresh(std::span<Column> columns, std::size_t rows)
        : all(columns)
        , first(columns.front().rows())
        , ticks(at(Place::ticks).extend<std::uint64_t>(rows))
        , time_ns(at(Place::time_ns).extend<std::int64_t>(rows))
        , cpu(at(Place::cpu).extend<std::uint16_t>(rows))
        , chunk(at(Place::chunk).extend<std::uint16_t>(rows))
        , record(at(Place::record).extend<std::uint64_t>(rows))
        , code(at(Place::code).extend<std::uint16_t>(rows))
        , event(at(Place::event).extend<std::int32_t>(rows))
        , state(at(Place::state).extend<std::int32_t>(rows))
        , after_hole(at(Place::after_hole).extend<std::uint8_t>(rows))
        , doubtful(at(Place::doubtful).extend<std::uint8_t>(rows))
        , par1(at(Place::par1).extend<std::uint16_t>(rows))
        , par2(at(Place::par2).extend<std::uint32_t>(rows))
        , context(at(Place::context).extend<std::uint16_t>(rows))
        , no_context(static_cast<std::uint8_t*>(at(Place::context).unknown.extend(rows))) // many are not known
        , task(at(Place::task).extend<std::int32_t>(rows))
        , parameters(at(Place::parameters).extend<std::int32_t>(rows)) {}

    [[nodiscard]] Column& at(Place place) const { return all[static_cast<std::size_t>(place)]; }

    void mark_unknown(Place place, std::size_t row) const { at(place).mark_unknown(first + row); }

    std::span<Column> all;
    std::size_t first; // row of the table
    std::uint64_t* ticks;
    std::int64_t* time_ns;
    std::uint16_t* cpu;
    std::uint16_t* chunk;
    std::uint64_t* record;
    std::uint16_t* code;
    std::int32_t* event;
    std::int32_t* state;
    std::uint8_t* after_hole;
    std::uint8_t* doubtful;
    std::uint16_t* par1;
    std::uint32_t* par2;
    std::uint16_t* context;
    std::uint8_t* no_context;
    std::int32_t* task;
    std::int32_t* parameters;
};

EventRows::EventRows()
    : m_table(std::make_shared<Table>("events", event_columns()))
    , m_names(kContexts) {
    // So the number of a state's word is the state.
    for (const EventState state :
         {EventState::ok, EventState::incomplete, EventState::orphan, EventState::malformed, EventState::late}) {
        static_cast<void>(
            m_table->columns()[static_cast<std::size_t>(Place::state)].words.number_of(host::trace::state_name(state)));
    }
}

void EventRows::add(std::span<const Event> batch) {
    if (batch.size() == 1 && batch.front().metadata) { // a larger batch has none
        return;
    }
    const Fresh fresh(m_table->columns(), batch.size());
    for (std::size_t row = 0; row < batch.size(); ++row) {
        add_row(batch[row], fresh, row);
    }
    // These have a loop of their own: to the compiler a byte that is written may be a part of anything.
    for (std::size_t row = 0; row < batch.size(); ++row) {
        fresh.after_hole[row] = batch[row].after_hole ? 1 : 0;
        fresh.doubtful[row] = batch[row].doubtful ? 1 : 0;
        fresh.no_context[row] = fresh.task[row] == kNoWord ? 1 : 0;
    }
}

void EventRows::add_row(const Event& event, const Fresh& fresh, std::size_t row) {
    fresh.ticks[row] = event.ticks.value;
    fresh.time_ns[row] = event.time_ns;
    fresh.cpu[row] = event.cpu;
    fresh.chunk[row] = event.chunk;
    fresh.record[row] = event.record;
    fresh.code[row] = event.code;
    fresh.state[row] = static_cast<std::int32_t>(event.state);
    fresh.par1[row] = event.par1;
    fresh.par2[row] = event.par2;
    fresh.parameters[row] = kNoWord;
    if (!event.timed) [[unlikely]] {
        fresh.time_ns[row] = kUnknown;
        fresh.mark_unknown(Place::time_ns, row);
    }
    add_task(event, fresh, row);
    const bool plain = event.row != nullptr && event.row->shape == tracer::Shape::simple && event.is_sound() &&
                       event.origin == host::trace::Origin::record;
    if (plain) [[likely]] {
        fresh.event[row] = kind_of(event).name;
    } else {
        add_rare(event, fresh, row);
    }
}

// Adds what is rare, or of another system.
void EventRows::add_rare(const Event& event, const Fresh& fresh, std::size_t row) {
    const auto word = [&](EventColumn column) {
        const auto text = host::sql::event_cell(event, column, m_scratch, std::nullopt).text();
        const Place place = column == EventColumn::event ? Place::event : Place::parameters;
        return text ? fresh.at(place).words.number_of(*text) : kNoWord;
    };
    fresh.event[row] = word(EventColumn::event);
    fresh.parameters[row] = word(EventColumn::parameters);
    if (fresh.parameters[row] == kNoWord) {
        fresh.parameters[row] = word(EventColumn::payload);
    }
    if (event.origin != host::trace::Origin::record) {
        fresh.chunk[row] = kNoNumber;
        fresh.mark_unknown(Place::chunk, row);
    }
    if (host::trace::is_foreign(event)) {
        fresh.code[row] = event.number;
        fresh.par1[row] = kNoNumber;
        fresh.par2[row] = ~std::uint32_t{0};
        fresh.mark_unknown(Place::par1, row);
        fresh.mark_unknown(Place::par2, row);
    }
}

// Adds the task that the event names, or in which the application logged it.
void EventRows::add_task(const Event& event, const Fresh& fresh, std::size_t row) {
    host::trace::OptionalTask task = m_running.take(event);
    if (!task && event.row != nullptr && event.is_sound()) {
        const Kind::Who who = kind_of(event).who;
        // A context has 16 bits; a record with a greater number names no task.
        if (who == Kind::Who::par1) {
            task = event.par1;
        } else if (who == Kind::Who::par2 && event.par2 < kContexts) {
            task = static_cast<std::uint16_t>(event.par2);
        }
    }
    fresh.context[row] = task.value_or(kNoNumber);
    fresh.task[row] = task ? task_name(*event.names, *task) : kNoWord;
}

const EventRows::Kind& EventRows::kind_of(const Event& event) {
    Kind& kind = m_kinds[event.code];
    if (!kind.prepared) [[unlikely]] {
        kind.prepared = true;
        kind.name = m_table->columns()[static_cast<std::size_t>(Place::event)].words.number_of(event.row->name);
        if (event.row->shape == tracer::Shape::simple) {
            kind.who = event.row->par1.unit == Unit::context   ? Kind::Who::par1
                       : event.row->par2.unit == Unit::context ? Kind::Who::par2
                                                               : Kind::Who::no_task;
        }
    }
    return kind;
}

std::int32_t EventRows::task_name(const host::trace::Names& names, std::uint32_t context) {
    Name& name = m_names[context];
    const std::uint64_t version = names.version() + 1; // 0 is that of no names
    if (name.version != version) [[unlikely]] {
        name = {.version = version,
                .number = m_table->columns()[static_cast<std::size_t>(Place::task)].words.number_of(
                    host::trace::name_or_number(names, Unit::context, context))};
    }
    return name.number;
}

std::shared_ptr<Table> EventRows::finish() {
    m_table->finish();
    return m_table;
}

} // namespace python
