// SPDX-License-Identifier: MIT
// The figures of a trace: per family, per task, per interrupt vector, in one pass and with memory that depends on the
// number of tasks, not of events. All times are in ticks; the printer converts them.
//
// CPU time of a task: from context_switch to context_switch, less the time inside interrupt handlers and gaps. What
// follows from its jobs is in task_metrics.hpp.
#pragma once

#include "host/analyse/durations.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace host::analyse {

struct TaskFigures {
    std::uint64_t activations = 0; // task_activate
    std::uint64_t releases = 0;    // task_timer
    std::uint64_t dispatches = 0;
    std::uint64_t jobs = 0;            // task_end_cycle
    std::uint64_t deadline_misses = 0; // records of the kernel; how many jobs are missed: task_metrics.hpp
    std::uint64_t wcet_violations = 0;
    std::uint64_t inheritances = 0; // how often it ran on behalf of another task
    lib::Ticks cpu_time;
};

struct VectorFigures {
    std::uint64_t count = 0;
    Durations handler; // start to end, nested handlers included

    // False if handlers ran and the end of none is recorded, as in the light mode (INTERRUPTS=light, count).
    [[nodiscard]] bool timed() const { return count == 0 || handler.count() != 0; }
};

// How the time of one processor is used. All of it together is that from its first record to its last.
struct Uses {
    std::map<std::uint16_t, lib::Ticks> tasks; // by context
    lib::Ticks interrupts;
    lib::Ticks unknown; // no record says what it executed

    [[nodiscard]] lib::Ticks sum() const;
};

class Summary {
  public:
    // In time order, as Trace::next() yields them. Metadata and broken events are passed over.
    void add(const trace::Event& event);

    // Several, as EventStream::next_batch() has them.
    void add(std::span<const trace::Event> batch);

    // Closes the intervals that are still open at the last stamp of each CPU. Call once, after the last event.
    void finish();

    [[nodiscard]] const std::map<std::uint16_t, TaskFigures>& tasks() const { return m_tasks.values(); }

    [[nodiscard]] const std::map<std::uint16_t, VectorFigures>& vectors() const { return m_vectors.values(); }

    // timer_wakeup_start to timer_wakeup_end.
    [[nodiscard]] const VectorFigures& timer() const { return m_timer; }

    [[nodiscard]] const std::array<std::uint64_t, tracer::kFamilies>& families() const { return m_families; }

    [[nodiscard]] std::uint64_t events() const { return m_events; }

    [[nodiscard]] std::uint64_t unknown() const { return m_unknown; }

    [[nodiscard]] std::size_t cpus() const { return m_cpus.values().size(); }

    // From the least to the greatest stamp.
    [[nodiscard]] lib::Ticks duration() const;

    // Time inside interrupt handlers, all CPUs together.
    [[nodiscard]] lib::Ticks interrupt_time() const;

    // By processor.
    [[nodiscard]] std::map<std::uint16_t, Uses> uses() const;

    [[nodiscard]] std::uint64_t panics() const { return m_panics; }

    // Typed and formatted events: how many of each name (of each format, as far as it is known).
    [[nodiscard]] const std::map<std::string, std::uint64_t>& user_events() const { return m_user_events; }

  private:
    struct Cpu {
        schedule::ProcessorTime time;
        trace::NumberMap<std::optional<lib::Ticks>> open_vectors;
        std::optional<lib::Ticks> open_timer;
        trace::NumberMap<lib::Ticks> tasks; // the uses by context
        lib::Ticks interrupts;
        lib::Ticks unknown;
    };

    void give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch);
    void follow(const trace::Event& event, std::uint8_t code, Cpu& cpu);
    void count(const trace::Event& event, std::uint8_t code);

    trace::NumberMap<TaskFigures> m_tasks;
    trace::NumberMap<VectorFigures> m_vectors;
    trace::NumberMap<Cpu> m_cpus;
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
