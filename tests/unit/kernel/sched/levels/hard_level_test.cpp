// SPDX-License-Identifier: MIT
// Tests what HARD tasks do beyond EDF: fixed priorities, sporadic arrivals, single jobs, and what becomes of a
// reservation when its task ends. Each expected text is the Gantt chart, computed by hand.
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace hard_level_test {

using namespace hosted;

TEST(RmSchedule, RunsTheShorterPeriodFirst) {
    // At 10 EDF would let B continue, which is due at 14; here A's period counts.
    EXPECT_EQ(run(R"(start B fixed 5/14: each B 5
                     start A fixed 4/10: each A 4
                     until 19)"),
              "A 0-4 | B 4-9 | A 10-14 | B 14-19");
}

TEST(RmSchedule, APreemptionByPeriodWhereEdfHasNone) {
    // A comes at 10 and is due at 20, B is due at 11: EDF would finish B first.
    EXPECT_EQ(run(R"(start B fixed 3/40/12+8: each B 3
                     start A fixed 2/10: each A 2
                     until 19)"),
              "A 0-2 | B 8-10 | A 10-12 | B 12-13");
}

TEST(RmSchedule, ComesBeforeEveryDeadline) {
    EXPECT_EQ(run(R"(start E hard 2/10/5: each E 2
                     start R fixed 2/100+1: each R 2
                     until 9)"),
              "E 0-1 | R 1-3 | E 3-4");
}

TEST(RmSchedule, RunsEqualPeriodsInTheOrderOfRelease) {
    EXPECT_EQ(run(R"(start B fixed 2/10+1: each B 2
                     start A fixed 2/10: each A 2
                     until 9)"),
              "A 0-2 | B 2-4");
}

TEST(RmSchedule, IsAdmittedByResponseTime) {
    EXPECT_EQ(run(R"(create A fixed 3/7: each A 3
                     create B fixed 3/12: each B 3
                     ? create X fixed 5/100/19: each X 1  // its response time is 20
                     ? create X fixed 5/100/20: each X 1
                     ? create X hard 1/100/20: each X 1  // 3 * 3 + 2 * 3 + 5 leave nothing before 20
                     )"),
              "refused | ok | refused");
}

TEST(RmSchedule, IsNotAdmittedByDeadlineInstead) {
    // 2/5 + 4/7: below each other's deadlines both fit, with B above A they do not.
    EXPECT_EQ(run(R"(create A hard 2/5: each A 2
                     ? create X fixed 4/7: each X 1
                     ? create X hard 4/7: each X 1)"),
              "refused | ok");
}

TEST(RmSchedule, AChangedDeadlineIsAChangedPriority) {
    EXPECT_EQ(run(R"(start A fixed 2/20/6: each A 2
                     start B fixed 4/20/10: each B 4
                     at 1: deadline A 20; until 27)"),
              "A 0-1 | B 1-5 | A 5-6 | B 20-24 | A 24-26");
}

TEST(SporadicTask, IsReleasedByItsActivations) {
    EXPECT_EQ(run(R"(create A sporadic 1/5: each A 1
                     at 1: activate A; at 6: activate A; at 13: activate A; until 20;
                     counts A released completed missed early)"),
              "A 1-2 | A 6-7 | A 13-14 | released 3 completed 3 missed 0 early 0");
}

TEST(SporadicTask, IsPutOffWhenItComesTooEarly) {
    EXPECT_EQ(run(R"(create A sporadic 1/5: each A 1
                     at 1: activate A; at 3: activate A; at 7: activate A  // 6 + 5 = 11
                     until 20; counts A released completed missed early)"),
              "A 1-2 | A 6-7 | A 11-12 | released 3 completed 3 missed 0 early 2");
}

TEST(SporadicTask, KeepsOneReleaseAndRefusesMore) {
    EXPECT_EQ(run(R"(create A sporadic 1/5: each A 1
                     at 1: activate A; at 2: activate A; at 3: ? activate A; until 20;
                     counts A released completed missed early)"),
              "A 1-2 | busy | A 6-7 | released 2 completed 2 missed 0 early 1");
}

TEST(SporadicTask, MissesADeadlineAndServesTheReleaseThatWaitsAfterwards) {
    // The job of 7 is due at 4; the release at 6, a period later, follows at 8 and is due at 9.
    EXPECT_EQ(run(R"(create A sporadic 1/5/3: A 7; end; a 1; end
                     at 1: activate A; at 6: activate A; until 20; counts A released completed missed early)"),
              "A 1-8 | a 8-9 | released 2 completed 2 missed 1 early 0");
}

TEST(SporadicTask, MissesADeadlineThatItsNextActivationComesWith) {
    // The activation at 6 comes before the timer of the deadline at 6, and releases the next job, due at 11.
    EXPECT_EQ(run(R"(at 1: activate A; at 6: activate A
                     create A sporadic 1/5: A 7; end; a 1; end
                     until 20; counts A released completed missed early)"),
              "A 1-8 | a 8-9 | released 2 completed 2 missed 1 early 0");
}

TEST(SporadicTask, MissesADeadlineWhileItsNextReleaseIsPutOff) {
    EXPECT_EQ(run(R"(create A sporadic 1/8/3: each A 4
                     at 1: activate A; at 2: activate A  // put off to 9
                     at 5: counts A released completed missed early; until 8)"),
              "A 1-5 | released 1 completed 1 missed 1 early 1");
}

TEST(SporadicTask, ForgetsAReleaseThatWaitsWhenItGoesToSleep) {
    EXPECT_EQ(run(R"(create A sporadic 3/5: A 3; sleep; again
                     at 1: activate A; at 2: activate A; at 12: activate A; until 20;
                     counts A released completed missed early)"),
              "A 1-4 | A 12-15 | released 2 completed 2 missed 0 early 1");
}

TEST(SporadicTask, SleepsThroughNothingThatWasPromisedToOthers) {
    // It goes to sleep at 2 and drops what waits; sooner than 6 it is not released again.
    EXPECT_EQ(run(R"(create A sporadic 1/5: A 1; sleep; again
                     at 1: activate A; at 3: activate A; until 20; counts A released completed missed early)"),
              "A 1-2 | A 6-7 | released 2 completed 2 missed 0 early 1");
}

TEST(SporadicTask, HasNoOffset) {
    EXPECT_EQ(run(R"(? create X sporadic 1/5+1: each X 1)"), "invalid argument");
}

TEST(JobModel, IsOneGuaranteedJobAndThenTheTaskEnds) {
    EXPECT_EQ(run(R"(start H hard 2/10: each H 2
                     start J job 2/6: each J 2
                     until 9; alive J)"),
              "J 0-2 | H 2-4 | gone");
}

TEST(JobModel, IsAdmittedByItsDemand) {
    EXPECT_EQ(run(R"(create H hard 4/10/5: each H 4
                     ? create X job 2/5: each X 1
                     ? create X job 1/5: each X 1
                     ? create X job 0/5: each X 1
                     ? create X job 6/5: each X 1)"),
              "refused | ok | invalid argument | invalid argument");
}

TEST(Reservation, OfATaskThatEndedIsFreeWhenTheProcessorHasBeenIdle) {
    // X has kept Z waiting until 5. Were its share given to Y then, Z would be late at 10.
    EXPECT_EQ(run(R"(start X hard 5/100/5: X 5
                     start Z hard 5/100/10: each Z 5
                     at 6: ? create Y hard 5/100/5: each X 1
                     at 11: ? create Y hard 5/100/5: each X 1
                     until 20; counts Z released completed missed early)"),
              "X 0-5 | Z 5-6 | refused | Z 6-10 | ok | released 1 completed 1 missed 0 early 0");
}

} // namespace hard_level_test
