// SPDX-License-Identifier: MIT
// Tests what a task has from its creation on, what it may not be created with, and what it can read about itself.
#include "kernel/task/task.hpp"

#include "kernel/config.hpp"
#include "kernel/sched/cpu_clock.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/signal.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace task_test {

using namespace hosted;
using kernel::Reaction;

kernel::Pid s_first;
kernel::Mutex& s_mutex = mutex("mutex");

void note_info(kernel::Pid pid) {
    const kernel::TaskInfo info = must(kernel::task_info(pid));
    const kernel::JobCounts& jobs = info.jobs;
    note(std::string(info.suspended ? "suspended" : "not suspended") + " released " + std::to_string(jobs.released) +
         " completed " + std::to_string(jobs.completed) + " violated " + std::to_string(jobs.wcet_violations) +
         " ran " + std::to_string(info.cpu_time.value / 1'000'000));
}

TEST(Task, HasNothingOfTheTaskThatHadItsSlot) {
    // The first one leaves a suspension, a signal that is pending, a mask, an alarm, counts and time.
    EXPECT_EQ(hosted::run([] {
                  s_first =
                      must(kernel::task_create({.name = "A",
                                                .body =
                                                    [](void*) {
                                                        static_cast<void>(kernel::signal_mask(~0U));
                                                        must(kernel::task_cpu_alarm(kernel::task_self(), ms(4), 9));
                                                        work("A", 2);
                                                        kernel::task_endcycle();
                                                        work("A", 9);
                                                    },
                                                .argument = nullptr,
                                                .model = hard(1, 5),
                                                .group = 3,
                                                .reactions = {.deadline_miss = Reaction::abort}}));
                  must(kernel::task_activate_at(s_first, hosted::at(0)));
                  pause_until(1);
                  must(kernel::signal_raise(s_first, 2));
                  at_time(6, [](void*) { must(kernel::task_suspend(s_first)); });
                  pause_until(7);
                  note_info(s_first);
                  must(kernel::task_kill(s_first));
                  static int argument = 5;
                  const kernel::Pid again = hosted::create(
                      "B",
                      [](void* given) {
                          must(kernel::signal_handler_set(2, &say, nullptr));
                          note("argument " + std::to_string(*static_cast<int*>(given)));
                          work("B", 5); // one more than the former's alarm, and late: it is not aborted
                          note("signals " + std::to_string(must(kernel::signal_pending(kernel::task_self()))));
                      },
                      hard(1, 40, 4), &argument);
                  note(again == s_first ? "same slot" : "other slot");
                  note_info(again);
                  must(kernel::task_activate_at(again, hosted::at(9)));
                  pause_until(30);
              }),
              "A 0-2 | A 5-6 | suspended released 2 completed 1 violated 1 ran 3 | same slot | "
              "not suspended released 0 completed 0 violated 0 ran 0 | argument 5 | B 9-14 | signals 0");
}

TEST(Task, ReadsItsOwnProcessorTime) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          work("A", 2);
                          note("own " + std::to_string(kernel::task_cpu_time().value / 1'000'000));
                          work("A", 2);
                          note("own " + std::to_string(kernel::task_cpu_time().value / 1'000'000));
                          note_info(kernel::task_self());
                          kernel::task_endcycle();
                      },
                      hard(5, 40));
                  start("H", once<'H', 3>, hard(3, 40, 10, 3));
                  at_time(5, [](void*) { note_info(s_first); });
                  pause_until(20);
                  note_info(s_first);
              }),
              "A 0-2 | own 2 | A 2-3 | H 3-5 | not suspended released 1 completed 0 violated 0 ran 3 | H 5-6 | A 6-7 | "
              "own 4 | not suspended released 1 completed 0 violated 0 ran 4 | "
              "not suspended released 1 completed 1 violated 0 ran 4");
}

TEST(Task, IsChargedWhileItRunsInThePlaceOfAnother) {
    static kernel::Pid s_lender;
    EXPECT_EQ(hosted::run([] {
                  play("mutex mutex");
                  s_first = start("L", "lock mutex; L 4; unlock mutex", hard(4, 100, 90));
                  s_lender = start("H", "lock mutex; H 1; unlock mutex", hard(1, 100, 20, 1));
                  at_time(3, [](void*) {
                      note_info(s_first);
                      note_info(s_lender);
                  });
                  pause_until(20);
              }),
              "L 0-3 | not suspended released 1 completed 0 violated 0 ran 3 | "
              "not suspended released 1 completed 0 violated 0 ran 0 | L 3-4 | H 4-5");
}

void note_creation(const kernel::TaskOptions& options) {
    const auto created = kernel::task_create(options);
    note(created.ok() ? "ok" : lib::error_name(created.error()));
}

kernel::TaskOptions with_mutexes(std::span<kernel::Mutex* const> mutexes) {
    return {.name = "T",
            .body = once<'T', 1>,
            .argument = nullptr,
            .model = hard(1, 100),
            .group = 0,
            .reactions = {},
            .mutexes = mutexes};
}

