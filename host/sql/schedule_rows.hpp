// SPDX-License-Identifier: MIT
// The tables that follow from the schedule: jobs, intervals, interrupts, losses, holds. One pass over the events in
// time order through the model in host/schedule/; here what it reports becomes rows.
//
// Between the end of a job and the next release a task has no row in `intervals`, nor while nothing is known of it. A
// row appears when its interval, job or handler ends; what is open at the end of the trace ends there. Where records
// were dropped, intervals and holds of mutexes end with the last record before the gap, for the reason "records lost".
#pragma once

#include "host/schedule/intervals.hpp"
#include "host/schedule/jobs.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace host::sql {

class ScheduleRows {
  public:
    // The sink outlives this object.
    explicit ScheduleRows(const RowSink& sink)
        : m_sink(sink) {}

    // In time order; metadata and broken events are ignored. khz: the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz);

    // Ends what is open. Once, after the last event. names: of the whole trace.
    void finish(const trace::Names& names);

  private:
    using Time = std::optional<std::int64_t>; // ns; none: the clock's rate is not known

    struct Handler {
        std::uint32_t vector = 0;
        std::string name;
        std::string task;
        Time begin;
    };

    struct Hold {
        std::uint32_t context = 0;
        Time begin;
    };

    struct Cpu {
        std::vector<Handler> handlers;
        Time blackout;
    };

    [[nodiscard]] const std::string& name_of(std::uint32_t context);
    void apply(const trace::Event& event, const schedule::Change& change, std::optional<schedule::Moment> before);
    void add_interval(const schedule::Interval& interval);
    void add_job(const schedule::Job& job);
    void take_mutex(const trace::Event& event);
    void end_hold(std::uint32_t mutex, const Hold& hold, Time end, std::string_view reason);
    void begin_handler(const trace::Event& event, std::uint32_t vector);
    void end_handler(std::uint16_t cpu, Time now);

    const RowSink& m_sink;
    schedule::Schedule m_schedule;
    schedule::Intervals m_intervals{[this](const schedule::Interval& interval) { add_interval(interval); }};
    schedule::Jobs m_jobs{[this](const schedule::Job& job) { add_job(job); }};
    std::map<std::uint32_t, std::string> m_names; // of tasks; as they were first found
    std::map<std::uint16_t, Cpu> m_cpus;
    std::map<std::uint32_t, Hold> m_holds;       // by mutex
    Time m_latest;                               // of all events
    const trace::Names* m_trace_names = nullptr; // of the latest event; after it, of the trace
};

} // namespace host::sql
