// SPDX-License-Identifier: MIT
// Tests the clock of a task's processor time, and its alarm, in whole schedules.
#include "kernel/sched/cpu_clock.hpp"

#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace {

using namespace hosted;

kernel::Pid s_first;

TEST(CpuClock, StopsWhileOthersRun) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", "A 3; end", hard(9, 40));
                  start("H", "H 2", hard(2, 40, 10, 1));
                  at_time(4, [](void*) { note(std::to_string(must(kernel::task_cpu_clock(s_first)).value)); });
                  pause_until(10);
                  note(std::to_string(must(kernel::task_cpu_clock(s_first)).value));
                  note(lib::error_name(kernel::task_cpu_clock({63}).error()));
              }),
              "A 0-1 | H 1-3 | A 3-4 | 2000000 | A 4-5 | 3000000 | not found");
}

TEST(CpuClock, TheAlarmRingsOnceWhenTheTasksOwnTimeIsUp) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          handle({5}, &say);
                          must(kernel::task_cpu_alarm(kernel::task_self(), ms(3), 5));
                          work("A", 5);
                      },
                      hard(9, 40));
                  start("H", "H 2", hard(2, 40, 10, 1));
                  pause_until(10);
              }),
              "A 0-1 | H 1-3 | A 3-5 | signal 5@5 | A 5-7");
}

TEST(CpuClock, TheAlarmCanBeSetFromOutsideMovedAndTakenAway) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", "handle 5 6; each A 2", hard(2, 10));
                  pause_until(5); // A's clock shows 2
                  must(kernel::task_cpu_alarm(s_first, ms(3), 5));
                  must(kernel::task_cpu_alarm(s_first, ms(5), 6));
                  pause_until(25); // 6
                  must(kernel::task_cpu_alarm(s_first, ms(7), 5));
                  must(kernel::task_cpu_alarm(s_first, {}, 0));
                  must(kernel::task_cpu_alarm(kernel::task_self(), ms(1), 9)); // its own clock has not moved
                  pause_until(35);
                  must(kernel::task_cpu_alarm(s_first, ms(8), 5)); // has passed: at once, taken when it runs
                  pause_until(42);
              }),
              "A 0-2 | A 10-12 | A 20-21 | signal 6@21 | A 21-22 | A 30-32 | signal 5@40 | A 40-42");
}

TEST(CpuClock, TheAlarmIsSeenWhenTheTaskLeavesTheProcessorInThatMoment) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          must(kernel::task_cpu_alarm(kernel::task_self(), ms(2), 5));
                          work("A", 2);
                          stamp("got " + std::to_string(must(kernel::signal_wait(kernel::signal_bit(5)))));
                      },
                      hard(9, 40));
                  pause_until(10);
              }),
              "A 0-2 | got 5@2");
}

TEST(CpuClock, RefusesAnAlarmWithoutASignal) {
    EXPECT_EQ(hosted::run([] {
                  note(lib::error_name(kernel::task_cpu_alarm(kernel::task_self(), ms(1), 0).error()));
                  note(lib::error_name(kernel::task_cpu_alarm(kernel::task_self(), ms(1), 32).error()));
                  note(lib::error_name(kernel::task_cpu_alarm({63}, ms(1), 1).error()));
                  note_result(kernel::task_cpu_alarm(kernel::task_self(), ms(1), kernel::kSignalMin));
                  note_result(kernel::task_cpu_alarm(kernel::task_self(), ms(1), kernel::kSignalMax));
              }),
              "invalid argument | invalid argument | not found | ok | ok");
}

} // namespace
