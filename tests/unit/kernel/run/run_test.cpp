// SPDX-License-Identifier: MIT
// Tests run levels, the end of a run, and the life of tasks.
#include "kernel/config.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/run/app.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using namespace hosted;
using kernel::AtAbort;
using kernel::RunLevel;
using kernel::sys_atrunlevel;

void say(void* word) {
    note(static_cast<const char*>(word));
}

void at_level(const char* word, RunLevel when, AtAbort at_abort = AtAbort::run) {
    must(sys_atrunlevel(&say, const_cast<char*>(word), when, at_abort));
}

void register_two_each() {
    at_level("s1", RunLevel::shutdown);
    at_level("s2", RunLevel::shutdown);
    at_level("b1", RunLevel::before_exit, AtAbort::skip);
    at_level("b2", RunLevel::before_exit);
    at_level("a1", RunLevel::after_exit);
    at_level("a2", RunLevel::after_exit);
}

TEST(RunLevel, RunsTheFunctionsOfTheExitLevelsLastInFirstOut) {
    EXPECT_EQ(hosted::run_to_the_end([] { register_two_each(); }), "s2 | s1 | b2 | b1 | a2 | a1 | end | 0");
}

TEST(RunLevel, SkipsFunctionsThatAreNotForAnAbort) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  register_two_each();
                  kernel::sys_abort(3);
              }),
              "s2 | s1 | b2 | a2 | a1 | aborted | 3");
}

// Before run() the functions of init are called without a scheduler.
[[noreturn]] void run_init_and_exit() {
    static std::vector<int> order;
    static std::array<int, 3> numbers{0, 1, 2};
    for (int& number : numbers) {
        must(sys_atrunlevel([](void* argument) { order.push_back(*static_cast<int*>(argument)); }, &number,
                            RunLevel::init));
    }
    kernel::run_level_functions(RunLevel::init);
    std::exit(order == std::vector{0, 1, 2} ? 0 : 1);
}

TEST(RunLevel, RunsInitFunctionsInTheOrderOfRegistration) {
    EXPECT_EXIT(run_init_and_exit(), testing::ExitedWithCode(0), "");
}

TEST(RunLevel, RunsInitFunctionsBeforeTheMainTask) {
    EXPECT_EQ(hosted::run_to_the_end([] { note("main"); }, [] { at_level("init", RunLevel::init); }),
              "init | main | end | 0");
}

TEST(RunLevel, RefusesTheFortyFirstFunctionNullAndLevelsThatRunNothing) {
    EXPECT_EQ(hosted::run([] {
                  const auto nothing = [](void*) {};
                  note(lib::error_name(sys_atrunlevel(nullptr, nullptr, RunLevel::shutdown).error()));
                  note(lib::error_name(sys_atrunlevel(nothing, nullptr, RunLevel::running).error()));
                  note(lib::error_name(sys_atrunlevel(nothing, nullptr, RunLevel::startup).error()));
                  note(lib::error_name(sys_atrunlevel(nothing, nullptr, RunLevel::init).error()));
                  for (int i = 0; i < 40; ++i) {
                      must(sys_atrunlevel(nothing, nullptr, RunLevel::after_exit));
                  }
                  note(lib::error_name(sys_atrunlevel(nothing, nullptr, RunLevel::after_exit).error()));
              }),
              "invalid argument | invalid argument | invalid argument | refused | no space");
}

TEST(RunLevel, RunsWhatAFunctionRegistersForItsOwnLevel) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  at_level("first", RunLevel::after_exit);
                  must(sys_atrunlevel([](void*) { at_level("nested", RunLevel::after_exit); }, nullptr,
                                      RunLevel::after_exit));
              }),
              "nested | first | end | 0");
}

void at_level_do(void (*function)(void*), RunLevel when) {
    must(sys_atrunlevel(function, nullptr, when));
}

TEST(RunLevel, RunsWhatAFunctionRegistersForLaterLevelsAndRefusesEarlierOnes) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  at_level_do(
                      [](void*) {
                          at_level("before", RunLevel::before_exit);
                          at_level("after", RunLevel::after_exit);
                      },
                      RunLevel::shutdown);
                  at_level_do(
                      [](void*) {
                          note(lib::error_name(sys_atrunlevel(&say, nullptr, RunLevel::shutdown).error()));
                          note(lib::error_name(sys_atrunlevel(&say, nullptr, RunLevel::init).error()));
                      },
                      RunLevel::before_exit);
              }),
              "before | refused | refused | after | end | 0");
}

TEST(RunLevel, SaysWhichLevelItIs) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  const auto say_level = [](void*) { note(std::to_string(static_cast<int>(kernel::run_level()))); };
                  say_level(nullptr);
                  for (const RunLevel level : {RunLevel::shutdown, RunLevel::before_exit, RunLevel::after_exit}) {
                      at_level_do(say_level, level);
                  }
              }),
              "2 | 3 | 4 | 5 | end | 0");
}

