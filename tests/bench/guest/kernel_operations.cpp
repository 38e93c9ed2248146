// SPDX-License-Identifier: MIT
// The cost of the kernel's operations in clock ticks; under CLOCK=icount a tick is an instruction, and the figures are
// exact. Each is measured with a number of other ready tasks and of posted timers. `make bench-kernel` reads the
// console.
//
//   bench    HARD, due in 5 s: does everything here       fillers   SOFT, due in 10 s each: fill the ready queue
//   urgent   SOFT, due in 1 s: woken up by bench          later     SOFT, due in 9 s: activated without being run
#include "arch/arch.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/bench/guest/statistics.hpp"

#include <array>

namespace bench {

namespace {

using kernel::now;
using lib::microseconds;
using lib::milliseconds;

constexpr int kSamples = 64;
constexpr std::size_t kLater = 32;

template <typename T>
T must(const lib::Result<T>& result) {
    ASSERT(result.ok());
    if constexpr (!std::is_void_v<T>) {
        return result.value();
    }
}

// The cost of reading the clock twice in succession.
std::uint64_t clock_overhead() {
    const lib::Ticks begin = now();
    return (now() - begin).value;
}

struct Bench {
    std::uint64_t tasks = 0;
    std::uint64_t overhead = 0;
    bool done = false;
    lib::Ticks stamp; // set by the task that runs on bench's behalf
    kernel::Pid urgent;
    kernel::Semaphore request;
    kernel::Mutex mutex;
};

constinit Bench s_bench;

kernel::SoftModel soft(std::uint64_t budget_us, std::uint64_t period_ms) {
    return {.budget = microseconds(budget_us), .period = milliseconds(period_ms), .overlap = kernel::Overlap::refuse};
}

kernel::Pid create(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model) {
    return must(kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = model}));
}

void end_at_once(void*) {}

// --- the ready queue -----------------------------------------------------------------------------------------------

void activate_and_end() {
    static constinit std::array<kernel::Pid, kLater> later{};
    Statistics creating;
    Statistics activating;
    Statistics ending;
    for (kernel::Pid& pid : later) {
        const lib::Ticks begin = now();
        pid = create("later", &end_at_once, soft(10, 9'000));
        creating.add(begin, now(), s_bench.overhead);
    }
    for (const kernel::Pid pid : later) {
        const lib::Ticks begin = now();
        must(kernel::task_activate(pid));
        activating.add(begin, now(), s_bench.overhead);
    }
    for (const kernel::Pid pid : later) {
        const lib::Ticks begin = now();
        must(kernel::task_kill(pid));
        ending.add(begin, now(), s_bench.overhead);
    }
    creating.print("task_create", s_bench.tasks);
    activating.print("activate", s_bench.tasks);
    ending.print("task_kill", s_bench.tasks);
}

void decide() {
    Statistics deciding;
    for (int i = 0; i < kSamples; ++i) {
        const kernel::IrqGuard off;
        const lib::Ticks begin = now();
        kernel::dispatch_next(off);
        deciding.add(begin, now(), s_bench.overhead);
    }
    deciding.print("dispatch_unchanged", s_bench.tasks);
}

void urgent_body(void*) {
    for (;;) {
        s_bench.stamp = now();
        kernel::task_endcycle();
    }
}

void wake_and_return() {
    const kernel::Pid pid = create("urgent", &urgent_body, soft(10'000, 1'000));
    Statistics waking;
    Statistics returning;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        must(kernel::task_activate(pid));
        const lib::Ticks end = now();
        waking.add(begin, s_bench.stamp, s_bench.overhead);
        returning.add(s_bench.stamp, end, s_bench.overhead);
    }
    waking.print("activate_to_running", s_bench.tasks);
    returning.print("job_end_to_next_task", s_bench.tasks);
    must(kernel::task_kill(pid));
}

// --- the switch by itself ------------------------------------------------------------------------------------------

alignas(16) constinit std::array<std::byte, 8'192> s_stack{};
constinit arch::StackPointer s_here;
constinit arch::StackPointer s_there;

void switch_back(void*) {
    for (;;) {
        arch::switch_context(&s_there, s_here);
    }
}

void switch_contexts() {
    s_there = arch::prepare_stack(s_stack, &switch_back, nullptr);
    Statistics both;
    for (int i = 0; i < kSamples; ++i) {
        const kernel::IrqGuard guard;
        const lib::Ticks begin = now();
        arch::switch_context(&s_here, s_there);
        both.add(begin, now(), s_bench.overhead);
    }
    both.print("context_switch_there_and_back", s_bench.tasks);
}

// --- mutexes and semaphores ----------------------------------------------------------------------------------------

void lock_alone() {
    Statistics locking;
    Statistics unlocking;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        must(kernel::mutex_lock(s_bench.mutex));
        const lib::Ticks locked = now();
        must(kernel::mutex_unlock(s_bench.mutex));
        const lib::Ticks end = now();
        locking.add(begin, locked, s_bench.overhead);
        unlocking.add(locked, end, s_bench.overhead);
    }
    locking.print("lock_uncontended", s_bench.tasks);
    unlocking.print("unlock_uncontended", s_bench.tasks);
}

