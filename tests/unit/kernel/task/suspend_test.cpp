// SPDX-License-Identifier: MIT
// Tests suspension: every state is met once, and what continues while a task is suspended.
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace suspend_test {

using namespace hosted;
using kernel::task_resume;
using kernel::task_suspend;

kernel::Pid s_first;

TEST(Suspend, TakesTheProcessorFromTheRunningTask) {
    EXPECT_EQ(run(R"(start A hard 4/40/20: A 4
                     start B hard 3/40: B 3
                     at 1: suspend A; at 3: resume A; until 20)"),
              "A 0-1 | B 1-3 | A 3-6 | B 6-7");
}

TEST(Suspend, ATaskSuspendsItselfAndContinuesWhereItStopped) {
    EXPECT_EQ(run(R"(start A hard 4/40: A 1; suspend A; stamp resumed
                     at 6: resume A; until 20)"),
              "A 0-1 | resumed@6");
}

TEST(Suspend, ReleasesAndDeadlinesContinue) {
    // Released at 5 and 10 while suspended; both jobs are late; they run one after the other at 12.
    EXPECT_EQ(run(R"(start A hard 1/5: each A 1
                     at 2: suspend A; at 12: resume A; until 14; counts A released missed)"),
              "A 0-1 | A 12-14 | released 3 missed 1");
}

TEST(Suspend, ADelayThatEndsMeanwhileIsRemembered) {
    EXPECT_EQ(run(R"(start A hard 4/40: delay 4; stamp woke
                     at 2: suspend A; at 6: resume A; until 20)"),
              "woke@6");
}

TEST(Suspend, ADelayThatLastsLongerContinues) {
    EXPECT_EQ(run(R"(start A hard 4/40: delay 8; stamp woke
                     at 2: suspend A; at 6: resume A; until 20)"),
              "woke@8");
}

TEST(Suspend, KeepsItsPlaceInASemaphoresQueue) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start A hard 1/40: wait units; stamp A
                     start B hard 1/40: wait units; stamp B
                     at 1: suspend A; at 6: resume A
                     until 3; post units  // A's, although it cannot run
                     until 8; post units)"),
              "A@6 | B@8");
}

TEST(Suspend, ASleepingTaskIsActivatedAndRunsWhenItIsResumed) {
    EXPECT_EQ(hosted::run([] {
                  play("create A nrt: A 1\nsuspend A");
                  must(kernel::task_activate_at(task("A"), at(1)));
                  play("at 4: resume A; until 10");
              }),
              "A 4-5");
    // An interrupt may activate it as well.
    EXPECT_EQ(run(R"(create A nrt: A 1
                     suspend A; at 1: activate A; at 4: resume A; until 10)"),
              "A 4-5");
}

TEST(Suspend, WhoWaitsForASuspendedOwnersMutexWaitsOn) {
    // H's position is lent to L until L is suspended at 3; M has the processor; at 5 L continues in H's position.
    EXPECT_EQ(run(R"(mutex one
                     start L hard 4/100/90: lock one; l 4; unlock one
                     start H hard 1/100/20+2: lock one; h 1; unlock one
                     start M hard 4/100/50+2: M 4
                     at 3: suspend L; at 5: resume L; until 30)"),
              "l 0-3 | M 3-5 | l 5-6 | h 6-7 | M 7-9");
}

TEST(Suspend, ASuspendedWaiterLendsNothing) {
    // L runs in H's place from 2 on; H is suspended at 3: M is more urgent than L. At 5 H lends again.
    EXPECT_EQ(run(R"(mutex one
                     start L hard 4/100/90: lock one; l 4; unlock one
                     start H hard 1/100/20+2: lock one; h 1; unlock one
                     start M hard 4/100/50+2: M 4
                     at 3: suspend H; at 5: resume H; until 30)"),
              "l 0-3 | M 3-5 | l 5-6 | h 6-7 | M 7-9");
}

TEST(Suspend, AMutexThatIsFreedMeanwhileIsTakenAfterwards) {
    EXPECT_EQ(run(R"(mutex one
                     start L hard 4/100/90: lock one; l 4; unlock one
                     start H hard 1/100/20+2: lock one; h 1; unlock one
                     at 3: suspend H; at 8: resume H; until 7; main? trylock one; unlock one; until 30)"),
              "l 0-4 | main: ok | h 8-9");
}

TEST(Suspend, AMiddleOfAChainThatIsSuspendedLendsOnForOthers) {
    // A waits for B, B for C: B is suspended at 4, and A's place still reaches C.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start C hard 5/200/180: lock two; c 5; unlock two
                     start B hard 3/200/150+1: lock one; lock two; b 1; unlock two; unlock one
                     start A hard 1/200/50+2: lock one; a 1; unlock one
                     start M hard 3/200/100+3: M 3
                     at 4: suspend B; at 7: resume B; until 40)"),
              // 5: C is done; A and B wait for B, who is suspended: M. At 7 B in A's place.
              "c 0-5 | M 5-7 | b 7-8 | a 8-9 | M 9-10");
}

TEST(Suspend, ASignalIsTakenAfterwards) {
    EXPECT_EQ(run(R"(start A hard 4/40: handle 4; A 4
                     at 1: suspend A; at 2: raise A 4; at 5: resume A; until 20)"),
              "A 0-1 | signal 4@5 | A 5-8");
}

TEST(Suspend, AnAbortedJobsTaskStaysSuspended) {
    EXPECT_EQ(run(R"(start A hard 4/10/6 miss=abort: stamp enter; A 4; end
                     at 1: suspend A
                     at 12: resume A  // the second job is released at 10
                     until 19)"),
              "enter@0 | A 0-1 | enter@12 | A 12-16");
}

TEST(Suspend, RefusesWhatCannotBe) {
    EXPECT_EQ(hosted::run([] {
                  const auto result = [](const lib::Result<void>& done) {
                      note(done.ok() ? "ok" : lib::error_name(done.error()));
                  };
                  s_first = create("A", once<'A', 1>, hard(1, 10));
                  result(task_resume(s_first));
                  result(task_suspend(s_first));
                  note(must(kernel::task_info(s_first)).suspended ? "suspended" : "not suspended");
                  result(task_suspend(s_first));
                  result(task_resume(s_first));
                  result(task_suspend({0})); // the idle task
                  result(task_suspend({63}));
                  result(task_resume({63}));
              }),
              "refused | ok | suspended | busy | ok | refused | not found | not found");
}

} // namespace suspend_test
