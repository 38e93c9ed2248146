// SPDX-License-Identifier: MIT
// Fills the tables of single events: marks, plots and budgets.
#include "host/report/document.hpp"

#include "host/schedule/moment.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace host::report {

namespace {

using trace::kCodeOf;

// These events are marks, because readers of a schedule search for single ones.
constexpr auto kMarks = std::to_array<std::uint8_t>({
    kCodeOf<"ipoint">,
    kCodeOf<"task_deadline_miss">,
    kCodeOf<"task_wcet_violation">,
    kCodeOf<"activation_violation">,
    kCodeOf<"job_abort">,
    kCodeOf<"job_skipped">,
    kCodeOf<"job_queued">,
    kCodeOf<"deadline_change">,
    kCodeOf<"task_fault">,
    kCodeOf<"panic">,
    kCodeOf<"signal">,
    kCodeOf<"wait_timeout">,
    kCodeOf<"set_mutex_deadlock">,
    kCodeOf<"set_mutex_timeout">,
    kCodeOf<"set_mutex_owner_died">,
    kCodeOf<"server_exhaust">,
    kCodeOf<"interrupt_masked">,
    kCodeOf<"interrupt_unmasked">,
});

std::string texts_of(const trace::TypedEventView& view) {
    std::string text;
    for (const trace::FieldValue& value : view.fields.values()) {
        text += (text.empty() ? "" : " ") + trace::value_text(value);
    }
    return text::escaped(text);
}

bool is_number(tracer::FieldType type) {
    using enum tracer::FieldType;
    return type != none && type != text && type != pointer && type != character;
}

} // namespace

bool EventTables::concerns(const trace::Event& event) {
    return event.is_sound() && !event.metadata && event.row != nullptr &&
           (event.row->family() == tracer::Family::user || event.code == kCodeOf<"typed_event"> ||
            event.code == kCodeOf<"formatted_event"> || event.code == kCodeOf<"server_budget"> ||
            event.code == kCodeOf<"server_attach"> || std::ranges::find(kMarks, event.code) != kMarks.end());
}

void EventTables::add_mark(const trace::Event& event, std::size_t task, const std::string& kind,
                           const std::string& text) {
    const bool is_plain = text.empty() && event.row->shape == tracer::Shape::simple;
    m_marks.add({m_axis.at(event.ticks)}, {m_kinds.number_of(kind), task, is_plain ? event.par1 : 0U,
                                           is_plain ? event.par2 : 0U, text.empty() ? 0 : m_texts.number_of(text) + 1});
}

void EventTables::add_value(const trace::Event& event, const trace::TypedEventView& view, std::size_t field) {
    const trace::FieldValue& value = view.fields.values()[field];
    // A u64 is stored as a double, because its greatest values do not fit into a signed column; the page's numbers are
    // doubles in any case.
    const bool is_wide = value.type == tracer::FieldType::u64;
    const bool is_floating =
        value.type == tracer::FieldType::float32 || value.type == tracer::FieldType::float64 || is_wide;
    const auto [place, is_new] = m_plot_of.try_emplace({view.id, field, is_floating}, m_plots.size());
    if (is_new) {
        const tracer::FieldDeclaration& declared = view.declaration->items.at(field);
        using Columns = std::initializer_list<std::string_view>;
        m_plots.push_back(
            {.event = text::escaped(view.declaration->name.view()),
             .field = text::escaped(declared.name.view()),
             .unit = text::escaped(declared.unit.view()),
             .fraction_bits = value.fraction_bits,
             .is_floating = is_floating,
             .is_boolean = value.type == tracer::FieldType::boolean,
             .table = Table("plot", place->second, {"at"}, is_floating ? Columns{"high", "low"} : Columns{"value"})});
    }
    Plot& plot = m_plots[place->second];
    const std::uint64_t at = m_axis.at(event.ticks);
    if (plot.is_floating) {
        const auto number = value.type == tracer::FieldType::float32
                                ? double{std::bit_cast<float>(static_cast<std::uint32_t>(value.bits))}
                            : is_wide ? std::ldexp(static_cast<double>(value.bits), -int{value.fraction_bits})
                                      : std::bit_cast<double>(value.bits);
        const auto bits = std::bit_cast<std::uint64_t>(number);
        plot.table.add({at}, {bits >> 32, bits & 0xFFFF'FFFF});
        return;
    }
    const std::int64_t number = value.as_signed();
    const auto before = static_cast<std::uint64_t>(std::exchange(plot.value, number));
    plot.table.add({at}, {zigzag(static_cast<std::int64_t>(static_cast<std::uint64_t>(number) - before))});
}

void EventTables::add_typed(const trace::Event& event, std::size_t task) {
    const auto view = trace::view_typed(event);
    if (!view) {
        return; // the reader of the trace has reported it
    }
    bool has_number = false;
    bool has_text = false;
    for (std::size_t i = 0; i < view.value().fields.values().size(); ++i) {
        if (is_number(view.value().fields.values()[i].type)) {
            has_number = true;
            add_value(event, view.value(), i);
        }
        has_text = has_text || view.value().fields.values()[i].type == tracer::FieldType::text;
    }
    if (!has_number || has_text) {
        add_mark(event, task, text::escaped(trace::user_event_name(event)), texts_of(view.value()));
    }
}

void EventTables::add_formatted(const trace::Event& event, std::size_t task) {
    const auto view = trace::view_formatted(event);
    if (!view) {
        return;
    }
    const auto rendered = trace::rendered(event, view.value());
    add_mark(event, task, "trace_printf", text::escaped(rendered ? *rendered : trace::user_event_name(event)));
}

void EventTables::add_budget(const trace::Event& event) {
    using Columns = std::initializer_list<std::string_view>;
    Table& table =
        m_budgets.try_emplace(event.par1, "budget", event.par1, Columns{"at"}, Columns{"ticks"}).first->second;
    table.add({m_axis.at(event.ticks)}, {event.par2});
}

void EventTables::add(const trace::Event& event, std::size_t task) {
    if (!concerns(event)) {
        return;
    }
    if (event.code == kCodeOf<"server_attach">) {
        if (task != 0) {
            m_served[event.par1].insert(task - 1);
        }
        return;
    }
    if (!m_axis.wants(schedule::Moment::of(event), schedule::Moment::of(event))) {
        return;
    }
    switch (event.code) {
    case kCodeOf<"typed_event">:
        add_typed(event, task);
        break;
    case kCodeOf<"formatted_event">:
        add_formatted(event, task);
        break;
    case kCodeOf<"server_budget">:
        add_budget(event);
        break;
    default:
        add_mark(event, task, std::string(event.row->name), "");
        break;
    }
}

} // namespace host::report