void locker_body(void*) {
    for (;;) {
        s_bench.stamp = now();
        must(kernel::mutex_lock(s_bench.mutex));
        s_bench.stamp = now();
        must(kernel::mutex_unlock(s_bench.mutex));
        kernel::task_endcycle();
    }
}

void lock_contended() {
    const kernel::Pid pid = create("locker", &locker_body, soft(10'000, 1'000));
    Statistics blocking;
    Statistics handing_over;
    for (int i = 0; i < kSamples; ++i) {
        must(kernel::mutex_lock(s_bench.mutex));
        must(kernel::task_activate(pid)); // it runs, blocks, and this task continues on its behalf
        blocking.add(s_bench.stamp, now(), s_bench.overhead);
        const lib::Ticks begin = now();
        must(kernel::mutex_unlock(s_bench.mutex));
        handing_over.add(begin, s_bench.stamp, s_bench.overhead);
    }
    blocking.print("lock_contended_to_owner_running", s_bench.tasks);
    handing_over.print("unlock_to_waiter_owning", s_bench.tasks);
    must(kernel::task_kill(pid));
}

void waiter_body(void*) {
    for (;;) {
        must(kernel::sem_wait(s_bench.request));
        s_bench.stamp = now();
    }
}

void semaphores() {
    Statistics posting;
    Statistics taking;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        must(kernel::sem_post(s_bench.request));
        const lib::Ticks posted = now();
        must(kernel::sem_wait(s_bench.request));
        const lib::Ticks end = now();
        posting.add(begin, posted, s_bench.overhead);
        taking.add(posted, end, s_bench.overhead);
    }
    posting.print("semaphore_post_without_waiter", s_bench.tasks);
    taking.print("semaphore_wait_unit_there", s_bench.tasks);
    const kernel::Pid pid = create("waiter", &waiter_body, soft(10'000, 1'000));
    must(kernel::task_activate(pid));
    Statistics waking;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        must(kernel::sem_post(s_bench.request));
        waking.add(begin, s_bench.stamp, s_bench.overhead);
    }
    waking.print("semaphore_post_to_waiter_running", s_bench.tasks);
    must(kernel::task_kill(pid));
}

// --- timers --------------------------------------------------------------------------------------------------------

void nothing(void*) {}

void take_the_time(void*) {
    s_bench.stamp = now();
    s_bench.done = true;
}

