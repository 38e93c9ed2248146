// SPDX-License-Identifier: MIT
// Measures the load of a machine that is being watched: what each task did between two looks, and in total. It is built
// on a summary and the model of the schedule; its memory depends on the number of tasks.
#pragma once

#include "host/analyse/summary.hpp"
#include "host/schedule/jobs.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace host::analyse {

struct TaskLoad {
    std::uint16_t context = 0;
    schedule::TaskState state = schedule::TaskState::unknown;
    bool runs = false;            // a processor executes it now
    lib::Ticks cpu_time;          // since the previous look
    lib::Ticks cpu_time_total;    // in the trace
    std::uint64_t dispatches = 0; // in the trace, as the members that follow
    std::uint64_t jobs = 0;
    std::uint64_t missed = 0;          // jobs that missed their deadline
    std::uint64_t missed_since = 0;    // since the previous look
    std::uint64_t deadline_misses = 0; // records of misses by the kernel
};

struct Load {
    lib::Ticks elapsed;    // since the previous look; at the first look, since the first record
    lib::Ticks interrupts; // part of it in handlers, all processors together
    std::uint64_t events = 0;
    std::uint64_t events_total = 0;
    std::size_t processors = 0;
    std::vector<TaskLoad> tasks; // in descending order of time
};

class LoadMeter {
  public:
    LoadMeter() = default;
    LoadMeter(const LoadMeter&) = delete;
    LoadMeter& operator=(const LoadMeter&) = delete;

    // Must be called in time order.
    void add(const trace::Event& event);

    // Returns what was added since the previous look.
    [[nodiscard]] Load look();

  private:
    Summary m_summary;
    schedule::Schedule m_schedule;
    std::map<std::uint16_t, std::uint64_t> m_missed; // ended jobs that missed their deadline
    schedule::Jobs m_jobs{[this](const schedule::Job& job) { m_missed[job.context] += job.is_late() ? 1U : 0U; }};
    std::map<std::uint16_t, lib::Ticks> m_cpu_time; // at the previous look, as the members that follow
    std::map<std::uint16_t, std::uint64_t> m_missed_before;
    lib::Ticks m_duration;
    lib::Ticks m_interrupts;
    std::uint64_t m_events = 0;
};

} // namespace host::analyse
