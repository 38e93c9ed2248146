// SPDX-License-Identifier: MIT
// Tests locks that give up, and mutexes whose owners end. Lower case letters are work inside a critical section.
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace mutex_wait_test {

using namespace hosted;
using kernel::Mutex;
using kernel::mutex_abandoned;
using kernel::mutex_consistent;
using kernel::mutex_init;
using kernel::mutex_lock;
using kernel::mutex_timedlock;
using kernel::mutex_unlock;
using kernel::MutexProtocol;

constinit Mutex s_one;
constinit Mutex s_two;
constinit kernel::Pid s_pid;

void note_state(const Mutex& mutex) {
    note(mutex_abandoned(mutex) ? "abandoned" : "whole");
}

// L locks at 0 for 3 ms; H tries at 1 for so long.
template <MutexProtocol Protocol, std::uint64_t LimitNs>
std::string limited() {
    return hosted::run([] {
        must(mutex_init(s_one, {.protocol = Protocol, .name = "one"}));
        const kernel::Pid low = start(
            "L",
            [](void*) {
                must(mutex_lock(s_one));
                work("l", 3);
                must(mutex_unlock(s_one));
                work("L", 1);
            },
            hard(4, 100, 90));
        const kernel::Pid high = start(
            "H",
            [](void*) {
                const auto locked = mutex_timedlock(s_one, {LimitNs});
                note_result("H", locked);
                work("H", 1);
                if (locked.ok()) {
                    must(mutex_unlock(s_one));
                }
            },
            hard(1, 100, 20, 1));
        if (s_one.has_ceiling()) {
            must(kernel::mutex_declare_user(s_one, low));
            must(kernel::mutex_declare_user(s_one, high));
        }
        pause_until(30);
        note(s_one.owner() == nullptr ? "free" : "taken");
    });
}

constexpr std::uint64_t kUntilUnlock = 2'000'000;

TEST(MutexWait, SucceedsIfTheUnlockComesAtTheLimit) {
    const std::string expected = "l 0-3 | H: ok | H 3-4 | L 4-5 | free";
    EXPECT_EQ((limited<MutexProtocol::inheritance, kUntilUnlock>()), expected);
    EXPECT_EQ((limited<MutexProtocol::ceiling, kUntilUnlock>()), expected);
    EXPECT_EQ((limited<MutexProtocol::none, kUntilUnlock>()), expected);
}

TEST(MutexWait, FailsIfTheUnlockComesANanosecondLater) {
    const std::string expected = "l 0-2 | H: timeout | H 2-3 | l 3-4 | L 4-5 | free";
    EXPECT_EQ((limited<MutexProtocol::inheritance, kUntilUnlock - 1>()), expected);
    EXPECT_EQ((limited<MutexProtocol::ceiling, kUntilUnlock - 1>()), expected);
    EXPECT_EQ((limited<MutexProtocol::none, kUntilUnlock - 1>()), expected);
}

TEST(MutexWait, IsATryWithoutTime) {
    const std::string expected = "l 0-1 | H: busy | H 1-2 | l 2-4 | L 4-5 | free";
    EXPECT_EQ((limited<MutexProtocol::inheritance, 0>()), expected);
    EXPECT_EQ((limited<MutexProtocol::ceiling, 0>()), expected);
    EXPECT_EQ((limited<MutexProtocol::none, 0>()), expected);
}

TEST(MutexWait, NeverLimitsAJobThatTheStackPolicyStops) {
    EXPECT_EQ((limited<MutexProtocol::stack, 1>()), "l 0-3 | H: ok | H 3-4 | L 4-5 | free");
}

TEST(MutexWait, TakesBackThePlaceThatItLentAlongAChain) {
    // H waits for M, who waits for L. N's deadline is between those of H and M: L passes it only while H lends.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  must(mutex_init(s_two, "two"));
                  start("L", holding<s_two, 'l', 8>, hard(8, 100, 90));
                  start(
                      "M",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("m", 1);
                          must(mutex_lock(s_two));
                          work("m", 1);
                          must(mutex_unlock(s_two));
                          must(mutex_unlock(s_one));
                      },
                      hard(2, 100, 60, 1));
                  start(
                      "H",
                      [](void*) {
                          note_result("H", mutex_timedlock(s_one, ms(2)));
                          work("H", 1);
                      },
                      hard(1, 100, 20, 3));
                  start(
                      "N", [](void*) { work("N", 2); }, hard(2, 100, 40, 3));
                  pause_until(40);
              }),
              "l 0-1 | m 1-2 | l 2-5 | H: timeout | H 5-6 | N 6-8 | l 8-12 | m 12-13");
}

