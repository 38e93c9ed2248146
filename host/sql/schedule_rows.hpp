// SPDX-License-Identifier: MIT
// The tables that follow from the schedule: jobs, intervals, interrupts, losses, holds. One pass over the events in
// time order through the model in host/schedule/; here what it reports becomes rows.
//
// Between the end of a job and the next release a task has no row in `intervals`, nor while nothing is known of it. A
// row appears when its interval, job or handler ends; what is open at the end of the trace ends there. Where records
// were dropped, intervals and holds of mutexes end with the last record before the gap, for the reason "records lost".
#pragma once

#include "host/schedule/handlers.hpp"
#include "host/schedule/holds.hpp"
#include "host/schedule/intervals.hpp"
#include "host/schedule/jobs.hpp"
#include "host/schedule/losses.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <map>
#include <string>

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
    [[nodiscard]] const std::string& name_of(std::uint32_t context);
    void add_interval(const schedule::Interval& interval);
    void add_job(const schedule::Job& job);
    void add_hold(const schedule::Hold& hold);
    void add_handler(const schedule::Handler& handler);
    void add_loss(const schedule::Loss& loss);

    const RowSink& m_sink;
    schedule::Schedule m_schedule;
    schedule::Intervals m_intervals{[this](const schedule::Interval& interval) { add_interval(interval); }};
    schedule::Jobs m_jobs{[this](const schedule::Job& job) { add_job(job); }};
    schedule::Handlers m_handlers{[this](const schedule::Handler& handler) { add_handler(handler); }};
    schedule::Losses m_losses{[this](const schedule::Loss& loss) { add_loss(loss); }};
    schedule::Holds m_holds{[this](const schedule::Hold& hold) { add_hold(hold); }};
    std::map<std::uint32_t, std::string> m_names; // of tasks; as they were first found
    const trace::Names* m_trace_names = nullptr;  // of the latest event; after it, of the trace
};

} // namespace host::sql
