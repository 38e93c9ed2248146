// SPDX-License-Identifier: MIT
// Keeps, drops or refuses activations that find their task busy.
#include "kernel/sched/levels/level_parts.hpp"

#include "kernel/trace/task.hpp"

namespace kernel {

lib::Result<void> SavedArrivals::add(Task& task, Overlap overlap, lib::Ticks at) {
    Ring& ring = m_rings[task.pid.value];
    if (overlap == Overlap::refuse) {
        return lib::Error::busy;
    }
    if (overlap == Overlap::skip || ring.count == kSavedArrivalsMax) {
        ++task.jobs.skipped;
        trace_points::job_skipped(task);
        return overlap == Overlap::skip ? lib::Result<void>{} : lib::Error::no_space;
    }
    ring.times[(ring.first + ring.count) % kSavedArrivalsMax] = at;
    ++ring.count;
    trace_points::job_queued(task, ring.count);
    return {};
}

std::optional<lib::Ticks> SavedArrivals::take(const Task& task) {
    Ring& ring = m_rings[task.pid.value];
    if (ring.count == 0) {
        return std::nullopt;
    }
    const lib::Ticks at = ring.times[ring.first];
    ring.first = static_cast<std::uint16_t>((ring.first + 1) % kSavedArrivalsMax);
    --ring.count;
    return at;
}

} // namespace kernel
