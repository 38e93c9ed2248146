// SPDX-License-Identifier: MIT
// The work around the jobs of one task, as items of a replay: what happened since its processor was free for it.
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

// What a task executed in one piece.
struct Run {
    std::uint32_t context = 0;
    lib::Ticks begin{};
    lib::Ticks end{};
    lib::Ticks excess{};                     // its last part, beyond what its job declares
    lib::Ticks total{};                      // of its job, this piece included
    lib::Ticks arrival{};                    // since then it could run
    std::optional<std::uint64_t> deadline{}; // absolute, of its job
};

// The latest ones, by their end.
class Runs {
  public:
    void add(const Run& run);

    [[nodiscard]] const std::deque<Run>& all() const { return m_runs; }

  private:
    static constexpr std::size_t kRunsMax = 8192;

    std::deque<Run> m_runs;
};

// The mutex for want of whose inheritance a task runs, and its holder.
struct WeakLink {
    std::uint32_t mutex = 0;
    std::uint32_t holder = schedule::kUnknownContext;
};

class Window {
  public:
    // What is known besides the pieces, when a job ends.
    struct Judge {
        std::function<bool(std::uint32_t who, std::optional<std::uint64_t> deadline, std::uint32_t than)> precedes;
        std::function<bool(std::uint32_t who, std::optional<std::uint64_t> deadline)> is_later;
        std::function<bool(std::uint32_t who)> is_idle;
    };

    // The processor is free for the task: nothing before delays its next job.
    void restart(lib::Ticks now);

    // A piece of the task; weak: if it is an inversion. postponed: its server has postponed its deadline.
    void add(const schedule::Piece& piece, const schedule::ExecutorHistory& history,
             const std::optional<WeakLink>& weak, bool postponed);

    // At the end of a job: its items and those before it.
    [[nodiscard]] std::shared_ptr<const std::vector<Item>> at_end(const Runs& runs, const Judge& judge);

    // When a job begins: of what was before it, the latest items are enough.
    void forget_early();

    // If there are too many items, some are united.
    void compact(const Runs& runs, const Judge& judge);

  private:
    static constexpr std::size_t kItemsMax = 16384;
    static constexpr std::size_t kEarlyMax = 512; // before the job

    void begin_job(const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_interference(Item item, const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_blocking(Item item, const schedule::Piece& piece, const std::optional<WeakLink>& weak);
    void add_suspension(Item item, const schedule::Piece& piece, const schedule::ExecutorHistory& history);
    void add_jitter(Item item);
    void add_within(const Item& whole, const schedule::ExecutorHistory& history);
    void push(const Item& item);
    void decide(const Runs& runs, const Judge& judge);

    std::vector<Item> m_items;
    std::size_t m_decided = 0; // so many of them have been looked up
    std::optional<lib::Ticks> m_last{};
    std::uint64_t m_job = 0;
    lib::Ticks m_release{};
};

} // namespace host::analyse::why
