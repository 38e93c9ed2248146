// SPDX-License-Identifier: MIT
#include "host/cli/event/selection.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/nearest.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace host::cli {

namespace {

struct TimeSuffix {
    std::string_view name;
    std::int64_t ns;
    std::size_t decimals; // decimals that a fraction may have: a nanosecond is the least unit
};

// Longer suffixes are tried first, because all of them end in s.
constexpr auto kSuffixes = std::to_array<TimeSuffix>(
    {{"ns", 1, 0}, {"us", 1'000, 3}, {"ms", 1'000'000, 6}, {"s", 1'000'000'000, 9}, {"", 1, 0}});

} // namespace

std::optional<std::int64_t> time_of(std::string_view text) {
    const auto* const suffix =
        std::ranges::find_if(kSuffixes, [&](const TimeSuffix& row) { return text.ends_with(row.name); });
    text.remove_suffix(suffix->name.size());
    const std::size_t point = text.find('.');
    const std::string_view fraction = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    const auto whole = text::number_of<std::uint64_t>(text.substr(0, point));
    if (!whole || (point != std::string_view::npos && (fraction.empty() || fraction.size() > suffix->decimals))) {
        return std::nullopt;
    }
    const std::string digits = std::string(fraction) + std::string(suffix->decimals - fraction.size(), '0');
    const auto rest = digits.empty() ? std::optional<std::int64_t>(0) : text::number_of<std::int64_t>(digits);
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (!rest || *rest < 0 || *whole > static_cast<std::uint64_t>((kMax - *rest) / suffix->ns)) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*whole) * suffix->ns + *rest;
}

std::string contradiction_in(const SelectionOptions& options, std::string_view remedy) {
    if (!options.from_ns || !options.to_ns || *options.from_ns < *options.to_ns) {
        return {};
    }
    return fmt::format("the part ends at {} ns and begins at {} ns: {}", *options.to_ns, *options.from_ns, remedy);
}

Selection::Selection(const SelectionOptions& options)
    : m_options(options)
    , m_row(tracer::find_event(options.event))
    , m_context(text::number_of<std::uint16_t>(options.task))
    , m_spanned(options.from_ns || options.to_ns)
    , m_everything(!m_spanned && options.task.empty() && options.event.empty()) {}

std::string Selection::text() const {
    std::string text;
    const auto add = [&text](std::string_view what, const auto& value) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
    };
    if (!m_options.task.empty()) {
        add("task", m_options.task);
    }
    if (!m_options.event.empty()) {
        add("event", m_options.event);
    }
    if (m_options.from_ns) {
        add("from", fmt::format("{} ns", *m_options.from_ns));
    }
    if (m_options.to_ns) {
        add("before", fmt::format("{} ns", *m_options.to_ns));
    }
    return text;
}

bool Selection::contains(const trace::Event& event) {
    const trace::OptionalTask logged_in = m_running.take(event);
    const bool of_task =
        m_options.task.empty() || concerns_task(event) || (logged_in && is_task(*event.names, *logged_in));
    m_task_seen = m_task_seen || of_task;
    note_time(event);
    return of_task && is_of_name(event) && in_span(event);
}

bool Selection::contains_or_dispatches(const trace::Event& event) {
    return contains(event) ||
           (in_span(event) && !m_options.task.empty() && m_options.event.empty() &&
            (event.is(trace::kCodeOf<"task_dispatch">) || event.is(trace::kCodeOf<"context_switch">)));
}

bool Selection::is_task(const trace::Names& names, std::uint32_t context) const {
    return m_options.task.empty() || m_context == context ||
           names.find(tracer::Unit::context, context) == m_options.task;
}

bool Selection::is_about(const trace::Event& event, std::optional<std::uint32_t> context) const {
    return in_span(event) && is_of_name(event) &&
           (m_options.task.empty() || (context && is_task(*event.names, *context)));
}

bool Selection::is_of_name(const trace::Event& event) const {
    if (m_options.event.empty() || m_row != nullptr) {
        return m_row == nullptr || event.code == m_row->code;
    }
    return event.is(trace::kCodeOf<"typed_event">) && trace::user_event_name(event) == m_options.event;
}

bool Selection::concerns_task(const trace::Event& event) const {
    const auto is = [&](const tracer::Parameter& parameter, std::uint32_t value) {
        return parameter.unit == tracer::Unit::context && is_task(*event.names, value);
    };
    return event.row != nullptr && (is(event.row->par1, event.par1) || is(event.row->par2, event.par2));
}

std::string Selection::missing(const trace::Names& names) const {
    if (m_spanned && !m_timed) {
        return "no event of the trace has a time, because the rate of its clock is not known: --tsc-khz states it";
    }
    if (m_options.from_ns && m_last_ns < *m_options.from_ns) {
        return fmt::format("nothing is at {} ns or later: the last event of the trace is at {} ns", *m_options.from_ns,
                           m_last_ns);
    }
    std::vector<std::string> known;
    const auto is_known = [&](std::string_view name) { return std::ranges::find(known, name) != known.end(); };
    for (const auto& [context, task] : names.tasks()) {
        known.push_back(m_context == std::uint32_t{context} ? m_options.task : task.name);
    }
    if (!m_task_seen && !m_options.task.empty() && !is_known(m_options.task)) {
        return fmt::format("the trace names no task {}{}", text::escaped(m_options.task),
                           text::did_you_mean(m_options.task, known));
    }
    known.clear();
    for (const auto& [id, declared] : names.declarations()) {
        known.emplace_back(declared->name.view());
    }
    if (m_options.event.empty() || m_row != nullptr || is_known(m_options.event)) {
        return {};
    }
    for (const tracer::EventRow& row : tracer::kEvents) {
        known.emplace_back(row.name);
    }
    return fmt::format("no event is called {}{}; `remora events` lists the table, `remora events TRACE` the typed "
                       "events of a trace",
                       text::escaped(m_options.event), text::did_you_mean(m_options.event, known));
}

} // namespace host::cli
