// SPDX-License-Identifier: MIT
// Finds one job of a task in one pass over a trace, and collects what explains it. If the job began late because an
// earlier one was not complete, the first of this row of jobs is kept, too. The memory depends on the number of tasks.
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
#include <utility>

namespace host::analyse::why {

// Selects the job of the task.
struct Wanted {
    enum class Which : std::uint8_t { worst, first_miss, number };
    Which which = Which::worst; // worst: the one with the greatest response time, even if no job missed its deadline
    std::uint64_t number = 0;
};

struct Found {
    std::optional<JobCase> job{};
    // The first of a row of jobs that each began late because of the previous one; none if it is `job`.
    std::optional<JobCase> first{};
    std::uint64_t row = 0;         // how many jobs there are from `first` to `job`
    std::uint64_t jobs = 0;        // how many jobs the task had
    std::uint64_t late = 0;        // how many of them were late
    std::uint64_t unknown = 0;     // how many of them are not known, because records are missing
    std::optional<JobCase> open{}; // the latest that was not complete when the trace ended
    std::uint64_t greatest_number = 0;
    std::set<std::uint16_t> contexts{}; // those of the tasks that fit and had jobs
};

class JobWatch {
  public:
    using IsTask = std::function<bool(const trace::Names&, std::uint32_t context)>;

    JobWatch(Wanted wanted, IsTask is_task);
    JobWatch(const JobWatch&) = delete; // m_accounting has a pointer to it
    JobWatch& operator=(const JobWatch&) = delete;

    // Calls `late` for each late job whose parts are known, with what found() has if this job is the selected one.
    void listen(std::function<void(const Found&)> late) { m_on_late = std::move(late); }

    // Must be called in time order. khz: the clock's rate, 0 if it is not known yet.
    void take(const trace::Event& event, std::uint32_t khz);

    // Must be called at the end of the trace.
    void finish() {
        m_finished = true;
        m_accounting.finish();
    }

    [[nodiscard]] const Found& found() const { return m_found; }

  private:
    struct Row { // a row of jobs that begin late
        std::optional<JobCase> first;
        std::uint64_t length = 0;
    };

    struct Task {
        std::uint64_t job = 0; // the job that `executed` belongs to
        lib::Ticks executed{};
        std::optional<std::uint64_t> deadline{};       // absolute, of the job in progress
        std::optional<std::uint64_t> first_deadline{}; // before its server postponed it
        bool awaits_signal = false;                    // it takes the next signal itself
        lib::Ticks ready{};                            // since when it can run
        std::optional<std::uint16_t> server{};
        std::uint32_t waits_for = 0; // the latest mutex that it waited for
    };

    void note(const trace::Event& event);
    void note_server(const trace::Event& event);
    void note_handlers(const trace::Event& event);
    void open(const trace::Event& event);
    void take_piece(const schedule::Piece& piece);
    void take_execution(const schedule::Piece& piece);
    void add_to_window(const schedule::Piece& piece);
    void take_account(const schedule::JobAccount& account);
    void describe(JobCase& job) const;
    void attach_window(JobCase& job);
    [[nodiscard]] Window::Judge judge_for(std::uint32_t context) const;
    [[nodiscard]] Chain chain_of(const schedule::Culprit& culprit) const;
    [[nodiscard]] std::optional<std::uint64_t> deadline_of(std::uint32_t context) const;
    void keep(const JobCase& job, Found& found) const;
    void add_to_row(const JobCase& job);
    [[nodiscard]] bool is_better(const schedule::JobAccount& account) const;
    [[nodiscard]] bool frees(std::uint32_t runs, std::uint32_t watched) const;
    [[nodiscard]] std::optional<lib::Ticks> declared(std::uint32_t context) const;

    Wanted m_wanted;
    IsTask m_is_task;
    schedule::Schedule m_schedule;
    schedule::Accounting m_accounting;
    std::map<std::uint32_t, Task> m_tasks;
    std::map<std::uint32_t, JobCase> m_open;   // the open jobs of watched tasks, by context
    std::map<std::uint32_t, Window> m_windows; // by context of a watched task
    std::map<std::uint32_t, Row> m_rows;       // by context of a watched task
    Runs m_runs;
    std::map<std::uint32_t, std::uint32_t> m_holders; // the latest holder of each mutex
    std::map<std::uint32_t, lib::MutexProtocol> m_protocols;
    std::map<std::uint32_t, ServerFacts> m_servers;
    std::shared_ptr<const trace::Names> m_names;
    const trace::Event* m_event = nullptr; // the event that is being taken
    std::uint64_t m_names_version = 0;
    std::uint32_t m_khz = 0;
    bool m_finished = false;
    Found m_found;
    std::function<void(const Found&)> m_on_late;
};

} // namespace host::analyse::why
