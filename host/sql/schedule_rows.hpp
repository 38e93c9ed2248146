// SPDX-License-Identifier: MIT
// The tables that follow from the schedule: jobs, shares, preemptions, intervals, interrupts, losses, holds. The events
// pass once, in time order, through the model in host/schedule/, and what it reports becomes rows here.
//
// Between the end of a job and the next release a task has no row in `intervals`, nor while nothing is known of it. A
// row appears when its interval, job or handler ends; what is open at the end of the trace ends there. Where records
// were dropped, intervals and holds of mutexes end with the last record before the gap, for the reason "records lost".
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/intervals.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace host::sql {

// Makes rows of `jobs` and `shares` of what host/schedule/accounting.hpp found about a job. The fields are what is
// known of the trace when the job ends.
struct AccountRows {
    const trace::Names& names;
    std::function<std::string(std::uint32_t context)> task; // its name
    std::uint32_t khz = 0;                                  // 0: not known
    std::optional<tracer::TraceCost> cost{};

    void add_job(const schedule::JobAccount& account, const RowSink& sink) const;
    void add_shares(const schedule::JobAccount& account, const RowSink& sink) const;
};

class ScheduleRows {
  public:
    // The sink outlives this object. accounts: also jobs, shares and preemptions.
    explicit ScheduleRows(const RowSink& sink, bool accounts = true);
    ScheduleRows(const ScheduleRows&) = delete; // its model reports to it
    ScheduleRows& operator=(const ScheduleRows&) = delete;

    // In time order; metadata and broken events are ignored. facts: of the trace, as far as they are known.
    void add(const trace::Event& event, const trace::TraceFacts& facts);

    // Ends what is open. Once, after the last event. names: of the whole trace.
    void finish(const trace::Names& names);

  private:
    // A job has lost its processor, and not got one again.
    struct Preemption {
        std::uint64_t job = 0;
        std::uint32_t by = 0; // context
        std::uint16_t cpu = 0;
        schedule::Moment begin;
    };

    [[nodiscard]] const std::string& name_of(std::uint32_t context);
    void add_interval(const schedule::Interval& interval);
    void add_account(const schedule::JobAccount& account);
    void take_preemption(const trace::Event& event, const schedule::Change& change);
    void end_preemption(std::uint32_t context, std::optional<schedule::Moment> end);
    void add_hold(const schedule::Hold& hold);
    void add_handler(const schedule::Handler& handler);
    void add_loss(const schedule::Loss& loss);

    const RowSink& m_sink;
    schedule::Schedule m_schedule;
    schedule::Intervals m_intervals{[this](const schedule::Interval& interval) { add_interval(interval); }};
    std::optional<schedule::Accounting> m_accounting; // if it is wanted
    schedule::Handlers m_handlers{[this](const schedule::Handler& handler) { add_handler(handler); }};
    schedule::Losses m_losses{[this](const schedule::Loss& loss) { add_loss(loss); }};
    schedule::Holds m_holds{[this](const schedule::Hold& hold) { add_hold(hold); }};
    std::map<std::uint32_t, Preemption> m_preemptions; // by the context of the job
    std::map<std::uint32_t, std::string> m_names;      // of tasks; as they were first found
    const trace::TraceFacts* m_facts = nullptr;        // of the latest event
    const trace::Names* m_trace_names = nullptr;       // likewise; after it, of the trace
};

} // namespace host::sql
