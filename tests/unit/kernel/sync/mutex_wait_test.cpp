// SPDX-License-Identifier: MIT
// Tests locks that give up, and mutexes whose owners end. Lower case letters are work inside a critical section.
#include "kernel/sync/mutex.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace mutex_wait_test {

using namespace hosted;

// L locks at 0 for 3 ms; H tries at 1 for so long, and unlocks if it is said to have it.
std::string limited(const std::string& protocol, const std::string& limit, const std::string& unlock = "") {
    return run("mutex one " + protocol + R"(
               start L hard 4/100/90: lock one; l 3; unlock one; L 1
               start H hard 1/100/20+1: H? timedlock one )" +
               limit + "; H 1" + unlock + "\nuser one L; user one H; until 30; owner one");
}

TEST(MutexWait, DecidesAtTheLimitToTheNanosecond) {
    for (const char* const protocol : {"inheritance", "ceiling", "none"}) {
        EXPECT_EQ(limited(protocol, "2", "; unlock one"), "l 0-3 | H: ok | H 3-4 | L 4-5 | free") << protocol;
        EXPECT_EQ(limited(protocol, "1999999 ns"), "l 0-2 | H: timeout | H 2-3 | l 3-4 | L 4-5 | free") << protocol;
    }
}

TEST(MutexWait, IsATryWithoutTime) {
    for (const char* const protocol : {"inheritance", "ceiling", "none"}) {
        EXPECT_EQ(limited(protocol, "0"), "l 0-1 | H: busy | H 1-2 | l 2-4 | L 4-5 | free") << protocol;
    }
}

TEST(MutexWait, NeverLimitsAJobThatTheStackPolicyStops) {
    EXPECT_EQ(limited("stack", "1 ns", "; unlock one"), "l 0-3 | H: ok | H 3-4 | L 4-5 | free");
}

TEST(MutexWait, TakesBackThePlaceThatItLentAlongAChain) {
    // H waits for M, who waits for L. N's deadline is between those of H and M: L passes it only while H lends.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start L hard 8/100/90: lock two; l 8; unlock two
                     start M hard 2/100/60+1: lock one; m 1; lock two; m 1; unlock two; unlock one
                     start H hard 1/100/20+3: H? timedlock one 2; H 1
                     start N hard 2/100/40+3: N 2
                     until 40)"),
              "l 0-1 | m 1-2 | l 2-5 | H: timeout | H 5-6 | N 6-8 | l 8-12 | m 12-13");
}

TEST(MutexWait, IsOverAtTheLimitThoughTheOwnerSleeps) {
    EXPECT_EQ(run(R"(mutex one
                     start L hard 2/100/90: lock one; l 1; delay 9; l 1; unlock one
                     start H hard 1/100/20+1: H? timedlock one 2; H 1
                     until 30)"),
              "l 0-1 | H: timeout | H 3-4 | l 10-11");
}

TEST(MutexWait, IsOverAtTheLimitEvenIfTheMutexIsFreeByThen) {
    // L, in K's place, frees one at 3 and two at 5; H's limit for one is at 4, but H does not run before K has.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start L hard 5/100/90: lock one; lock two; l 3; unlock one; l 2; unlock two
                     start H hard 1/100/20+1: H? timedlock one 3; again? timedlock one 3
                     start K hard 1/100/10+2: lock two; k 1; unlock two
                     until 30)"),
              "l 0-5 | k 5-6 | H: timeout | again: ok");
}

TEST(MutexWait, ForgetsTheLimitOfALockThatSucceeded) {
    // H gets one at 3, its limit was at 5; it then waits for two, without a limit, until 8.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start L hard 8/100/90: lock two; lock one; l 3; unlock one; l 5; unlock two
                     start H hard 1/100/20+1: one? timedlock one 4; two? lock two
                     until 20)"),
              "l 0-3 | one: ok | l 3-8 | two: ok");
}

TEST(MutexWait, FindsTheMutexOfAKilledOwnerAbandoned) {
    EXPECT_EQ(run(R"(mutex one
                     start L hard 20/100/90: lock one; l 20
                     start H hard 1/100/20+1: H? timedlock one 10; state one;
                         unlock one  // without a word: the next one must know, too
                     start K hard 1/100/10+3: kill L
                     until 30; not mine? consistent one; main? lock one; state one
                     mended? consistent one; state one)"),
              "l 0-3 | H: ok | abandoned | not mine: refused | main: ok | abandoned | mended: ok | whole");
}

TEST(MutexWait, HandsTheMutexOfATaskThatEndsToItsWaiter) {
    EXPECT_EQ(run(R"(mutex one none
                     start L hard 2/100/90: lock one; l 2
                     start H hard 1/100/20+1: lock one; state one; h 1; unlock one
                     until 10; main? lock one)"),
              "l 0-2 | abandoned | h 2-3 | main: ok");
}

TEST(MutexWait, IsNotOvertakenWhereTheUnlockHandsOver) {
    EXPECT_EQ(run(R"(mutex one none; lock one
                     start W nrt: lock one; note W; unlock one
                     until 1; unlock one  // W is after main in the queue of its level
                     overtake? trylock one; until 2)"),
              "overtake: busy | W");
}

TEST(MutexWait, FreesEveryMutexOfAnOwnerInTheMiddleOfAChain) {
    // H waits for M's mutex, M for L's; M is killed: H continues, and L lends nothing.
    EXPECT_EQ(run(R"(mutex one; mutex two
                     start L hard 6/100/90: lock two; l 6; unlock two
                     start M hard 1/100/60+1: lock one; lock two
                     start H hard 1/100/20+2: lock one; h 1; unlock one
                     start K hard 1/100/10+4: kill M
                     until 30; state one; state two)"),
              "l 0-4 | h 4-5 | l 5-7 | abandoned | whole");
}

TEST(MutexWait, ForgetsAWaiterWithALimitThatIsKilled) {
    for (const char* const protocol : {"none", "inheritance"}) {
        EXPECT_EQ(run("mutex one " + std::string(protocol) + R"(
                       lock one
                       start W hard 1/100/20: timedlock one 5
                       until 1; kill W; unlock one
                       until 10; owner one  // beyond the limit
                       )"),
                  "free")
            << protocol;
    }
}

} // namespace mutex_wait_test