TEST(MutexWait, IsOverAtTheLimitThoughTheOwnerSleeps) {
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("l", 1);
                          kernel::task_delay(ms(9));
                          work("l", 1);
                          must(mutex_unlock(s_one));
                      },
                      hard(2, 100, 90));
                  start(
                      "H",
                      [](void*) {
                          note_result("H", mutex_timedlock(s_one, ms(2)));
                          work("H", 1);
                      },
                      hard(1, 100, 20, 1));
                  pause_until(30);
              }),
              "l 0-1 | H: timeout | H 3-4 | l 10-11");
}

TEST(MutexWait, IsOverAtTheLimitEvenIfTheMutexIsFreeByThen) {
    // L, in K's place, frees one at 3 and two at 5; H's limit for one is at 4, but H does not run before K has.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  must(mutex_init(s_two, "two"));
                  start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_one));
                          must(mutex_lock(s_two));
                          work("l", 3);
                          must(mutex_unlock(s_one));
                          work("l", 2);
                          must(mutex_unlock(s_two));
                      },
                      hard(5, 100, 90));
                  start(
                      "H",
                      [](void*) {
                          note_result("H", mutex_timedlock(s_one, ms(3)));
                          note_result("again", mutex_timedlock(s_one, ms(3)));
                      },
                      hard(1, 100, 20, 1));
                  start("K", holding<s_two, 'k', 1>, hard(1, 100, 10, 2));
                  pause_until(30);
              }),
              "l 0-5 | k 5-6 | H: timeout | again: ok");
}

TEST(MutexWait, ForgetsTheLimitOfALockThatSucceeded) {
    // H gets one at 3, its limit was at 5; it then waits for two, without a limit, until 8.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  must(mutex_init(s_two, "two"));
                  start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_two));
                          must(mutex_lock(s_one));
                          work("l", 3);
                          must(mutex_unlock(s_one));
                          work("l", 5);
                          must(mutex_unlock(s_two));
                      },
                      hard(8, 100, 90));
                  start(
                      "H",
                      [](void*) {
                          note_result("one", mutex_timedlock(s_one, ms(4)));
                          note_result("two", mutex_lock(s_two));
                      },
                      hard(1, 100, 20, 1));
                  pause_until(20);
              }),
              "l 0-3 | one: ok | l 3-8 | two: ok");
}

TEST(MutexWait, FindsTheMutexOfAKilledOwnerAbandoned) {
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  s_pid = start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("l", 20);
                      },
                      hard(20, 100, 90));
                  start(
                      "H",
                      [](void*) {
                          note_result("H", mutex_timedlock(s_one, ms(10)));
                          note_state(s_one);
                          must(mutex_unlock(s_one)); // without a word: the next one must know, too
                      },
                      hard(1, 100, 20, 1));
                  start(
                      "K", [](void*) { must(kernel::task_kill(s_pid)); }, hard(1, 100, 10, 3));
                  pause_until(30);
                  note_result("not mine", mutex_consistent(s_one));
                  note_result("main", mutex_lock(s_one));
                  note_state(s_one);
                  note_result("mended", mutex_consistent(s_one));
                  note_state(s_one);
              }),
              "l 0-3 | H: ok | abandoned | not mine: refused | main: ok | abandoned | mended: ok | whole");
}

