// SPDX-License-Identifier: MIT
// A phase of a teaching application has tasks that run until a given time and are then ended, even if the processor is
// overloaded. The main task has the lowest level except background and may starve; a timer event cannot.
#pragma once

#include "apps/verdict.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace apps {

class Phase {
  public:
    static constexpr std::size_t kTasksMax = 4;

    constexpr explicit Phase(Verdict& verdict)
        : m_verdict(verdict) {}

    // Must be called once, before the first phase.
    void prepare() { m_verdict.expect(kernel::sem_init(m_over, "phase over", 0), "sem_init"); }

    // Opens the phase: tasks may be started from here on until `end`. It must be called first, because a task that
    // starts others and so overloads the processor may not run again before they are ended.
    void open(lib::Ticks end) {
        m_counts = {};
        m_count = 0;
        m_open = true;
        m_verdict.expect(kernel::kern_event_post(end, &Phase::end_all, this), "kern_event_post");
    }

    // Starts a task of the phase, which is released at `begin`. None is started once the phase is over.
    void start(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model, lib::Ticks begin) {
        ASSERT(m_count < kTasksMax);
        {
            const kernel::IrqGuard guard; // the end is either before the task's start or after it
            if (!m_open) {
                return;
            }
            const auto pid = kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = model});
            m_verdict.expect(pid, name);
            if (pid.ok()) {
                m_pids[m_count++] = pid.value(); // before it can run, because it may never yield the processor
                m_verdict.expect(kernel::task_activate_at(pid.value(), begin), name);
            }
        }
        kernel::return_to_task();
    }

    // Waits for the end and returns the counts of the tasks, in the order in which they were started.
    [[nodiscard]] std::span<const kernel::JobCounts> wait() {
        m_verdict.expect(kernel::sem_wait(m_over), "sem_wait");
        return m_counts;
    }

  private:
    static void end_all(void* argument) {
        Phase& self = *static_cast<Phase*>(argument);
        self.m_open = false;
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
    bool m_open = false;
};

} // namespace apps
