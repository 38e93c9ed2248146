// SPDX-License-Identifier: MIT
// Compares two runs: finds the first decision in which they differ, and how the jobs of each task changed. Decisions
// are the lines of the narrator, compared in their order. Jobs are matched by the name of their task and their number;
// the parts of a response time are those of host/schedule/accounting.hpp. The phases of one run can be compared, too.
#pragma once

#include "host/analyse/narrator.hpp"
#include "host/schedule/accounting.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace host::analyse {

// Stores each text once: equal texts have equal numbers.
class Phrases {
  public:
    [[nodiscard]] std::uint32_t number_of(std::string_view text);

    [[nodiscard]] const std::string& text(std::uint32_t number) const { return *m_texts[number]; }

  private:
    std::unordered_map<std::string, std::uint32_t> m_numbers;
    std::vector<const std::string*> m_texts;
};

struct RunDecision {
    std::int64_t time_ns = 0;
    std::uint32_t phrase = 0;
};

struct Run {
    std::vector<RunDecision> decisions;
    std::map<std::string, std::vector<schedule::JobAccount>> jobs; // by the name of the task, in the order of their end
    trace::Names names;
    std::uint32_t khz = 0; // rate of the clock; 0: not known
    // It is a part of a run, so its jobs are compared by their order in it, not by their numbers.
    bool is_part = false;

    [[nodiscard]] std::uint64_t ns(lib::Ticks ticks) const;
};

// Returns the decisions in a span of time, and the jobs that were released in it. to_ns: the first moment after the
// span.
[[nodiscard]] Run part_of(const Run& run, std::int64_t from_ns, std::optional<std::int64_t> to_ns);

// Collects a run. wanted: selects decisions; all jobs are collected.
class RunReader {
  public:
    using Filter = std::function<bool(const Decision&)>;

    RunReader(Phrases& phrases, Run& run, Filter wanted);

    // Must be called in time order, without metadata. khz: the clock's rate, 0 if it is not known yet.
    void add(const trace::Event& event, std::uint32_t khz);

    void finish();

  private:
    Run& m_run;
    Narrator m_narrator;
    schedule::Schedule m_schedule;
    schedule::Accounting m_accounting;
    std::map<std::uint16_t, std::string> m_names; // those of the tasks with open jobs
};

// Decides when two decisions with the same words are the same.
struct Tolerance {
    bool times = false; // if false, they are the same at any times
    std::int64_t resolution_ns = 100'000;

    // Times are cut to the resolution and may differ by one step, because a few more instructions may cross a boundary.
    [[nodiscard]] bool is_same(const RunDecision& a, const RunDecision& b) const;
};

// Returns the index of the first difference in both; none if there is no difference. It may be the end of one of them.
[[nodiscard]] std::optional<std::size_t>
first_difference(const std::vector<RunDecision>& a, const std::vector<RunDecision>& b, const Tolerance& tolerance);

template <typename T>
using Both = std::array<T, 2>;

// States how long one culprit took in both runs.
struct ShareChange {
    std::string culprit;
    Both<std::uint64_t> ns{};
};

// A job that is in both runs.
struct JobChange {
    std::uint64_t number = 0; // counted for each task
    Both<const schedule::JobAccount*> jobs{};
    // The first from its release to its end that differs; none if that is its end.
    Both<std::optional<std::size_t>> decision{};
    std::vector<ShareChange> shares; // those that changed, the greatest change first
};

struct TaskFiguresOfRun {
    std::uint64_t jobs = 0;
    std::uint64_t missed = 0;
    std::uint64_t known = 0; // jobs with known response times, to which the members that follow refer
    std::uint64_t response_ns_sum = 0;
    std::uint64_t response_ns_max = 0;
    std::uint64_t blocking_ns_sum = 0;

    // Returns none without a known response time.
    [[nodiscard]] std::optional<std::uint64_t> mean_ns() const {
        return known == 0 ? std::nullopt : std::optional(response_ns_sum / known);
    }

    [[nodiscard]] std::optional<std::uint64_t> worst_ns() const {
        return known == 0 ? std::nullopt : std::optional(response_ns_max);
    }

    friend bool operator==(const TaskFiguresOfRun&, const TaskFiguresOfRun&) = default;
};

struct TaskChange {
    std::string task;
    Both<TaskFiguresOfRun> figures{};
    std::optional<JobChange> most; // the job whose response time changed most, if one did
};

// Returns whether both runs have the same numbers of jobs and misses and, if the tolerance has times, the same response
// times.
[[nodiscard]] bool are_same(const std::vector<TaskChange>& tasks, const Tolerance& tolerance);

// Returns the changes of every task with a job in one of the runs, by name.
[[nodiscard]] std::vector<TaskChange> task_changes(const Run& a, const Run& b, const Tolerance& tolerance);

// Returns a share of a job in words, such as `blocking by comm (bus, held by weather, unbounded)`.
[[nodiscard]] std::string culprit_text(const schedule::Culprit& culprit, const trace::Names& names);

// A phase of a run. The teaching applications do the same under different conditions, one after the other, and mark the
// beginning of each phase with user_event_0: par1 is its number, from 1 in order, par2 is 0. Other applications may use
// the event as they like: a trace that has it with other numbers has no phases. Neither has a trace with a single mark.
struct RunPhase {
    std::uint32_t number = 0;            // from 1
    std::int64_t from_ns = 0;            // since the start of the trace
    std::optional<std::int64_t> to_ns{}; // the beginning of the next phase; none: the end of the trace
};

class RunPhases {
  public:
    static constexpr std::uint32_t kPhasesMax = 16;

    // Must be called in time order.
    void add(const trace::Event& event) {
        if (event.metadata || !event.is(trace::kCodeOf<"user_event_0">)) {
            return;
        }
        const auto number = static_cast<std::uint32_t>(m_phases.size() + 1);
        m_are_phases = m_are_phases && event.timed && event.par1 == number && event.par2 == 0 && number <= kPhasesMax;
        if (!m_are_phases) {
            return;
        }
        if (!m_phases.empty()) {
            m_phases.back().to_ns = event.time_ns;
        }
        m_phases.push_back({.number = number, .from_ns = event.time_ns});
    }

    // Returns no phases, or at least two.
    [[nodiscard]] std::vector<RunPhase> phases() const {
        return m_are_phases && m_phases.size() > 1 ? m_phases : std::vector<RunPhase>{};
    }

  private:
    std::vector<RunPhase> m_phases;
    bool m_are_phases = true;
};

} // namespace host::analyse
