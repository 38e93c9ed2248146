// SPDX-License-Identifier: MIT
// Tests which jobs the stack policy stops, and whose place is given back when its task is killed meanwhile. Lower case
// letters are work inside a critical section.
#include "kernel/sync/mutex.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace stack_policy_test {

using namespace hosted;

TEST(StackPolicy, StopsNoJobThatHasBegun) {
    // K sleeps with a ceiling above N, whose job began before.
    EXPECT_EQ(run(R"(mutex one stack
                     create U hard 1/100/20
                     start N hard 3/100/60: N 3
                     start K hard 2/100/20+1: lock one; k 1; delay 5; k 1; unlock one
                     user one U; user one K; until 20)"),
              "N 0-1 | k 1-2 | N 2-4 | k 7-8");
}

TEST(StackPolicy, StopsEachJobOfASoftTask) {
    EXPECT_EQ(run(R"(mutex one stack
                     create U hard 1/100/10
                     start S soft 2/30: each S 1
                     start L hard 4/100/90: lock one; l 4; unlock one
                     user one U; user one L; at 3: activate S; until 20)"),
              "S 0-1 | l 1-5 | S 5-6");
}

TEST(MutexPlace, IsLeftWhenTheTaskIsKilledWhosePlaceItIs) {
    // L runs in the place of the server of H, and pays from its budget, until H is killed.
    EXPECT_EQ(run(R"(mutex one
                     start L hard 4/100/90: lock one; l 4; unlock one
                     create H soft 3/20: lock one
                     at 1: activate H
                     start M hard 2/100/50+2: M 2
                     at 3: kill H; until 20)"),
              "l 0-3 | M 3-5 | l 5-6");
}

} // namespace stack_policy_test
