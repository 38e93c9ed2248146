// SPDX-License-Identifier: MIT
// Semaphores: order of waiters, hand-over, posts from interrupt context.
#include "kernel/sync/semaphore.hpp"
#include "kernel/task.hpp"
#include "kernel/timer.hpp"
#include "tests/unit/kernel/hosted_kernel.hpp"

#include <gtest/gtest.h>

namespace {

using hosted::hard;
using hosted::must;
using hosted::note;
using hosted::pause_until;
using hosted::start;
using hosted::work;
using kernel::sem_init;
using kernel::sem_post;
using kernel::sem_trywait;
using kernel::sem_wait;

constinit kernel::Semaphore s_units;

void note_error(const char* what, const lib::Result<void>& result) {
    note(std::string(what) + ": " + std::string(result.ok() ? "ok" : lib::error_name(result.error())));
}

TEST(Semaphore, CountsUnits) {
    EXPECT_EQ(hosted::run([] {
                  note_error("before init", sem_wait(s_units));
                  must(sem_init(s_units, "units", 2));
                  note_error("init again", sem_init(s_units, "units", 2));
                  note_error("first", sem_trywait(s_units));
                  note_error("second", sem_wait(s_units));
                  note_error("third", sem_trywait(s_units));
                  must(sem_post(s_units));
                  note_error("posted", sem_trywait(s_units));
              }),
              "before init: invalid argument | init again: already exists | first: ok | second: ok | third: busy | "
              "posted: ok");
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

TEST(Semaphore, HandsTheUnitOverSoThatNobodyOvertakes) {
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
                  must(sem_post(s_units)); // W stands behind main in the queue of its level
                  note_error("overtake", sem_trywait(s_units));
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
                  must(kernel::kern_event_post(
                      hosted::at(3), [](void*) { must(sem_post(s_units)); }, nullptr));
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

} // namespace
