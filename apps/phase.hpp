// SPDX-License-Identifier: MIT
// A phase of a teaching application: tasks that run until a given time and are then ended, however overloaded the
// processor is. The main task has the lowest level but background and may starve; a timer event cannot.
#pragma once

#include "apps/verdict.hpp"
#include "kernel/clock.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/timer.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace apps {

class Phase {
  public:
    static constexpr std::size_t kTasksMax = 4;

    constexpr explicit Phase(Verdict& verdict)
        : m_verdict(verdict) {}

    // Once, before the first phase.
    void prepare() { m_verdict.expect(kernel::sem_init(m_over, "phase over", 0), "sem_init"); }

    // The tasks of the phase, released together at `begin`.
    void start(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model, lib::Ticks begin) {
        ASSERT(m_count < kTasksMax);
        m_pids[m_count++] = start_task(m_verdict, name, body, model, begin);
    }

    // Lets them run until then, ends them, and returns what they have done, in the order in which they were started.
    [[nodiscard]] std::span<const kernel::JobCounts> run_until(lib::Ticks end) {
        m_verdict.expect(kernel::kern_event_post(end, &Phase::end_all, this), "kern_event_post");
        m_verdict.expect(kernel::sem_wait(m_over), "sem_wait");
        const std::size_t count = m_count;
        m_count = 0;
        return std::span(m_counts).first(count);
    }

  private:
    static void end_all(void* argument) {
        Phase& self = *static_cast<Phase*>(argument);
        for (std::size_t i = 0; i < self.m_count; ++i) {
            self.m_counts[i] = jobs_of(self.m_verdict, self.m_pids[i]);
            self.m_verdict.expect(kernel::task_kill(self.m_pids[i]), "task_kill");
        }
        self.m_verdict.expect(kernel::sem_post(self.m_over), "sem_post");
    }

    Verdict& m_verdict;
    kernel::Semaphore m_over;
    std::array<kernel::Pid, kTasksMax> m_pids{};
    std::array<kernel::JobCounts, kTasksMax> m_counts{};
    std::size_t m_count = 0;
};

} // namespace apps
