// SPDX-License-Identifier: MIT
// Tests whole schedules of the whole kernel, against schedules computed by hand. Each expected text is the Gantt chart.
#include "kernel/run/runlevel.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace {

using namespace hosted;

void note_counts(kernel::Pid pid) {
    const kernel::JobCounts jobs = kernel::task_info(pid).value().jobs;
    note("released " + std::to_string(jobs.released) + " completed " + std::to_string(jobs.completed) + " missed " +
         std::to_string(jobs.deadline_misses) + " violated " + std::to_string(jobs.wcet_violations));
}

TEST(EdfSchedule, RunsTheEarliestDeadlineFirst) {
    // A is due at 5 and 10, B at 10. At 5 A's second job ties with B, which entered first and keeps the processor.
    EXPECT_EQ(run(R"(start B hard 4/10: each B 4
                     start A hard 2/5: each A 2
                     until 9)"),
              "A 0-2 | B 2-6 | A 6-8");
}

TEST(EdfSchedule, PreemptsForANearerDeadline) {
    EXPECT_EQ(run(R"(start B hard 6/20: each B 6
                     start A hard 2/20/4+3: each A 2
                     until 19)"),
              "B 0-3 | A 3-5 | B 5-8");
}

TEST(EdfSchedule, RunsEqualDeadlinesInTheOrderOfRelease) {
    EXPECT_EQ(run(R"(start C hard 1/10: each C 1
                     start A hard 1/10: each A 1
                     start B hard 1/10: each B 1
                     until 15)"),
              "C 0-1 | A 1-2 | B 2-3 | C 10-11 | A 11-12 | B 12-13");
}

TEST(EdfSchedule, FillsTheProcessorCompletelyWithoutAMiss) {
    static kernel::Pid pids[3];
    EXPECT_EQ(hosted::run([] {
                  pids[0] = start("A", periodic<'A', 1>, hard(1, 2));
                  pids[1] = start("B", periodic<'B', 1>, hard(1, 3));
                  pids[2] = start("C", periodic<'C', 1>, hard(1, 6));
                  hosted::must(kernel::kern_event_post(
                      {hosted::at(12).value - 1},
                      [](void*) {
                          for (const kernel::Pid pid : pids) {
                              note_counts(pid);
                              hosted::must(kernel::task_kill(pid));
                          }
                      },
                      nullptr));
                  pause_until(12);
              }),
              "A 0-1 | B 1-2 | A 2-3 | C 3-4 | B 4-5 | A 5-7 | B 7-8 | A 8-9 | C 9-10 | B 10-11 | A 11-11 | "
              "released 6 completed 5 missed 0 violated 0 | released 4 completed 4 missed 0 violated 0 | "
              "released 2 completed 2 missed 0 violated 0");
}

TEST(EdfSchedule, CountsAMissAndServesPendingReleasesInOrder) {
    // The first job needs 12 of a period of 5: it misses at 5 (own), at 10 and (release 2, due 15) not any more:
    // jobs 1 and 2 follow at once, job 1 is already late at 10 and job 2 ends at 14, in time.
    EXPECT_EQ(run(R"(start A hard 2/5: A 12; end; each a 1
                     until 17; counts A released completed missed violated)"),
              "A 0-12 | a 12-14 | a 15-16 | released 4 completed 4 missed 2 violated 1");
}

TEST(EdfSchedule, TakesACompletionExactlyAtTheDeadlineAsInTime) {
    EXPECT_EQ(run(R"(start A hard 4/10/4: each A 4
                     until 9; counts A released completed missed violated)"),
              "A 0-4 | released 1 completed 1 missed 0 violated 0");
}

TEST(EdfSchedule, ReportsAMissOneNanosecondLate) {
    EXPECT_EQ(run(R"(start A hard 4/10/4: A 4000001 ns; end
                     until 9; counts A released completed missed violated)"),
              "A 0-4 | released 1 completed 1 missed 1 violated 1");
}

TEST(EdfSchedule, CountsOneWcetViolationPerJobAndLetsItContinue) {
    EXPECT_EQ(run(R"(start A hard 2/10: each A 3
                     until 19; counts A released completed missed violated)"),
              "A 0-3 | A 10-13 | released 2 completed 2 missed 0 violated 2");
}

TEST(EdfSchedule, CountsOnlyTheJobsOwnProcessorTimeAgainstItsWcet) {
    EXPECT_EQ(run(R"(start B hard 4/20: each B 4
                     start A hard 2/20/4+1: each A 2
                     until 19; counts B released completed missed violated)"),
              "B 0-1 | A 1-3 | B 3-6 | released 1 completed 1 missed 0 violated 0");
}

TEST(EdfSchedule, KeepsReleasesOnTheGridWhateverTheLatency) {
    EXPECT_EQ(run(R"(start A hard 1/3+2: each A 1
                     until 12)"),
              "A 2-3 | A 5-6 | A 8-9 | A 11-12");
}

