// SPDX-License-Identifier: MIT
#include "host/analyse/load.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse {

void LoadMeter::add(const trace::Event& event) {
    m_summary.add(event);
    if (!event.metadata) {
        m_jobs.take(event, m_schedule.take(event), 0);
    }
}

Load LoadMeter::look() {
    Summary now = m_summary; // a copy, whose open intervals are closed at the last stamp
    now.finish();
    Load load{.elapsed = now.duration() - m_duration,
              .interrupts = now.interrupt_time() - m_interrupts,
              .events = now.events() - m_events,
              .events_total = now.events(),
              .processors = now.cpus(),
              .tasks = {}};
    for (const auto& [context, figures] : now.tasks()) {
        // An open job counts as missed once the kernel has reported the miss.
        const schedule::Job* const open = m_jobs.open(context);
        const std::uint64_t missed = m_missed[context] + (open != nullptr && open->missed ? 1U : 0U);
        const lib::Ticks cpu_time_before = std::exchange(m_cpu_time[context], figures.cpu_time);
        TaskLoad task{.context = context,
                      .state = m_schedule.state(context),
                      .runs = false,
                      .cpu_time = figures.cpu_time - cpu_time_before,
                      .cpu_time_total = figures.cpu_time,
                      .dispatches = figures.dispatches,
                      .jobs = figures.jobs,
                      .missed = missed,
                      .missed_since = missed - std::exchange(m_missed_before[context], missed),
                      .deadline_misses = figures.deadline_misses};
        for (std::size_t cpu = 0; cpu < load.processors; ++cpu) {
            task.runs = task.runs || m_schedule.running(static_cast<std::uint16_t>(cpu)) == context;
        }
        load.tasks.push_back(task);
    }
    std::ranges::stable_sort(load.tasks, [](const TaskLoad& a, const TaskLoad& b) {
        return a.cpu_time != b.cpu_time ? a.cpu_time > b.cpu_time : a.cpu_time_total > b.cpu_time_total;
    });
    m_duration = now.duration();
    m_interrupts = now.interrupt_time();
    m_events = now.events();
    return load;
}

} // namespace host::analyse
