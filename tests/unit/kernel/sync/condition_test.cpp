// SPDX-License-Identifier: MIT
// Tests condition variables: who is woken, what becomes of the mutex, limits, ends.
#include "kernel/sync/condition.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace condition_test {

using namespace hosted;
using kernel::cond_init;
using kernel::cond_signal;

TEST(Condition, RefusesWrongUse) {
    EXPECT_EQ(run(R"(signal before init? signal change; broadcast before init? broadcast change
                     mutex mutex; lock mutex; wait before init? await change mutex
                     wait at once before init? await change mutex 0; condition change; init again? condition change
                     no time? await change mutex 0; owner mutex; unlock mutex
                     without the mutex? await change mutex; without the mutex, no time? await change mutex 0)"),
              "signal before init: invalid argument | broadcast before init: invalid argument | "
              "wait before init: invalid argument | wait at once before init: invalid argument | "
              "init again: already exists | no time: timeout | taken | without the mutex: refused | "
              "without the mutex, no time: refused");
}

TEST(Condition, SignalsTheMostUrgentWaiterWhateverTheOrderOfArrival) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start far hard 1/100/50: lock mutex; await change mutex; far 1; unlock mutex
                     start near hard 1/100/20+1: lock mutex; await change mutex; near 1; unlock mutex
                     start middle hard 1/100/30+2: lock mutex; await change mutex; middle 1; unlock mutex
                     until 3; signal change; note signalled; signal change; note signalled
                     signal change; note signalled
                     signal change; note signalled  // finds no task, and is not kept)"),
              "near 3-4 | signalled | middle 4-5 | signalled | far 5-6 | signalled | signalled");
}

TEST(Condition, PrefersLevelsThenKeysThenArrivals) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start r1 nrt: lock mutex; await change mutex; r1 1; unlock mutex
                     start r2 nrt: lock mutex; await change mutex; r2 1; unlock mutex
                     until 1
                     start h1 hard 1/100/50: lock mutex; await change mutex; h1 1; unlock mutex
                     start h2 hard 1/100/50: lock mutex; await change mutex; h2 1; unlock mutex  // the same deadline
                     lock mutex; broadcast change; note all woken; unlock mutex; until 20)"),
              "all woken | h1 1-2 | h2 2-3 | r1 3-4 | r2 4-5");
}

TEST(Condition, LetsTheMostUrgentOfAllWaitersRunAtOnce) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start far hard 1/100/50: lock mutex; await change mutex; far 1; unlock mutex
                     start near hard 1/100/20+1: lock mutex; await change mutex; near 1; unlock mutex
                     until 2; broadcast change; note said; broadcast change  // finds no task
                     note again)"),
              "near 2-3 | far 3-4 | said | again");
}

TEST(Condition, FreesTheMutexWhileItWaitsAndHasItAgainAfterwards) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start consumer hard 1/100/20: lock mutex; await change mutex; note woken; await change mutex;
                         note woken again; again? trylock mutex; unlock mutex
                     until 1; lock mutex
                     signal change  // the consumer finds the mutex taken and lends its place
                     producer 1; unlock mutex; lock mutex; note ready; signal change; unlock mutex)"),
              "producer 1-2 | woken | ready | woken again | again: refused");
}

TEST(Condition, HandsAPlainMutexToWhoWaitsForItWhileItsOwnerWaits) {
    EXPECT_EQ(run(R"(mutex mutex none; condition change
                     start waiter hard 3/100/50: lock mutex; w 2; await change mutex; W 1; unlock mutex
                     start other hard 2/100/20+1: lock mutex; o 1; signal change; o 1; unlock mutex
                     until 20)"),
              "w 0-2 | o 2-4 | W 4-5");
}

TEST(Condition, GivesUpAtTheLimitWithTheMutexLocked) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start waiter hard 1/100/20: lock mutex; first? await change mutex 2;
                     owner? trylock mutex;  // it is refused to the owner
                     second? await change mutex 2; stamp end; unlock mutex
                     until 3; signal change; until 10)"),
              "first: timeout | owner: refused | second: ok | end@3");
}

TEST(Condition, KeepsTheMutexFromOthersIfItHasNoTimeToWait) {
    EXPECT_EQ(run(R"(mutex mutex; condition change; lock mutex
                     start H hard 1/100/20: lock mutex; H 1; unlock mutex
                     until 0; m 2; main? await change mutex 0; m 1; unlock mutex)"),
              "m 0-2 | main: timeout | m 2-3 | H 3-4");
}

TEST(Condition, LocksAgainHoweverLongThatTakesAfterALimit) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start waiter hard 1/100/20: lock mutex; waiter? await change mutex 1; stamp end; unlock mutex
                     start owner hard 4/100/50: lock mutex; o 4; unlock mutex
                     until 20)"),
              "o 0-4 | waiter: timeout | end@4");
}

TEST(Condition, RefusesToLockAgainIfThatWouldBeADeadlock) {
    // W keeps two while it waits; main locks the mutex, then waits for two: no way back for W.
    EXPECT_EQ(run(R"(mutex mutex; condition change; mutex two
                     start W hard 1/100/20: lock two; lock mutex; W? await change mutex 2;
                         unlock? unlock mutex; unlock two
                     until 1; lock mutex; main? lock two)"),
              "W: refused | unlock: refused | main: ok");
}

TEST(Condition, ForgetsAWaiterThatIsKilled) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start dead hard 1/100/20: lock mutex; await change mutex 5
                     start other hard 1/100/50: lock mutex; await change mutex; other 1; unlock mutex
                     until 1; kill dead; state mutex  // it did not own it
                     signal change; until 10)"),
              "whole | other 1-2");
}

TEST(Condition, MayBeSignalledByATimerHandler) {
    EXPECT_EQ(run(R"(mutex mutex; condition change
                     start W hard 1/100/20: lock mutex; await change mutex; W 1; unlock mutex
                     at 3: signal change; until 10)"),
              "W 3-4");
}

TEST(Condition, RunsOutOfNumbersAndSaysSo) {
    EXPECT_EQ(hosted::run([] {
                  static std::vector<kernel::Condition> many(0x10000);
                  for (std::size_t i = 0; i < 0xFFFF; ++i) {
                      must(cond_init(many[i], "c"));
                  }
                  note_result("last", cond_init(many[0xFFFF], "c"));
                  note_result("signal", cond_signal(many[0xFFFF]));
              }),
              "last: no space | signal: invalid argument");
}

} // namespace condition_test
