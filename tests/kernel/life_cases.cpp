// SPDX-License-Identifier: MIT
// Tests run levels, and the end of tasks.
#include "tests/kernel/case.hpp"

#include "kernel/run/run.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sync/mutex.hpp"

namespace {

namespace life_cases {

using namespace guest;
using kernel::RunLevel;
using kernel::sys_atrunlevel;

void add(void* letter) {
    order.add(*static_cast<const char*>(letter));
}

constexpr char kLetters[] = "12345";

void at_level(RunLevel when, const char& letter) {
    must(sys_atrunlevel(&add, const_cast<char*>(&letter), when));
}

// It is registered first, so it runs last of all: a wrong order ends in a panic, because the result is already decided.
int run_level_order(const kernel::AppArguments&) {
    must(sys_atrunlevel([](void*) { ASSERT(order.letters() == "m21435"); }, nullptr, RunLevel::after_exit));
    at_level(RunLevel::after_exit, kLetters[4]);
    at_level(RunLevel::before_exit, kLetters[2]);
    at_level(RunLevel::before_exit, kLetters[3]);
    at_level(RunLevel::shutdown, kLetters[0]);
    at_level(RunLevel::shutdown, kLetters[1]);
    order.add('m');
    return 0;
}

// The second function of SHUTDOWN, and the only one of BEFORE_EXIT, end the system once more: it continues after them.
int run_level_end_again(const kernel::AppArguments&) {
    must(sys_atrunlevel([](void*) { ASSERT(order.letters() == "m2(1(5"); }, nullptr, RunLevel::after_exit));
    at_level(RunLevel::after_exit, kLetters[4]);
    const auto again = [](void*) {
        order.add('(');
        kernel::sys_end(1);
    };
    must(sys_atrunlevel(again, nullptr, RunLevel::before_exit));
    at_level(RunLevel::shutdown, kLetters[0]);
    must(sys_atrunlevel(again, nullptr, RunLevel::shutdown));
    at_level(RunLevel::shutdown, kLetters[1]);
    order.add('m');
    return 0;
}

int run_level_table_full(const kernel::AppArguments&) {
    const auto nothing = [](void*) {};
    int registered = 0;
    while (sys_atrunlevel(nothing, nullptr, RunLevel::after_exit).ok()) {
        ++registered;
    }
    check(registered <= 40, "at most 40 entries");
    check(registered >= 40 - 8, "nearly all of the 40 entries are the application's");
    check_error(sys_atrunlevel(nothing, nullptr, RunLevel::shutdown), lib::Error::no_space, "the entry after the last");
    check_error(sys_atrunlevel(nothing, nullptr, RunLevel::init), lib::Error::refused, "a level that is over");
    return failures;
}

int kill_in_every_state(const kernel::AppArguments&) {
    static constinit kernel::Semaphore never;
    static constinit kernel::Mutex owned;
    must(kernel::sem_init(never, "never", 0));
    must(kernel::mutex_init(owned, "owned"));
    const auto survived = [](void*) { order.add('!'); };
    const kernel::Pid sleeping = create("sleeping", due_after(1'000), survived);
    const kernel::Pid ready = start("ready", kernel::BackgroundModel{}, survived);
    const kernel::Pid idle = start("idle", due_after(1'000), [](void*) {
        kernel::task_endcycle();
        order.add('!');
    });
    const kernel::Pid delayed = start("delayed", due_after(1'000), [](void*) {
        kernel::task_delay(lib::milliseconds(3));
        order.add('!');
    });
    const kernel::Pid waiting = start("waiting", due_after(1'000), [](void*) {
        must(kernel::mutex_lock(owned));
        must(kernel::sem_wait(never));
        order.add('!');
    });
    const kernel::Pid blocked = start("blocked", due_after(900), [](void*) {
        must(kernel::mutex_lock(owned));
        order.add('!');
    });
    for (const kernel::Pid pid : {sleeping, ready, idle, delayed, blocked, waiting}) {
        must(kernel::task_kill(pid));
        check_error(kernel::task_kill(pid), lib::Error::not_found, "killed twice");
    }
    check(kernel::mutex_trylock(owned).ok(), "the dead owner's mutex is free");
    must(kernel::sem_post(never));
    kernel::task_delay(lib::milliseconds(6));
    check_order("");
    return failures;
}

int context_numbers(const kernel::AppArguments&) {
    static constinit std::uint16_t last = 0;
    for (int i = 0; i < 1'000; ++i) {
        const kernel::Pid pid = create("short", kernel::NrtModel{}, [](void*) {});
        const std::uint16_t context = must(kernel::task_info(pid)).context;
        check(context == last + 1 || last == 0, "every creation has a number of its own");
        last = context;
        must(kernel::task_kill(pid));
    }
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_runlevel_order", "exit levels run last in, first out", &guest::checked<&run_level_order>, false},
    {"t_runlevel_end_again", "the end continues if it is asked for again", &guest::checked<&run_level_end_again>,
     false},
    {"t_runlevel_full", "the table of run-level functions has an end", &guest::checked<&run_level_table_full>, false},
    {"t_task_kill", "a task can be killed in every state", &guest::checked<&kill_in_every_state>, false},
    {"t_task_contexts", "context numbers are not reused at once", &guest::checked<&context_numbers>, false},
};

} // namespace life_cases

} // namespace
