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
#include "host/schedule/processor_time.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/filters.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace host::sql {

// Makes rows of `jobs` and `shares` from what host/schedule/accounting.hpp found about a job. The fields have what is
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
    // The sink must outlive this object. accounts: there are also rows of jobs, shares and preemptions.
    explicit ScheduleRows(const RowSink& sink, bool accounts = true);
    ScheduleRows(const ScheduleRows&) = delete; // the model reports to this object
    ScheduleRows& operator=(const ScheduleRows&) = delete;

    // Takes events in time order; metadata and broken events are ignored. facts: those of the trace, as far as they are
    // known.
    void add(const trace::Event& event, const trace::TraceFacts& facts);

    // Ends what is open. Must be called once, after the last event. names: those of the whole trace.
    void finish(const trace::Names& names);

  private:
    // Is a job that has lost its processor and has not got one again.
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
    std::optional<schedule::Accounting> m_accounting; // if accounts are wanted
    schedule::Handlers m_handlers{[this](const schedule::Handler& handler) { add_handler(handler); }};
    schedule::Losses m_losses{[this](const schedule::Loss& loss) { add_loss(loss); }};
    schedule::Holds m_holds{[this](const schedule::Hold& hold) { add_hold(hold); }};
    std::map<std::uint32_t, Preemption> m_preemptions; // by the context of the job
    std::map<std::uint32_t, std::string> m_names;      // names of tasks, as they were first found
    const trace::TraceFacts* m_facts = nullptr;        // of the latest event
    const trace::Names* m_trace_names = nullptr;       // names at the latest event; at the end, of the trace
};

// Rows of `utilisation`: to which task or handler each moment of each processor belongs (docs/metrics.md), added up
// over windows of equal length, or over the whole trace.
//
//   window 0          window 1          window 2              from the start of the trace
//   |---- A ----| idle |v| A |---- B ---|? |B|                a row for each use of a window
class UtilisationRows {
  public:
    static constexpr auto kColumns = static_cast<std::size_t>(column_count(Table::utilisation));

    // window_ns: the length of each window; 0: there is one, the whole trace.
    explicit UtilisationRows(std::uint64_t window_ns = 0)
        : m_window_ns(window_ns) {}

    // Takes the events in time order; metadata and broken ones are ignored. khz: the clock's rate as far as it is
    // known, else 0: then there is one window.
    void add(const trace::Event& event, std::uint32_t khz);

    // Completes the rows, once, after the last event.
    void finish(std::uint32_t khz);

    [[nodiscard]] std::size_t size() const { return m_done.size(); }

    // Returns a row after finish(). Its texts are valid while the object lives.
    [[nodiscard]] std::array<Cell, kColumns> cells(std::size_t row) const;

    // Returns whether there are more rows than can be kept: the windows are too short.
    [[nodiscard]] bool overflows() const { return m_done.size() > kRowsMax; }

  private:
    static constexpr std::size_t kRowsMax = 10'000'000;

    struct Use {
        enum class Kind : std::uint8_t { task, idle, interrupt, unknown };

        Kind kind = Kind::unknown;
        std::uint32_t number = 0;          // context or vector
        const std::string* name = nullptr; // of a task

        friend auto operator<=>(const Use&, const Use&) = default;
    };

    struct Processor {
        schedule::ProcessorTime time;
        std::uint64_t window = 0;
        std::map<Use, lib::Ticks> uses; // uses of the window
    };

    struct Row {
        std::uint64_t window;
        std::uint16_t cpu;
        Use use;
        lib::Ticks ticks;
        lib::Ticks whole; // of all uses of the window
    };

    void give(std::uint16_t cpu, Processor& processor, const schedule::ProcessorTime::Stretch& stretch,
              std::uint32_t khz);
    void end_window(std::uint16_t cpu, Processor& processor);
    [[nodiscard]] Use use_of(const schedule::ProcessorTime::Stretch& stretch);
    [[nodiscard]] const std::string* name_of(std::uint32_t context);
    [[nodiscard]] lib::Ticks end_of(std::uint64_t window, std::uint32_t khz) const;

    std::uint64_t m_window_ns;
    std::uint32_t m_khz = 0;           // at the end
    std::optional<lib::Ticks> m_start; // of the trace
    lib::Ticks m_last;
    std::map<std::uint16_t, Processor> m_processors;
    trace::Filters m_filters;
    std::vector<Row> m_done;
    std::map<std::uint32_t, const std::string*> m_names; // of the tasks that have the contexts now
    std::set<std::string> m_texts;                       // all texts
    trace::Names m_trace_names; // names at the latest event; a copy, because those of a chunk end with it
};

} // namespace host::sql
