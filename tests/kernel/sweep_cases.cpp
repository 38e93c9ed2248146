// SPDX-License-Identifier: MIT
// Two tasks have a worst case that no run without shifts has: `urgent` needs the mutex that `slow` holds in the middle
// of its job, but is released when slow's job is long over. Neither a simultaneous release shows it, for then urgent
// goes first: urgent must be released just after slow has locked. tests/integration/sweep.py finds it.
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/working.hpp"

namespace {

using namespace guest;

constinit kernel::Mutex g_shared;

void urgent_body(void*) {
    for (;;) {
        compute(lib::microseconds(200));
        must(kernel::mutex_lock(g_shared));
        compute(lib::microseconds(100));
        must(kernel::mutex_unlock(g_shared));
        kernel::task_endcycle();
    }
}

void slow_body(void*) {
    for (;;) {
        compute(lib::microseconds(300));
        must(kernel::mutex_lock(g_shared));
        compute(lib::microseconds(700));
        must(kernel::mutex_unlock(g_shared));
        kernel::task_endcycle();
    }
}

kernel::HardModel fixed(std::uint64_t wcet_us, std::uint64_t deadline_us, std::uint64_t offset_us) {
    return {.wcet = lib::microseconds(wcet_us),
            .period = lib::milliseconds(5),
            .relative_deadline = lib::microseconds(deadline_us),
            .offset = lib::microseconds(offset_us),
            .priority = kernel::HardPriority::fixed};
}

int collide(const kernel::AppArguments&) {
    must(kernel::mutex_init(g_shared, "shared"));
    const kernel::Pid slow = create("slow", fixed(1'050, 5'000, 0), &slow_body);
    const kernel::Pid urgent = create("urgent", fixed(320, 3'000, 2'500), &urgent_body);
    const lib::Ticks begin = kernel::after(lib::milliseconds(1));
    must(kernel::task_activate_at(slow, begin));
    must(kernel::task_activate_at(urgent, begin));
    kernel::task_delay(lib::milliseconds(16));
    return failures;
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCollide{
    "s_collide", "two tasks that meet at a mutex only if their phases are shifted", &collide, false};
