// SPDX-License-Identifier: MIT
// The figures of a trace: per family, per task, per interrupt vector, in one pass and with memory that depends on the
// number of tasks, not of events. All times are in ticks; the printer converts them.
//
// CPU time of a task: from context_switch to context_switch, less the time inside interrupt handlers and gaps.
// Response time of a job: from its release (task_activate, task_timer) to its task_end_cycle; releases queue up. A
// level that releases every job by timer logs task_activate and then, one offset later, task_timer for the same first
// job: if the job of an activation has not begun at a timer, that timer is its release.
#pragma once

#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace host::analyse {

// Least, mean and greatest of many durations.
class Durations {
  public:
    void add(lib::Ticks duration);

    [[nodiscard]] std::uint64_t count() const { return m_count; }

    // All 0 when count() is 0. The sum saturates at 2^64-1.
    [[nodiscard]] lib::Ticks least() const { return m_count != 0 ? m_least : lib::Ticks{}; }

    [[nodiscard]] lib::Ticks mean() const { return {m_count != 0 ? m_sum.value / m_count : 0}; }

    [[nodiscard]] lib::Ticks greatest() const { return m_greatest; }

    [[nodiscard]] lib::Ticks sum() const { return m_sum; }

  private:
    std::uint64_t m_count = 0;
    lib::Ticks m_sum;
    lib::Ticks m_least{~std::uint64_t{0}};
    lib::Ticks m_greatest;
};

struct TaskFigures {
    std::uint64_t activations = 0; // task_activate
    std::uint64_t releases = 0;    // task_timer
    std::uint64_t dispatches = 0;
    std::uint64_t jobs = 0; // task_end_cycle
    std::uint64_t deadline_misses = 0;
    std::uint64_t wcet_violations = 0;
    std::uint64_t inheritances = 0; // how often it ran on behalf of another task
    lib::Ticks cpu_time;
    Durations response;
};

struct VectorFigures {
    std::uint64_t count = 0;
    Durations handler; // start to end, nested handlers included

    // False if handlers ran and the end of none is recorded, as in the light mode (INTERRUPTS=light, count).
    [[nodiscard]] bool timed() const { return count == 0 || handler.count() != 0; }
};

class Summary {
  public:
    // In time order, as Trace::next() yields them. Metadata and broken events are passed over.
    void add(const trace::Event& event);

    // Closes the intervals that are still open at the last stamp of each CPU. Call once, after the last event.
    void finish();

    [[nodiscard]] const std::map<std::uint16_t, TaskFigures>& tasks() const { return m_tasks; }

    [[nodiscard]] const std::map<std::uint16_t, VectorFigures>& vectors() const { return m_vectors; }

    // timer_wakeup_start to timer_wakeup_end.
    [[nodiscard]] const VectorFigures& timer() const { return m_timer; }

    [[nodiscard]] const std::array<std::uint64_t, tracer::kFamilies>& families() const { return m_families; }

    [[nodiscard]] std::uint64_t events() const { return m_events; }

    [[nodiscard]] std::uint64_t unknown() const { return m_unknown; }

    [[nodiscard]] std::size_t cpus() const { return m_cpus.size(); }

    // From the least to the greatest stamp.
    [[nodiscard]] lib::Ticks duration() const;

    // Time inside interrupt handlers, all CPUs together.
    [[nodiscard]] lib::Ticks interrupt_time() const;

    [[nodiscard]] std::uint64_t panics() const { return m_panics; }

    // Typed and formatted events: how many of each name (of each format, as far as it is known).
    [[nodiscard]] const std::map<std::string, std::uint64_t>& user_events() const { return m_user_events; }

  private:
    static constexpr std::size_t kReleasesMax = 1024; // per task; beyond, the oldest is forgotten

    struct Cpu {
        schedule::ProcessorTime time;
        std::unordered_map<std::uint16_t, lib::Ticks> open_vectors;
        std::optional<lib::Ticks> open_timer;
        lib::Ticks interrupt_time;
    };

    struct Release {
        lib::Ticks at;
        bool may_be_replaced = false; // by the timer: it is by activation, and its job has not begun
    };

    void give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch);
    void release(const trace::Event& event, bool by_activation);
    void end_job(const trace::Event& event);
    void add_interrupt(const trace::Event& event, Cpu& cpu);
    void add_task(const trace::Event& event);

    std::map<std::uint16_t, TaskFigures> m_tasks;
    std::map<std::uint16_t, VectorFigures> m_vectors;
    std::unordered_map<std::uint16_t, std::deque<Release>> m_releases;
    std::map<std::uint16_t, Cpu> m_cpus;
    std::array<std::uint64_t, tracer::kFamilies> m_families{};
    std::map<std::string, std::uint64_t> m_user_events;
    VectorFigures m_timer;
    std::uint64_t m_events = 0;
    std::uint64_t m_unknown = 0;
    std::uint64_t m_panics = 0;
    lib::Ticks m_first{~std::uint64_t{0}};
    lib::Ticks m_last;
};

} // namespace host::analyse