TEST(Task, IsNotCreatedWithoutABodyOrWithMutexesThatTakeNoUsers) {
    EXPECT_EQ(hosted::run([] {
                  static constinit kernel::Mutex s_raw;
                  static constinit kernel::Mutex s_plain;
                  must(kernel::mutex_init(s_plain, "plain"));
                  must(kernel::mutex_init(s_mutex, {.protocol = kernel::MutexProtocol::stack, .name = "m"}));
                  static kernel::Mutex* const none[] = {&s_mutex, nullptr};
                  static kernel::Mutex* const raw[] = {&s_mutex, &s_raw};
                  static kernel::Mutex* const plain[] = {&s_mutex, &s_plain};
                  static kernel::Mutex* const good[] = {&s_mutex};
                  note_creation({.name = "T", .body = nullptr, .argument = nullptr, .model = hard(1, 100)});
                  note_creation(with_mutexes(none));
                  note_creation(with_mutexes(raw));
                  note_creation(with_mutexes(plain));
                  note(s_mutex.ceiling() == kernel::kPreemptionLevelNone ? "nothing changed" : "changed");
                  note_creation(with_mutexes(good));
                  note(std::to_string(s_mutex.ceiling() / 1'000'000));
              }),
              "invalid argument | invalid argument | invalid argument | invalid argument | nothing changed | ok | 100");
}

TEST(Task, IsNotCreatedWhereNoSlotIsFree) {
    EXPECT_EQ(hosted::run([] {
                  std::size_t created = 0;
                  kernel::Pid last;
                  for (;;) {
                      const auto pid = kernel::task_create(
                          {.name = "N", .body = once<'N', 1>, .argument = nullptr, .model = kernel::NrtModel{}});
                      if (!pid.ok()) {
                          note(lib::error_name(pid.error()));
                          break;
                      }
                      last = pid.value();
                      ++created;
                  }
                  note(created > kernel::kTasksMax - 8 && created < kernel::kTasksMax ? "the table is full"
                                                                                      : "too soon");
                  must(kernel::task_kill(last));
                  note_creation({.name = "N", .body = once<'N', 1>, .argument = nullptr, .model = kernel::NrtModel{}});
              }),
              "no space | the table is full | ok");
}

TEST(Task, RefusesWhatNoTaskOrNotThisOneCanDo) {
    EXPECT_EQ(hosted::run([] {
                  note_result("no task to activate", kernel::task_activate({63}));
                  note_result("no task to kill", kernel::task_kill({63}));
                  note_result("beyond the table", kernel::task_kill({kernel::kTasksMax}));
                  note_result("the idle task", kernel::task_kill({0}));
                  s_first = start("A", periodic<'A', 1>, hard(1, 100));
                  note_result("active", kernel::task_activate(s_first));
                  note(lib::error_name(kernel::task_info({63}).error()));
              }),
              "no task to activate: not found | no task to kill: not found | beyond the table: not found | "
              "the idle task: refused | active: busy | not found");
}

TEST(Task, HasAnotherContextThanTheTaskBeforeInItsSlot) {
    EXPECT_EQ(hosted::run([] {
                  const kernel::Pid first = create("A", once<'A', 1>, kernel::NrtModel{});
                  const std::uint16_t before = must(kernel::task_info(first)).context;
                  must(kernel::task_kill(first));
                  const kernel::Pid second = create("B", once<'B', 1>, kernel::NrtModel{});
                  note(second == first ? "same slot" : "other slot");
                  note(must(kernel::task_info(second)).context != before ? "other context" : "same context");
              }),
              "same slot | other context");
}

TEST(Task, IsAdmittedByALongerSearchThanInterruptsCouldWaitFor) {
    // A busy period of some 600 steps (reservations_test.cpp).
    EXPECT_EQ(hosted::run([] {
                  const auto note_model = [](std::uint64_t wcet_ns, std::uint64_t period_ns,
                                             std::uint64_t deadline_ns) {
                      note_creation({.name = "T",
                                     .body = once<'T', 1>,
                                     .argument = nullptr,
                                     .model = kernel::HardModel{{wcet_ns}, {period_ns}, {deadline_ns}}});
                  };
                  note_model(343, 1'030, 1'028);
                  note_model(3'345, 10'033, 10'031);
                  note_model(33'362, 100'068, 100'064);
              }),
              "ok | ok | ok");
}

TEST(Task, GoesToSleepInTheMomentItsBudgetEnds) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("S", "S 2; sleep; again", kernel::SoftModel{ms(2), ms(8)});
                  at_time(4, [](void*) { must(kernel::task_activate(s_first)); });
                  pause_until(20);
                  note_info(s_first);
              }),
              "S 0-2 | S 4-6 | not suspended released 2 completed 2 violated 0 ran 4");
}

} // namespace task_test
