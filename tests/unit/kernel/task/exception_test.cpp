// SPDX-License-Identifier: MIT
// Tests what follows a broken promise, in whole schedules. A body that notes its name at its top was entered.
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace exception_test {

using namespace hosted;
using kernel::Reaction;
using kernel::Reactions;
using kernel::TaskException;

kernel::Pid s_first;
kernel::Mutex& s_mutex = mutex("mutex");
kernel::Semaphore& s_never = semaphore("never");

kernel::Pid start_with(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model,
                       const Reactions& reactions) {
    const kernel::Pid pid =
        must(kernel::task_create({.name = name, .body = body, .model = model, .reactions = reactions}));
    must(kernel::task_activate_at(pid, at(0)));
    return pid;
}

void note_counts(kernel::Pid pid) {
    const kernel::JobCounts jobs = must(kernel::task_info(pid)).jobs;
    note("completed " + std::to_string(jobs.completed) + " missed " + std::to_string(jobs.deadline_misses) +
         " violated " + std::to_string(jobs.wcet_violations) + " aborted " + std::to_string(jobs.aborted));
}

template <char Name, std::uint64_t Count>
void periodic(void*) {
    static constexpr char kName[] = {Name, '\0'};
    note(std::string("enter ") + Name);
    for (;;) {
        work(kName, Count);
        kernel::task_endcycle();
    }
}

TEST(Exception, AbortEndsALateJobAndTheNextOneStartsAtTheEntry) {
    // A needs 7 of a deadline of 5: cut at 5. B has the processor until A's next release.
    EXPECT_EQ(run(R"(start A hard 2/10/5 miss=abort: note enter A; each A 7
                     start B hard 4/40: B 6
                     until 19; counts A completed missed violated aborted)"),
              "enter A | A 0-5 | B 5-10 | enter A | A 10-15 | B 15-16 | "
              "completed 2 missed 2 violated 2 aborted 2");
}

TEST(Exception, AbortCutsAJobThatUsesMoreThanItDeclared) {
    EXPECT_EQ(run(R"(start A hard 2/10 wcet=abort: note enter A; each A 4
                     start B hard 3/40: B 3
                     until 19; counts A completed missed violated aborted)"),
              "enter A | A 0-2 | B 2-5 | enter A | A 10-12 | completed 2 missed 0 violated 2 aborted 2");
}

TEST(Exception, AnAbortedJobIsFollowedByThePendingOneAtOnce) {
    // Nothing but the deadline of the second release, at 10, aborts: job 1 misses at 10 with job 2 pending since 5.
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", "note enter; A 12", hard(2, 5));
                  must(kernel::kern_event_post(
                      at(7),
                      [](void*) { must(kernel::task_set_reactions(s_first, {.deadline_miss = Reaction::abort})); },
                      nullptr));
                  must(kernel::kern_event_post(
                      at(14),
                      [](void*) {
                          note_counts(s_first);
                          must(kernel::task_kill(s_first));
                      },
                      nullptr));
                  pause_until(15);
              }),
              "enter | A 0-10 | enter | A 10-14 | completed 1 missed 2 violated 2 aborted 1");
}

TEST(Exception, AbortTakesAJobThatNeverRan) {
    EXPECT_EQ(run(R"(start H hard 6/40/7: H 6
                     start A hard 1/20/8 miss=abort: note enter A; each A 1
                     start M hard 1/40/7: M 3  // three of one declared: A is due after it
                     until 30; counts A completed missed violated aborted)"),
              "H 0-6 | M 6-9 | enter A | A 20-21 | completed 2 missed 1 violated 0 aborted 1");
}

TEST(Exception, AbortFreesTheMutexesOfTheJob) {
    EXPECT_EQ(run(R"(mutex mutex
                     start A hard 3/20 wcet=abort: lock mutex; a 7; unlock mutex
                     start H hard 1/20/10+5: lock mutex; h 1; unlock mutex
                     until 10; owner mutex)"),
              "a 0-3 | h 5-6 | free");
}

TEST(Exception, AbortWhileItRunsInAnothersPlaceGivesThePlaceBack) {
    // At 4 L, in H's place since 2, is cut by its deadline.
    EXPECT_EQ(run(R"(mutex mutex
                     start L hard 3/30/4 miss=abort: note enter; lock mutex; l 9; unlock mutex
                     start H hard 1/30/1+2: lock mutex; h 1; unlock mutex
                     until 20; counts L completed missed violated aborted)"),
              "enter | l 0-4 | h 4-5 | completed 1 missed 1 violated 1 aborted 1");
}

