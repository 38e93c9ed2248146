// SPDX-License-Identifier: MIT
// Tests task_set_deadline(): who runs then, what is admitted then, and what is refused. Each expected text is the Gantt
// chart, computed by hand.
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace edf_deadline_test {

using namespace hosted;
using lib::Error;

kernel::Pid s_first;
kernel::Pid s_second;

void note_misses(kernel::Pid pid) {
    note("missed " + std::to_string(kernel::task_info(pid).value().jobs.deadline_misses));
}

TEST(TaskSetDeadline, ALongerOneMovesTheJobInProgressBack) {
    EXPECT_EQ(run(R"(start A hard 4/20/6: each A 4
                     start B hard 4/20/10: each B 4
                     at 2: deadline A 20; until 19)"),
              "A 0-2 | B 2-6 | A 6-8");
}

TEST(TaskSetDeadline, ALongerOneMovesTheDeadlineTimer) {
    EXPECT_EQ(run(R"(start A hard 4/20/5: each A 6  // more than declared
                     at 2: deadline A 10; until 19; counts A missed)"),
              "A 0-6 | missed 0");
}

TEST(TaskSetDeadline, AMissThatWasRecordedStaysAMiss) {
    EXPECT_EQ(run(R"(start A hard 4/20/5: each A 8
                     at 6: deadline A 10; until 39; counts A missed)"),
              "A 0-8 | A 20-28 | missed 1");
}

TEST(TaskSetDeadline, AShorterOneHoldsFromTheNextRelease) {
    EXPECT_EQ(run(R"(start A hard 4/10: each A 4
                     start B hard 4/10/9: each B 4
                     at 1: deadline A 5; until 19; counts A missed)"),
              "B 0-4 | A 4-8 | A 10-14 | B 14-18 | missed 0");
}

TEST(TaskSetDeadline, AShorterOneIsWatchedFromTheNextRelease) {
    EXPECT_EQ(run(R"(start A hard 4/10: each A 6
                     at 1: deadline A 5; until 19; counts A missed)"),
              "A 0-6 | A 10-16 | missed 1");
}

TEST(TaskSetDeadline, ReordersAReadyTask) {
    // C runs; A and B wait. At 1 A, which was due before B, comes after it.
    EXPECT_EQ(run(R"(start A hard 2/20/8: each A 2
                     start B hard 2/20/10: each B 2
                     start C hard 3/20/5: each C 3
                     at 1: deadline A 15; until 19)"),
              "C 0-3 | B 3-5 | A 5-7");
}

TEST(TaskSetDeadline, WhatALongerOneLeavesIsAdmittedAfterTheNextRelease) {
    // At 4 X has taken time that Z could have had: were Y admitted now, Z would be late.
    EXPECT_EQ(run(R"(start X hard 5/100/5: each X 5
                     start Z hard 5/100/10: each Z 5
                     until 20; deadline X 100
                     ? create Y hard 5/100/5: each Y 5
                     until 111
                     ? create Y hard 5/100/5: each Y 5)"),
              "X 0-5 | Z 5-10 | refused | Z 100-105 | X 105-110 | ok");
}

TEST(TaskSetDeadline, AnInactiveTaskChangesAtOnce) {
    EXPECT_EQ(run(R"(create A hard 5/100/5: each A 5
                     deadline A 0  // 0 means the period
                     create B hard 5/100/5: each B 5
                     ? deadline A 9; ? deadline A 10)"),
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
    EXPECT_EQ(run(R"(start A hard 4/10: A 12
                     at 11: ? deadline A 5; until 19)"),
              "A 0-11 | busy | A 11-12");
}

TEST(TaskSetDeadline, ALongerOneHoldsForAJobThatIsDueInThisMoment) {
    EXPECT_EQ(run(R"(start A hard 4/20/5: each A 6
                     at 5: deadline A 10; until 19; counts A missed)"),
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
    EXPECT_EQ(run(R"(start X hard 5/100/5: X 5; sleep
                     until 99; deadline X 100
                     ? create Y hard 5/100/5: each Y 5
                     until 100; deadline X 100
                     ? create Y hard 5/100/5: each Y 5)"),
              "X 0-5 | refused | ok");
}

} // namespace edf_deadline_test
