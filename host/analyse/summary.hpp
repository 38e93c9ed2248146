// SPDX-License-Identifier: MIT
// Computes the figures of a trace for each family, task and interrupt vector, in one pass and with memory that depends
// on the number of tasks, not of events; the metrics of each task's jobs; the share of tracing; and a tally, which is
// cheaper. All times are in ticks; the printer converts them.
//
// The CPU time of a task lasts from context_switch to context_switch, without the time inside interrupt handlers and
// gaps.
#pragma once

#include "host/analyse/durations.hpp"
#include "host/schedule/accounting.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/filters.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace host::analyse {

struct TaskFigures {
    std::uint64_t activations = 0; // task_activate
    std::uint64_t releases = 0;    // task_timer
    std::uint64_t dispatches = 0;
    std::uint64_t jobs = 0;            // task_end_cycle
    std::uint64_t deadline_misses = 0; // records of the kernel; TaskMetrics::missed counts jobs
    std::uint64_t wcet_violations = 0;
    std::uint64_t inheritances = 0; // how often it ran on behalf of another task
    lib::Ticks cpu_time;
};

struct VectorFigures {
    std::uint64_t count = 0;
    Durations handler; // from start to end, nested handlers included

    // Returns false if handlers ran and no end is recorded, as in the light mode (INTERRUPTS=light, count).
    [[nodiscard]] bool timed() const { return count == 0 || handler.count() != 0; }
};

// States how the time of one processor is used. The sum is the time from its first record to its last.
struct Uses {
    std::map<std::uint16_t, lib::Ticks> tasks; // by context
    lib::Ticks interrupts;
    lib::Ticks unknown; // no record states what it executed

    [[nodiscard]] lib::Ticks sum() const;
};

class Summary {
  public:
    // Must be called in time order. Metadata and damaged events are ignored.
    void add(const trace::Event& event);

    // Closes the intervals that are still open at the last stamp of each processor. Must be called once, after the last
    // event.
    void finish();

    [[nodiscard]] const std::map<std::uint16_t, TaskFigures>& tasks() const { return m_tasks.values(); }

    // Returns the families of which a filter was set.
    [[nodiscard]] trace::Families filtered() const { return m_filters.used(); }

    [[nodiscard]] const std::map<std::uint16_t, VectorFigures>& vectors() const { return m_vectors.values(); }

    // Returns the figures of the timer's handler, from timer_wakeup_start to timer_wakeup_end.
    [[nodiscard]] const VectorFigures& timer() const { return m_timer; }

    [[nodiscard]] const std::array<std::uint64_t, tracer::kFamilies>& families() const { return m_families; }

    [[nodiscard]] std::uint64_t events() const { return m_events; }

    [[nodiscard]] std::uint64_t unknown() const { return m_unknown; }

    [[nodiscard]] std::size_t cpus() const { return m_cpus.values().size(); }

    // Returns the ticks from the least to the greatest stamp.
    [[nodiscard]] lib::Ticks duration() const;

    // Returns the time inside interrupt handlers, all processors together.
    [[nodiscard]] lib::Ticks interrupt_time() const;

    // Returns the uses by processor.
    [[nodiscard]] std::map<std::uint16_t, Uses> uses() const;

    [[nodiscard]] std::uint64_t panics() const { return m_panics; }

    // Returns how many typed events of each name there are, and formatted ones of each format, as far as it is known.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& user_events() const { return m_user_events; }

  private:
    struct Cpu {
        schedule::ProcessorTime time;
        trace::NumberMap<std::optional<lib::Ticks>> open_vectors;
        std::optional<lib::Ticks> open_timer;
        trace::NumberMap<lib::Ticks> tasks; // the CPU times by context
        lib::Ticks interrupts;
        lib::Ticks unknown;
    };

    void give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch);
    static void forget_handlers(Cpu& cpu);
    void follow(const trace::Event& event, Cpu& cpu);
    void count(const trace::Event& event);

    trace::NumberMap<TaskFigures> m_tasks;
    trace::NumberMap<VectorFigures> m_vectors;
    trace::NumberMap<Cpu> m_cpus;
    std::array<std::uint64_t, tracer::kFamilies> m_families{};
    std::map<std::string, std::uint64_t> m_user_events;
    VectorFigures m_timer;
    trace::Filters m_filters;
    std::uint64_t m_events = 0;
    std::uint64_t m_unknown = 0;
    std::uint64_t m_panics = 0;
    lib::Ticks m_first{~std::uint64_t{0}};
    lib::Ticks m_last;
};

// The metrics of each task that follow from its jobs, as docs/metrics.md defines them. They need memory for each task,
// and 8 bytes for each job.

// Holds the metrics of one task. All but `missed` are those of its complete jobs.
class TaskMetrics {
  public:
    static constexpr std::array<std::uint32_t, 3> kPercentiles = {50, 90, 99};

    // Precondition: the job is complete.
    void add(const schedule::JobAccount& account);

