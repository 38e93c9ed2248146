// SPDX-License-Identifier: MIT
// Tests task_set_deadline(): who runs then, what is admitted then, and what is refused. Each expected text is the Gantt
// chart, computed by hand.
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace edf_deadline_test {

using namespace hosted;
using lib::Error;

kernel::Pid s_first;
kernel::Pid s_second;

// From an interrupt at that time, whoever runs then.
template <std::uint64_t Deadline>
void change_first_at(std::uint64_t when) {
    at_time(when, [](void*) { must(kernel::task_set_deadline(s_first, ms(Deadline))); });
}

void note_misses(kernel::Pid pid) {
    note("missed " + std::to_string(kernel::task_info(pid).value().jobs.deadline_misses));
}

TEST(TaskSetDeadline, ALongerOneMovesTheJobInProgressBack) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 4>, hard(4, 20, 6));
                  start("B", periodic<'B', 4>, hard(4, 20, 10));
                  change_first_at<20>(2);
                  pause_until(19);
              }),
              "A 0-2 | B 2-6 | A 6-8");
}

TEST(TaskSetDeadline, ALongerOneMovesTheDeadlineTimer) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 6>, hard(4, 20, 5)); // more than declared
                  change_first_at<10>(2);
                  pause_until(19);
                  note_misses(s_first);
              }),
              "A 0-6 | missed 0");
}

TEST(TaskSetDeadline, AMissThatWasRecordedStaysAMiss) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 8>, hard(4, 20, 5));
                  change_first_at<10>(6);
                  pause_until(39);
                  note_misses(s_first);
              }),
              "A 0-8 | A 20-28 | missed 1");
}

TEST(TaskSetDeadline, AShorterOneHoldsFromTheNextRelease) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 4>, hard(4, 10));
                  start("B", periodic<'B', 4>, hard(4, 10, 9));
                  change_first_at<5>(1);
                  pause_until(19);
                  note_misses(s_first);
              }),
              "B 0-4 | A 4-8 | A 10-14 | B 14-18 | missed 0");
}

TEST(TaskSetDeadline, AShorterOneIsWatchedFromTheNextRelease) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 6>, hard(4, 10));
                  change_first_at<5>(1);
                  pause_until(19);
                  note_misses(s_first);
              }),
              "A 0-6 | A 10-16 | missed 1");
}

TEST(TaskSetDeadline, ReordersAReadyTask) {
    // C runs; A and B wait. At 1 A, which was due before B, comes after it.
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 2>, hard(2, 20, 8));
                  start("B", periodic<'B', 2>, hard(2, 20, 10));
                  start("C", periodic<'C', 3>, hard(3, 20, 5));
                  change_first_at<15>(1);
                  pause_until(19);
              }),
              "C 0-3 | B 3-5 | A 5-7");
}

TEST(TaskSetDeadline, WhatALongerOneLeavesIsAdmittedAfterTheNextRelease) {
    // At 4 X has taken time that Z could have had: were Y admitted now, Z would be late.
    EXPECT_EQ(hosted::run([] {
                  s_first = start("X", periodic<'X', 5>, hard(5, 100, 5));
                  start("Z", periodic<'Z', 5>, hard(5, 100, 10));
                  pause_until(20);
                  must(kernel::task_set_deadline(s_first, ms(100)));
                  const auto y = [] {
                      return kernel::task_create(
                          {.name = "Y", .body = periodic<'Y', 5>, .argument = nullptr, .model = hard(5, 100, 5)});
                  };
                  note(y().ok() ? "too soon" : "refused");
                  pause_until(111);
                  note(y().ok() ? "admitted" : "still refused");
              }),
              "X 0-5 | Z 5-10 | refused | Z 100-105 | X 105-110 | admitted");
}

TEST(TaskSetDeadline, AnInactiveTaskChangesAtOnce) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", periodic<'A', 5>, hard(5, 100, 5));
                  must(kernel::task_set_deadline(s_first, {})); // 0 means the period
                  create("B", periodic<'B', 5>, hard(5, 100, 5));
                  note_result(kernel::task_set_deadline(s_first, ms(9)));
                  note_result(kernel::task_set_deadline(s_first, ms(10)));
              }),
              "refused | ok");
}

TEST(TaskSetDeadline, RefusesWhatItCannotKeepAndChangesNothing) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 4>, hard(4, 20));
                  s_second = start("B", periodic<'B', 4>, hard(4, 20, 6));
                  note_result(kernel::task_set_deadline(s_first, ms(3)));
                  note_result(kernel::task_set_deadline(s_first, ms(21)));
                  note_result(kernel::task_set_deadline(s_first, ms(7)));
                  note_result(kernel::task_set_deadline(kernel::task_self(), ms(7)));
                  note_result(kernel::task_set_deadline({63}, ms(7)));
                  must(kernel::task_set_deadline(s_second, ms(4)));
                  note_result(kernel::task_set_deadline(s_first, ms(7))); // 4 + 4 > 7
                  pause_until(19);
              }),
              "invalid argument | invalid argument | refused | unsupported | not found | refused | B 0-4 | A 4-8");
}

TEST(TaskSetDeadline, WaitsUntilTheTaskHasCaughtUp) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A", [](void*) { work("A", 12); }, hard(4, 10));
                  at_time(11, [](void*) { note_result(kernel::task_set_deadline(s_first, ms(5))); });
                  pause_until(19);
              }),
              "A 0-11 | busy | A 11-12");
}

TEST(TaskSetDeadline, ALongerOneHoldsForAJobThatIsDueInThisMoment) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 6>, hard(4, 20, 5));
                  change_first_at<10>(5);
                  pause_until(19);
                  note_misses(s_first);
              }),
              "A 0-6 | missed 0");
}

TEST(TaskSetDeadline, AMissWhoseInterruptIsPendingStaysAMiss) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          work("A", 4);
                          {
                              const arch::IrqGuard guard; // deaf from 4 to 6
                              arch::fake_cpu.time += 2'000'000;
                              must(kernel::task_set_deadline(s_first, ms(10)));
                          }
                          kernel::task_endcycle();
                      },
                      hard(4, 20, 5));
                  pause_until(19);
                  note_misses(s_first);
              }),
              "A 0-4 | missed 1");
}

TEST(TaskSetDeadline, AnInactiveTaskLeavesItsShareWhenItsPeriodIsOver) {
    // X, asleep since 5, could be released again at 100: what it gives up then is free, and not before.
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "X",
                      [](void*) {
                          work("X", 5);
                          kernel::task_sleep();
                      },
                      hard(5, 100, 5));
                  const auto y = [] {
                      return kernel::task_create(
                          {.name = "Y", .body = periodic<'Y', 5>, .argument = nullptr, .model = hard(5, 100, 5)});
                  };
                  pause_until(99);
                  must(kernel::task_set_deadline(s_first, ms(100)));
                  note(y().ok() ? "too soon" : "refused");
                  pause_until(100);
                  must(kernel::task_set_deadline(s_first, ms(100)));
                  note(y().ok() ? "admitted" : "still refused");
              }),
              "X 0-5 | refused | admitted");
}

} // namespace edf_deadline_test
