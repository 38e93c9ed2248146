// SPDX-License-Identifier: MIT
// Covers rows of exceptions and their reactions, of signals, and of suspension.
#include "kernel/task/signal.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace row_control_cases {

using namespace guest;
using namespace guest::rows;
using kernel::Reaction;
using kernel::Reactions;
using kernel::TaskException;

constinit kernel::Semaphore g_done;

constexpr std::uint32_t word(TaskException exception, Reaction reaction) {
    return (static_cast<std::uint32_t>(exception) << 16) | static_cast<std::uint32_t>(reaction);
}

// Only creates a task: its context is known before it may be gone.
kernel::Pid create_with(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model,
                        const Reactions& reactions) {
    return must(kernel::task_create({.name = name, .body = body, .model = model, .reactions = reactions}));
}

constexpr std::uint32_t kEdf = 1;

// The job needs more than it declares, and more than it has time for.
constexpr kernel::HardModel kGreedy{lib::milliseconds(1), lib::milliseconds(4), lib::milliseconds(3), {}};

void spin_forever(void*) {
    for (;;) {
        look_again();
    }
}

// 6D 2D: abort and count
int abort_row(const kernel::AppArguments&) {
    static constinit int entries = 0;
    FTrace_set_filter(FTrace_filter_timer, 1);
    must(kernel::sem_init(g_done, "done", 0));
    const int chunk = begin();
    const kernel::Pid pid = kernel::task_self();
    const auto main = context_of(pid);
    const kernel::Pid greedy = create_with("greedy",
                                           [](void*) {
                                               if (++entries == 1) {
                                                   spin_forever(nullptr);
                                               }
                                               check(my_jobs().aborted == 1, "the abort is counted");
                                               must(kernel::sem_post(g_done));
                                               kernel::task_sleep();
                                           },
                                           kGreedy, {.wcet = Reaction::abort});
    const auto context = context_of(greedy);
    must(kernel::task_activate(greedy));
    must(kernel::sem_wait(g_done));
    must(kernel::task_kill(greedy));
    end(chunk);
    expect(FTrace_EVT_task_wcet_violation, context, kEdf);
    expect(FTrace_EVT_task_exception, context, word(TaskException::wcet, Reaction::abort));
    expect(FTrace_EVT_job_abort, context, word(TaskException::wcet, Reaction::abort));
    expect(FTrace_EVT_context_switch, main, 0);
    check(recording.count(FTrace_EVT_job_abort) == 1, "one abort");
    check(entries == 2, "the next job starts at the entry");
    return failures;
}

// 6D: kill, handler and count
int reactions_row(const kernel::AppArguments&) {
    static constinit bool handled = false;
    FTrace_set_filter(FTrace_filter_timer, 1);
    const int chunk = begin();
    const kernel::Pid killed = create_with("killed", spin_forever, kGreedy, {.deadline_miss = Reaction::kill});
    const auto killed_context = context_of(killed);
    must(kernel::task_activate(killed));
    spin_until([killed] { return !kernel::task_info(killed).ok(); });
    const kernel::Pid handling = create_with(
        "handling",
        [](void*) {
            kernel::exception_handler_set(
                [](TaskException exception, void*) { handled = exception == TaskException::wcet; }, nullptr);
            spin_until([] { return handled; });
        },
        kGreedy, {.wcet = Reaction::handler});
    const auto handling_context = context_of(handling);
    must(kernel::task_activate(handling));
    spin_until([handling] { return !kernel::task_info(handling).ok(); });
    end(chunk);
    expect(FTrace_EVT_task_exception, killed_context, word(TaskException::wcet, Reaction::count));
    expect(FTrace_EVT_task_exception, killed_context, word(TaskException::deadline_miss, Reaction::kill));
    expect(FTrace_EVT_task_end, killed_context, killed.value);
    expect(FTrace_EVT_task_exception, handling_context, word(TaskException::wcet, Reaction::handler));
    check(recording.count(FTrace_EVT_job_abort) == 0, "nothing was aborted");
    return failures;
}

