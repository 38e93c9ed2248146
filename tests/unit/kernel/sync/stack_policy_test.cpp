// SPDX-License-Identifier: MIT
// Tests which jobs the stack policy stops, and whose place is given back when its task is killed meanwhile. Lower case
// letters are work inside a critical section.
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace stack_policy_test {

using namespace hosted;
using kernel::mutex_lock;
using kernel::mutex_unlock;
using kernel::MutexProtocol;

constinit kernel::Mutex s_one;
constinit kernel::Pid s_pid;

// With a user whose deadline is so many milliseconds.
void init_stack(std::uint64_t ceiling_ms) {
    must(kernel::mutex_init(s_one, {.protocol = MutexProtocol::stack, .name = "one"}));
    must(kernel::mutex_declare_user(s_one, create(
                                               "U", [](void*) {}, hard(1, 100, ceiling_ms))));
}

kernel::Pid start_user(const char* name, kernel::TaskBody body, const kernel::TaskModel& model) {
    const kernel::Pid pid = create(name, body, model);
    must(kernel::mutex_declare_user(s_one, pid));
    must(kernel::task_activate_at(pid, at(0)));
    return pid;
}

TEST(StackPolicy, StopsNoJobThatHasBegun) {
    // K sleeps with a ceiling above N, whose job began before.
    EXPECT_EQ(hosted::run([] {
                  init_stack(20);
                  start("N", once<'N', 3>, hard(3, 100, 60));
                  start_user(
                      "K",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("k", 1);
                          kernel::task_delay(ms(5));
                          work("k", 1);
                          must(mutex_unlock(s_one));
                      },
                      hard(2, 100, 20, 1));
                  pause_until(20);
              }),
              "N 0-1 | k 1-2 | N 2-4 | k 7-8");
}

TEST(StackPolicy, StopsEachJobOfASoftTask) {
    EXPECT_EQ(hosted::run([] {
                  init_stack(10);
                  s_pid = start("S", periodic<'S', 1>, kernel::SoftModel{ms(2), ms(30)});
                  start_user("L", holding<s_one, 'l', 4>, hard(4, 100, 90));
                  at_time(3, [](void*) { must(kernel::task_activate(s_pid)); });
                  pause_until(20);
              }),
              "S 0-1 | l 1-5 | S 5-6");
}

TEST(MutexPlace, IsLeftWhenTheTaskIsKilledWhosePlaceItIs) {
    // L runs in the place of the server of H, and pays from its budget, until H is killed.
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_one, "one"));
                  start("L", holding<s_one, 'l', 4>, hard(4, 100, 90));
                  s_pid = create(
                      "H", [](void*) { must(mutex_lock(s_one)); }, kernel::SoftModel{ms(3), ms(20)});
                  must(kernel::task_activate_at(s_pid, at(1)));
                  start("M", once<'M', 2>, hard(2, 100, 50, 2));
                  at_time(3, [](void*) { must(kernel::task_kill(s_pid)); });
                  pause_until(20);
              }),
              "l 0-3 | M 3-5 | l 5-6");
}

} // namespace stack_policy_test
