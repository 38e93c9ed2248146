// SPDX-License-Identifier: MIT
// Covers rows of mutex protocols, timed waits, condition variables and ports. The cases run in the main task, which is
// round robin: every HARD task that they start preempts it at once.
#include "kernel/sync/condition.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/port.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace row_sync_cases {

using namespace guest;
using namespace guest::rows;
using kernel::Mutex;
using kernel::MutexProtocol;

constexpr std::uint32_t kMutex = std::uint32_t{8} << 16;
constexpr std::uint32_t kCondition = std::uint32_t{3} << 16;
constexpr std::uint32_t kReceive = std::uint32_t{4} << 16;
constexpr std::uint32_t kSend = std::uint32_t{5} << 16;
constexpr std::uint64_t kHighMs = 1'000; // the relative deadline of the task that main gets in the way of

constinit Mutex g_plain;
constinit Mutex g_inherit;
constinit Mutex g_ceiling;
constinit Mutex g_other;
constinit Mutex g_outer;
constinit Mutex g_inner;
constinit std::uint16_t g_high = 0;

void init(Mutex& mutex, MutexProtocol protocol) {
    must(kernel::mutex_init(mutex, {.protocol = protocol, .name = "m"}));
    if (mutex.has_ceiling()) {
        must(kernel::mutex_declare_user(mutex, kernel::task_self()));
    }
}

// Starts a user of these mutexes, released now.
void start_user(kernel::TaskBody body, std::span<Mutex* const> mutexes) {
    const auto pid = must(kernel::task_create({.name = "high",
                                               .body = body,
                                               .argument = nullptr,
                                               .model = due_after(kHighMs),
                                               .group = 0,
                                               .reactions = {},
                                               .mutexes = mutexes}));
    g_high = context_of(pid);
    must(kernel::task_activate(pid));
}

