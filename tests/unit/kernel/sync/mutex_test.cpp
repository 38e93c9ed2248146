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
using kernel::mutex_unlock;

kernel::Mutex& s_one = mutex("one");

template <char Name>
void critical(std::uint64_t count_ms) {
    static constexpr char kName[] = {Name, '\0'};
    must(mutex_lock(s_one));
    work(kName, count_ms);
    must(mutex_unlock(s_one));
}

TEST(Mutex, LetsTheOwnerInheritSoThatTheMiddleTaskCannotDelayTheHighOne) {
    // L locks at 0 for 4 ms. M (8 ms) arrives at 1, H at 2 and blocks at 3: L runs in H's place, M waits for both.
    EXPECT_EQ(run(R"(mutex one
                     start L hard 5/100/90: lock one; l 4; unlock one; L 1
                     start M hard 8/100/50+1: M 8
                     start H hard 3/100/20+2: H 1; lock one; h 1; unlock one; H 1
                     until 30)"),
              "l 0-1 | M 1-2 | H 2-3 | l 3-6 | h 6-7 | H 7-8 | M 8-15 | L 15-16");
}

TEST(Mutex, FollowsAChainOfThree) {
    // C owns two; B owns one and waits for two; A waits for one: C runs in A's place although M is more urgent than C.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start C hard 7/200/180: lock two; c 6; unlock two; C 1
                     start B hard 3/200/150+1: lock one; b 1; lock two; b 1; unlock two; unlock one; B 1
                     start M hard 5/200/100+3: M 5
                     start A hard 1/200/50+4: lock one; a 1; unlock one
                     until 40)"),
              // 0 c, 1 b, 2 B waits for C: c, 3 M, 4 A waits for B waits for C: c until 8, b, a, M's rest, B, C
              "c 0-1 | b 1-2 | c 2-3 | M 3-4 | c 4-8 | b 8-9 | a 9-10 | M 10-14 | B 14-15 | C 15-16");
}

TEST(Mutex, GivesTheFreedMutexToWhoeverRunsFirst) {
    // B waits longer, A is more urgent: A gets it, and B's place is lent to A from then on.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start("L", "lock one; l 4; unlock one", hard(4, 100, 90));
                  start("B", "lock one; b 1; unlock one", hard(1, 100, 60, 1));
                  start("A", "lock one; a 2; unlock one", hard(2, 100, 30, 2));
                  pause_until(30);
                  note(std::to_string(s_one.contentions()) + " had to wait"); // B once, though it looked twice
              }),
              "l 0-4 | a 4-6 | b 6-7 | 2 had to wait");
}

TEST(Mutex, LendsTheRemainingWaitersPlacesToTheNewOwnerAtOnce) {
    static kernel::Pid waiter;
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start("L", "lock one; l 4; unlock one", hard(4, 100, 90));
                  waiter = start("B", "lock one; b 1; unlock one", hard(1, 100, 60, 1));
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
    EXPECT_EQ(run(R"(mutex one
                     start L hard 2/100/90: lock one; l 1; delay 4; l 1; unlock one
                     start H hard 1/100/20+2: lock one; h 1; unlock one
                     start M hard 6/100/50+3: M 6
                     until 30)"),
              // H blocks at 2 and L sleeps until 5: M runs 3-5, then L in H's place, H, M's rest.
              "l 0-1 | M 3-5 | l 5-6 | h 6-7 | M 7-11");
}

TEST(Mutex, RefusesRelockForeignUnlockAndDeadlock) {
    EXPECT_EQ(
        run(R"(before init? lock one; mutex one; mutex two; init again? mutex one; unlock free? unlock one;
                     lock one; relock? lock one; retry? trylock one
                     start H hard 1/100: lock two; foreign unlock? unlock one; try? trylock one; lock one;
                     note H has both; unlock one; unlock two
                     until 1; deadlock? lock two; unlock one; afterwards? trylock two; mine? unlock two)"),
        "before init: invalid argument | init again: already exists | unlock free: refused | relock: refused | "
        "retry: refused | foreign unlock: refused | try: busy | deadlock: refused | H has both | afterwards: ok | "
        "mine: ok");
}

TEST(Mutex, IsUnlockedWhenItsOwnerIsKilled) {
    EXPECT_EQ(run(R"(mutex one
                     start L hard 20/100/90: lock one; l 20; unlock one
                     start H hard 1/100/20+1: lock one; h 1; unlock one
                     start K hard 1/100/10+3: kill L; K 1
                     until 30)"),
              "l 0-3 | K 3-4 | h 4-5");
}

TEST(Mutex, ForgetsAWaiterThatIsKilled) {
    EXPECT_EQ(run(R"(mutex one
                     start L hard 4/100/90: lock one; l 4; unlock one
                     start H hard 1/100/20+1: lock one; h 1; unlock one
                     start M hard 2/100/40+1: M 2
                     start K hard 1/100/10+2: kill H
                     until 30; free? trylock one)"),
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
