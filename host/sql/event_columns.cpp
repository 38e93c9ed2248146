// SPDX-License-Identifier: MIT
// Computes the values of the columns of an event. The event table says what a parameter names.
#include "host/sql/event_columns.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace host::sql {

namespace {

using tracer::Unit;

// The columns of the object that a parameter of this unit names: its number and its name.
struct ObjectColumn {
    EventColumn column;
    Unit unit;
    bool named;
};

// The rows are in the order of the enumeration.
constexpr std::array kObjectColumns = {
    ObjectColumn{EventColumn::context, Unit::context, false},
    ObjectColumn{EventColumn::task, Unit::context, true},
    ObjectColumn{EventColumn::pid, Unit::pid, false},
    ObjectColumn{EventColumn::level, Unit::level, true},
    ObjectColumn{EventColumn::vector, Unit::vector, false},
    ObjectColumn{EventColumn::interrupt, Unit::vector, true},
    ObjectColumn{EventColumn::mutex, Unit::mutex, true},
    ObjectColumn{EventColumn::semaphore, Unit::semaphore, true},
    ObjectColumn{EventColumn::condition, Unit::condition, true},
    ObjectColumn{EventColumn::port, Unit::port, true},
    ObjectColumn{EventColumn::server, Unit::server, true},
    ObjectColumn{EventColumn::signal, Unit::signal, false},
    ObjectColumn{EventColumn::timer, Unit::timer, false},
};

static_assert([] {
    for (std::size_t i = 0; i < kObjectColumns.size(); ++i) {
        if (static_cast<std::size_t>(kObjectColumns[i].column) != static_cast<std::size_t>(EventColumn::context) + i) {
            return false;
        }
    }
    return true;
}());

bool has_parameters(const trace::Event& event) {
    return event.row != nullptr && event.is_sound() && event.row->shape == tracer::Shape::simple;
}

// Returns the first parameter of this unit.
std::optional<std::uint32_t> parameter(const trace::Event& event, Unit unit) {
    if (!has_parameters(event)) {
        return std::nullopt;
    }
    if (event.row->par1.unit == unit) {
        return event.par1;
    }
    return event.row->par2.unit == unit ? std::optional(event.par2) : std::nullopt;
}

Cell number_of(const trace::Event& event, Unit unit) {
    return Cell::of(parameter(event, unit));
}

Cell name_of(const trace::Event& event, Unit unit, std::string& scratch) {
    const auto value = parameter(event, unit);
    if (!value) {
        return {};
    }
    scratch = trace::name_or_number(*event.names, unit, *value);
    return Cell(std::string_view(scratch));
}

// An event of the application names no object but the task in which it was logged.
Cell object_cell(const trace::Event& event, EventColumn column, std::string& scratch, trace::OptionalTask task) {
    const ObjectColumn& object =
        kObjectColumns.at(static_cast<std::size_t>(column) - static_cast<std::size_t>(EventColumn::context));
    if (task && object.unit == Unit::context) {
        scratch = trace::name_or_number(*event.names, Unit::context, *task);
        return object.named ? Cell(std::string_view(scratch)) : Cell(*task);
    }
    return object.named ? name_of(event, object.unit, scratch) : number_of(event, object.unit);
}

void append_parameter(std::string& text, const trace::Event& event, const tracer::Parameter& parameter,
                      std::uint32_t value) {
    if (parameter.unit == Unit::none) {
        return;
    }
    fmt::memory_buffer shown;
    trace::append_digits_and_meaning(shown, event, parameter.unit, value);
    fmt::format_to(std::back_inserter(text), "{}{}=", text.empty() ? "" : " ", parameter.name);
    text.append(shown.data(), shown.size());
}

void append_user_event(std::string& text, const trace::Event& event) {
    const auto out = std::back_inserter(text);
    if (event.is(trace::kCodeOf<"typed_event">)) {
        const auto view = trace::view_typed(event);
        for (std::size_t i = 0; view && i < view->fields.values().size(); ++i) {
            fmt::format_to(out, "{}{}={}", i == 0 ? "" : " ", text::escaped(view->declaration->items[i].name.view()),
                           text::escaped(trace::value_text(view->fields.values()[i])));
        }
        return;
    }
    const auto view = trace::view_formatted(event);
    if (!view) {
        return;
    }
    if (const auto shown = trace::rendered(event, view.value())) {
        text = text::escaped(*shown);
        return;
    }
    fmt::format_to(out, "format={}", view->id);
    for (const trace::FieldValue& value : view->arguments.values()) {
        fmt::format_to(out, " {}", text::escaped(trace::value_text(value)));
    }
}

// Returns the parameters as `remora print` shows them.
std::string parameters_text(const trace::Event& event) {
    std::string text;
    if (has_parameters(event)) {
        append_parameter(text, event, event.row->par1, event.par1);
        append_parameter(text, event, event.row->par2, event.par2);
    } else if (event.row != nullptr && event.is_sound() && event.row->family() == tracer::Family::typed) {
        append_user_event(text, event);
    }
    return text;
}

// Returns hexadecimal digits: the bytes of a long event in their order, or the words of another system's event.
std::string payload_text(const trace::Event& event) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const std::byte byte : event.payload) {
        fmt::format_to(out, "{:02x}", std::to_integer<unsigned>(byte));
    }
    for (std::size_t i = 0; i < event.words.size(); ++i) {
        fmt::format_to(out, "{}{:08x}", i == 0 ? "" : " ", event.words[i]);
    }
    return text;
}

} // namespace

Cell event_cell(const trace::Event& event, EventColumn column, std::string& scratch, trace::OptionalTask task) {
    const auto text = [&](std::string value) {
        scratch = std::move(value);
        return Cell::named(scratch);
    };
    const bool foreign = trace::is_foreign(event);
    switch (column) {
    case EventColumn::ticks:
        return Cell(event.ticks.value);
    case EventColumn::time_ns:
        return event.timed ? Cell(event.time_ns) : Cell();
    case EventColumn::cpu:
        return Cell(event.cpu);
    case EventColumn::chunk:
        return event.origin == trace::Origin::record ? Cell(event.chunk) : Cell();
    case EventColumn::record:
        return Cell(event.record);
    case EventColumn::family:
        return foreign ? text(fmt::format("class {}", event.event_class))
                       : Cell(tracer::kFamilyNames[event.code & 0x0F]);
    case EventColumn::code:
        return foreign ? Cell(event.number) : Cell(event.code);
    case EventColumn::event:
        return event.row != nullptr && event.row->shape == tracer::Shape::simple && !foreign
                   ? Cell(event.row->name)
                   : text(text::escaped(trace::event_name(event)));
    case EventColumn::state:
        return Cell(trace::state_name(event.state));
    case EventColumn::par1:
        return foreign ? Cell() : Cell(event.par1);
    case EventColumn::par2:
        return foreign ? Cell() : Cell(event.par2);
    case EventColumn::context:
    case EventColumn::task:
    case EventColumn::pid:
    case EventColumn::level:
    case EventColumn::vector:
    case EventColumn::interrupt:
    case EventColumn::mutex:
    case EventColumn::semaphore:
    case EventColumn::condition:
    case EventColumn::port:
    case EventColumn::server:
    case EventColumn::signal:
    case EventColumn::timer:
        return object_cell(event, column, scratch, task);
    case EventColumn::wait: {
        const auto wait = parameter(event, Unit::wait);
        return wait ? text(trace::wait_text(*event.names, *wait)) : Cell();
    }
    case EventColumn::parameters:
        return text(parameters_text(event));
    case EventColumn::payload:
        return text(payload_text(event));
    }
    return {};
}

} // namespace host::sql
