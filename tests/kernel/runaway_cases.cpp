// SPDX-License-Identifier: MIT
// A task that never ends its job, in a constant bandwidth server, gets its share and takes nothing from those whose
// share was promised. Budgets that are none, and shares that are not free, are refused. Times are in milliseconds:
//
//   task     T    C      runaway: 3 every 10, wants all of it
//   fast     4    1      sum: 0.25 + 0.4 + 0.3 = 0.95
//   slow    10    4
#include "apps/work.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"

#include <array>

namespace {

namespace runaway_cases {

using namespace guest;
using lib::milliseconds;

template <std::uint64_t Microseconds>
void busy(void*) {
    for (;;) {
        apps::compute(lib::microseconds(Microseconds));
        kernel::task_endcycle();
    }
}

constinit volatile bool g_stop = false;

// A server never leaves the processor idle, so no task below it runs until this ends: a timer has to say so.
void run_away(void*) {
    while (!g_stop) {
        apps::compute(milliseconds(1));
    }
}

lib::Result<kernel::Pid> try_soft(lib::Nanoseconds budget, lib::Nanoseconds period) {
    return kernel::task_create(
        {.name = "runaway", .body = &run_away, .model = kernel::SoftModel{.budget = budget, .period = period}});
}

constinit std::array<kernel::Pid, 3> g_pids{};
constinit std::array<kernel::TaskInfo, 3> g_infos{};

int runaway(const kernel::AppArguments& arguments) {
    constexpr std::uint64_t kRunMs = 100;
    g_pids = {create("fast", kernel::HardModel{milliseconds(1), milliseconds(4), {}, {}}, &busy<900>),
              create("slow", kernel::HardModel{milliseconds(4), milliseconds(10), {}, {}}, &busy<3'900>),
              must(try_soft(milliseconds(3), milliseconds(10)))};
    must(kernel::kern_event_post(
        kernel::after(milliseconds(kRunMs)),
        [](void*) {
            for (std::size_t i = 0; i < g_pids.size(); ++i) {
                g_infos[i] = must(kernel::task_info(g_pids[i]));
            }
            g_stop = true;
        },
        nullptr));
    for (const kernel::Pid pid : g_pids) {
        must(kernel::task_activate(pid));
    }
    spin_until([] { return g_stop; });
    for (const kernel::TaskInfo& hard : {g_infos[0], g_infos[1]}) {
        check(hard.jobs.released >= kRunMs / 10 && hard.jobs.completed + 1 >= hard.jobs.released, "its jobs continue");
        check(!arguments.icount || hard.jobs.deadline_misses == 0, "no other task is late");
    }
    check(g_infos[2].jobs.released == 1 && g_infos[2].jobs.completed == 0, "the runaway never ends");
    check(kernel::to_nanoseconds(g_infos[2].cpu_time) >= milliseconds(kRunMs * 3 / 10 - 3), "and has its share");
    return failures;
}

int refused_budgets(const kernel::AppArguments&) {
    constexpr lib::Nanoseconds kNegative{~std::uint64_t{0}}; // -1
    const auto refused = [](lib::Nanoseconds budget, lib::Nanoseconds period, lib::Error error) {
        const auto created = try_soft(budget, period);
        check(!created.ok() && created.error() == error, "a budget that is none");
    };
    refused({}, milliseconds(10), lib::Error::invalid_argument);
    refused(kNegative, milliseconds(10), lib::Error::invalid_argument);
    refused(milliseconds(1), {}, lib::Error::invalid_argument);
    refused({1}, milliseconds(10), lib::Error::invalid_argument);
    refused(milliseconds(11), milliseconds(10), lib::Error::invalid_argument);
    const kernel::Pid most = must(try_soft(milliseconds(6), milliseconds(10)));
    refused(milliseconds(5), milliseconds(10), lib::Error::refused);
    const auto hard = kernel::task_create(
        {.name = "hard", .body = &busy<1>, .model = kernel::HardModel{milliseconds(5), milliseconds(10), {}, {}}});
    check(!hard.ok() && hard.error() == lib::Error::refused, "more than there is");
    must(kernel::task_kill(most));
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_cbs_runaway", "a server confines a task that never ends", &checked<&runaway>, false},
    {"t_cbs_refusals", "budgets that are none, shares that are not free", &checked<&refused_budgets>, false},
};

} // namespace runaway_cases

} // namespace