TEST(EdfSchedule, SleepStopsReleasesUntilTheNextActivation) {
    static kernel::Pid pid;
    EXPECT_EQ(hosted::run([] {
                  pid = start("A", "A 1; sleep; again", hard(1, 3));
                  pause_until(10);
                  note(kernel::task_info(pid).value().state == kernel::TaskState::sleeping ? "asleep" : "awake");
                  hosted::must(kernel::task_activate(pid));
                  pause_until(15);
                  note_counts(pid);
              }),
              "A 0-1 | asleep | A 10-11 | released 2 completed 2 missed 0 violated 0");
}

TEST(EdfSchedule, BeginsANewGridWithEachActivation) {
    EXPECT_EQ(run(R"(start A hard 1/3: A 1; sleep; each A 1
                     at 10: activate A; until 18; counts A released completed missed violated)"),
              "A 0-1 | A 10-11 | A 13-14 | A 16-17 | released 4 completed 4 missed 0 violated 0");
}

TEST(EdfSchedule, ReleasesATaskThatSleptNoSoonerThanItsPeriodAllows) {
    EXPECT_EQ(run(R"(start A hard 1/8: A 1; sleep; again
                     at 3: activate A; until 19)"),
              "A 0-1 | A 8-9");
}

TEST(EdfSchedule, SeesTheEndOfAJobsTimeWhileTheJobRuns) {
    EXPECT_EQ(run(R"(start A hard 2/10: each A 4
                     at 3: counts A released completed missed violated; until 9)"),
              "A 0-3 | released 1 completed 0 missed 0 violated 1 | A 3-4");
}

TEST(EdfSchedule, DelayGivesTheProcessorAwayInsideAJob) {
    EXPECT_EQ(run(R"(start A hard 2/20/10: A 1; delay 2; A 1; end
                     start B hard 5/20: each B 5
                     until 19)"),
              "A 0-1 | B 1-3 | A 3-4 | B 4-7");
}

TEST(RoundRobinSchedule, RotatesAfterEachSlice) {
    EXPECT_EQ(run(R"(start A nrt 2: A 5
                     start B nrt 1: B 3
                     until 20)"),
              "A 0-2 | B 2-3 | A 3-5 | B 5-6 | A 6-7 | B 7-8");
}

TEST(RoundRobinSchedule, KeepsPlaceAndRestOfSliceThroughAPreemption) {
    // H takes 1..3. A has used 1 of its 2: it continues at 3 and hands over at 4.
    EXPECT_EQ(run(R"(start A nrt 2: A 3
                     start B nrt 2: B 1
                     start H hard 2/100+1: each H 2
                     until 20)"),
              "A 0-1 | H 1-3 | A 3-4 | B 4-5 | A 5-6");
}

TEST(RoundRobinSchedule, BeginsEachJobWithAWholeSlice) {
    // A's first job leaves 1 of its slice of 4; its second one runs for 3 without B between.
    EXPECT_EQ(run(R"(start A nrt 4: each A 3
                     start B nrt 4: B 10
                     at 5: activate A; until 20)"),
              "A 0-3 | B 3-7 | A 7-10 | B 10-16");
}

TEST(RoundRobinSchedule, BeginsAWholeSliceAfterAWaitThatCameAtTheEndOfOne) {
    EXPECT_EQ(run(R"(start A nrt 2: A 2; delay 1; A 2
                     start B nrt 2: B 6
                     until 20)"),
              "A 0-2 | B 2-4 | A 4-6 | B 6-10");
}

TEST(RoundRobinSchedule, CountsJobsAndRefusesAnActivationWhileOneIsToCome) {
    static kernel::Pid pid;
    EXPECT_EQ(hosted::run([] {
                  pid = create("A", periodic<'A', 1>, kernel::NrtModel{});
                  must(kernel::task_activate_at(pid, hosted::at(2)));
                  note(must(kernel::task_info(pid)).state == kernel::TaskState::delayed ? "delayed" : "not delayed");
                  note_result("again", kernel::task_activate(pid));
                  pause_until(5);
                  note_counts(pid);
                  must(kernel::task_activate(pid));
                  pause_until(8);
                  note_counts(pid);
              }),
              "delayed | again: busy | A 2-3 | released 1 completed 1 missed 0 violated 0 | A 5-6 | "
              "released 2 completed 2 missed 0 violated 0");
}

TEST(RoundRobinSchedule, RefusesATaskWithoutSliceOrWeight) {
    EXPECT_EQ(hosted::run([] {
                  const auto note_creation = [](const kernel::NrtModel& model) {
                      const auto created =
                          kernel::task_create({.name = "N", .body = once<'N', 1>, .argument = nullptr, .model = model});
                      note(created.ok() ? "ok" : lib::error_name(created.error()));
                  };
                  note_creation({.slice = {}});
                  note_creation({.weight = 0});
                  note_creation({.slice = {1}, .weight = 1});
              }),
              "invalid argument | invalid argument | ok");
}

TEST(RoundRobinSchedule, LetsATaskThatIsAloneRunOn) {
    EXPECT_EQ(run(R"(start A nrt 2: A 7
                     until 20)"),
              "A 0-7");
}

TEST(Scheduler, SearchesLevelsInOrderOfRegistration) {
    EXPECT_EQ(run(R"(start bg background: Z 2
                     start nrt nrt: N 2
                     start hard hard 1/10+1: each H 1
                     until 9)"),
              "N 0-1 | H 1-2 | N 2-3 | Z 3-5");
}

} // namespace
