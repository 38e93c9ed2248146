// SPDX-License-Identifier: MIT
// Tests priority inheritance in whole schedules. Lower case letters are work inside a critical section.
#include "kernel/sched/chain.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mutex_test {

using namespace hosted;
using kernel::mutex_init;
using kernel::mutex_lock;
using kernel::mutex_trylock;
using kernel::mutex_unlock;

constinit kernel::Mutex s_one;
constinit kernel::Mutex s_two;

template <char Name>
void critical(std::uint64_t count_ms) {
    static constexpr char kName[] = {Name, '\0'};
    must(mutex_lock(s_one));
    work(kName, count_ms);
    must(mutex_unlock(s_one));
}

TEST(Mutex, LetsTheOwnerInheritSoThatTheMiddleTaskCannotDelayTheHighOne) {
    // L locks at 0 for 4 ms. M (8 ms) arrives at 1, H at 2 and blocks at 3: L runs in H's place, M waits for both.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L",
                      [](void*) {
                          critical<'l'>(4);
                          work("L", 1);
                      },
                      hard(5, 100, 90));
                  start(
                      "M", [](void*) { work("M", 8); }, hard(8, 100, 50, 1));
                  start(
                      "H",
                      [](void*) {
                          work("H", 1);
                          critical<'h'>(1);
                          work("H", 1);
                      },
                      hard(3, 100, 20, 2));
                  pause_until(30);
              }),
              "l 0-1 | M 1-2 | H 2-3 | l 3-6 | h 6-7 | H 7-8 | M 8-15 | L 15-16");
}

TEST(Mutex, FollowsAChainOfThree) {
    // C owns two; B owns one and waits for two; A waits for one: C runs in A's place although M is more urgent than C.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  must(mutex_init(s_two, "two"));
                  start(
                      "C",
                      [](void*) {
                          must(mutex_lock(s_two));
                          work("c", 6);
                          must(mutex_unlock(s_two));
                          work("C", 1);
                      },
                      hard(7, 200, 180));
                  start(
                      "B",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("b", 1);
                          must(mutex_lock(s_two));
                          work("b", 1);
                          must(mutex_unlock(s_two));
                          must(mutex_unlock(s_one));
                          work("B", 1);
                      },
                      hard(3, 200, 150, 1));
                  start(
                      "M", [](void*) { work("M", 5); }, hard(5, 200, 100, 3));
                  start(
                      "A", [](void*) { critical<'a'>(1); }, hard(1, 200, 50, 4));
                  pause_until(40);
              }),
              // 0 c, 1 b, 2 B waits for C: c, 3 M, 4 A waits for B waits for C: c until 8, b, a, M's rest, B, C
              "c 0-1 | b 1-2 | c 2-3 | M 3-4 | c 4-8 | b 8-9 | a 9-10 | M 10-14 | B 14-15 | C 15-16");
}

TEST(Mutex, GivesTheFreedMutexToWhoeverRunsFirst) {
    // B waits longer, A is more urgent: A gets it, and B's place is lent to A from then on.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L", [](void*) { critical<'l'>(4); }, hard(4, 100, 90));
                  start(
                      "B", [](void*) { critical<'b'>(1); }, hard(1, 100, 60, 1));
                  start(
                      "A", [](void*) { critical<'a'>(2); }, hard(2, 100, 30, 2));
                  pause_until(30);
                  note(std::to_string(s_one.contentions()) + " had to wait"); // B once, though it looked twice
              }),
              "l 0-4 | a 4-6 | b 6-7 | 2 had to wait");
}

TEST(Mutex, LendsTheRemainingWaitersPlacesToTheNewOwnerAtOnce) {
    static kernel::Pid waiter;
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L", [](void*) { critical<'l'>(4); }, hard(4, 100, 90));
                  waiter = start(
                      "B", [](void*) { critical<'b'>(1); }, hard(1, 100, 60, 1));
                  start(
                      "A",
                      [](void*) {
                          must(mutex_lock(s_one));
                          kernel::Task& task = *kernel::find_task(waiter, kernel::IrqGuard());
                          note(chain_end(task, kernel::IrqGuard()).pid == kernel::task_self() ? "lent" : "kept");
                          must(mutex_unlock(s_one));
                          note(&chain_end(task, kernel::IrqGuard()) == &task ? "given back" : "still lent");
                      },
                      hard(2, 100, 30, 2));
                  pause_until(30);
              }),
              "l 0-4 | lent | given back | b 4-5");
}

