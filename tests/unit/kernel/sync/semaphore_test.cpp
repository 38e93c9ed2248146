// SPDX-License-Identifier: MIT
// Tests semaphores: order of waiters, hand-over, posts from interrupt context.
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace semaphore_test {

using namespace hosted;
using kernel::sem_init;
using kernel::sem_post;
using kernel::sem_timedwait;
using kernel::sem_trywait;
using kernel::sem_wait;

constinit kernel::Semaphore s_units;

TEST(Semaphore, CountsUnits) {
    EXPECT_EQ(hosted::run([] {
                  note_result("before init", sem_wait(s_units));
                  note_result("try", sem_trywait(s_units));
                  note_result("post", sem_post(s_units));
                  must(sem_init(s_units, "units", 2));
                  note_result("init again", sem_init(s_units, "units", 2));
                  note_result("first", sem_trywait(s_units));
                  note_result("second", sem_wait(s_units));
                  note_result("third", sem_trywait(s_units));
                  must(sem_post(s_units));
                  note_result("posted", sem_trywait(s_units));
              }),
              "before init: invalid argument | try: invalid argument | post: invalid argument | init again: already "
              "exists | first: ok | second: ok | third: busy | "
              "posted: ok");
}

TEST(Semaphore, RefusesAPostAtTheGreatestCount) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0xFFFF'FFFF));
                  note_result("post", sem_post(s_units));
                  note_result("wait", sem_trywait(s_units));
                  note_result("post", sem_post(s_units));
                  note_result("post", sem_post(s_units));
              }),
              "post: no space | wait: ok | post: ok | post: no space");
}

TEST(Semaphore, ServesTheMostUrgentWaiterFirst) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  start(
                      "late",
                      [](void*) {
                          must(sem_wait(s_units));
                          work("L", 1);
                      },
                      hard(1, 100, 90));
                  start(
                      "soon",
                      [](void*) {
                          must(sem_wait(s_units));
                          work("S", 1);
                      },
                      hard(1, 100, 10, 1));
                  pause_until(2);
                  must(sem_post(s_units));
                  note("between");
                  must(sem_post(s_units));
              }),
              "S 2-3 | between | L 3-4");
}

TEST(Semaphore, HandsTheUnitOverSoThatNoTaskOvertakes) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  kernel::Pid waiter = start(
                      "W",
                      [](void*) {
                          must(sem_wait(s_units));
                          note("W");
                      },
                      kernel::NrtModel{});
                  pause_until(1);
                  must(sem_post(s_units)); // W is after main in the queue of its level
                  note_result("overtake", sem_trywait(s_units));
                  note(must(kernel::task_info(waiter)).state == kernel::TaskState::ready ? "W ready" : "W waits");
                  pause_until(2);
              }),
              "overtake: busy | W ready | W");
}

TEST(Semaphore, MayBePostedByATimerHandler) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  start(
                      "W",
                      [](void*) {
                          must(sem_wait(s_units));
                          work("W", 1);
                      },
                      hard(1, 100, 10));
                  start(
                      "B", [](void*) { work("B", 5); }, kernel::NrtModel{});
                  at_time(3, [](void*) { must(sem_post(s_units)); });
                  pause_until(20);
              }),
              "B 0-3 | W 3-4 | B 4-6");
}

TEST(Semaphore, ForgetsAWaiterThatIsKilled) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  const kernel::Pid first = start(
                      "A",
                      [](void*) {
                          must(sem_wait(s_units));
                          note("A");
                      },
                      hard(1, 100));
                  start(
                      "B",
                      [](void*) {
                          must(sem_wait(s_units));
                          note("B");
                      },
                      hard(1, 100));
                  pause_until(1);
                  must(kernel::task_kill(first));
                  must(sem_post(s_units));
              }),
              "B");
}

TEST(Semaphore, PrefersLevelsThenKeysThenArrivals) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  const auto waiter = [](void* name) {
                      must(sem_wait(s_units));
                      note(static_cast<const char*>(name));
                  };
                  static char names[][3] = {"r1", "r2", "h1", "h2", "h3"};
                  start("r1", waiter, kernel::NrtModel{}, names[0]);
                  start("r2", waiter, kernel::NrtModel{}, names[1]);
                  pause_until(1);
                  start("h1", waiter, hard(1, 100, 50), names[2]);
                  start("h2", waiter, hard(1, 100, 50), names[3]); // the same deadline
                  start("h3", waiter, hard(1, 100, 40), names[4]);
                  for (int i = 0; i < 5; ++i) {
                      must(sem_post(s_units));
                      note("p");
                  }
                  pause_until(2);
              }),
              "h3 | p | h1 | p | h2 | p | p | p | r1 | r2");
}

// A unit comes at 3.
template <std::uint64_t LimitNs>
std::string limited() {
    return hosted::run([] {
        must(sem_init(s_units, "units", 0));
        start(
            "W",
            [](void*) {
                note_result("W", sem_timedwait(s_units, {LimitNs}));
                hosted::stamp("now");
            },
            hard(1, 100, 20, 1));
        start(
            "P",
            [](void*) {
                work("P", 3);
                must(sem_post(s_units));
            },
            hard(3, 100, 50));
        pause_until(10);
        note_result("left", sem_trywait(s_units));
    });
}

TEST(Semaphore, WaitsUntilALimitAndTakesNothingThen) {
    EXPECT_EQ(limited<2'000'000>(), "P 0-3 | W: ok | now@3 | left: busy"); // at the limit is in time
    EXPECT_EQ(limited<1'999'999>(), "P 0-2 | W: timeout | now@2 | P 2-3 | left: ok");
    EXPECT_EQ(limited<0>(), "P 0-1 | W: busy | now@1 | P 1-3 | left: ok");
}

TEST(Semaphore, ForgetsTheLimitOfAWaiterThatGotItsUnit) {
    EXPECT_EQ(hosted::run([] {
                  must(sem_init(s_units, "units", 0));
                  start(
                      "W",
                      [](void*) {
                          note_result("first", sem_timedwait(s_units, ms(5)));
                          note_result("second", sem_wait(s_units)); // beyond the limit of the first
                          hosted::stamp("now");
                      },
                      hard(1, 100, 20));
                  pause_until(1);
                  must(sem_post(s_units));
                  pause_until(8);
                  must(sem_post(s_units));
              }),
              "first: ok | second: ok | now@8");
}

TEST(Semaphore, RunsOutOfNumbersAndSaysSo) {
    EXPECT_EQ(hosted::run([] {
                  static std::vector<kernel::Semaphore> many(0x10000);
                  for (std::size_t i = 0; i < 0xFFFF; ++i) {
                      must(sem_init(many[i], "s", 1));
                  }
                  note(std::to_string(many[0].id()) + ".." + std::to_string(many[0xFFFE].id()));
                  note_result("last", sem_init(many[0xFFFF], "s", 1));
                  note_result("wait", sem_wait(many[0xFFFF]));
              }),
              "1..65535 | last: no space | wait: invalid argument");
}

} // namespace semaphore_test
