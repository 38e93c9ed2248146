// SPDX-License-Identifier: MIT
// This application of docs/tutorial.md has one fault, which inheritance does not repair. Priorities are fixed; times
// are in milliseconds after the beginning.
//
//   task      T   D   first  runs   role
//   control  10  10     4     1.3   reads the plan every 10 ms, with `plan` locked for 0.3
//   planner  40  40     2     7     computes, and uses no mutex
//   logger   80  80     0     2     stores the plan on a slow disk: locks `plan`, and waits 12 for the disk
//
// In `lesson` the logger keeps `plan` locked while it waits. In `lesson_repaired` it copies the plan, unlocks, and
// waits then. Both pass if exactly the first one misses deadlines.
#include "apps/phase.hpp"
#include "apps/work.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sync/mutex.hpp"

namespace apps {

namespace {

using lib::microseconds;
using lib::milliseconds;

constexpr lib::Nanoseconds kPhase = milliseconds(160);
constexpr lib::Nanoseconds kDisk = milliseconds(12);

constinit Verdict s_lesson{"lesson"};
constinit Phase s_phase{s_lesson};
constinit kernel::Mutex s_plan;
constinit bool s_repaired = false;

void control(void*) {
    for (;;) {
        compute(microseconds(500));
        s_lesson.expect(kernel::mutex_lock(s_plan), "lock plan");
        compute(microseconds(300));
        s_lesson.expect(kernel::mutex_unlock(s_plan), "unlock plan");
        compute(microseconds(500));
        kernel::task_endcycle();
    }
}

void planner(void*) {
    for (;;) {
        compute(milliseconds(7));
        kernel::task_endcycle();
    }
}

void store_on_disk() {
    kernel::task_delay(kDisk);
    compute(microseconds(500));
}

void logger(void*) {
    for (;;) {
        compute(microseconds(500));
        s_lesson.expect(kernel::mutex_lock(s_plan), "lock plan");
        compute(microseconds(500)); // copies the plan
        if (!s_repaired) {
            store_on_disk();
        }
        s_lesson.expect(kernel::mutex_unlock(s_plan), "unlock plan");
        if (s_repaired) {
            store_on_disk();
        }
        compute(microseconds(500));
        kernel::task_endcycle();
    }
}

kernel::HardModel fixed(lib::Nanoseconds wcet, std::uint64_t period_ms, std::uint64_t offset_ms) {
    return {.wcet = wcet,
            .period = milliseconds(period_ms),
            .offset = milliseconds(offset_ms),
            .priority = kernel::HardPriority::fixed};
}

int start(const kernel::AppArguments& arguments) {
    s_phase.prepare();
    s_lesson.expect(kernel::mutex_init(s_plan, {.protocol = kernel::MutexProtocol::inheritance, .name = "plan"}),
                    "mutex_init");
    const lib::Ticks begin = kernel::after(milliseconds(1));
    s_phase.open(begin + kernel::to_ticks(kPhase));
    s_phase.start("control", &control, fixed(milliseconds(2), 10, 4), begin);
    s_phase.start("planner", &planner, fixed(milliseconds(8), 40, 2), begin);
    s_phase.start("logger", &logger, fixed(milliseconds(4), 80, 0), begin);
    const std::uint64_t missed = s_phase.wait()[0].deadline_misses;
    kernel::console().mark("control missed ", missed, " deadlines");
    s_lesson.check("misses of control", missed, s_repaired ? 0 : 1, s_repaired ? 0 : 4, arguments.icount);
    return s_lesson.result();
}

int start_repaired(const kernel::AppArguments& arguments) {
    s_repaired = true;
    return start(arguments);
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kLesson{
    "lesson", "the application of the tutorial: a mutex that is held across a wait", &start, false};
[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kLessonRepaired{
    "lesson_repaired", "the same, repaired: the mutex is unlocked before the wait", &start_repaired, false};

} // namespace apps