// A function of the level, registered between two others of it, ends the system once more.
template <void (*End)(int), RunLevel Level>
std::string end_again_at() {
    return hosted::run_to_the_end([] {
        register_two_each();
        at_level("first", Level);
        at_level_do(
            [](void*) {
                note("ends");
                End(9);
            },
            Level);
        at_level("last", Level);
        kernel::sys_end(5);
    });
}

TEST(RunLevel, ContinuesIfAFunctionEndsTheSystemAgain) {
    EXPECT_EQ((end_again_at<&kernel::sys_end, RunLevel::shutdown>()),
              "last | ends | first | s2 | s1 | b2 | b1 | a2 | a1 | end | 5");
    EXPECT_EQ((end_again_at<&kernel::sys_end, RunLevel::before_exit>()),
              "s2 | s1 | last | ends | first | b2 | b1 | a2 | a1 | end | 5");
}

TEST(RunLevel, ContinuesAsAnAbortIfAFunctionAborts) {
    EXPECT_EQ((end_again_at<&kernel::sys_abort, RunLevel::shutdown>()),
              "last | ends | first | s2 | s1 | b2 | a2 | a1 | aborted | 5");
    EXPECT_EQ((end_again_at<&kernel::sys_abort, RunLevel::before_exit>()),
              "s2 | s1 | last | ends | first | b2 | a2 | a1 | aborted | 5");
}

TEST(RunLevel, PanicsIfAFunctionEndsTheSystemAfterTheLastTask) {
    EXPECT_EQ((end_again_at<&kernel::sys_abort, RunLevel::after_exit>()),
              "s2 | s1 | b2 | b1 | last | ends | panic: sys_end() or sys_abort() outside of a task | first | a2 | a1");
}

template <RunLevel Level>
std::string panic_at() {
    return hosted::run_to_the_end([] {
        register_two_each();
        at_level("skipped", RunLevel::after_exit, AtAbort::skip);
        if (Level == RunLevel::running) {
            kernel::panic("p");
        }
        at_level_do([](void*) { kernel::panic("p"); }, Level);
    });
}

TEST(RunLevel, APanicRunsWhatIsLeftOfAfterExitAndNothingElse) {
    EXPECT_EQ(panic_at<RunLevel::running>(), "panic: p | a2 | a1");
    EXPECT_EQ(panic_at<RunLevel::shutdown>(), "panic: p | a2 | a1");
    EXPECT_EQ(panic_at<RunLevel::before_exit>(), "s2 | s1 | panic: p | a2 | a1");
    EXPECT_EQ(panic_at<RunLevel::after_exit>(), "s2 | s1 | b2 | b1 | panic: p | a2 | a1");
}

TEST(Run, LetsTasksLiveDuringShutdownAndKillsThemBeforeExit) {
    static kernel::Pid pid;
    EXPECT_EQ(hosted::run_to_the_end([] {
                  pid = start("T", "each T 1", hard(1, 4));
                  must(sys_atrunlevel(
                      [](void*) {
                          pause_until(3);
                          note(kernel::task_info(pid).ok() ? "lives" : "gone");
                      },
                      nullptr, RunLevel::shutdown));
                  must(sys_atrunlevel(
                      [](void*) {
                          pause_until(9);
                          note(kernel::task_info(pid).ok() ? "lives" : "gone");
                      },
                      nullptr, RunLevel::before_exit));
              }),
              "T 0-1 | lives | gone | end | 0");
}

TEST(Run, RefusesToKillTheTaskThatEndsIt) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  static kernel::Pid main_task;
                  main_task = kernel::task_self();
                  at_level_do(
                      [](void*) {
                          start(
                              "killer", [](void*) { note(lib::error_name(kernel::task_kill(main_task).error())); },
                              hard(1, 10));
                          pause_until(5);
                      },
                      RunLevel::shutdown);
                  kernel::sys_end(3);
              }),
              "refused | end | 3");
}

TEST(Run, TakesTheResultOfTheFirstWhoEnds) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  start(
                      "H", [](void*) { kernel::sys_end(7); }, hard(1, 10));
                  pause_until(5);
              }),
              "end | 7");
}

// Another task always has work, so nothing else ends the run.
template <void (*Kill)()>
std::string end_of_main() {
    return hosted::run_to_the_end([] {
        register_two_each();
        start(
            "busy", [](void*) { work("", 1'000'000); }, kernel::NrtModel{});
        Kill();
    });
}

void kill_oneself() {
    must(kernel::task_kill(kernel::task_self()));
}

void be_killed() {
    static constinit kernel::Pid main_task;
    main_task = kernel::task_self();
    start(
        "killer", [](void*) { must(kernel::task_kill(main_task)); }, hard(1, 10));
    pause_until(5);
}

TEST(Run, IsAbortedWhenTheMainTaskHasEnded) {
    const std::string_view aborted = "s2 | s1 | b2 | a2 | a1 | aborted | 1";
    EXPECT_EQ(end_of_main<&kernel::task_exit>(), aborted);
    EXPECT_EQ(end_of_main<&kill_oneself>(), aborted);
    EXPECT_EQ(end_of_main<&be_killed>(), aborted);
}

void limit_to(std::uint64_t ms) {
    const kernel::IrqGuard off;
    kernel::limit_run(lib::milliseconds(ms), off);
}