void (*s_block)() = nullptr;

void late_while_blocked() {
    must(kernel::sem_init(s_never, "never", 0));
    must(kernel::mutex_init(s_mutex, "m"));
    must(kernel::mutex_lock(s_mutex));
    s_first = start_with("A",
                         [](void*) {
                             work("A", 1);
                             s_block();
                             note("continued");
                         },
                         hard(2, 10, 5), {.deadline_miss = Reaction::abort});
    pause_until(8);
    note_counts(s_first);
    must(kernel::mutex_unlock(s_mutex));
    must(kernel::sem_post(s_never));
    note(kernel::sem_trywait(s_never).ok() ? "unit left" : "unit lost");
    pause_until(12);
}

std::string late_while(void (*block)()) {
    s_block = block;
    return hosted::run(&late_while_blocked);
}

// Each time: cut at 5, started anew at 10, and what it waited for forgets it.
constexpr std::string_view kCutInAWait = "A 0-1 | completed 1 missed 1 violated 0 aborted 1 | unit left | A 10-11";

TEST(Exception, AbortFindsAJobThatIsDelayed) {
    EXPECT_EQ(late_while([] { kernel::task_delay(ms(7)); }), kCutInAWait);
}

TEST(Exception, AbortFindsAJobThatWaitsForASemaphore) {
    EXPECT_EQ(late_while([] { must(kernel::sem_wait(s_never)); }), kCutInAWait);
}

TEST(Exception, AbortFindsAJobThatWaitsForAMutex) {
    EXPECT_EQ(late_while([] {
                  must(kernel::mutex_lock(s_mutex));
                  must(kernel::mutex_unlock(s_mutex));
              }).substr(0, 60),
              std::string_view("A 0-1 | completed 1 missed 1 violated 0 aborted 1 | unit lef"));
}

TEST(Exception, AbortFindsAJobThatIsSuspended) {
    EXPECT_EQ(late_while([] { must(kernel::task_suspend(kernel::task_self())); }),
              "A 0-1 | completed 1 missed 1 violated 0 aborted 1 | unit left"); // and it still is at 10
}

TEST(Exception, AMissThatIsSeenAtTheEndOfTheJobAbortsNothing) {
    // The end of the job comes before the interrupt of its deadline: it is complete.
    EXPECT_EQ(hosted::run([] {
                  s_first = start_with("A",
                                       [](void*) {
                                           note("enter");
                                           for (;;) {
                                               work("A", 1);
                                               {
                                                   const arch::IrqGuard guard;
                                                   arch::fake_cpu.time += 6'000'000;
                                                   kernel::task_endcycle();
                                               }
                                           }
                                       },
                                       hard(7, 10, 7), {.deadline_miss = Reaction::abort});
                  pause_until(19);
                  note_counts(s_first);
              }),
              "enter | A 0-1 | A 10-11 | completed 2 missed 0 violated 0 aborted 0");
}

TEST(Exception, KillEndsTheTask) {
    EXPECT_EQ(run(R"(start A hard 2/10 wcet=kill: A 7
                     start B hard 2/40: B 2
                     until 19; alive A)"),
              "A 0-2 | B 2-4 | gone");
}

TEST(Exception, KillBeatsAnAbortOfTheSameMoment) {
    EXPECT_EQ(run(R"(start A hard 2/10/2 miss=kill wcet=abort: A 7
                     until 19; alive A)"),
              "A 0-2 | gone");
}

TEST(Exception, KillOfAWaitingTaskLeavesNothing) {
    EXPECT_EQ(run(R"(semaphore never 0
                     start A hard 1/10/5 miss=kill: wait never
                     until 7; alive A; post never; unit? trywait never)"),
              "gone | unit: ok");
}

TEST(Exception, PanicEndsTheSystem) {
    EXPECT_EQ(run(R"(start A hard 2/10 wcet=panic: A 7
                     until 19)"),
              "A 0-2 | panic: task A: worst-case execution time exceeded");
}

void say_exception(TaskException exception, void* argument) {
    stamp(std::string(static_cast<const char*>(argument)) + std::to_string(static_cast<int>(exception)));
    work("x", 1);
}