TEST(Mutex, PassesOverAPlaceWhoseOwnerSleeps) {
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("l", 1);
                          kernel::task_delay(hosted::ms(4));
                          work("l", 1);
                          must(mutex_unlock(s_one));
                      },
                      hard(2, 100, 90));
                  start(
                      "H", [](void*) { critical<'h'>(1); }, hard(1, 100, 20, 2));
                  start(
                      "M", [](void*) { work("M", 6); }, hard(6, 100, 50, 3));
                  pause_until(30);
              }),
              // H blocks at 2 and L sleeps until 5: M runs 3-5, then L in H's place, H, M's rest.
              "l 0-1 | M 3-5 | l 5-6 | h 6-7 | M 7-11");
}

TEST(Mutex, RefusesRelockForeignUnlockAndDeadlock) {
    EXPECT_EQ(
        hosted::run([] {
            note_result("before init", mutex_lock(s_one));
            must(mutex_init(s_one, "one"));
            must(mutex_init(s_two, "two"));
            note_result("init again", mutex_init(s_one, "one"));
            note_result("unlock free", mutex_unlock(s_one));
            must(mutex_lock(s_one));
            note_result("relock", mutex_lock(s_one));
            note_result("retry", mutex_trylock(s_one));
            start(
                "H",
                [](void*) {
                    must(mutex_lock(s_two));
                    note_result("foreign unlock", mutex_unlock(s_one));
                    note_result("try", mutex_trylock(s_one));
                    must(mutex_lock(s_one));
                    note("H has both");
                    must(mutex_unlock(s_one));
                    must(mutex_unlock(s_two));
                },
                hard(1, 100));
            pause_until(1);
            note_result("deadlock", mutex_lock(s_two));
            must(mutex_unlock(s_one));
            note_result("afterwards", mutex_trylock(s_two));
            note_result("mine", mutex_unlock(s_two));
        }),
        "before init: invalid argument | init again: already exists | unlock free: refused | relock: refused | "
        "retry: refused | foreign unlock: refused | try: busy | deadlock: refused | H has both | afterwards: ok | "
        "mine: ok");
}

TEST(Mutex, IsUnlockedWhenItsOwnerIsKilled) {
    static kernel::Pid low;
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  low = start(
                      "L", [](void*) { critical<'l'>(20); }, hard(20, 100, 90));
                  start(
                      "H", [](void*) { critical<'h'>(1); }, hard(1, 100, 20, 1));
                  start(
                      "K",
                      [](void*) {
                          must(kernel::task_kill(low));
                          work("K", 1);
                      },
                      hard(1, 100, 10, 3));
                  pause_until(30);
              }),
              "l 0-3 | K 3-4 | h 4-5");
}

TEST(Mutex, ForgetsAWaiterThatIsKilled) {
    static kernel::Pid high;
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L", [](void*) { critical<'l'>(4); }, hard(4, 100, 90));
                  high = start(
                      "H", [](void*) { critical<'h'>(1); }, hard(1, 100, 20, 1));
                  start(
                      "M", [](void*) { work("M", 2); }, hard(2, 100, 40, 1));
                  start(
                      "K", [](void*) { must(kernel::task_kill(high)); }, hard(1, 100, 10, 2));
                  pause_until(30);
                  note_result("free", mutex_trylock(s_one));
              }),
              "l 0-2 | M 2-4 | l 4-6 | free: ok");
}

TEST(Mutex, RunsOutOfNumbersAndSaysSo) {
    EXPECT_EQ(hosted::run([] {
                  static std::vector<kernel::Mutex> many(0x10000);
                  for (std::size_t i = 0; i < 0xFFFF; ++i) {
                      must(mutex_init(many[i], "m"));
                  }
                  note_result("last", mutex_init(many[0xFFFF], "m"));
                  note_result("lock", mutex_lock(many[0xFFFF]));
              }),
              "last: no space | lock: invalid argument");
}

} // namespace mutex_test
