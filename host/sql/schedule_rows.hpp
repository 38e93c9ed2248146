// SPDX-License-Identifier: MIT
// The tables that follow from what the scheduler did: jobs, intervals, interrupts, losses. One pass over the events in
// time order, memory by the number of tasks, processors and nested interrupts.
//
// A task is `running` from one context_switch to it until the next one on that processor; `ready` while it has a job,
// or work to go on with, and another task runs; `blocked` from the moment it has left the processor to wait (or lends
// its place to the owner of a mutex) until it is ready again. Between the end of a job and the next release a task is
// in no state. A row appears when its interval ends; what is open at the end of the trace ends there. Where records
// were dropped nothing is known: what was open ends with the last record before the gap, for the reason "records lost".
//
// A job begins with job_release and ends with task_end_cycle, with its abortion or with its task. Its times come from
// these events; release and deadline from the words that the events carry.
#pragma once

#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

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

    // In time order; metadata and broken events are passed over. khz: the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz);

    // Ends what is open. Once, after the last event.
    void finish();

  private:
    using Time = std::optional<std::int64_t>; // ns; none: the clock's rate is not known

    enum class State : std::uint8_t { none, running, ready, blocked };

    static constexpr std::size_t kDepthMax = 256; // of nested interrupts; more than there are vectors

    struct Job {
        std::uint64_t number = 0;
        Time release{};
        Time start{};
        Time deadline{};
        bool missed = false;
    };

    struct Task {
        std::string name;
        State state = State::none;
        Time since;
        std::uint16_t cpu = 0;     // where it runs, or ran last
        std::string reason;        // of `ready` and `blocked`
        State next = State::ready; // what a running task becomes when it leaves the processor
        std::string next_reason;   // and why
        std::uint64_t jobs = 0;
        std::optional<Job> job;
    };

    struct Handler {
        std::uint16_t vector = 0;
        std::string name;
        std::string task;
        Time begin;
    };

    struct Cpu {
        std::optional<std::uint16_t> running;
        std::vector<Handler> handlers;
        Time last;
        Time blackout;
    };

    Task& task(const trace::Event& event, std::uint16_t context);
    void add_task(const trace::Event& event, Time now, std::uint32_t khz);
    void switch_to(const trace::Event& event, Time now);
    void leave(const trace::Event& event, Time now, State next, std::string reason);
    void make_ready(const trace::Event& event, Time now, std::string reason);
    void lose(const trace::Event& event, Cpu& cpu, Time now);
    void end_interval(std::uint16_t context, Task& of, Time now, std::string_view reason);
    void end_job(std::uint16_t context, Task& of, Time now, std::string_view outcome);
    void begin_handler(const trace::Event& event, Cpu& cpu, Time now);
    void end_handler(std::uint16_t cpu_number, Cpu& cpu, Time now);

    const RowSink& m_sink;
    std::map<std::uint16_t, Task> m_tasks;
    std::map<std::uint16_t, Cpu> m_cpus;
};

} // namespace host::sql
