// SPDX-License-Identifier: MIT
// Runs a scenario on a newly booted kernel in a child process, as the main task of an application, and returns its
// report. The report is a schedule in milliseconds of virtual time since the scenario began:
//
//   "A 0-2 | B 2-5 | A 5-6"        work(name, ms) as executed by the processor, adjacent pieces joined
//
// The beginning is 1 ms after the scenario's first statement, so that everything can be set up for one common release.
// note() adds other words. A scenario that crashes or fails an ASSERT returns its end as text.
#pragma once

#include "kernel/run/app.hpp"
#include "kernel/task/task.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hosted {

// Runs the scenario as the NRT main task, at the lowest priority of its time. The kernel ends when it returns.
[[nodiscard]] std::string run(void (*scenario)());

// Does the same, and afterwards runs the functions of after_exit; appends "end" with the outcome. The boot path calls
// before_run() before the kernel runs.
[[nodiscard]] std::string run_to_the_end(void (*scenario)(), void (*before_run)() = nullptr);

// --- inside a scenario ---------------------------------------------------------------------------------------------

[[nodiscard]] constexpr lib::Nanoseconds ms(std::uint64_t count) {
    return lib::milliseconds(count);
}

[[noreturn]] void fail(lib::Error error);

// Returns the absolute time `count` milliseconds after the scenario began.
[[nodiscard]] lib::Ticks at(std::uint64_t count);

// Ends the scenario with the error's name unless the call succeeded.
template <typename T>
T must(const lib::Result<T>& result) {
    if (!result.ok()) {
        fail(result.error());
    }
    if constexpr (!std::is_void_v<T>) {
        return result.value();
    }
}

// Calls the hook at the beginning of each interrupt from now on, with interrupts off.
void before_each_interrupt(void (*hook)());

// Lets the calling task wait until then.
void pause_until(std::uint64_t count);

// Lets the running task compute for this time.
void work(const char* name, std::uint64_t count_ms);

// Does the same in nanoseconds; the report still rounds down to milliseconds.
void work_ns(const char* name, std::uint64_t count_ns);

void note(std::string_view word);

// Notes the word and the time in milliseconds: "word@12".
void stamp(std::string_view word);

// Returns the task that was created by this name last; remember() notes one that create() and start() did not make.
[[nodiscard]] kernel::Pid task(std::string_view name);
void remember(std::string_view name, kernel::Pid pid);

// Creates a task, or fails the scenario.
kernel::Pid create(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model,
                   void* argument = nullptr);

// Creates a task and activates it for the beginning of the scenario.
kernel::Pid start(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model,
                  void* argument = nullptr);

[[nodiscard]] kernel::HardModel hard(std::uint64_t wcet_ms, std::uint64_t period_ms, std::uint64_t deadline_ms = 0,
                                     std::uint64_t offset_ms = 0);

} // namespace hosted
