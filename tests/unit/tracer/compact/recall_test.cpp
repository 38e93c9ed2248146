// SPDX-License-Identifier: MIT
// Tests what the predictor expects, and that nothing of an earlier stream remains in it.
#include "tracer/compact/recall.hpp"

#include <gtest/gtest.h>

#include <random>

namespace recall_test {

using tracer::compact::Recall;

TEST(CompactRecall, ExpectsWhatFollowedTheSameOneOrTwoEvents) {
    Recall recall;
    EXPECT_EQ(recall.predicted(1), 0U);
    EXPECT_EQ(recall.predicted(2), 0U);
    for (const std::uint64_t key : {1U, 2U, 3U, 4U, 2U, 5U, 1U, 2U}) {
        recall.take(key);
    }
    EXPECT_EQ(recall.predicted(1), 5U) << "5 followed the last 2";
    EXPECT_EQ(recall.predicted(2), 3U) << "3 followed the last 1, 2";
}

// A decoder that is new reads what an encoder that was used before has written.
TEST(CompactRecall, IsAsNewWhenItWasCleared) {
    Recall fresh;
    Recall used;
    for (std::uint64_t key = 1; key < 5000; ++key) {
        used.take(key * key);
    }
    used.clear();
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_EQ(used.predicted(1), fresh.predicted(1)) << "event " << i;
        ASSERT_EQ(used.predicted(2), fresh.predicted(2)) << "event " << i;
        const std::uint64_t key = 1 + random() % 300;
        used.take(key);
        fresh.take(key);
    }
}

} // namespace recall_test
