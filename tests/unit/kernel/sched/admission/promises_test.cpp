// SPDX-License-Identifier: MIT
// What admission promised is kept: beside servers that come back, activations for times that are long past, and work
// that could not run for a while.
#include "kernel/sched/server.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <string>

namespace promises_test {

using namespace hosted;
using kernel::task_resume;
using kernel::task_suspend;

kernel::Pid s_first;
kernel::Pid s_second;
kernel::Pid s_third;
kernel::Mutex& s_one = mutex("one");

void note_misses(kernel::Pid pid) {
    note("misses " + std::to_string(kernel::task_info(pid).value().jobs.deadline_misses));
}

// The last word of a report.
std::string end_of(const std::string& report) {
    const auto bar = report.rfind(" | ");
    return bar == std::string::npos ? report : report.substr(bar + 3);
}

// A server keeps (c, d) when it comes back soon; what is left of c is then due in less than T, which the processor
// demand of a sporadic task (Q, T, T) does not count.
TEST(PromisesKept, AServerBesideAConstrainedDeadlineIsAdmittedByItsLineAlone) {
    // 50/100 + 50/82 is more than one; 50/100 + 41/82 is not. Admitted by demand alone, the first set would miss.
    EXPECT_EQ(hosted::run([] {
                  create("S", runaway<'S'>, kernel::SoftModel{ms(50), ms(100)});
                  const auto admitted = [](std::uint64_t wcet_ms) {
                      const auto pid = kernel::task_create({.name = "H",
                                                            .body = periodic<'H', 1>,
                                                            .argument = nullptr,
                                                            .model = sporadic(wcet_ms, 10'000, 82)});
                      note(pid.ok() ? "ok" : lib::error_name(pid.error()));
                  };
                  admitted(50);
                  admitted(42);
                  admitted(41);
              }),
              "refused | refused | ok");
}

// A suspended server's deadline is long past when it is resumed.
TEST(PromisesKept, AServerThatIsResumedDoesNotMakeUpForTheTimeItWasAway) {
    EXPECT_EQ(end_of(hosted::run([] {
                  s_first = start("S", runaway<'S'>, kernel::SoftModel{ms(5), ms(10)});
                  s_second = start("H", periodic<'H', 4>, hard(4, 10));
                  at_time(1, [](void*) { must(task_suspend(s_first)); });
                  at_time(101, [](void*) { must(task_resume(s_first)); });
                  at_time(200, [](void*) {
                      note_misses(s_second);
                      must(kernel::task_kill(s_first));
                      must(kernel::task_kill(s_second));
                  });
                  pause_until(201);
              })),
              "misses 0");
}

// The same without suspension: the owner of a mutex sleeps.
TEST(PromisesKept, AServerThatWaitsForASleepingOwnerDoesNotMakeUpForThatTime) {
    EXPECT_EQ(end_of(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  s_third = start("L", "lock one; delay 100; unlock one", kernel::NrtModel{});
                  s_first = create(
                      "S",
                      [](void*) {
                          work("S", 1);
                          must(kernel::mutex_lock(s_one));
                          for (;;) {
                              work("S", 1);
                          }
                      },
                      kernel::SoftModel{ms(5), ms(10)});
                  s_second = create("H", periodic<'H', 4>, hard(4, 10));
                  must(kernel::task_activate_at(s_first, at(1)));
                  must(kernel::task_activate_at(s_second, at(1)));
                  at_time(200, [](void*) {
                      note_misses(s_second);
                      must(kernel::task_kill(s_first));
                      must(kernel::task_kill(s_second));
                  });
                  pause_until(201);
              })),
              "misses 0");
}

// One promise must not break another, whatever time is named.
TEST(PromisesKept, AnActivationLongAgoDoesNotTakeTheTimeOfOthers) {
    EXPECT_EQ(end_of(hosted::run([] {
                  s_first = start("A", periodic<'A', 1>, hard(1, 10));
                  pause_until(200);
                  s_second = create("B", periodic<'B', 5>, hard(5, 10));
                  must(kernel::task_activate_at(s_second, at(100)));
                  pause_until(400);
                  note_misses(s_first);
              })),
              "misses 0");
}

std::uint64_t s_past = 100;

// Each activation names a time one period after the one before; all are in the past.
TEST(PromisesKept, ASporadicTaskDoesNotTakeTheTimeOfOthersByActivationsInThePast) {
    EXPECT_EQ(end_of(hosted::run([] {
                  s_first = start("A", periodic<'A', 1>, hard(1, 10));
                  s_second = create("B", periodic<'B', 5>, sporadic(5, 10, 10));
                  must(kernel::kern_event_post_periodic(
                      at(201), ms(1),
                      [](void*) {
                          if (s_past <= 190 && kernel::task_activate_at(s_second, at(s_past)).ok()) {
                              s_past += 10;
                          }
                      },
                      nullptr));
                  pause_until(400);
                  note("violations " + std::to_string(kernel::task_info(s_second).value().jobs.activation_violations));
                  note_misses(s_first);
              })),
              "misses 0");
}

// The test of a wish runs with interrupts on; a bounded one, with them off, is too rough for these three.
kernel::HardModel in_us(std::uint64_t wcet, std::uint64_t period, std::uint64_t deadline) {
    return {.wcet = lib::microseconds(wcet),
            .period = lib::microseconds(period),
            .relative_deadline = lib::microseconds(deadline),
            .offset = {}};
}

void wish_for_the_third(const char* when) {
    const auto created =
        kernel::task_create({.name = "third", .body = once<'T', 1>, .model = in_us(33'362, 100'068, 100'064)});
    note_result(when, created);
    if (created.ok()) {
        must(kernel::task_kill(created.value()));
    }
}

TEST(Admission, PreparesAgainAfterAJobWasAbortedWhilePreparing) {
    // A's job is late at 5, in the middle of its wish, and is aborted there.
    EXPECT_EQ(hosted::run([] {
                  create("first", once<'F', 1>, in_us(343, 1'030, 1'028));
                  create("second", once<'S', 1>, in_us(3'345, 10'033, 10'031));
                  kernel::HardModel model = hard(1, 1'000, 5);
                  model.wcet = {1};
                  const kernel::Pid late =
                      must(kernel::task_create({.name = "A",
                                                .body =
                                                    [](void*) {
                                                        work("A", 5);
                                                        wish_for_the_third("in its test");
                                                    },
                                                .model = model,
                                                .reactions = {.deadline_miss = kernel::Reaction::abort}}));
                  must(kernel::task_activate_at(late, at(0)));
                  at_time(7, [](void*) { wish_for_the_third("without a test"); });
                  pause_until(9);
                  note("aborted " + std::to_string(must(kernel::task_info(late)).jobs.aborted));
                  wish_for_the_third("afterwards");
              }),
              "A 0-5 | without a test: refused | aborted 1 | afterwards: ok");
}

} // namespace promises_test
