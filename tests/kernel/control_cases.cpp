// SPDX-License-Identifier: MIT
// Contexts are abandoned, interrupted by handlers, taken away and given back, on the real machine.
#include "kernel/sched/cpu_clock.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"

namespace {

namespace control_cases {

using namespace guest;
using kernel::Reaction;
using kernel::Reactions;

constinit kernel::Semaphore g_done;

kernel::Pid start_with(kernel::TaskBody body, const kernel::TaskModel& model, const Reactions& reactions) {
    const kernel::Pid pid =
        must(kernel::task_create({.name = "victim", .body = body, .model = model, .reactions = reactions}));
    must(kernel::task_activate(pid));
    return pid;
}

constexpr int kRounds = 12;
constinit int g_entries = 0;

[[gnu::noinline]] void spin_deep(int depth) {
    if (depth != 0) {
        spin_deep(depth - 1);
        look_again(); // so that each call has a frame of its own
        return;
    }
    spin_until([] { return g_entries > kRounds + 1; }); // never
}

constinit std::uintptr_t g_stack = 0;
constinit kernel::Mutex g_mutex;

// Enters, checks that the stack is as fresh as the first time, and never comes to an end by itself.
void abandoned(void*) {
    int here = 0;
    const auto stack = reinterpret_cast<std::uintptr_t>(&here);
    g_stack = g_entries == 0 ? stack : g_stack;
    check(stack == g_stack, "each job starts at the top of the stack");
    check(!arch::interrupts_disabled(), "with interrupts on");
    check(kernel::mutex_lock(g_mutex).ok(), "what the last job owned is free");
    if (g_entries++ == kRounds) {
        must(kernel::sem_post(g_done));
        kernel::task_exit();
    }
    spin_deep(g_entries);
}

int finish_rounds() {
    must(kernel::sem_wait(g_done));
    check(g_entries == kRounds + 1, "so many jobs");
    return failures;
}

// The job is over until the next release: another context runs in between.
int abort_and_switch(const kernel::AppArguments&) {
    must(kernel::sem_init(g_done, "done", 0));
    must(kernel::mutex_init(g_mutex, "mutex"));
    start_with(&abandoned, kernel::HardModel{lib::microseconds(200), lib::milliseconds(1), {}, {}},
               {.wcet = Reaction::abort});
    return finish_rounds();
}

// The next job is released with the deadline: the loaded context itself is started anew, out of the interrupt.
int abort_and_continue(const kernel::AppArguments&) {
    must(kernel::sem_init(g_done, "done", 0));
    must(kernel::mutex_init(g_mutex, "mutex"));
    start_with(&abandoned, kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1), {}, {}},
               {.deadline_miss = Reaction::abort});
    return finish_rounds();
}

// The overrun shows when the task gives up the processor by itself, inside a primitive.
int abort_in_a_primitive(const kernel::AppArguments&) {
    static constinit int entries = 0;
    must(kernel::sem_init(g_done, "done", 0));
    start_with(
        [](void*) {
            if (++entries == 20) {
                must(kernel::sem_post(g_done));
                kernel::task_exit();
            }
            {
                const arch::IrqGuard deaf; // to the interrupt of its budget
                const lib::Ticks until = kernel::after(lib::microseconds(300));
                spin_until([until] { return kernel::now() > until; });
                kernel::task_delay(lib::microseconds(1));
            }
            order.add('!');
        },
        kernel::HardModel{lib::microseconds(100), lib::milliseconds(2), {}, {}}, {.wcet = Reaction::abort});
    must(kernel::sem_wait(g_done));
    check(entries == 20, "each job was cut");
    check_order("");
    return failures;
}

constinit kernel::Pid g_target;
constinit std::uint32_t g_handled = 0;
constinit std::uint32_t g_nested = 0;

// Returns a sum whose parts live in registers; interrupted again and again, it must come out the same.
[[gnu::noinline]] std::uint64_t checksum(std::uint64_t seed, std::uint64_t rounds) {
    std::uint64_t a = seed;
    std::uint64_t b = ~seed;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        a = a * 6'364'136'223'846'793'005U + b;
        b ^= (a >> 29) + i;
    }
    return a ^ b;
}

int signals_interrupt(const kernel::AppArguments&) {
    g_target = kernel::task_self();
    must(kernel::signal_handler_set(
        9,
        [](std::uint8_t, void*) {
            check(!arch::interrupts_disabled(), "handlers run with interrupts on");
            ++g_handled;
            static_cast<void>(checksum(g_handled, 100));
            must(kernel::signal_raise(g_target, 10)); // another one, nested in this
        },
        nullptr));
    must(kernel::signal_handler_set(
        10, [](std::uint8_t, void*) { ++g_nested; }, nullptr));
    constexpr std::uint64_t kRoundsOfSum = 20'000;
    const std::uint64_t expected = checksum(1, kRoundsOfSum);
    const auto timer = must(kernel::kern_event_post_periodic(
        kernel::now(), lib::microseconds(50), [](void*) { must(kernel::signal_raise(g_target, 9)); }, nullptr));
    bool same = true;
    while (g_handled < 300) {
        same = same && checksum(1, kRoundsOfSum) == expected;
        look_again();
    }
    must(kernel::kern_event_delete(timer));
    check(same, "what a handler interrupted continues as it was");
    check(g_nested >= 299, "handlers of other signals nest");
    return failures;
}

int suspended_by_an_interrupt(const kernel::AppArguments&) {
    static constinit bool resumed = false;
    must(kernel::sem_init(g_done, "done", 0));
    g_target = start("spinner", due_after(1'000), [](void*) {
        must(kernel::sem_wait(g_done));
        order.add('a');
        must(kernel::kern_event_post(
            kernel::now(), [](void*) { must(kernel::task_suspend(g_target)); }, nullptr));
        spin_until([] { return resumed; });
        order.add('c');
    });
    must(kernel::sem_post(g_done));
    order.add('b'); // the spinner is urgent, but suspended
    resumed = true;
    must(kernel::task_resume(g_target));
    order.add('d');
    check_order("abcd");
    return failures;
}

int cpu_alarm(const kernel::AppArguments&) {
    static constinit bool rung = false;
    must(kernel::signal_handler_set(
        3, [](std::uint8_t, void*) { rung = true; }, nullptr));
    const lib::Nanoseconds at = must(kernel::task_cpu_clock(kernel::task_self())) + lib::milliseconds(2);
    must(kernel::task_cpu_alarm(kernel::task_self(), at, 3));
    kernel::task_delay(lib::milliseconds(4));
    check(!rung, "the clock stops while the task waits");
    spin_until([] { return rung; });
    check(must(kernel::task_cpu_clock(kernel::task_self())) >= at, "not before its time");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_abort_and_switch", "a job is cut, and the next starts on a fresh stack", &checked<&abort_and_switch>, false},
    {"t_abort_and_continue", "the loaded context starts anew", &checked<&abort_and_continue>, false},
    {"t_abort_in_a_primitive", "a job is cut where it gives up", &checked<&abort_in_a_primitive>, false},
    {"t_signals_interrupt", "handlers leave what they interrupt intact", &checked<&signals_interrupt>, false},
    {"t_suspend_in_interrupt", "a running task is suspended and resumed", &checked<&suspended_by_an_interrupt>, false},
    {"t_cpu_alarm", "an alarm on the clock of processor time", &checked<&cpu_alarm>, false},
};

} // namespace control_cases

} // namespace
