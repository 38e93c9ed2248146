// SPDX-License-Identifier: MIT
// Station 3 shows tasks that wait for each other; main is the less urgent one each time.
//
//   four mutexes, one for each protocol       main owns it when a HARD task wants it
//   deadlock, timeout, owner that dies        the three ways in which a lock goes wrong
//   semaphore, condition, port                given and taken, and waited for in vain
#include "apps/tour.hpp"
#include "kernel/sync/condition.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/port.hpp"

#include <array>
#include <span>

namespace apps::tour {

namespace {

using kernel::Mutex;
using kernel::MutexProtocol;

constexpr lib::Nanoseconds kPatience = microseconds(300);
constexpr kernel::HardModel kUrgent{.wcet = milliseconds(1), .period = milliseconds(100)};

constinit Mutex s_none;
constinit Mutex s_inheritance;
constinit Mutex s_ceiling;
constinit Mutex s_stack;
constinit Mutex s_other;
constinit volatile bool s_gave_up = false;
constinit kernel::Semaphore s_units;
constinit kernel::Condition s_filled;
constinit kernel::Port s_port;
alignas(std::uint32_t) constinit std::array<std::byte, 2 * sizeof(std::uint32_t)> s_storage{};

void init(Mutex& mutex, MutexProtocol protocol, std::string_view name) {
    verdict.expect(kernel::mutex_init(mutex, {.protocol = protocol, .name = name}), name);
    if (mutex.has_ceiling()) {
        verdict.expect(kernel::mutex_declare_user(mutex, kernel::task_self()), name);
    }
}

void lock(Mutex& mutex) {
    verdict.expect(kernel::mutex_lock(mutex), "mutex_lock");
}

void unlock(Mutex& mutex) {
    verdict.expect(kernel::mutex_unlock(mutex), "mutex_unlock");
}

// Executes a critical section of the task.
void use(void* mutex) {
    lock(*static_cast<Mutex*>(mutex));
    compute(microseconds(100));
    unlock(*static_cast<Mutex*>(mutex));
}

// Lets an urgent task ask for the mutex that main owns.
void contend(Mutex& mutex, std::string_view name) {
    const std::array<Mutex*, 1> mutexes{&mutex};
    const std::span<Mutex* const> declared(mutexes.data(), mutex.has_ceiling() ? 1 : 0);
    lock(mutex);
    start({.name = name, .body = &use, .argument = &mutex, .model = kUrgent, .mutexes = declared});
    compute(microseconds(200)); // in the position of the urgent task, unless the protocol is none
    unlock(mutex);
    kernel::task_delay(milliseconds(1));
}

// Owns one mutex and asks for the other, as main does in the opposite order.
void cross(void*) {
    lock(s_other);
    lock(s_inheritance);
    unlock(s_inheritance);
    unlock(s_other);
}

void give_up(void*) {
    expect_error(kernel::mutex_timedlock(s_inheritance, kPatience), lib::Error::timeout, "mutex_timedlock");
    s_gave_up = true;
}

void go_wrong() {
    lock(s_inheritance);
    start({.name = "cross", .body = &cross, .model = kUrgent});
    expect_error(kernel::mutex_lock(s_other), lib::Error::refused, "a deadlock");
    unlock(s_inheritance);
    lock(s_inheritance);
    start({.name = "impatient", .body = &give_up, .model = kUrgent});
    while (!s_gave_up) {
        compute(microseconds(50));
    }
    unlock(s_inheritance);
    start({.name = "careless", .body = [](void*) { lock(s_inheritance); }, .model = kUrgent}); // ends as its owner
    lock(s_inheritance);
    verdict.expect(kernel::mutex_consistent(s_inheritance), "mutex_consistent");
    unlock(s_inheritance);
}

void consume(void*) {
    verdict.expect(kernel::sem_wait(s_units), "sem_wait");
    lock(s_inheritance);
    verdict.expect(kernel::cond_wait(s_filled, s_inheritance), "cond_wait");
    verdict.expect(kernel::cond_wait(s_filled, s_inheritance), "cond_wait");
    unlock(s_inheritance);
    std::array<std::byte, sizeof(std::uint32_t)> message{};
    verdict.expect(kernel::port_receive(s_port, message), "port_receive");
}

void give_and_take() {
    start({.name = "consumer", .body = &consume, .model = kUrgent});
    verdict.expect(kernel::sem_post(s_units), "sem_post");
    verdict.expect(kernel::cond_signal(s_filled), "cond_signal");
    verdict.expect(kernel::cond_broadcast(s_filled), "cond_broadcast");
    const std::array<std::byte, sizeof(std::uint32_t)> message{std::byte{42}};
    verdict.expect(kernel::port_send(s_port, message), "port_send");
}

void wait_in_vain() {
    std::array<std::byte, sizeof(std::uint32_t)> message{};
    expect_error(kernel::sem_timedwait(s_units, kPatience), lib::Error::timeout, "sem_timedwait");
    lock(s_inheritance);
    expect_error(kernel::cond_timedwait(s_filled, s_inheritance, kPatience), lib::Error::timeout, "cond_timedwait");
    unlock(s_inheritance);
    expect_error(kernel::port_timedreceive(s_port, message, kPatience), lib::Error::timeout, "port_timedreceive");
}

} // namespace

void visit_waiting() {
    init(s_none, MutexProtocol::none, "plain");
    init(s_inheritance, MutexProtocol::inheritance, "inheriting");
    init(s_ceiling, MutexProtocol::ceiling, "ceiling");
    init(s_stack, MutexProtocol::stack, "stack");
    init(s_other, MutexProtocol::inheritance, "other");
    verdict.expect(kernel::sem_init(s_units, "units", 0), "sem_init");
    verdict.expect(kernel::cond_init(s_filled, "filled"), "cond_init");
    verdict.expect(kernel::port_init(s_port, "messages", s_storage, sizeof(std::uint32_t)), "port_init");
    contend(s_none, "none");
    contend(s_inheritance, "inheritor");
    contend(s_ceiling, "stopped");
    contend(s_stack, "delayed");
    go_wrong();
    give_and_take();
    wait_in_vain();
}

} // namespace apps::tour