void timers() {
    for (std::uint64_t i = 0; i < s_bench.tasks; ++i) {
        // Spread, not sorted: 7919 is prime.
        must(kernel::kern_event_post(kernel::after(milliseconds(100'000 + i * 7'919 % 1'009)), &nothing, nullptr));
    }
    Statistics posting;
    Statistics deleting;
    for (std::uint64_t i = 0; i < kSamples; ++i) {
        const lib::Ticks at = kernel::after(milliseconds(100'000 + i * 7'919 % 1'009));
        const lib::Ticks begin = now();
        const kernel::TimerId id = must(kernel::kern_event_post(at, &nothing, nullptr));
        const lib::Ticks posted = now();
        must(kernel::kern_event_delete(id));
        const lib::Ticks end = now();
        posting.add(begin, posted, s_bench.overhead);
        deleting.add(posted, end, s_bench.overhead);
    }
    posting.print("timer_post", s_bench.tasks);
    deleting.print("timer_delete", s_bench.tasks);
    Statistics firing;
    Statistics interrupting;
    for (int i = 0; i < kSamples; ++i) {
        s_bench.done = false;
        const lib::Ticks at = kernel::after(microseconds(50));
        must(kernel::kern_event_post(at, &take_the_time, nullptr));
        lib::Ticks before = now();
        lib::Ticks after = before;
        while (!s_bench.done) {
            before = after;
            after = now();
            asm volatile("" : : : "memory");
        }
        firing.add(at, s_bench.stamp, 0);
        interrupting.add(before, after > s_bench.stamp ? after : now(), s_bench.overhead);
    }
    firing.print("timer_expiry_to_handler", s_bench.tasks);
    interrupting.print("timer_interrupt_in_all", s_bench.tasks);
}

// --- interrupts ----------------------------------------------------------------------------------------------------

void interrupts() {
    constexpr arch::Vector kVector = 0xC0;
    must(kernel::interrupt_attach(kVector, "bench", &take_the_time, nullptr));
    Statistics entering;
    Statistics in_all;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        asm volatile("int $0xC0" : : : "memory");
        const lib::Ticks end = now();
        entering.add(begin, s_bench.stamp, s_bench.overhead);
        in_all.add(begin, end, s_bench.overhead);
    }
    must(kernel::interrupt_detach(kVector));
    entering.print("interrupt_to_handler", s_bench.tasks);
    in_all.print("interrupt_in_all", s_bench.tasks);

    constexpr arch::Vector kDriverVector = 0xC1;
    const kernel::Pid pid = create("driver", &urgent_body, soft(10'000, 1'000));
    must(kernel::interrupt_attach_driver(
        kDriverVector, "bench-driver", [](void*) { return kernel::DriverWork::activate; }, nullptr, pid));
    Statistics driving;
    for (int i = 0; i < kSamples; ++i) {
        const lib::Ticks begin = now();
        asm volatile("int $0xC1" : : : "memory");
        driving.add(begin, s_bench.stamp, s_bench.overhead);
    }
    must(kernel::interrupt_detach(kDriverVector));
    driving.print("interrupt_to_driver_task", s_bench.tasks);
    must(kernel::task_kill(pid));
}

// They are ready from here on, and never run, because this task's deadline is earlier.
void make_company() {
    for (std::uint64_t i = 0; i < s_bench.tasks; ++i) {
        must(kernel::task_activate(create("filler", &end_at_once, soft(10, 10'000 + i * 7'919 % 1'009))));
    }
}

void measure(void*) {
    make_company();
    s_bench.overhead = clock_overhead();
    activate_and_end();
    decide();
    wake_and_return();
    switch_contexts();
    lock_alone();
    lock_contended();
    semaphores();
    timers();
    interrupts();
    s_bench.done = true;
}

int beside(std::uint64_t tasks) {
    s_bench.tasks = tasks;
    must(kernel::mutex_init(s_bench.mutex, "bench"));
    must(kernel::sem_init(s_bench.request, "bench", 0));
    must(kernel::task_activate(
        create("bench", &measure, kernel::HardModel{.wcet = milliseconds(1'000), .period = milliseconds(5'000)})));
    return s_bench.done ? 0 : 1; // no other task runs before it is done
}

int beside_10(const kernel::AppArguments&) {
    return beside(10);
}

int beside_100(const kernel::AppArguments&) {
    return beside(100);
}

int beside_1000(const kernel::AppArguments&) {
    return beside(1'000);
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kBenches[] = {
    {"b_kernel_10", "the kernel's operations with 10 tasks", &beside_10, false},
    {"b_kernel_100", "the kernel's operations with 100 tasks", &beside_100, false},
    {"b_kernel_1000", "the kernel's operations with 1000 tasks", &beside_1000, false},
};

} // namespace

} // namespace bench
