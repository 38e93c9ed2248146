// SPDX-License-Identifier: MIT
// Tests percentiles at both ends, between two ranks, and where a fraction is not exact.
#include "host/analyse/durations.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace host::analyse::nearest_rank_test {

namespace {

// The example of the method's definition: the 30th of five values is the second.
TEST(NearestRank, IsOneOfTheValues) {
    std::vector<int> values = {50, 15, 40, 20, 35};
    EXPECT_EQ(percentile(std::span(values), 5), 15);
    EXPECT_EQ(percentile(std::span(values), 30), 20);
    EXPECT_EQ(percentile(std::span(values), 40), 20);
    EXPECT_EQ(percentile(std::span(values), 50), 35);
    EXPECT_EQ(percentile(std::span(values), 100), 50);
    EXPECT_EQ(percentile(std::span(values), 0), 15);
}

TEST(NearestRank, IsNotMovedByRounding) {
    EXPECT_EQ(nearest_rank(1000, 99.9), 998U);
    EXPECT_EQ(nearest_rank(1000, 99.91), 999U);
    EXPECT_EQ(nearest_rank(1, 50), 0U);
    EXPECT_EQ(nearest_rank(3, 100), 2U);
}

} // namespace

} // namespace host::analyse::nearest_rank_test