// 07 17
int signals_row(const kernel::AppArguments&) {
    static constinit bool taken = false;
    static constinit kernel::Pid target;
    FTrace_set_filter(FTrace_filter_timer, 1);
    const int chunk = begin();
    target = kernel::task_self();
    const auto main = context_of(target);
    must(kernel::signal_handler_set(
        5, [](std::uint8_t signo, void*) { taken = signo == 5; }, nullptr));
    must(kernel::kern_event_post(
        kernel::now(), [](void*) { must(kernel::signal_raise(target, 5)); }, nullptr));
    spin_until([] { return taken; });
    start("raiser", due_after(1'000), [](void*) {
        must(kernel::signal_raise(target, 31));
        order.add('r');
    });
    order.add('m');
    check(must(kernel::signal_wait(kernel::signal_bit(31))) == 31, "the signal that was waited for");
    end(chunk);
    check_order("rm");
    expect(FTrace_EVT_signal_raise, main, 5);
    expect(FTrace_EVT_signal, main, 5);
    expect(FTrace_EVT_signal_raise, main, 31);
    expect(FTrace_EVT_signal, main, 31);
    check(recording.count(FTrace_EVT_signal) == 2, "each is delivered once");
    return failures;
}

// D2 E2: suspended, and waiting for a signal
int suspended_row(const kernel::AppArguments&) {
    constexpr std::uint32_t kSuspended = std::uint32_t{6} << 16;
    constexpr std::uint32_t kSignal = std::uint32_t{7} << 16;
    FTrace_set_filter(FTrace_filter_timer, 1);
    const int chunk = begin();
    const kernel::Pid sleeper = start("sleeper", due_after(1'000), [](void*) {
        must(kernel::task_suspend(kernel::task_self()));
        static_cast<void>(kernel::signal_wait(kernel::signal_bit(1)));
        kernel::task_sleep();
    });
    const auto context = context_of(sleeper);
    must(kernel::task_resume(sleeper));
    must(kernel::signal_raise(sleeper, 1));
    must(kernel::task_suspend(sleeper)); // asleep: it leaves no queue
    must(kernel::task_resume(sleeper));
    end(chunk);
    check(count(FTrace_EVT_task_block, context, kSuspended) == 1, "only a ready task leaves its queue");
    check(count(FTrace_EVT_task_unblock, context, kSuspended) == 1, "and comes back");
    expect(FTrace_EVT_task_block, context, kSignal);
    expect(FTrace_EVT_task_unblock, context, kSignal);
    return failures;
}

// B2: by the interrupt of the deadline itself, while the task runs
int overrun_latency(const kernel::AppArguments& arguments) {
    static constinit std::uint32_t deadline = 0;
    FTrace_set_filter(FTrace_filter_timer, 1);
    const int chunk = begin();
    const kernel::Pid late = create_with("late", spin_forever, kGreedy, {.deadline_miss = Reaction::kill});
    const auto context = context_of(late);
    must(kernel::task_activate(late));
    spin_until([late] { return !kernel::task_info(late).ok(); });
    end(chunk);
    std::uint32_t recorded = 0;
    for (const tracer::Record& record : recording.records()) {
        if (record.par1 == context && record.event_code() == FTrace_EVT_job_deadline) {
            deadline = record.par2;
        } else if (record.par1 == context && record.event_code() == FTrace_EVT_task_deadline_miss) {
            recorded = record.tsc_low;
        }
    }
    const auto late_by = kernel::to_nanoseconds({recorded - deadline});
    kernel::console().line("a miss is recorded ", late_by.value, " ns after the deadline");
    check(deadline != 0 && recorded - deadline < 0x8000'0000, "no miss before its deadline");
    check(!arguments.icount || late_by < lib::microseconds(10), "a miss is recorded at once");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_abort", "rows of an exception that aborts a job", &checked<&abort_row>, true},
    {"t_row_reactions", "rows of exceptions that kill and call", &checked<&reactions_row>, true},
    {"t_row_signals", "rows of signals", &checked<&signals_row>, true},
    {"t_row_suspended", "rows of suspension", &checked<&suspended_row>, true},
    {"t_overrun_latency", "a deadline miss is recorded when it happens", &checked<&overrun_latency>, true},
};

} // namespace row_control_cases

} // namespace
