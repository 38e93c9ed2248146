// SPDX-License-Identifier: MIT
// Finds one job of a task in one pass over a trace, and gathers what explains it. If the job began late because an
// earlier one was not complete, the first of this row of jobs is kept, too. Memory depends on the number of tasks.
#pragma once

#include "host/analyse/why/job_case.hpp"
#include "host/analyse/why/window.hpp"
#include "host/schedule/accounting.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace host::analyse::why {

// Which job of the task.
struct Wanted {
    enum class Which : std::uint8_t { worst, first_miss, number };
    Which which = Which::worst; // worst: the greatest response time; also if no job missed its deadline
    std::uint64_t number = 0;
};

struct Found {
    std::optional<JobCase> job{};
    std::optional<JobCase> first{}; // of the row of jobs that each began late because of the one before; if not `job`
    std::uint64_t row = 0;          // how many jobs from `first` to `job`
    std::uint64_t jobs = 0;         // of the task
    std::uint64_t late = 0;         // of them
    std::uint64_t unknown = 0;      // of them: records are missing
    std::uint64_t greatest_number = 0;
    std::set<std::uint16_t> contexts{}; // of tasks with jobs that fit
};

class JobWatch {
  public:
    using IsTask = std::function<bool(const trace::Names&, std::uint32_t context)>;

    JobWatch(Wanted wanted, IsTask is_task);
    JobWatch(const JobWatch&) = delete; // its parts report to it
    JobWatch& operator=(const JobWatch&) = delete;

    // In time order. khz: the clock's rate as far as it is known, else 0.
    void take(const trace::Event& event, std::uint32_t khz);

    // At the end of the trace.
    void finish() { m_accounting.finish(); }

    [[nodiscard]] const Found& found() const { return m_found; }

  private:
    struct Row { // of jobs that begin late
        std::optional<JobCase> first;
        std::uint64_t length = 0;
    };

    struct Task {
        std::uint64_t job = 0; // whose execution this is
        lib::Ticks executed{};
        std::optional<std::uint64_t> deadline{}; // absolute, of the job in progress
        lib::Ticks ready{};                      // since then it can run
        std::optional<std::uint16_t> server{};
        std::uint32_t waits_for = 0; // the latest mutex
    };

    void note(const trace::Event& event);
    void note_server(const trace::Event& event);
    void open(const trace::Event& event);
    void take_piece(const schedule::Piece& piece);
    void take_execution(const schedule::Piece& piece);
    void add_to_window(const schedule::Piece& piece);
    void take_account(const schedule::JobAccount& account);
    void describe(JobCase& job) const;
    void attach_window(JobCase& job);
    [[nodiscard]] Window::Judge judge_for(std::uint32_t context) const;
    [[nodiscard]] std::optional<WeakLink> weak_link(const schedule::Culprit& culprit) const;
    [[nodiscard]] std::optional<std::uint64_t> deadline_of(std::uint32_t context) const;
    void keep(const JobCase& job);
    void add_to_row(const JobCase& job);
    [[nodiscard]] bool is_better(const schedule::JobAccount& account) const;
    [[nodiscard]] bool frees(std::uint32_t runs, std::uint32_t watched) const;
    [[nodiscard]] std::optional<lib::Ticks> declared(std::uint32_t context) const;

    Wanted m_wanted;
    IsTask m_is_task;
    schedule::Schedule m_schedule;
    schedule::Accounting m_accounting;
    std::map<std::uint32_t, Task> m_tasks;
    std::map<std::uint32_t, JobCase> m_open;   // of watched tasks, by context
    std::map<std::uint32_t, Window> m_windows; // likewise
    std::map<std::uint32_t, Row> m_rows;       // likewise
    Runs m_runs;
    std::map<std::uint32_t, std::uint32_t> m_holders; // of mutexes, the latest
    std::map<std::uint32_t, lib::MutexProtocol> m_protocols;
    std::map<std::uint32_t, ServerFacts> m_servers;
    std::shared_ptr<const trace::Names> m_names;
    const trace::Event* m_event = nullptr; // that is being taken
    std::uint64_t m_names_version = 0;
    std::uint32_t m_khz = 0;
    Found m_found;
};

} // namespace host::analyse::why
