// SPDX-License-Identifier: MIT
// Tests mutexes with inheritance, and semaphores. Lower case letters are inside a critical section.
#include "tests/kernel/case.hpp"

#include "kernel/sync/mutex.hpp"
#include "kernel/time/timer.hpp"

namespace {

namespace sync_cases {

using namespace guest;

constinit kernel::Mutex g_one;
constinit kernel::Mutex g_two;

// Low owns; High preempts and blocks; Middle, released next, must not run before High is through.
int inversion(const kernel::AppArguments&) {
    must(kernel::mutex_init(g_one, "one"));
    start("low", due_after(3'000), [](void*) {
        must(kernel::mutex_lock(g_one));
        order.add('l');
        start("high", due_after(1'000), [](void*) {
            order.add('H');
            must(kernel::mutex_lock(g_one));
            order.add('h');
            must(kernel::mutex_unlock(g_one));
            order.add('H');
        });
        order.add('l');
        start("middle", due_after(2'000), [](void*) { order.add('M'); });
        order.add('l');
        must(kernel::mutex_unlock(g_one));
        order.add('L');
    });
    check_order("lHllhHML");
    check(g_one.contentions() == 1, "one lock waited");
    return failures;
}

// A waits for B, B waits for C: C runs in A's place.
int chain(const kernel::AppArguments&) {
    must(kernel::mutex_init(g_one, "one"));
    must(kernel::mutex_init(g_two, "two"));
    static constexpr auto kBodyA = [](void*) {
        order.add('A');
        must(kernel::mutex_lock(g_one));
        order.add('a');
        must(kernel::mutex_unlock(g_one));
    };
    static constexpr auto kBodyB = [](void*) {
        must(kernel::mutex_lock(g_one));
        order.add('b');
        must(kernel::mutex_lock(g_two));
        order.add('b');
        must(kernel::mutex_unlock(g_two));
        must(kernel::mutex_unlock(g_one));
        order.add('B');
    };
    start("C", due_after(4'000), [](void*) {
        must(kernel::mutex_lock(g_two));
        order.add('c');
        start("B", due_after(3'000), kBodyB);
        order.add('c');
        start("A", due_after(1'000), kBodyA);
        order.add('c');
        start("M", due_after(2'000), [](void*) { order.add('M'); });
        order.add('c');
        must(kernel::mutex_unlock(g_two));
        order.add('C');
    });
    check_order("cbcAccbaMBC");
    return failures;
}

int rules(const kernel::AppArguments&) {
    using lib::Error;
    check_error(kernel::mutex_lock(g_one), Error::invalid_argument, "lock before init");
    must(kernel::mutex_init(g_one, "one"));
    must(kernel::mutex_init(g_two, "two"));
    check_error(kernel::mutex_unlock(g_one), Error::refused, "unlock of a free mutex");
    must(kernel::mutex_lock(g_one));
    check_error(kernel::mutex_lock(g_one), Error::refused, "relock by the owner");
    start("other", due_after(1'000), [](void*) {
        check_error(kernel::mutex_unlock(g_one), Error::refused, "unlock by another task");
        check_error(kernel::mutex_trylock(g_one), Error::busy, "try of a taken mutex");
        must(kernel::mutex_lock(g_two));
        must(kernel::mutex_lock(g_one));
        order.add('o');
        must(kernel::mutex_unlock(g_one));
        must(kernel::mutex_unlock(g_two));
    });
    check_error(kernel::mutex_lock(g_two), Error::refused, "a lock that would close a circle");
    order.add('m');
    must(kernel::mutex_unlock(g_one));
    check(kernel::mutex_trylock(g_one).ok(), "try of a free mutex");
    check_order("mo");
    return failures;
}

int semaphore_order(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    must(kernel::sem_init(units, "units", 0));
    const auto waiter = []<char Letter>(std::integral_constant<char, Letter>) {
        return [](void*) {
            must(kernel::sem_wait(units));
            order.add(Letter);
        };
    };
    start("far", due_after(3'000), waiter(std::integral_constant<char, '1'>{}));
    start("near", due_after(1'000), waiter(std::integral_constant<char, '2'>{}));
    start("middle", due_after(2'000), waiter(std::integral_constant<char, '3'>{}));
    for (int i = 0; i < 3; ++i) {
        must(kernel::sem_post(units));
        order.add('p');
    }
    check_order("2p3p1p");
    check_error(kernel::sem_trywait(units), lib::Error::busy, "every unit was handed over");
    return failures;
}

int semaphore_from_timer(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    must(kernel::sem_init(units, "units", 0));
    must(kernel::kern_event_post(
        kernel::after(lib::milliseconds(1)),
        [](void*) {
            order.add('t');
            must(kernel::sem_post(units));
            order.add('t');
        },
        nullptr));
    must(kernel::sem_wait(units));
    order.add('m');
    check_order("ttm");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_mutex_inversion", "the owner inherits, the middle task waits", &guest::checked<&inversion>, false},
    {"t_mutex_chain", "inheritance along a chain of three", &guest::checked<&chain>, false},
    {"t_mutex_rules", "what a mutex refuses", &guest::checked<&rules>, false},
    {"t_semaphore_order", "the most urgent waiter is served first", &guest::checked<&semaphore_order>, false},
    {"t_semaphore_from_timer", "a timer handler may post", &guest::checked<&semaphore_from_timer>, false},
};

} // namespace sync_cases

} // namespace