// 66 76 C6 25
int protocols(const kernel::AppArguments&) {
    static constexpr Mutex* kCeilings[] = {&g_ceiling, &g_other};
    static constexpr Mutex* kStacks[] = {&g_outer, &g_inner};
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    init(g_plain, MutexProtocol::none);
    init(g_inherit, MutexProtocol::inheritance);
    init(g_ceiling, MutexProtocol::ceiling);
    init(g_other, MutexProtocol::ceiling);
    init(g_outer, MutexProtocol::stack);
    init(g_inner, MutexProtocol::stack);
    must(kernel::mutex_lock(g_plain));
    start_user(
        [](void*) {
            must(kernel::mutex_lock(g_plain));
            must(kernel::mutex_unlock(g_plain));
        },
        {});
    const auto waiter = g_high;
    must(kernel::mutex_unlock(g_plain));
    must(kernel::mutex_lock(g_ceiling));
    start_user(
        [](void*) {
            must(kernel::mutex_lock(g_other)); // free, but not while main has the other one
            must(kernel::mutex_unlock(g_other));
        },
        kCeilings);
    const auto blocked = g_high;
    must(kernel::mutex_unlock(g_ceiling));
    must(kernel::mutex_lock(g_outer));
    must(kernel::mutex_lock(g_inner));
    start_user([](void*) {}, kStacks);
    const auto stopped = g_high;
    must(kernel::mutex_unlock(g_inner));
    must(kernel::mutex_unlock(g_outer));
    end(chunk);
    for (const Mutex* const mutex : {&g_plain, &g_inherit, &g_ceiling, &g_other, &g_outer, &g_inner}) {
        expect(FTrace_EVT_set_mutex_protocol, static_cast<std::uint32_t>(mutex->protocol()), mutex->id());
    }
    expect(FTrace_EVT_task_block, waiter, kMutex | g_plain.id());
    expect(FTrace_EVT_set_mutex_acquire, waiter, g_plain.id());
    expect(FTrace_EVT_set_mutex_ceiling, g_ceiling.id(), kHighMs * 1'000);
    expect(FTrace_EVT_set_mutex_ceiling, g_ceiling.id(), 0xFFFF'FFFF); // high has ended
    expect(FTrace_EVT_set_mutex_block, blocked, g_ceiling.id());
    expect(FTrace_EVT_set_mutex_acquire, blocked, g_other.id());
    expect(FTrace_EVT_inheritance, main, blocked); // by the lock that blocked
    expect(FTrace_EVT_inheritance, main, stopped); // by the unlock that was not enough
    return failures;
}

// 96 A6 B6
int failed_locks(const kernel::AppArguments&) {
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    init(g_inherit, MutexProtocol::inheritance);
    start_user([](void*) { must(kernel::mutex_lock(g_inherit)); }, {});
    const auto dead = g_high;
    must(kernel::mutex_lock(g_inherit));
    check(kernel::mutex_abandoned(g_inherit), "the mutex was left locked");
    check_error(kernel::mutex_lock(g_inherit), lib::Error::refused, "the caller owns it");
    static constinit bool gave_up = false;
    start_user(
        [](void*) {
            check_error(kernel::mutex_timedlock(g_inherit, lib::microseconds(200)), lib::Error::timeout, "time is up");
            gave_up = true;
        },
        {});
    const auto late = g_high;
    spin_until([] { return gave_up; });
    must(kernel::mutex_unlock(g_inherit));
    end(chunk);
    expect(FTrace_EVT_set_mutex_owner_died, dead, g_inherit.id());
    expect(FTrace_EVT_set_mutex_deadlock, main, g_inherit.id());
    expect(FTrace_EVT_set_mutex_timeout, late, g_inherit.id());
    check(recording.count(FTrace_EVT_set_mutex_lock) == 3, "a lock that is refused is no attempt");
    return failures;
}

// E6 CD
int timed_waits(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    static constinit kernel::Condition condition;
    static constinit kernel::Port port;
    static constinit std::byte storage[1];
    constexpr auto kLimit = lib::microseconds(200);
    std::byte message[1]{};
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    must(kernel::sem_init(units, "units", 0));
    must(kernel::cond_init(condition, "condition"));
    must(kernel::port_init(port, "port", storage, sizeof message));
    init(g_inherit, MutexProtocol::inheritance);
    check_error(kernel::sem_timedwait(units, kLimit), lib::Error::timeout, "no unit");
    must(kernel::mutex_lock(g_inherit));
    check_error(kernel::cond_timedwait(condition, g_inherit, kLimit), lib::Error::timeout, "no signal");
    must(kernel::mutex_unlock(g_inherit));
    check_error(kernel::port_timedreceive(port, message, kLimit), lib::Error::timeout, "no message");
    must(kernel::port_send(port, message));
    check_error(kernel::port_timedsend(port, message, kLimit), lib::Error::timeout, "no room");
    end(chunk);
    expect(FTrace_EVT_set_mutex_unwait, main, units.id());
    expect(FTrace_EVT_wait_timeout, main, kCondition | condition.id());
    expect(FTrace_EVT_wait_timeout, main, kReceive | port.id());
    expect(FTrace_EVT_wait_timeout, main, kSend | port.id());
    return failures;
}

// 8D 9D AD BD
int conditions_and_ports(const kernel::AppArguments&) {
    static constinit kernel::Condition condition;
    static constinit kernel::Port port;
    static constinit std::byte storage[1];
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    must(kernel::cond_init(condition, "condition"));
    must(kernel::port_init(port, "port", storage, sizeof storage));
    init(g_inherit, MutexProtocol::inheritance);
    start_user(
        [](void*) {
            std::byte message[1]{};
            must(kernel::mutex_lock(g_inherit));
            must(kernel::cond_wait(condition, g_inherit));
            must(kernel::cond_wait(condition, g_inherit));
            must(kernel::mutex_unlock(g_inherit));
            must(kernel::port_receive(port, message));
            check(message[0] == std::byte{7}, "the message that was sent");
            order.add('h');
        },
        {});
    must(kernel::cond_signal(condition));
    must(kernel::cond_broadcast(condition));
    must(kernel::port_send(port, std::array{std::byte{7}}));
    end(chunk);
    check_order("h");
    expect(FTrace_EVT_task_block, g_high, kCondition | condition.id());
    expect(FTrace_EVT_task_unblock, g_high, kCondition | condition.id());
    expect(FTrace_EVT_condition_signal, main, condition.id());
    expect(FTrace_EVT_condition_broadcast, main, condition.id());
    expect(FTrace_EVT_task_block, g_high, kReceive | port.id());
    expect(FTrace_EVT_port_send, main, port.id());
    expect(FTrace_EVT_port_receive, g_high, port.id());
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_protocols", "rows of the mutex protocols and their ceilings", &checked<&protocols>, true},
    {"t_row_failed_locks", "rows of locks that are refused, give up, or find a dead owner", &checked<&failed_locks>,
     true},
    {"t_row_timed_waits", "rows of waits that give up", &checked<&timed_waits>, true},
    {"t_row_conditions_and_ports", "rows of signals and messages", &checked<&conditions_and_ports>, true},
};

} // namespace row_sync_cases

} // namespace
