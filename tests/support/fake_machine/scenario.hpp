// SPDX-License-Identifier: MIT
// Has what scenarios of several suites share: bodies that work and end, models, actions at a time, notes; and scenarios
// as texts. A test of the kernel includes this and says `using namespace hosted;`.
//
// A text is what the main task does, a step after the other, with semicolons between those of one line; what follows
// "//" is a comment. A line that begins a task has the task's steps after a colon. A line that ends with a semicolon
// continues in the next one. The main task is called "self".
//
//   mutex one; start L hard 4/100/90: lock one; l 4; unlock one
//   start H hard 1/100/20+2: lock one; h 1; unlock one        // released 2 ms after L
//   at 3: activate S                                          // in interrupt context
//   until 30
//
//   start, create NAME MODEL: STEPS   a task, activated for the beginning of the scenario, or not activated
//   hard, fixed, sporadic C/T/D+O     a model in ms: time of a job, period, deadline if it is not the period, offset;
//   soft, grub, soft-skip Q/T; job C/D; nrt, nrt SLICE; background; served, by the server made last
//   miss=REACTION, wcet=REACTION      follow a model: abort, kill or panic
//   server KIND Q/T                   makes a server, polling or deferrable; they are numbered from 1
//   remove-server n, server-state n   removes it; reports its budget in ms, how often it was exhausted, its tasks
//   NAME n        works n ms, reported under that name; each STEP: so in each job
//   end, sleep, again                 the cycle; until the next activation; the steps from the first one
//   delay n, until n                  waits so many ms, or until that time of the scenario
//   note WORDS, stamp WORDS           reports the words, or the words and the time
//   is-ready NAME                     reports "NAME ready" or "NAME waits"
//   alive NAME                        reports "lives" or "gone"
//   counts NAME WHAT..                reports its released, completed, missed, violated, skipped, aborted or early jobs
//   kill, activate, suspend, resume NAME; deadline NAME n; raise NAME n
//   handle n.., handle-and-work n..   the signals of the task, by say(), or by a handler that works 2 ms as "s"
//   mutex NAME [PROTOCOL], semaphore NAME n, condition NAME  initialises; a mutex without a protocol has inheritance
//   lock, trylock, unlock, consistent MUTEX; timedlock MUTEX n; user MUTEX TASK, if the mutex has a ceiling
//   owner, state, ceiling MUTEX       reports "free" or "taken", "abandoned" or "whole", the ceiling in ms or "none"
//   contentions MUTEX..               reports how often each had to be waited for
//   wait, trywait, post SEMAPHORE; timedwait SEMAPHORE n
//   await CONDITION MUTEX [n]; signal, broadcast CONDITION
//
// Times of work, of deadlines and of limits to locks and waits are in ms, or "n ns". A text is checked whole before its
// first step: an unknown word, a missing one or one too many aborts the scenario and is shown.
//
// A step that fails ends the scenario, unless it has a question in front: "H? lock one" reports "H: ok" or "H: busy",
// "? lock one" the result alone.
#pragma once

#include "kernel/sync/condition.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/hosted_kernel.hpp"

#include <initializer_list>
#include <string>

namespace hosted {

// --- texts ---------------------------------------------------------------------------------------------------------

// Runs the main task with this text.
[[nodiscard]] std::string run(std::string_view text);

// Takes these steps, of a text or a part of it, in the calling task.
void play(std::string_view text);

// Create a task whose body is such steps; start() also activates it for the beginning of the scenario.
kernel::Pid start(std::string_view name, std::string_view steps, const kernel::TaskModel& model);
kernel::Pid create(std::string_view name, std::string_view steps, const kernel::TaskModel& model);

// Return what texts call by this name, initialised or not; task() returns their tasks.
[[nodiscard]] kernel::Mutex& mutex(std::string_view name);
[[nodiscard]] kernel::Semaphore& semaphore(std::string_view name);
[[nodiscard]] kernel::Condition& condition(std::string_view name);

// --- bodies --------------------------------------------------------------------------------------------------------

// Is a task each of whose jobs works that many milliseconds, reported under the name.
template <char Name, std::uint64_t Count>
void periodic(void*) {
    static constexpr char kName[] = {Name, '\0'};
    for (;;) {
        work(kName, Count);
        kernel::task_endcycle();
    }
}

template <char Name, std::uint64_t Count>
void once(void*) {
    static constexpr char kName[] = {Name, '\0'};
    work(kName, Count);
}

// Works without end.
template <char Name>
void runaway(void*) {
    static constexpr char kName[] = {Name, '\0'};
    for (;;) {
        work(kName, 1);
    }
}

// --- models --------------------------------------------------------------------------------------------------------

[[nodiscard]] inline kernel::HardModel fixed(std::uint64_t wcet_ms, std::uint64_t period_ms,
                                             std::uint64_t deadline_ms = 0, std::uint64_t offset_ms = 0) {
    kernel::HardModel model = hard(wcet_ms, period_ms, deadline_ms, offset_ms);
    model.priority = kernel::HardPriority::fixed;
    return model;
}

[[nodiscard]] inline kernel::HardModel sporadic(std::uint64_t wcet_ms, std::uint64_t period_ms,
                                                std::uint64_t deadline_ms = 0) {
    kernel::HardModel model = hard(wcet_ms, period_ms, deadline_ms);
    model.arrival = kernel::Arrival::sporadic;
    return model;
}

[[nodiscard]] inline kernel::SoftModel soft(std::uint64_t budget_ms, std::uint64_t period_ms,
                                            kernel::Overlap overlap = kernel::Overlap::save,
                                            kernel::Reclaiming reclaiming = kernel::Reclaiming::none) {
    return {ms(budget_ms), ms(period_ms), overlap, reclaiming};
}

[[nodiscard]] inline kernel::SoftModel grub(std::uint64_t budget_ms, std::uint64_t period_ms) {
    return soft(budget_ms, period_ms, kernel::Overlap::save, kernel::Reclaiming::grub);
}

// --- actions and notes -----------------------------------------------------------------------------------------------

// Calls the handler, in interrupt context, at that millisecond of the scenario.
inline void at_time(std::uint64_t when_ms, kernel::TimerHandler handler) {
    must(kernel::kern_event_post(at(when_ms), handler, nullptr));
}

template <typename T>
[[nodiscard]] std::string_view result_text(const lib::Result<T>& result) {
    return result.ok() ? "ok" : lib::error_name(result.error());
}

template <typename T>
void note_result(const lib::Result<T>& result) {
    note(result_text(result));
}

template <typename T>
void note_result(const char* what, const lib::Result<T>& result) {
    note(std::string(what) + ": " + std::string(result_text(result)));
}

// Is a handler that reports its signal.
inline void say(std::uint8_t signo, void*) {
    stamp("signal " + std::to_string(signo));
}

// Lets the calling task handle these signals so.
inline void handle(std::initializer_list<std::uint8_t> signals, kernel::SignalHandler handler) {
    for (const std::uint8_t signo : signals) {
        must(kernel::signal_handler_set(signo, handler, nullptr));
    }
}

} // namespace hosted
