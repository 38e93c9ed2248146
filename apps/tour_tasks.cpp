// SPDX-License-Identifier: MIT
// Station 1 shows how tasks are created, activated, preempted and ended. Times are in milliseconds.
//
//   beat       HARD  0.3 every 2     its deadline becomes shorter and longer again
//   sleeper    HARD                  sleeps after its first job, and is activated again
//   left right NRT   slices of 1     compute 2.5 each, in turns
//   guard      NRT                   suspends itself, main resumes it
//   trio       HARD  0.2 every 4     three tasks that are created, released and ended together
#include "apps/tour.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/clock.hpp"

#include <array>

namespace apps::tour {

namespace {

constexpr std::uint16_t kTrio = 1;

void sleeper(void*) {
    for (;;) {
        compute(microseconds(100));
        kernel::task_sleep(); // until it is activated again
    }
}

void take_turns(void*) {
    compute(microseconds(2'500));
}

void guard(void*) {
    verdict.expect(kernel::task_suspend(kernel::task_self()), "task_suspend");
    compute(microseconds(100));
}

void start_trio() {
    constexpr kernel::HardModel kModel{.wcet = microseconds(400), .period = milliseconds(4)};
    constexpr std::array<std::string_view, 3> kNames = {"trio-a", "trio-b", "trio-c"};
    std::array<kernel::TaskOptions, kNames.size()> members{};
    std::array<kernel::Pid, kNames.size()> pids{};
    for (std::size_t i = 0; i < members.size(); ++i) {
        members[i] = {.name = kNames[i], .body = &periodic<200>, .model = kModel, .group = kTrio};
    }
    verdict.expect(kernel::task_group_create(members, pids), "task_group_create");
    verdict.expect(kernel::task_group_activate_at(kTrio, kernel::after(milliseconds(1))), "task_group_activate_at");
}

void take_the_slices() {
    constexpr kernel::NrtModel kSlices{.slice = milliseconds(1)};
    start({.name = "left", .body = &take_turns, .model = kSlices});
    start({.name = "right", .body = &take_turns, .model = kSlices});
    kernel::task_delay(milliseconds(8));
}

} // namespace

void visit_tasks() {
    constexpr kernel::HardModel kBeat{.wcet = microseconds(500), .period = milliseconds(2)};
    const kernel::Pid beat = start({.name = "beat", .body = &periodic<300>, .model = kBeat});
    const kernel::Pid sleeping =
        start({.name = "sleeper",
               .body = &sleeper,
               .model = kernel::HardModel{.wcet = microseconds(300), .period = milliseconds(5)}});
    verdict.expect(kernel::task_set_deadline(beat, milliseconds(1)), "a shorter deadline");
    kernel::task_delay(milliseconds(6));
    verdict.expect(kernel::task_set_deadline(beat, milliseconds(2)), "a longer deadline");
    verdict.expect(kernel::task_activate(sleeping), "task_activate");
    take_the_slices();
    const kernel::Pid suspended = start({.name = "guard", .body = &guard, .model = kernel::NrtModel{}});
    kernel::task_delay(milliseconds(1));
    verdict.expect(kernel::task_resume(suspended), "task_resume");
    start_trio();
    kernel::task_delay(milliseconds(6));
    verdict.expect(kernel::task_group_kill(kTrio), "task_group_kill");
    kill(beat);
    kill(sleeping);
}

} // namespace apps::tour