TEST(Run, IsEndedAtItsLimit) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  limit_to(3);
                  pause_until(9);
                  note("unreachable");
              }),
              "end | 0")
        << "the main task waits";
    EXPECT_EQ(hosted::run_to_the_end([] {
                  limit_to(3);
                  start(
                      "busy", [](void*) { work("", 1'000'000); }, hard(1'000'000, 1'000'001));
                  kernel::task_exit();
              }),
              "aborted | 1")
        << "the main task has ended before";
    EXPECT_EQ(hosted::run_to_the_end([] {
                  limit_to(3);
                  at_level_do([](void*) { stamp("shutdown"); }, RunLevel::shutdown);
                  start(
                      "busy", [](void*) { work("", 1'000'000); }, hard(1'000'000, 1'000'001));
                  pause_until(1'000'000);
              }),
              "shutdown@12 | end | 0")
        << "another task keeps the processor from all others";
    EXPECT_EQ(hosted::run_to_the_end([] {
                  limit_to(3);
                  kernel::sys_end(7);
              }),
              "end | 7")
        << "the run ends before";
}

TEST(Task, IsKilledInEveryState) {
    static constinit kernel::Semaphore never;
    EXPECT_EQ(hosted::run([] {
                  must(kernel::sem_init(never, "never", 0));
                  const kernel::Pid sleeping = create("sleeping", "note ran", hard(1, 100));
                  const kernel::Pid ready = start("ready", "R 50", kernel::BackgroundModel{});
                  const kernel::Pid idle = start("idle", "end; note again", hard(1, 5));
                  const kernel::Pid delayed = start("delayed", "delay 4; note woke", hard(1, 100));
                  const kernel::Pid waiting = start(
                      "waiting",
                      [](void*) {
                          must(kernel::sem_wait(never));
                          note("got");
                      },
                      hard(1, 100));
                  pause_until(2);
                  for (const kernel::Pid pid : {sleeping, ready, idle, delayed, waiting}) {
                      must(kernel::task_kill(pid));
                      note(lib::error_name(kernel::task_kill(pid).error()));
                  }
                  pause_until(12);
                  must(kernel::sem_post(never));
              }),
              "R 0-2 | not found | not found | not found | not found | not found");
}

TEST(Task, GivesItsReservationBackWhenItEnds) {
    EXPECT_EQ(
        hosted::run([] {
            const kernel::Pid first = create("first", "", hard(6, 10));
            note(lib::error_name(
                kernel::task_create({.name = "second", .body = [](void*) {}, .argument = nullptr, .model = hard(5, 10)})
                    .error()));
            must(kernel::task_kill(first));
            create("second", "", hard(5, 10));
            note("admitted");
        }),
        "refused | admitted");
}

TEST(Task, RefusesModelsOutsideTheirRanges) {
    EXPECT_EQ(
        hosted::run([] {
            const auto refused = [](const kernel::TaskModel& model) {
                const auto pid =
                    kernel::task_create({.name = "t", .body = [](void*) {}, .argument = nullptr, .model = model});
                note(pid.ok() ? "created" : lib::error_name(pid.error()));
            };
            refused(hard(0, 10));
            refused(hard(1, 0));
            refused(hard(1, 10, 11));
            refused(hard(5, 10, 4));
            refused(kernel::NrtModel{.slice = {}});
            refused(hard(10, 10));
            refused(kernel::HardModel{{1}, hosted::ms(10), {}, {}});
        }),
        "invalid argument | invalid argument | invalid argument | invalid argument | invalid argument | created | "
        "refused");
}

TEST(Task, NumbersContextsUniquelyAndFillsThePool) {
    EXPECT_EQ(hosted::run([] {
                  std::vector<std::uint16_t> contexts;
                  std::vector<kernel::Pid> pids;
                  for (;;) {
                      const auto pid = kernel::task_create(
                          {.name = "t", .body = [](void*) {}, .argument = nullptr, .model = kernel::NrtModel{}});
                      if (!pid.ok()) {
                          note(lib::error_name(pid.error()));
                          break;
                      }
                      pids.push_back(pid.value());
                      contexts.push_back(must(kernel::task_info(pid.value())).context);
                  }
                  note(std::to_string(pids.size() + 2)); // with idle and main
                  must(kernel::task_kill(pids.front()));
                  const kernel::Pid again = create("t", "", kernel::NrtModel{});
                  note(again == pids.front() ? "pid reused" : "other pid");
                  contexts.push_back(must(kernel::task_info(again)).context);
                  std::ranges::sort(contexts);
                  note(std::ranges::adjacent_find(contexts) == contexts.end() ? "unique" : "double");
              }),
              "no space | 64 | pid reused | unique");
}

TEST(App, IsFoundByName) {
    EXPECT_EQ(kernel::apps().size(), 2U);
    ASSERT_NE(kernel::find_app("second"), nullptr);
    EXPECT_TRUE(kernel::find_app("second")->traces_itself);
    EXPECT_EQ(kernel::find_app("sec"), nullptr);
    EXPECT_EQ(kernel::find_app(""), nullptr);
}

} // namespace
