// SPDX-License-Identifier: MIT
// Tests what HARD tasks do beyond EDF: fixed priorities, sporadic arrivals, single jobs, and what becomes of a
// reservation when its task ends. Each expected text is the Gantt chart, computed by hand.
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace hard_level_test {

using namespace hosted;

kernel::Pid s_first;

void note_creation(const kernel::TaskModel& model) {
    const auto created =
        kernel::task_create({.name = "X", .body = periodic<'X', 1>, .argument = nullptr, .model = model});
    note(created.ok() ? "ok" : lib::error_name(created.error()));
}

void activate_first_at(std::uint64_t when) {
    at_time(when, [](void*) { must(kernel::task_activate(s_first)); });
}

void note_counts() {
    const auto jobs = kernel::task_info(s_first).value().jobs;
    note("released " + std::to_string(jobs.released) + " completed " + std::to_string(jobs.completed) + " missed " +
         std::to_string(jobs.deadline_misses) + " too early " + std::to_string(jobs.activation_violations));
}

TEST(RmSchedule, RunsTheShorterPeriodFirst) {
    // At 10 EDF would let B continue, which is due at 14; here A's period counts.
    EXPECT_EQ(hosted::run([] {
                  start("B", periodic<'B', 5>, fixed(5, 14));
                  start("A", periodic<'A', 4>, fixed(4, 10));
                  pause_until(19);
              }),
              "A 0-4 | B 4-9 | A 10-14 | B 14-19");
}

TEST(RmSchedule, APreemptionByPeriodWhereEdfHasNone) {
    // A comes at 10 and is due at 20, B is due at 11: EDF would finish B first.
    EXPECT_EQ(hosted::run([] {
                  start("B", periodic<'B', 3>, fixed(3, 40, 12, 8));
                  start("A", periodic<'A', 2>, fixed(2, 10));
                  pause_until(19);
              }),
              "A 0-2 | B 8-10 | A 10-12 | B 12-13");
}

TEST(RmSchedule, ComesBeforeEveryDeadline) {
    EXPECT_EQ(hosted::run([] {
                  start("E", periodic<'E', 2>, hard(2, 10, 5));
                  start("R", periodic<'R', 2>, fixed(2, 100, 0, 1));
                  pause_until(9);
              }),
              "E 0-1 | R 1-3 | E 3-4");
}

TEST(RmSchedule, RunsEqualPeriodsInTheOrderOfRelease) {
    EXPECT_EQ(hosted::run([] {
                  start("B", periodic<'B', 2>, fixed(2, 10, 0, 1));
                  start("A", periodic<'A', 2>, fixed(2, 10));
                  pause_until(9);
              }),
              "A 0-2 | B 2-4");
}

TEST(RmSchedule, IsAdmittedByResponseTime) {
    EXPECT_EQ(hosted::run([] {
                  create("A", periodic<'A', 3>, fixed(3, 7));
                  create("B", periodic<'B', 3>, fixed(3, 12));
                  note_creation(fixed(5, 100, 19)); // its response time is 20
                  note_creation(fixed(5, 100, 20));
                  note_creation(hard(1, 100, 20)); // 3 * 3 + 2 * 3 + 5 leave nothing before 20
              }),
              "refused | ok | refused");
}

TEST(RmSchedule, IsNotAdmittedByDeadlineInstead) {
    // 2/5 + 4/7: below each other's deadlines both fit, with B above A they do not.
    EXPECT_EQ(hosted::run([] {
                  create("A", periodic<'A', 2>, hard(2, 5));
                  note_creation(fixed(4, 7));
                  note_creation(hard(4, 7));
              }),
              "refused | ok");
}

TEST(RmSchedule, AChangedDeadlineIsAChangedPriority) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 2>, fixed(2, 20, 6));
                  start("B", periodic<'B', 4>, fixed(4, 20, 10));
                  at_time(1, [](void*) { must(kernel::task_set_deadline(s_first, ms(20))); });
                  pause_until(27);
              }),
              "A 0-1 | B 1-5 | A 5-6 | B 20-24 | A 24-26");
}

TEST(SporadicTask, IsReleasedByItsActivations) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", periodic<'A', 1>, sporadic(1, 5));
                  activate_first_at(1);
                  activate_first_at(6);
                  activate_first_at(13);
                  pause_until(20);
                  note_counts();
              }),
              "A 1-2 | A 6-7 | A 13-14 | released 3 completed 3 missed 0 too early 0");
}

TEST(SporadicTask, IsPutOffWhenItComesTooEarly) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", periodic<'A', 1>, sporadic(1, 5));
                  activate_first_at(1);
                  activate_first_at(3);
                  activate_first_at(7); // 6 + 5 = 11
                  pause_until(20);
                  note_counts();
              }),
              "A 1-2 | A 6-7 | A 11-12 | released 3 completed 3 missed 0 too early 2");
}

TEST(SporadicTask, KeepsOneReleaseAndRefusesMore) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", periodic<'A', 1>, sporadic(1, 5));
                  activate_first_at(1);
                  activate_first_at(2);
                  at_time(3, [](void*) { note_result(kernel::task_activate(s_first)); });
                  pause_until(20);
                  note_counts();
              }),
              "A 1-2 | busy | A 6-7 | released 2 completed 2 missed 0 too early 1");
}

