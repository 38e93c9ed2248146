// SPDX-License-Identifier: MIT
// Computes what each processor did in each window of time.
#include "host/sql/schedule_rows.hpp"

#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace host::sql {

namespace {

constexpr std::string_view kIdle = "idle"; // the task's name

} // namespace

void UtilisationRows::add(const trace::Event& event, std::uint32_t khz) {
    if (event.metadata || event.row == nullptr || !event.is_sound()) {
        return;
    }
    m_start = m_start.value_or(event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (m_trace_names.version() != event.names->version()) {
        m_trace_names = *event.names;
    }
    Processor& processor = m_processors[event.cpu];
    if (event.after_hole) {
        give(event.cpu, processor, processor.time.lose(), khz);
    }
    m_filters.take(event);
    if (trace::Filters::changes(event, trace::Filters::kExecution)) {
        for (auto& [cpu, each] : m_processors) {
            give(cpu, each, each.time.hide(m_filters.hide(trace::Filters::kExecution)), khz);
        }
    }
    give(event.cpu, processor, processor.time.take(event), khz);
    if (event.is(trace::kCodeOf<"task_create">)) {
        m_names.erase(event.par1); // the context may have been another task's
    }
}

const std::string* UtilisationRows::name_of(std::uint32_t context) {
    const std::string*& name = m_names[context];
    if (name == nullptr) {
        name = &*m_texts.insert(trace::name_or_number(m_trace_names, tracer::Unit::context, context)).first;
    }
    return name;
}

UtilisationRows::Use UtilisationRows::use_of(const schedule::ProcessorTime::Stretch& stretch) {
    if (stretch.handler) {
        return {.kind = Use::Kind::interrupt, .number = *stretch.handler};
    }
    if (!stretch.task) {
        return {};
    }
    const std::string* const name = name_of(*stretch.task);
    return {.kind = *name == kIdle ? Use::Kind::idle : Use::Kind::task, .number = *stretch.task, .name = name};
}

// Returns the tick at which a window ends: the first one whose time in nanoseconds is not before the next window.
lib::Ticks UtilisationRows::end_of(std::uint64_t window, std::uint32_t khz) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    if (window >= kMost / m_window_ns) {
        return {kMost};
    }
    const lib::TickRate rate{khz};
    const lib::Nanoseconds end{(window + 1) * m_window_ns};
    lib::Ticks ticks = rate.to_ticks(end);
    ticks.value += ticks.value < kMost && rate.to_nanoseconds(ticks) < end ? 1U : 0U;
    return ticks.value < kMost - m_start->value ? *m_start + ticks : lib::Ticks{kMost};
}

void UtilisationRows::give(std::uint16_t cpu, Processor& processor, const schedule::ProcessorTime::Stretch& stretch,
                           std::uint32_t khz) {
    if (stretch.length().value == 0) {
        return;
    }
    const Use use = use_of(stretch);
    lib::Ticks begin = stretch.begin;
    while (begin < stretch.end && !overflows()) {
        const bool is_one = m_window_ns == 0 || khz == 0;
        lib::Ticks end = is_one ? stretch.end : end_of(processor.window, khz);
        if (end <= begin) {
            end_window(cpu, processor);
            // Goes to a far window at once; a window that is too early is corrected by the loop.
            const lib::Nanoseconds since = lib::TickRate{khz}.to_nanoseconds(begin - std::min(begin, *m_start));
            processor.window = std::max(processor.window + 1, since.value / m_window_ns);
            continue;
        }
        end = std::min(end, stretch.end);
        lib::Ticks& sum = processor.uses[use];
        sum = sum + (end - begin);
        begin = end;
    }
}

void UtilisationRows::end_window(std::uint16_t cpu, Processor& processor) {
    lib::Ticks whole;
    for (const auto& [use, ticks] : processor.uses) {
        whole = whole + ticks;
    }
    for (const auto& [use, ticks] : processor.uses) {
        m_done.push_back({processor.window, cpu, use, ticks, whole});
    }
    processor.uses.clear();
}

void UtilisationRows::finish(std::uint32_t khz) {
    for (auto& [cpu, processor] : m_processors) {
        give(cpu, processor, processor.time.finish(), khz);
        end_window(cpu, processor);
    }
    std::ranges::stable_sort(m_done, {}, [](const Row& row) { return std::pair(row.window, row.cpu); });
    m_khz = khz;
}

std::array<Cell, UtilisationRows::kColumns> UtilisationRows::cells(std::size_t row) const {
    static constexpr auto kKinds = std::to_array<std::string_view>({"task", "idle", "interrupt", "unknown"});
    const auto& [window, cpu, use, ticks, whole] = m_done[row];
    const auto ns = [this](lib::Ticks of) {
        return m_khz != 0 ? Cell(lib::TickRate{m_khz}.to_nanoseconds(of).value) : Cell();
    };
    const bool is_one = m_window_ns == 0 || m_khz == 0;
    const lib::Ticks length = m_last - *m_start;
    const std::uint64_t last_ns = m_khz != 0 ? lib::TickRate{m_khz}.to_nanoseconds(length).value : 0;
    const bool is_last = is_one || window >= last_ns / m_window_ns;
    const bool is_task = use.name != nullptr;
    const bool has_vector = use.kind == Use::Kind::interrupt && use.number != schedule::kTimerHandler;
    return {Cell(cpu),
            m_khz == 0 ? Cell() : Cell(window * m_window_ns),
            is_last ? ns(length) : Cell(m_window_ns * (window + 1)),
            Cell(kKinds[static_cast<std::size_t>(use.kind)]),
            is_task ? Cell(std::string_view(*use.name)) : Cell(),
            is_task ? Cell(use.number) : Cell(),
            has_vector ? Cell(use.number) : Cell(),
            ns(ticks),
            Cell(ticks.value),
            Cell::real(static_cast<double>(ticks.value) / static_cast<double>(whole.value))};
}

} // namespace host::sql
