// SPDX-License-Identifier: MIT
// Tests least, mean, greatest and sum, also of none and of more than fit.
#include "host/analyse/durations.hpp"

#include <gtest/gtest.h>

namespace host::analyse::durations_test {

namespace {

TEST(Durations, AreZeroWithoutAny) {
    const Durations none;
    EXPECT_EQ(none.count(), 0U);
    EXPECT_EQ(none.least(), lib::Ticks{});
    EXPECT_EQ(none.mean(), lib::Ticks{});
    EXPECT_EQ(none.greatest(), lib::Ticks{});
    EXPECT_EQ(none.sum(), lib::Ticks{});
}

TEST(Durations, KeepLeastMeanAndGreatest) {
    Durations durations;
    for (const std::uint64_t ticks : {30U, 7U, 50U, 8U}) {
        durations.add({ticks});
    }
    EXPECT_EQ(durations.count(), 4U);
    EXPECT_EQ(durations.least(), lib::Ticks{7});
    EXPECT_EQ(durations.mean(), lib::Ticks{23}) << "95 / 4, rounded down";
    EXPECT_EQ(durations.greatest(), lib::Ticks{50});
    EXPECT_EQ(durations.sum(), lib::Ticks{95});
}

TEST(Durations, StopAtTheGreatestSum) {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    Durations durations;
    durations.add({kMost - 5});
    durations.add({5});
    EXPECT_EQ(durations.sum(), lib::Ticks{kMost});
    durations.add({1});
    EXPECT_EQ(durations.sum(), lib::Ticks{kMost});
    Durations less;
    less.add({kMost - 5});
    less.add({4});
    EXPECT_EQ(less.sum(), lib::Ticks{kMost - 1});
}

} // namespace

} // namespace host::analyse::durations_test
