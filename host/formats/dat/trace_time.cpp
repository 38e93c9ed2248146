// SPDX-License-Identifier: MIT
#include "host/formats/dat/trace_time.hpp"

#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <limits>

namespace host::formats::dat {

void TraceTime::set(trace::Event& event, const ChunkCursor& cursor) {
    if (!m_start && !event.metadata) {
        m_start = event.ticks;
    }
    event.timed = m_facts.clock.khz != 0 && m_start.has_value();
    if (event.metadata) {
        return; // its stamp is that of the export
    }
    if (!m_machine_clock) {
        begin_kernel_clock(event, cursor);
        m_kernel_clock.take(event, *m_start, m_facts);
    }
    if (event.timed) {
        convert(event);
    }
}

void TraceTime::set_plain(std::span<trace::Event> events, const ChunkCursor& cursor) {
    ASSERT(has_started() && !events.empty());
    if (m_kernel_clock.in_use()) {
        std::ranges::for_each(events, [&](trace::Event& event) { set(event, cursor); });
        return;
    }
    m_kernel_clock.saw(events.back().cpu, events.back().ticks);
    if (m_facts.clock.khz == 0) {
        for (trace::Event& event : events) {
            event.timed = false;
            event.time_ns = 0;
        }
        return;
    }
    update_scale();
    const trace::TickScale scale = m_scale; // in registers
    const std::uint64_t start = m_start->value;
    for (trace::Event& event : events) {
        event.timed = true;
        const std::uint64_t time_ns = scale.to_nanoseconds(event.ticks.value - start);
        event.time_ns = static_cast<std::int64_t>(time_ns);
        if (event.ticks.value < start || event.time_ns < 0) {
            convert(event);
        }
    }
}

// A cyclic chunk that begins in the middle of the run, after settings of the clock that were overwritten: its next
// setting states by how much the clock was set back before.
void TraceTime::begin_kernel_clock(const trace::Event& event, const ChunkCursor& cursor) {
    if (m_kernel_clock.knows(event.cpu) || m_facts.chunks[event.source].description.overwritten == 0) {
        return;
    }
    const auto setting = cursor.look_ahead(trace::kCodeOf<"clock_compensated">);
    const std::uint64_t removed = setting ? std::uint64_t{setting->par1} << 32 | setting->par2 : 0;
    if (removed != 0 && removed < event.ticks.value) {
        m_kernel_clock.begin(event.cpu, removed);
        m_start = m_start == event.ticks ? lib::Ticks{event.ticks.value - removed} : m_start;
    }
}

void TraceTime::update_scale() {
    if (m_scale.khz() != m_facts.clock.khz) {
        m_scale = trace::TickScale(m_facts.clock.khz);
    }
}

lib::Ticks TraceTime::distance_from_start(const trace::Event& event) const {
    return event.ticks < *m_start ? *m_start - event.ticks : event.ticks - *m_start;
}

// Sets time_ns; a time that does not fit becomes the greatest value, and W-RANGE is reported.
void TraceTime::convert(trace::Event& event) {
    ASSERT(m_start.has_value() && m_facts.clock.khz != 0);
    update_scale();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t time_ns = m_scale.to_nanoseconds(distance_from_start(event).value);
    const auto fitting = static_cast<std::int64_t>(std::min(time_ns, kMax));
    event.time_ns = event.ticks < *m_start ? -fitting : fitting;
    if (time_ns > kMax) {
        m_diagnostics.report("W-RANGE", {.file = m_facts.chunks[event.source].file, .offset_bytes = event.offset_bytes},
                             fmt::format("{} ticks after the start exceed 2^63 ns", distance_from_start(event).value));
    }
}

} // namespace host::formats::dat
