// SPDX-License-Identifier: MIT
#include "host/analyse/load.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse {

void LoadMeter::add(const trace::Event& event) {
    m_summary.add(event);
    if (!event.metadata) {
        static_cast<void>(m_schedule.take(event));
    }
}

Load LoadMeter::look() {
    Summary now = m_summary; // its open intervals are closed at the last stamp
    now.finish();
    Load load{.elapsed = now.duration() - m_duration,
              .interrupts = now.interrupt_time() - m_interrupts,
              .events = now.events() - m_events,
              .events_total = now.events(),
              .processors = now.cpus(),
              .tasks = {}};
    for (const auto& [context, figures] : now.tasks()) {
        const TaskFigures& before = m_tasks[context];
        TaskLoad task{.context = context,
                      .state = m_schedule.state(context),
                      .runs = false,
                      .cpu_time = figures.cpu_time - before.cpu_time,
                      .cpu_time_total = figures.cpu_time,
                      .dispatches = figures.dispatches,
                      .jobs = figures.jobs,
                      .misses = figures.deadline_misses,
                      .misses_since = figures.deadline_misses - before.deadline_misses};
        for (std::size_t cpu = 0; cpu < load.processors; ++cpu) {
            task.runs = task.runs || m_schedule.running(static_cast<std::uint16_t>(cpu)) == context;
        }
        load.tasks.push_back(task);
    }
    std::ranges::stable_sort(load.tasks, [](const TaskLoad& a, const TaskLoad& b) {
        return a.cpu_time != b.cpu_time ? a.cpu_time > b.cpu_time : a.cpu_time_total > b.cpu_time_total;
    });
    m_tasks = now.tasks();
    m_duration = now.duration();
    m_interrupts = now.interrupt_time();
    m_events = now.events();
    return load;
}

} // namespace host::analyse
