// SPDX-License-Identifier: MIT
// Tests suspension: every state is met once, and what continues while a task is suspended.
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace suspend_test {

using namespace hosted;
using kernel::task_resume;
using kernel::task_self;
using kernel::task_suspend;

kernel::Pid s_first;
constinit kernel::Mutex s_one;
constinit kernel::Mutex s_two;
constinit kernel::Semaphore s_units;

void suspend_at(std::uint64_t when) {
    at_time(when, [](void*) { must(task_suspend(s_first)); });
}

void resume_at(std::uint64_t when) {
    at_time(when, [](void*) { must(task_resume(s_first)); });
}

template <char Name, std::uint64_t Count>
void critical(void*) {
    static constexpr char kName[] = {Name, '\0'};
    must(kernel::mutex_lock(s_one));
    work(kName, Count);
    must(kernel::mutex_unlock(s_one));
}

TEST(Suspend, TakesTheProcessorFromTheRunningTask) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", once<'A', 4>, hard(4, 40, 20));
                  start("B", once<'B', 3>, hard(3, 40));
                  suspend_at(1);
                  resume_at(3);
                  pause_until(20);
              }),
              "A 0-1 | B 1-3 | A 3-6 | B 6-7");
}

TEST(Suspend, ATaskSuspendsItselfAndContinuesWhereItStopped) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          work("A", 1);
                          must(task_suspend(task_self()));
                          stamp("resumed");
                      },
                      hard(4, 40));
                  resume_at(6);
                  pause_until(20);
              }),
              "A 0-1 | resumed@6");
}

TEST(Suspend, ReleasesAndDeadlinesContinue) {
    // Released at 5 and 10 while suspended; both jobs are late; they run one after the other at 12.
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", periodic<'A', 1>, hard(1, 5));
                  suspend_at(2);
                  resume_at(12);
                  pause_until(14);
                  const kernel::JobCounts jobs = must(kernel::task_info(s_first)).jobs;
                  note("released " + std::to_string(jobs.released) + " missed " + std::to_string(jobs.deadline_misses));
              }),
              "A 0-1 | A 12-14 | released 3 missed 1");
}

TEST(Suspend, ADelayThatEndsMeanwhileIsRemembered) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          kernel::task_delay(ms(4));
                          stamp("woke");
                      },
                      hard(4, 40));
                  suspend_at(2);
                  resume_at(6);
                  pause_until(20);
              }),
              "woke@6");
}

TEST(Suspend, ADelayThatLastsLongerContinues) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          kernel::task_delay(ms(8));
                          stamp("woke");
                      },
                      hard(4, 40));
                  suspend_at(2);
                  resume_at(6);
                  pause_until(20);
              }),
              "woke@8");
}

TEST(Suspend, KeepsItsPlaceInASemaphoresQueue) {
    EXPECT_EQ(hosted::run([] {
                  must(kernel::sem_init(s_units, "units", 0));
                  const auto take = [](void* word) {
                      must(kernel::sem_wait(s_units));
                      stamp(static_cast<const char*>(word));
                  };
                  s_first = start("A", take, hard(1, 40), const_cast<char*>("A"));
                  start("B", take, hard(1, 40), const_cast<char*>("B"));
                  suspend_at(1);
                  resume_at(6);
                  pause_until(3);
                  must(kernel::sem_post(s_units)); // A's, although it cannot run
                  pause_until(8);
                  must(kernel::sem_post(s_units));
              }),
              "A@6 | B@8");
}

TEST(Suspend, ASleepingTaskIsActivatedAndRunsWhenItIsResumed) {
    EXPECT_EQ(hosted::run([] {
                  s_first = create("A", once<'A', 1>, kernel::NrtModel{});
                  must(task_suspend(s_first));
                  must(kernel::task_activate_at(s_first, at(1)));
                  resume_at(4);
                  pause_until(10);
              }),
              "A 4-5");
}

TEST(Suspend, WhoWaitsForASuspendedOwnersMutexWaitsOn) {
    // H's position is lent to L until L is suspended at 3; M has the processor; at 5 L continues in H's position.
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  s_first = start("L", critical<'l', 4>, hard(4, 100, 90));
                  start("H", critical<'h', 1>, hard(1, 100, 20, 2));
                  start("M", once<'M', 4>, hard(4, 100, 50, 2));
                  suspend_at(3);
                  resume_at(5);
                  pause_until(30);
              }),
              "l 0-3 | M 3-5 | l 5-6 | h 6-7 | M 7-9");
}

TEST(Suspend, ASuspendedWaiterLendsNothing) {
    // L runs in H's place from 2 on; H is suspended at 3: M is more urgent than L. At 5 H lends again.
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  start("L", critical<'l', 4>, hard(4, 100, 90));
                  s_first = start("H", critical<'h', 1>, hard(1, 100, 20, 2));
                  start("M", once<'M', 4>, hard(4, 100, 50, 2));
                  suspend_at(3);
                  resume_at(5);
                  pause_until(30);
              }),
              "l 0-3 | M 3-5 | l 5-6 | h 6-7 | M 7-9");
}

TEST(Suspend, AMutexThatIsFreedMeanwhileIsTakenAfterwards) {
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  start("L", critical<'l', 4>, hard(4, 100, 90));
                  s_first = start("H", critical<'h', 1>, hard(1, 100, 20, 2));
                  suspend_at(3);
                  resume_at(8);
                  pause_until(7);
                  note(kernel::mutex_trylock(s_one).ok() ? "free" : "taken");
                  must(kernel::mutex_unlock(s_one));
                  pause_until(30);
              }),
              "l 0-4 | free | h 8-9");
}

TEST(Suspend, AMiddleOfAChainThatIsSuspendedLendsOnForOthers) {
    // A waits for B, B for C: B is suspended at 4, and A's place still reaches C.
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  must(kernel::mutex_init(s_two, "two"));
                  start("C", holding<s_two, 'c', 5>, hard(5, 200, 180));
                  s_first = start(
                      "B",
                      [](void*) {
                          must(kernel::mutex_lock(s_one));
                          must(kernel::mutex_lock(s_two));
                          work("b", 1);
                          must(kernel::mutex_unlock(s_two));
                          must(kernel::mutex_unlock(s_one));
                      },
                      hard(3, 200, 150, 1));
                  start("A", critical<'a', 1>, hard(1, 200, 50, 2));
                  start("M", once<'M', 3>, hard(3, 200, 100, 3));
                  suspend_at(4);
                  resume_at(7);
                  pause_until(40);
              }),
              // 5: C is done; A and B wait for B, who is suspended: M. At 7 B in A's place.
              "c 0-5 | M 5-7 | b 7-8 | a 8-9 | M 9-10");
}

TEST(Suspend, ASignalIsTakenAfterwards) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          must(kernel::signal_handler_set(
                              4, [](std::uint8_t, void*) { stamp("signal"); }, nullptr));
                          work("A", 4);
                      },
                      hard(4, 40));
                  suspend_at(1);
                  at_time(2, [](void*) { must(kernel::signal_raise(s_first, 4)); });
                  resume_at(5);
                  pause_until(20);
              }),
              "A 0-1 | signal@5 | A 5-8");
}

TEST(Suspend, AnAbortedJobsTaskStaysSuspended) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          stamp("enter");
                          work("A", 4);
                          kernel::task_endcycle();
                      },
                      hard(4, 10, 6));
                  must(kernel::task_set_reactions(s_first, {.deadline_miss = kernel::Reaction::abort}));
                  suspend_at(1);
                  resume_at(12); // the second job is released at 10
                  pause_until(19);
              }),
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