TEST(SporadicTask, MissesADeadlineAndServesTheReleaseThatWaitsAfterwards) {
    // The job of 7 is due at 4; the release at 6, a period later, follows at 8 and is due at 9.
    EXPECT_EQ(hosted::run([] {
                  s_first = create(
                      "A",
                      [](void*) {
                          work("A", 7);
                          kernel::task_endcycle();
                          work("a", 1);
                          kernel::task_endcycle();
                      },
                      sporadic(1, 5, 3));
                  activate_first_at(1);
                  activate_first_at(6);
                  pause_until(20);
                  note_counts();
              }),
              "A 1-8 | a 8-9 | released 2 completed 2 missed 1 too early 0");
}

TEST(SporadicTask, MissesADeadlineThatItsNextActivationComesWith) {
    // The activation at 6 comes before the timer of the deadline at 6, and releases the next job, due at 11.
    EXPECT_EQ(hosted::run([] {
                  activate_first_at(1);
                  activate_first_at(6);
                  s_first = create(
                      "A",
                      [](void*) {
                          work("A", 7);
                          kernel::task_endcycle();
                          work("a", 1);
                          kernel::task_endcycle();
                      },
                      sporadic(1, 5));
                  pause_until(20);
                  note_counts();
              }),
              "A 1-8 | a 8-9 | released 2 completed 2 missed 1 too early 0");
}

TEST(SporadicTask, MissesADeadlineWhileItsNextReleaseIsPutOff) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", periodic<'A', 4>, sporadic(1, 8, 3));
                  activate_first_at(1);
                  activate_first_at(2); // put off to 9
                  at_time(5, [](void*) { note_counts(); });
                  pause_until(8);
              }),
              "A 1-5 | released 1 completed 1 missed 1 too early 1");
}

TEST(SporadicTask, ForgetsAReleaseThatWaitsWhenItGoesToSleep) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create(
                      "A",
                      [](void*) {
                          for (;;) {
                              work("A", 3);
                              kernel::task_sleep();
                          }
                      },
                      sporadic(3, 5));
                  activate_first_at(1);
                  activate_first_at(2);
                  activate_first_at(12);
                  pause_until(20);
                  note_counts();
              }),
              "A 1-4 | A 12-15 | released 2 completed 2 missed 0 too early 1");
}

TEST(SporadicTask, SleepsThroughNothingThatWasPromisedToOthers) {
    // It goes to sleep at 2 and drops what waits; sooner than 6 it is not released again.
    EXPECT_EQ(hosted::run([] {
                  s_first = create(
                      "A",
                      [](void*) {
                          for (;;) {
                              work("A", 1);
                              kernel::task_sleep();
                          }
                      },
                      sporadic(1, 5));
                  activate_first_at(1);
                  activate_first_at(3);
                  pause_until(20);
                  note_counts();
              }),
              "A 1-2 | A 6-7 | released 2 completed 2 missed 0 too early 1");
}

TEST(SporadicTask, HasNoOffset) {
    EXPECT_EQ(hosted::run([] {
                  kernel::HardModel model = sporadic(1, 5);
                  model.offset = ms(1);
                  note_creation(model);
              }),
              "invalid argument");
}

TEST(JobModel, IsOneGuaranteedJobAndThenTheTaskEnds) {
    EXPECT_EQ(hosted::run([] {
                  start("H", periodic<'H', 2>, hard(2, 10));
                  s_first = start("J", periodic<'J', 2>, kernel::JobModel{.wcet = ms(2), .deadline = ms(6)});
                  pause_until(9);
                  note(kernel::task_info(s_first).ok() ? "alive" : "gone");
              }),
              "J 0-2 | H 2-4 | gone");
}

TEST(JobModel, IsAdmittedByItsDemand) {
    EXPECT_EQ(hosted::run([] {
                  create("H", periodic<'H', 4>, hard(4, 10, 5));
                  note_creation(kernel::JobModel{.wcet = ms(2), .deadline = ms(5)});
                  note_creation(kernel::JobModel{.wcet = ms(1), .deadline = ms(5)});
                  note_creation(kernel::JobModel{.wcet = {}, .deadline = ms(5)});
                  note_creation(kernel::JobModel{.wcet = ms(6), .deadline = ms(5)});
              }),
              "refused | ok | invalid argument | invalid argument");
}

TEST(Reservation, OfATaskThatEndedIsFreeWhenTheProcessorHasBeenIdle) {
    // X has kept Z waiting until 5. Were its share given to Y then, Z would be late at 10.
    EXPECT_EQ(hosted::run([] {
                  start(
                      "X", [](void*) { work("X", 5); }, hard(5, 100, 5));
                  s_first = start("Z", periodic<'Z', 5>, hard(5, 100, 10));
                  at_time(6, [](void*) { note_creation(hard(5, 100, 5)); });
                  at_time(11, [](void*) { note_creation(hard(5, 100, 5)); });
                  pause_until(20);
                  note_counts();
              }),
              "X 0-5 | Z 5-6 | refused | Z 6-10 | ok | released 1 completed 1 missed 0 too early 0");
}

} // namespace hard_level_test
