// SPDX-License-Identifier: MIT
// Has what scenarios of several suites share: bodies that work and end, models, actions at a time, notes. A test of the
// kernel includes this and says `using namespace hosted;`.
#pragma once

#include "kernel/sync/mutex.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/hosted_kernel.hpp"

#include <initializer_list>
#include <string>

namespace hosted {

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

// Works that many milliseconds while it holds the mutex.
template <kernel::Mutex& Held, char Name, std::uint64_t Count>
void holding(void*) {
    must(kernel::mutex_lock(Held));
    once<Name, Count>(nullptr);
    must(kernel::mutex_unlock(Held));
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