void with_handler(void*) {
    kernel::exception_handler_set(&say_exception, const_cast<char*>("handler "));
    for (;;) {
        work("A", 4);
        kernel::task_endcycle();
    }
}

TEST(Exception, AHandlerRunsInTheTaskAndTheJobContinues) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start_with("A", &with_handler, hard(2, 10), {.wcet = Reaction::handler});
                  pause_until(12);
                  note_counts(s_first);
              }),
              "A 0-2 | handler 2@2 | x 2-3 | A 3-5 | A 10-12 | handler 2@12 | x 12-13 | A 13-15 | "
              "completed 2 missed 0 violated 2 aborted 0");
}

TEST(Exception, AHandlerIsCalledWhenTheTaskRunsNext) {
    // The deadline at 5 finds A waiting; it is reported when the delay is over.
    EXPECT_EQ(hosted::run([] {
                  start_with("A",
                             [](void*) {
                                 kernel::exception_handler_set(&say_exception, const_cast<char*>("handler "));
                                 kernel::task_delay(ms(7));
                                 stamp("continued");
                             },
                             hard(2, 10, 5), {.deadline_miss = Reaction::handler});
                  pause_until(9);
              }),
              "handler 1@7 | x 7-8 | continued@8");
}

TEST(Exception, AHandlerMayEndTheJob) {
    EXPECT_EQ(hosted::run([] {
                  start_with("A",
                             [](void*) {
                                 kernel::exception_handler_set([](TaskException, void*) { kernel::task_exit(); },
                                                               nullptr);
                                 work("A", 9);
                             },
                             hard(2, 10), {.wcet = Reaction::handler});
                  pause_until(9);
              }),
              "A 0-2");
}

TEST(Exception, RefusesReactionsThatDoNotExist) {
    EXPECT_EQ(
        hosted::run([] {
            const auto result = [](const Reactions& reactions) {
                const auto set = kernel::task_set_reactions(kernel::task_self(), reactions);
                note(set.ok() ? "ok" : lib::error_name(set.error()));
            };
            result({.fault = Reaction::handler});
            result({.fault = Reaction::count});
            result({.wcet = static_cast<Reaction>(5)});
            result({.deadline_miss = static_cast<Reaction>(5)});
            result({.activation = static_cast<Reaction>(5)});
            result({.fault = Reaction::kill});
            result({.fault = Reaction::abort});
            result({.deadline_miss = Reaction::panic, .wcet = Reaction::panic, .activation = Reaction::panic});
            note(lib::error_name(kernel::task_set_reactions({63}, {}).error()));
            note(lib::error_name(kernel::task_create({.name = "t",
                                                      .body = once<'A', 1>,
                                                      .model = kernel::NrtModel{},
                                                      .reactions = {.fault = Reaction::handler}})
                                     .error()));
        }),
        "invalid argument | invalid argument | invalid argument | invalid argument | invalid argument | ok | ok | ok | "
        "not found | invalid argument");
}

TEST(Exception, AnOverloadOfTwentyPerCentIsCutToWhatWasPromised) {
    // A and B were admitted with 40 % and 45 % and want 60 % each. With aborts each gets what it declared, and no task
    // is late. Without, EDF prefers none: both are late in the end.
    static kernel::Pid pids[2];
    const auto scenario = [](Reaction reaction) {
        pids[0] = start_with("A", periodic<'A', 6>, hard(4, 10), {.wcet = reaction});
        pids[1] = start_with("B", periodic<'B', 12>, hard(9, 20), {.wcet = reaction});
        must(kernel::kern_event_post(
            {at(100).value - 1},
            [](void*) {
                note_counts(pids[0]);
                note_counts(pids[1]);
                must(kernel::task_kill(pids[0]));
                must(kernel::task_kill(pids[1]));
            },
            nullptr));
        pause_until(101);
    };
    static const auto s_scenario = scenario;
    const auto counts = [](const std::string& report) { return report.substr(report.find("completed")); };
    EXPECT_EQ(counts(hosted::run([] { s_scenario(Reaction::abort); })),
              "completed 10 missed 0 violated 10 aborted 10 | completed 5 missed 0 violated 5 aborted 5");
    const std::string late = counts(hosted::run([] { s_scenario(Reaction::count); }));
    EXPECT_EQ(late.find("missed 0"), std::string::npos) << late;
    EXPECT_EQ(late.find("aborted 1"), std::string::npos) << late;
}

} // namespace exception_test
