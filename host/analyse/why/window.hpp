// SPDX-License-Identifier: MIT
// Collects the work around the jobs of one task as items of a replay: what happened since its processor was free for
// it.
#pragma once

#include "host/analyse/why/job_case.hpp"
#include "host/schedule/accounting.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace host::analyse::why {

// Is an uninterrupted execution of a task.
struct Run {
    std::uint32_t context = 0;
    lib::Ticks begin{};
    lib::Ticks end{};
    lib::Ticks excess{};                     // its last part, beyond what the task declares
    lib::Ticks total{};                      // execution of its job, this run included
    lib::Ticks arrival{};                    // since when it could run
    std::optional<std::uint64_t> deadline{}; // absolute deadline of its job
};

// The latest runs, in the order of their end.
class Runs {
  public:
    void add(const Run& run);

    [[nodiscard]] const std::deque<Run>& all() const { return m_runs; }

  private:
    static constexpr std::size_t kRunsMax = 8192;

    std::deque<Run> m_runs;
};

class Window {
  public:
    // Holds what is known when a job ends, besides the pieces.
    struct Judge {
        std::function<bool(std::uint32_t who, std::optional<std::uint64_t> deadline, std::uint32_t than)> precedes;
        std::function<bool(std::uint32_t who, std::optional<std::uint64_t> deadline)> is_later;
        // Returns whether `who` precedes the task only because the server has postponed the task's deadline.
        std::function<bool(std::uint32_t who, std::optional<std::uint64_t> deadline)> is_postponed;
        std::function<bool(std::uint32_t who)> is_idle;
    };

    // Must be called when the processor is free for the task: nothing before can delay its next job.
    void restart(lib::Ticks now);

    // Adds a piece of the task. chain: the mutexes of a piece of blocking, at least one. postponed: the server has
    // postponed the task's deadline.
    void add(const schedule::Piece& piece, const schedule::ExecutorHistory& history, Chain chain, bool postponed);

    // Must be called at the end of a job. Returns its items and those before it.
    [[nodiscard]] std::shared_ptr<const std::vector<Item>> at_end(const Runs& runs, const Judge& judge);

    // Must be called when a job begins: keeps only the latest of the items before it.
    void forget_early();

    // Unites items if there are too many.
    void compact(const Runs& runs, const Judge& judge);

  private:
    static constexpr std::size_t kItemsMax = 16384;
    static constexpr std::size_t kEarlyMax = 512; // items that are kept from before a job

    void begin_job(const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_interference(Item item, const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_blocking(Item item, const schedule::Culprit& culprit, Chain chain);
    void add_suspension(Item item, const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_jitter(Item item);
    void add_within(const Item& whole, const schedule::ExecutorHistory& history);
    void push(const Item& item);
    void decide(const Runs& runs, const Judge& judge);

    std::vector<Item> m_items;
    std::size_t m_decided = 0; // how many of the items have been decided
    std::optional<lib::Ticks> m_last{};
    std::uint64_t m_job = 0;
    lib::Ticks m_release{};
};

} // namespace host::analyse::why