TEST(MutexWait, HandsTheMutexOfATaskThatEndsToItsWaiter) {
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, {.protocol = MutexProtocol::none, .name = "one"}));
                  start(
                      "L",
                      [](void*) {
                          must(mutex_lock(s_one));
                          work("l", 2);
                      },
                      hard(2, 100, 90));
                  start(
                      "H",
                      [](void*) {
                          must(mutex_lock(s_one));
                          note_state(s_one);
                          work("h", 1);
                          must(mutex_unlock(s_one));
                      },
                      hard(1, 100, 20, 1));
                  pause_until(10);
                  note_result("main", mutex_lock(s_one));
              }),
              "l 0-2 | abandoned | h 2-3 | main: ok");
}

TEST(MutexWait, IsNotOvertakenWhereTheUnlockHandsOver) {
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, {.protocol = MutexProtocol::none, .name = "one"}));
                  must(mutex_lock(s_one));
                  start(
                      "W",
                      [](void*) {
                          must(mutex_lock(s_one));
                          note("W");
                          must(mutex_unlock(s_one));
                      },
                      kernel::NrtModel{});
                  pause_until(1);
                  must(mutex_unlock(s_one)); // W is after main in the queue of its level
                  note_result("overtake", kernel::mutex_trylock(s_one));
                  pause_until(2);
              }),
              "overtake: busy | W");
}

TEST(MutexWait, FreesEveryMutexOfAnOwnerInTheMiddleOfAChain) {
    // H waits for M's mutex, M for L's; M is killed: H continues, and L lends nothing.
    EXPECT_EQ(hosted::run([] {
                  must(mutex_init(s_one, "one"));
                  must(mutex_init(s_two, "two"));
                  start("L", holding<s_two, 'l', 6>, hard(6, 100, 90));
                  s_pid = start(
                      "M",
                      [](void*) {
                          must(mutex_lock(s_one));
                          must(mutex_lock(s_two));
                      },
                      hard(1, 100, 60, 1));
                  start("H", holding<s_one, 'h', 1>, hard(1, 100, 20, 2));
                  start(
                      "K", [](void*) { must(kernel::task_kill(s_pid)); }, hard(1, 100, 10, 4));
                  pause_until(30);
                  note_state(s_one);
                  note_state(s_two);
              }),
              "l 0-4 | h 4-5 | l 5-7 | abandoned | whole");
}

TEST(MutexWait, ForgetsAWaiterWithALimitThatIsKilled) {
    for (const auto run : {+[] {
                               return hosted::run([] {
                                   must(mutex_init(s_one, {.protocol = MutexProtocol::none, .name = "one"}));
                                   must(mutex_lock(s_one));
                                   const kernel::Pid waiter = start(
                                       "W", [](void*) { must(mutex_timedlock(s_one, ms(5))); }, hard(1, 100, 20));
                                   pause_until(1);
                                   must(kernel::task_kill(waiter));
                                   must(mutex_unlock(s_one));
                                   pause_until(10); // beyond the limit
                                   note(s_one.owner() == nullptr ? "free" : "taken");
                               });
                           },
                           +[] {
                               return hosted::run([] {
                                   must(mutex_init(s_one, "one"));
                                   must(mutex_lock(s_one));
                                   const kernel::Pid waiter = start(
                                       "W", [](void*) { must(mutex_timedlock(s_one, ms(5))); }, hard(1, 100, 20));
                                   pause_until(1);
                                   must(kernel::task_kill(waiter));
                                   must(mutex_unlock(s_one));
                                   pause_until(10);
                                   note(s_one.owner() == nullptr ? "free" : "taken");
                               });
                           }}) {
        EXPECT_EQ(run(), "free");
    }
}

} // namespace mutex_wait_test
