// SPDX-License-Identifier: MIT
// Two runs side by side: the first decision in which they differ, and what became of the jobs of each task. Decisions
// are those of the narrator, compared in their order; jobs are matched by the name of their task and their number, and
// what a response time consists of is that of host/schedule/accounting.hpp.
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

// Each text once: equal texts have equal numbers.
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
    std::uint32_t khz = 0; // of the clock; 0: not known
    bool is_part = false;  // of a run: its jobs are compared by their order in it, not by their numbers

    [[nodiscard]] std::uint64_t ns(lib::Ticks ticks) const;
};

// What was decided in the span, and the jobs that were released in it. to_ns: the first moment after it.
[[nodiscard]] Run part_of(const Run& run, std::int64_t from_ns, std::optional<std::int64_t> to_ns);

// Collects a run. wanted: which decisions count; jobs all do.
class RunReader {
  public:
    using Filter = std::function<bool(const Decision&)>;

    RunReader(Phrases& phrases, Run& run, Filter wanted);

    // In time order, metadata left out. khz: the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz);

    void finish();

  private:
    Run& m_run;
    Narrator m_narrator;
    schedule::Schedule m_schedule;
    schedule::Accounting m_accounting;
    std::map<std::uint16_t, std::string> m_names; // of the tasks with open jobs
};

// When two decisions with the same words are the same.
struct Tolerance {
    bool times = false; // else at any time
    std::int64_t resolution_ns = 100'000;

    // Times are cut to the resolution, and may differ by one step: a few more instructions may cross its edge.
    [[nodiscard]] bool is_same(const RunDecision& a, const RunDecision& b) const;
};

// The index, in both; none if there is no difference. It may be the end of one of them.
[[nodiscard]] std::optional<std::size_t>
first_difference(const std::vector<RunDecision>& a, const std::vector<RunDecision>& b, const Tolerance& tolerance);

template <typename T>
using Both = std::array<T, 2>;

// How long one culprit took in both.
struct ShareChange {
    std::string culprit;
    Both<std::uint64_t> ns{};
};

// A job that is in both.
struct JobChange {
    std::uint64_t number = 0; // of its task, as everywhere
    Both<const schedule::JobAccount*> jobs{};
    Both<std::optional<std::size_t>> decision{}; // the first that differs from its release to its end; none: its end
    std::vector<ShareChange> shares;             // what changed, the greatest change first
};

struct TaskFiguresOfRun {
    std::uint64_t jobs = 0;
    std::uint64_t missed = 0;
    std::uint64_t known = 0; // whose response time is; the following are of these
    std::uint64_t response_ns_sum = 0;
    std::uint64_t response_ns_max = 0;
    std::uint64_t blocking_ns_sum = 0;

    // Nothing without a known response time.
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
    std::optional<JobChange> most; // whose response time changed most, if one did
};

// The jobs, how many of them were missed, and with times the response times are the same in both.
[[nodiscard]] bool are_same(const std::vector<TaskChange>& tasks, const Tolerance& tolerance);

// Of every task with a job in one of the runs, by name.
[[nodiscard]] std::vector<TaskChange> task_changes(const Run& a, const Run& b, const Tolerance& tolerance);

// A share of a job in words, such as `blocking by comm: bus, held by weather (unbounded)`.
[[nodiscard]] std::string culprit_text(const schedule::Culprit& culprit, const trace::Names& names);

// The phases of a run. The teaching applications do the same under different conditions, one after the other, and mark
// the beginning of each with user_event_0: par1 is its number, from 1 in order, par2 is 0. The event is free for
// applications: a trace that has it with other numbers has no phases, nor has one with a single mark.
struct RunPhase {
    std::uint32_t number = 0;            // from 1
    std::int64_t from_ns = 0;            // since the start of the trace
    std::optional<std::int64_t> to_ns{}; // the beginning of the next one; none: the end of the trace
};

class RunPhases {
  public:
    static constexpr std::uint32_t kPhasesMax = 16;

    // In time order.
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

    // Empty, or at least two.
    [[nodiscard]] std::vector<RunPhase> phases() const {
        return m_are_phases && m_phases.size() > 1 ? m_phases : std::vector<RunPhase>{};
    }

  private:
    std::vector<RunPhase> m_phases;
    bool m_are_phases = true;
};

} // namespace host::analyse