    // Returns a percentile of the response times, by the nearest rank; 0 without jobs. Reorders the response times.
    [[nodiscard]] lib::Ticks percentile(std::uint32_t percent) const;

    // Returns the greatest minus the least response time.
    [[nodiscard]] lib::Ticks absolute_finishing_jitter() const { return response.greatest() - response.least(); }

    [[nodiscard]] lib::Ticks start_jitter() const { return start.greatest() - start.least(); }

    // Returns the greatest difference between the response times of two consecutive jobs.
    [[nodiscard]] lib::Ticks relative_finishing_jitter() const { return m_relative; }

    [[nodiscard]] const Durations& part(schedule::Part of) const { return parts[static_cast<std::size_t>(of)]; }

    Durations response; // of all complete jobs
    Durations start;    // s - r, of the jobs that ran
    // The members from here to `migrations` are those of the jobs whose parts are known.
    std::array<Durations, schedule::kPartNames.size()> parts;
    Durations gross;
    Durations records;                                                    // numbers of records, not ticks
    std::array<lib::Ticks, schedule::kInversionNames.size()> blocking_by; // sums, by inversion
    std::uint64_t dispatches = 0;
    std::uint64_t preemptions = 0;
    std::uint64_t migrations = 0;
    std::uint64_t missed = 0; // among all jobs, however they ended

  private:
    mutable std::vector<std::uint64_t> m_responses;
    std::optional<std::uint64_t> m_job; // the number of the latest job
    lib::Ticks m_latest;                // the response time of that job
    lib::Ticks m_relative;
};

// Holds the metrics of all tasks of a trace.
class TraceMetrics {
  public:
    void add(const schedule::JobAccount& account) {
        if (account.job.outcome == schedule::Outcome::completed) {
            m_tasks[account.job.context].add(account);
        }
        if (account.job.is_late()) {
            ++m_tasks[account.job.context].missed;
        }
    }

    // Returns the tasks with complete or missed jobs, by context.
    [[nodiscard]] const std::map<std::uint16_t, TaskMetrics>& tasks() const { return m_tasks.values(); }

  private:
    trace::NumberMap<TaskMetrics> m_tasks;
};

// The part of a run that the tracing itself took: the number of records times the cost of one, as the tracer measured
// it at boot, divided by the time that the trace spans. It is an estimate: the cost is that of a warm path, and records
// that were dropped, filtered or overwritten also took time but are not counted. If the clock was set back, the time
// that was removed from it is part of the run.
struct TracingShare {
    std::uint64_t records = 0;
    double ticks_per_record = 0;
    lib::Ticks time;             // of all records together, rounded down
    std::optional<double> share; // of the processors' time; may exceed 1; none if the trace spans no time
};

// Returns the time that this number of records took, rounded down; none if the trace does not record the cost.
[[nodiscard]] std::optional<lib::Ticks> tracing_time(const std::optional<tracer::TraceCost>& cost,
                                                     std::uint64_t records);

// Returns none if the trace does not record the cost. removed: Compensation::removed_meanwhile.
[[nodiscard]] std::optional<TracingShare> tracing_share(const std::optional<tracer::TraceCost>& cost,
                                                        std::uint64_t records, lib::Ticks duration, std::size_t cpus,
                                                        lib::Ticks removed = {});

// Computes the cheapest useful figures of a trace: the number of each event, and how long each task had the processor.
//
// The busy time of a task is the processor time of Summary: from each context_switch to the task until the next one on
// the same processor, a gap, or the processor's last record, without the time of interrupt handlers.
class Tally {
  public:
    // Must be called in time order. Metadata and damaged events are ignored.
    void add(const trace::Event& event);

    // Gives each running task its time up to the last record of its processor. Must be called once, at the end.
    void finish();

    // Returns the numbers of sound events, by code.
    [[nodiscard]] const std::array<std::uint64_t, 256>& counts() const { return m_counts; }

    // Returns the number of all sound events, including those of unknown codes.
    [[nodiscard]] std::uint64_t events() const { return m_events; }

    // Returns the busy times, by context.
    [[nodiscard]] const std::map<std::uint16_t, lib::Ticks>& busy() const { return m_busy; }

    // Returns the ticks from the least to the greatest stamp.
    [[nodiscard]] lib::Ticks duration() const { return m_last >= m_first ? m_last - m_first : lib::Ticks{}; }

  private:
    using ProcessorTime = schedule::ProcessorTime;

    void give(const ProcessorTime::Stretch& stretch);

    std::array<std::uint64_t, 256> m_counts{};
    std::uint64_t m_events = 0;
    std::map<std::uint16_t, lib::Ticks> m_busy;
    trace::NumberMap<ProcessorTime> m_processors;
    trace::Filters m_filters;
    lib::Ticks m_first{~std::uint64_t{0}};
    lib::Ticks m_last;
};

} // namespace host::analyse
