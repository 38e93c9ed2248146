// SPDX-License-Identifier: MIT
// Covers rows of the families task, attribute, mutex and semaphore. The levels are registered as RM 0, EDF 1, round
// robin 2, background 3, CBS 4, GRUB 5, servers 6; the cases run in the main task, which is round robin.
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace row_task_cases {

using namespace guest;
using namespace guest::rows;

constexpr std::uint32_t kEdf = 1;
constexpr std::uint32_t kRoundRobin = 2;

std::uint32_t microseconds(lib::Ticks time) {
    return static_cast<std::uint32_t>(kernel::to_nanoseconds(time).value / 1'000);
}

// 02 12 22 32 42 52 62 72 82 92 A2 05 15
int task(const kernel::AppArguments&) {
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    const lib::Ticks at = kernel::now();
    const kernel::Pid hard = create("hard", due_after(1'000), [](void*) { kernel::task_endcycle(); });
    const auto context = context_of(hard);
    must(kernel::task_activate_at(hard, at));
    must(kernel::task_kill(hard));
    const kernel::Pid sleeper = create("sleeper", due_after(1'000), [](void*) { kernel::task_sleep(); });
    const auto sleeping = context_of(sleeper);
    must(kernel::task_activate(sleeper));
    const kernel::Pid nrt = create("nrt", kernel::NrtModel{}, [](void*) { kernel::task_endcycle(); });
    const auto round_robin = context_of(nrt);
    must(kernel::task_activate(nrt));
    kernel::task_delay(lib::milliseconds(1)); // nrt has its turn
    end(chunk);
    expect(FTrace_EVT_task_create, context, hard.value);
    expect(FTrace_EVT_task_activate, context, 0);
    expect(FTrace_EVT_task_timer, context, kEdf);
    expect(FTrace_EVT_set_priority, context, microseconds(at + kernel::to_ticks(lib::milliseconds(1'000))));
    expect(FTrace_EVT_job_release, context, static_cast<std::uint32_t>(at.value));
    expect(FTrace_EVT_job_deadline, context,
           static_cast<std::uint32_t>((at + kernel::to_ticks(lib::milliseconds(1'000))).value));
    expect(FTrace_EVT_task_schedule, context, context);
    expect(FTrace_EVT_task_dispatch, context, kEdf);
    expect(FTrace_EVT_task_begin_cycle, context, kEdf);
    expect(FTrace_EVT_context_switch, context, 0);
    expect(FTrace_EVT_task_epilogue, context, kEdf);
    expect(FTrace_EVT_task_end_cycle, context, kEdf);
    expect(FTrace_EVT_task_end, context, hard.value);
    expect(FTrace_EVT_task_sleep, sleeping, kEdf);
    expect(FTrace_EVT_task_disable, sleeping, kEdf);
    expect(FTrace_EVT_task_dispatch, round_robin, kRoundRobin); // all levels
    expect(FTrace_EVT_task_end_cycle, round_robin, kRoundRobin);
    expect(FTrace_EVT_context_switch, main, 0);
    return failures;
}

// 05 DD: a deadline that is changed under way, with the new value; a shorter one holds from the next release on
int set_priority(const kernel::AppArguments&) {
    const int chunk = begin();
    const lib::Ticks at = kernel::now();
    const kernel::Pid hard = create("hard", due_after(1'000), [](void*) {
        must(kernel::task_set_deadline(kernel::task_self(), lib::milliseconds(9'000)));
        must(kernel::task_set_deadline(kernel::task_self(), lib::milliseconds(500)));
    });
    const auto context = context_of(hard);
    must(kernel::task_activate_at(hard, at));
    end(chunk);
    expect(FTrace_EVT_set_priority, context, microseconds(at + kernel::to_ticks(lib::milliseconds(1'000))));
    expect(FTrace_EVT_set_priority, context, microseconds(at + kernel::to_ticks(lib::milliseconds(9'000))));
    check(recording.count(FTrace_EVT_set_priority) == 2, "the job in progress keeps the longer deadline");
    expect(FTrace_EVT_deadline_change, context, 9'000'000);
    expect(FTrace_EVT_deadline_change, context, 500'000);
    check(recording.count(FTrace_EVT_deadline_change) == 2, "one record a change");
    check_error(kernel::task_set_deadline(kernel::task_self(), lib::milliseconds(9)), lib::Error::unsupported,
                "round robin knows no deadlines");
    return failures;
}

// B2 C2
int overrun(const kernel::AppArguments&) {
    static constinit std::uint16_t context = 0;
    FTrace_set_filter(FTrace_filter_timer, 1);
    const int chunk = begin();
    start("late", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1'000), lib::milliseconds(2), {}},
          [](void*) {
              context = context_of(kernel::task_self());
              spin_until([] { return my_jobs().deadline_misses == 1; });
          });
    end(chunk);
    expect(FTrace_EVT_task_deadline_miss, context, kEdf);
    expect(FTrace_EVT_task_wcet_violation, context, kEdf);
    check(recording.count(FTrace_EVT_task_wcet_violation) == 1, "one violation a job");
    return failures;
}

constinit kernel::Mutex g_mutex;

// 06 16 26 36 25
int mutex(const kernel::AppArguments&) {
    static constinit std::uint16_t high = 0;
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    must(kernel::mutex_init(g_mutex, "contended"));
    must(kernel::mutex_lock(g_mutex));
    start("high", due_after(1'000), [](void*) {
        high = context_of(kernel::task_self());
        must(kernel::mutex_lock(g_mutex));
        check(!kernel::mutex_trylock(g_mutex).ok(), "a try that fails");
        must(kernel::mutex_unlock(g_mutex));
    });
    must(kernel::mutex_unlock(g_mutex));
    end(chunk);
    expect(FTrace_EVT_set_mutex_create, main, g_mutex.id());
    expect(FTrace_EVT_set_mutex_lock, main, g_mutex.id());
    expect(FTrace_EVT_set_mutex_lock, high, g_mutex.id());
    expect(FTrace_EVT_set_mutex_acquire, main, g_mutex.id());
    expect(FTrace_EVT_set_mutex_acquire, high, g_mutex.id());
    expect(FTrace_EVT_set_mutex_block, high, g_mutex.id());
    expect(FTrace_EVT_set_mutex_inherit, main, g_mutex.id()); // the owner
    expect(FTrace_EVT_inheritance, main, high);               // runs in the place of high
    expect(FTrace_EVT_set_mutex_unlock, main, g_mutex.id());
    expect(FTrace_EVT_set_mutex_unlock, high, g_mutex.id());
    check(recording.count(FTrace_EVT_set_mutex_lock) == 2, "a try that fails is no attempt");
    return failures;
}

// 46 56
int semaphore(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    must(kernel::sem_init(units, "units", 1));
    must(kernel::sem_wait(units));
    must(kernel::sem_post(units));
    must(kernel::sem_wait(units));
    must(kernel::sem_post(units));
    must(kernel::sem_trywait(units));
    check_error(kernel::sem_trywait(units), lib::Error::busy, "nothing is left");
    end(chunk);
    check(count(FTrace_EVT_set_mutex_post, main, units.id()) == 2, "every unit that was given");
    check(count(FTrace_EVT_set_mutex_wait, main, units.id()) == 3, "every unit that was taken, by a try as well");
    expect(FTrace_EVT_set_semaphore_create, 1, units.id());
    return failures;
}

// D2 E2 7D
int block(const kernel::AppArguments&) {
    static constinit kernel::Semaphore units;
    constexpr std::uint32_t kDelay = std::uint32_t{2} << 16;
    constexpr std::uint32_t kSemaphore = std::uint32_t{1} << 16;
    const int chunk = begin();
    const auto main = context_of(kernel::task_self());
    must(kernel::sem_init(units, "units", 0));
    start("other", kernel::NrtModel{.slice = lib::milliseconds(1)}, [](void*) {
        const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(lib::milliseconds(3));
        spin_until([end] { return kernel::task_cpu_time() > end; });
        must(kernel::sem_post(units));
    });
    kernel::task_delay(lib::microseconds(100));
    must(kernel::sem_wait(units));
    end(chunk);
    expect(FTrace_EVT_task_block, main, kDelay);
    expect(FTrace_EVT_task_unblock, main, kDelay);
    expect(FTrace_EVT_task_block, main, kSemaphore | units.id());
    expect(FTrace_EVT_task_unblock, main, kSemaphore | units.id());
    check(recording.count(FTrace_EVT_slice_end) >= 2, "three milliseconds are three slices");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_task", "rows of a task's life", &checked<&task>, true},
    {"t_row_set_priority", "row of a deadline that changes", &checked<&set_priority>, true},
    {"t_row_overrun", "rows of a late and greedy job", &checked<&overrun>, true},
    {"t_row_mutex", "rows of a contended mutex", &checked<&mutex>, true},
    {"t_row_block", "rows of leaving and entering a ready queue", &checked<&block>, true},
    {"t_row_semaphore", "rows of waiting, trying and posting", &checked<&semaphore>, true},
};

} // namespace row_task_cases

} // namespace
