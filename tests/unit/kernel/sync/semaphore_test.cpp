// SPDX-License-Identifier: MIT
// Tests semaphores: order of waiters, hand-over, posts from interrupt context.
#include "kernel/sync/semaphore.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace semaphore_test {

using namespace hosted;
using kernel::sem_init;
using kernel::sem_wait;

TEST(Semaphore, CountsUnits) {
    EXPECT_EQ(run(R"(before init? wait units; try? trywait units; post? post units; semaphore units 2;
                     init again? semaphore units 2; first? trywait units; second? wait units; third? trywait units;
                     post units; posted? trywait units)"),
              "before init: invalid argument | try: invalid argument | post: invalid argument | init again: already "
              "exists | first: ok | second: ok | third: busy | "
              "posted: ok");
}

TEST(Semaphore, RefusesAPostAtTheGreatestCount) {
    EXPECT_EQ(run(R"(semaphore units 4294967295; post? post units; wait? trywait units; post? post units;
                     post? post units)"),
              "post: no space | wait: ok | post: ok | post: no space");
}

TEST(Semaphore, ServesTheMostUrgentWaiterFirst) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start late hard 1/100/90: wait units; L 1
                     start soon hard 1/100/10+1: wait units; S 1
                     until 2; post units; note between; post units)"),
              "S 2-3 | between | L 3-4");
}

TEST(Semaphore, HandsTheUnitOverSoThatNoTaskOvertakes) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start W nrt: wait units; note W
                     until 1; post units  // W is after main in the queue of its level
                     overtake? trywait units; is-ready W; until 2)"),
              "overtake: busy | W ready | W");
}

TEST(Semaphore, MayBePostedByATimerHandler) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start W hard 1/100/10: wait units; W 1
                     start B nrt: B 5
                     at 3: post units; until 20)"),
              "B 0-3 | W 3-4 | B 4-6");
}

TEST(Semaphore, ForgetsAWaiterThatIsKilled) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start A hard 1/100: wait units; note A
                     start B hard 1/100: wait units; note B
                     until 1; kill A; post units)"),
              "B");
}

TEST(Semaphore, PrefersLevelsThenKeysThenArrivals) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start r1 nrt: wait units; note r1
                     start r2 nrt: wait units; note r2
                     until 1
                     start h1 hard 1/100/50: wait units; note h1
                     start h2 hard 1/100/50: wait units; note h2  // the same deadline
                     start h3 hard 1/100/40: wait units; note h3
                     post units; note p; post units; note p; post units; note p
                     post units; note p; post units; note p; until 2)"),
              "h3 | p | h1 | p | h2 | p | p | p | r1 | r2");
}

// A unit comes at 3.
std::string limited(const std::string& limit) {
    return run(R"(semaphore units 0
                  start P hard 3/100/50: P 3; post units
                  start W hard 1/100/20+1: W? timedwait units )" +
               limit + "; stamp now\nuntil 10; left? trywait units");
}

TEST(Semaphore, WaitsUntilALimitAndTakesNothingThen) {
    EXPECT_EQ(limited("2"), "P 0-3 | W: ok | now@3 | left: busy"); // at the limit is in time
    EXPECT_EQ(limited("1999999 ns"), "P 0-2 | W: timeout | now@2 | P 2-3 | left: ok");
    EXPECT_EQ(limited("0"), "P 0-1 | W: busy | now@1 | P 1-3 | left: ok");
}

TEST(Semaphore, TakesAUnitThatIsThereWhateverTheLimit) {
    EXPECT_EQ(run(R"(semaphore units 2; until 1; first? timedwait units 5; second? timedwait units 0; stamp now
                     third? timedwait units 0; fourth? timedwait units 1; stamp now)"),
              "first: ok | second: ok | now@1 | third: busy | fourth: timeout | now@2");
}

TEST(Semaphore, ForgetsTheLimitOfAWaiterThatGotItsUnit) {
    EXPECT_EQ(run(R"(semaphore units 0
                     // beyond the limit of the first
                     start W hard 1/100/20: first? timedwait units 5; second? wait units; stamp now
                     until 1; post units; until 8; post units)"),
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
