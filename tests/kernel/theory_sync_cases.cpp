// SPDX-License-Identifier: MIT
// Tests mutex protocols: each case shows what one of them promises, with the order computed by hand, and is traced from
// outside: `remora check` must agree, and must object to the kernels of tests/mutants. The main task is round robin:
// every other task preempts it at once.
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/working.hpp"

namespace {

namespace theory_sync_cases {

using namespace guest;
using kernel::MutexProtocol;

constinit kernel::Mutex g_one;
constinit kernel::Mutex g_two;

// The main task is a user, too.
void init(kernel::Mutex& mutex, MutexProtocol protocol) {
    must(kernel::mutex_init(mutex, {.protocol = protocol, .name = &mutex == &g_one ? "one" : "two"}));
    if (mutex.has_ceiling()) {
        must(kernel::mutex_declare_user(mutex, kernel::task_self()));
    }
}

kernel::Pid create_user(std::string_view name, kernel::TaskBody body, std::uint64_t deadline_ms,
                        std::span<kernel::Mutex* const> mutexes) {
    return must(kernel::task_create({.name = name,
                                     .body = body,
                                     .argument = nullptr,
                                     .model = due_after(deadline_ms),
                                     .group = 0,
                                     .reactions = {},
                                     .mutexes = mutexes}));
}

template <kernel::Mutex& Which, char Letter>
void locks(void*) {
    must(kernel::mutex_lock(Which));
    order.add(Letter);
    must(kernel::mutex_unlock(Which));
}

// The owner gives the place back with the mutex, whatever it still has to do.
int pi_returns(const kernel::AppArguments&) {
    init(g_one, MutexProtocol::inheritance);
    start("low", due_after(2'000), [](void*) {
        must(kernel::mutex_lock(g_one));
        start("high", due_after(1'000), locks<g_one, 'h'>);
        order.add('l');
        must(kernel::mutex_unlock(g_one));
        compute(lib::milliseconds(1));
        order.add('L');
    });
    check_order("lhL");
    return failures;
}

// Whoever waits for a mutex whose owner waits for something else leaves the processor to others.
int pi_owner_waits(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    must(kernel::sem_init(units, "units", 0));
    init(g_one, MutexProtocol::inheritance);
    start("low", due_after(2'000), [](void*) {
        must(kernel::mutex_lock(g_one));
        must(kernel::sem_wait(units));
        order.add('l');
        must(kernel::mutex_unlock(g_one));
    });
    start("high", due_after(1'000), locks<g_one, 'h'>);
    order.add('m');
    must(kernel::sem_post(units));
    check_order("mlh");
    return failures;
}

// A task that is suspended while it waits for a mutex that is free lends nothing, but passes on the places that others
// lend to it, as soon as the mutex has an owner.
int pi_suspended_waiter(const kernel::AppArguments&) {
    init(g_one, MutexProtocol::inheritance);
    init(g_two, MutexProtocol::inheritance);
    must(kernel::mutex_lock(g_two));
    const kernel::Pid waiter = start("waiter", due_after(3'000), [](void*) {
        must(kernel::mutex_lock(g_one));
        must(kernel::mutex_lock(g_two));
        order.add('w');
        must(kernel::mutex_unlock(g_two));
        must(kernel::mutex_unlock(g_one));
    });
    must(kernel::task_suspend(waiter));
    start("high", due_after(1'000), locks<g_one, 'h'>);
    must(kernel::mutex_unlock(g_two));
    must(kernel::mutex_lock(g_two));
    start("middle", due_after(2'000), [](void*) { order.add('m'); });
    order.add('M');
    must(kernel::mutex_unlock(g_two));
    must(kernel::task_resume(waiter));
    check_order("Mmwh");
    return failures;
}

// Main has `one` when high comes, which wants `two`.
int high_wants_two(std::span<kernel::Mutex* const> used_by_high, std::string_view expected) {
    const kernel::Pid high = create_user("high", locks<g_two, 'h'>, 1'000, used_by_high);
    must(kernel::mutex_lock(g_one));
    must(kernel::task_activate(high));
    order.add('m');
    must(kernel::mutex_unlock(g_one));
    check_order(expected);
    return failures;
}

// `two` is free, yet its user is not above the ceiling of `one`, which main has: both have the same user.
int pcp_forbids(const kernel::AppArguments&) {
    static constexpr kernel::Mutex* kBoth[] = {&g_one, &g_two};
    init(g_one, MutexProtocol::ceiling);
    init(g_two, MutexProtocol::ceiling);
    return high_wants_two(kBoth, "mh");
}

// The user of `two` is above the ceiling of `one`, which is that of the middle task.
int pcp_allows(const kernel::AppArguments&) {
    static constexpr kernel::Mutex* kOne[] = {&g_one};
    static constexpr kernel::Mutex* kTwo[] = {&g_two};
    init(g_one, MutexProtocol::ceiling);
    init(g_two, MutexProtocol::ceiling);
    static_cast<void>(create_user("middle", locks<g_one, 'M'>, 2'000, kOne));
    return high_wants_two(kTwo, "hm");
}

// A job that would need `one` does not even begin while main has it.
int srp_stops(const kernel::AppArguments&) {
    static constexpr kernel::Mutex* kOne[] = {&g_one};
    init(g_one, MutexProtocol::stack);
    const kernel::Pid high = create_user("high", locks<g_one, 'h'>, 1'000, kOne);
    must(kernel::mutex_lock(g_one));
    must(kernel::task_activate(high));
    order.add('m');
    must(kernel::mutex_unlock(g_one));
    check_order("mh");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_pi_returns", "with the mutex goes the inherited place", &checked<&pi_returns>, false},
    {"t_pi_owner_waits", "an owner that waits does not run, whoever lends to it", &checked<&pi_owner_waits>, false},
    {"t_pi_suspended_waiter", "a suspended waiter passes on what others lend to it", &checked<&pi_suspended_waiter>,
     false},
    {"t_pcp_forbids", "a free mutex is refused below the ceilings that others hold", &checked<&pcp_forbids>, false},
    {"t_pcp_allows", "above them it is granted", &checked<&pcp_allows>, false},
    {"t_srp_stops", "a job below the system ceiling does not begin", &checked<&srp_stops>, false},
};

} // namespace theory_sync_cases

} // namespace
