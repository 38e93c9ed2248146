// SPDX-License-Identifier: MIT
// The main task ends before its start() returns. Others have work forever, so nothing else would end the run.
// tests/integration/guest.py expects the report and the exit code of a failed application.
#include "kernel/run/runlevel.hpp"
#include "tests/kernel/case.hpp"
#include "tests/kernel/faulty.hpp"

namespace {

namespace main_task_cases {

using namespace guest;

void busy_body(void*) {
    spin_until([] { return false; });
}

void start_others() {
    start("busy", kernel::NrtModel{}, &busy_body);
    must(
        kernel::sys_atrunlevel([](void*) { kernel::console().mark("shutdown"); }, nullptr, kernel::RunLevel::shutdown));
}

int leaves(const kernel::AppArguments&) {
    start_others();
    kernel::task_exit();
}

int is_killed(const kernel::AppArguments&) {
    static constinit kernel::Pid victim;
    victim = kernel::task_self();
    start_others();
    start("killer", due_after(1'000), [](void*) { must(kernel::task_kill(victim)); });
    return 0;
}

// A HARD task keeps the processor, so that no task of a lower level gets it any more.
int is_starved(const kernel::AppArguments&) {
    static constinit kernel::Pid victim;
    victim = kernel::task_self();
    start_others();
    const kernel::Pid killer =
        create("killer", kernel::HardModel{.wcet = lib::microseconds(100), .period = lib::milliseconds(2)},
               [](void*) { must(kernel::task_kill(victim)); });
    must(kernel::task_activate_at(killer, kernel::after(lib::milliseconds(1))));
    start("hard", kernel::HardModel{.wcet = lib::milliseconds(5), .period = lib::milliseconds(10)}, &busy_body);
    return 0;
}

int faults(const kernel::AppArguments&) {
    start_others();
    must(kernel::task_set_reactions(kernel::task_self(), {.fault = kernel::Reaction::kill}));
    faulty::write_to_null();
    return 0;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_main_leaves", "the main task calls task_exit()", &leaves, false},
    {"s_main_killed", "another task kills the main task", &is_killed, false},
    {"s_main_starved", "the main task is killed, and a HARD task keeps the processor", &is_starved, false},
    {"s_main_faults", "the main task is killed for a fault", &faults, false},
};

} // namespace main_task_cases

} // namespace
