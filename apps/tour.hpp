// SPDX-License-Identifier: MIT
// Declares the stations of the tour and what they share. Each station is a file apps/tour_NAME.cpp with one function,
// which is called by the main task and returns when everything that it started is gone. The main task is round robin:
// every HARD task that it activates runs at once.
#pragma once

#include "apps/verdict.hpp"
#include "apps/work.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/log.hpp"

#include <cstdint>

namespace apps::tour {

using lib::microseconds;
using lib::milliseconds;

inline constinit Verdict verdict{"tour"};

void visit_tasks();    // life of a task, groups, suspension, deadlines that change
void visit_overruns(); // deadlines, budgets and arrivals that are violated, and the reactions; a fault
void visit_waiting();  // the four mutex protocols, what may go wrong with a lock, semaphores, conditions, ports
void visit_servers();  // polling, deferrable, CBS, GRUB
void visit_machine();  // timer events, signals, interrupts in every detail, a storm, sections, real mode
void visit_tracer();   // records of the application's own, filters, single steps, the next chunk, a blackout

// Executes a job of this many microseconds in each period, forever.
template <std::uint64_t Microseconds>
void periodic(void*) {
    for (;;) {
        compute(microseconds(Microseconds));
        kernel::task_endcycle();
    }
}

[[nodiscard]] inline kernel::Pid create(const kernel::TaskOptions& options) {
    const auto pid = kernel::task_create(options);
    verdict.expect(pid, options.name);
    return pid.ok() ? pid.value() : kernel::Pid{};
}

inline kernel::Pid start(const kernel::TaskOptions& options) {
    const kernel::Pid pid = create(options);
    verdict.expect(kernel::task_activate(pid), options.name);
    return pid;
}

inline void kill(kernel::Pid pid) {
    verdict.expect(kernel::task_kill(pid), "task_kill");
}

// Checks a call that must be refused, with this reason.
inline void expect_error(const lib::Result<void>& result, lib::Error error, std::string_view what) {
    if (result.ok() || result.error() != error) {
        verdict.fail(what, result.ok() ? "was not refused" : lib::error_name(result.error()));
    }
}

// Checks a call of the tracer's interface; a kernel without the tracer returns -1 from all of them.
inline void expect_traced(int returned, std::string_view what) {
    if (tracer::kTracerBuilt && returned < 0) {
        const char* const reason = FTrace_last_error().text;
        verdict.fail(what, reason != nullptr ? reason : "no reason given");
    }
}

} // namespace apps::tour
