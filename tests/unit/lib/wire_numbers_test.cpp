// SPDX-License-Identifier: MIT
// Each number of a record has its word; a number without one is of another version.
#include "lib/wire_numbers.hpp"

#include <gtest/gtest.h>

namespace {

using lib::Flow;
using lib::kWords;
using lib::ServerKind;
using lib::WaitKind;

TEST(WireNumbers, HaveTheirWordAtTheirPlace) {
    EXPECT_EQ(kWords<WaitKind>.size(), 10U);
    EXPECT_EQ(kWords<WaitKind>[static_cast<std::size_t>(WaitKind::mutex)], "mutex");
    EXPECT_EQ(kWords<WaitKind>[0], "") << "no kind has this number";
    EXPECT_EQ(kWords<Flow>.size(), 5U);
    EXPECT_EQ(kWords<Flow>[static_cast<std::size_t>(Flow::ret)], "return");
}

TEST(WireNumbers, OfAnotherVersionAreNone) {
    EXPECT_EQ(lib::number_from<ServerKind>(4), ServerKind::deferrable);
    EXPECT_EQ(lib::number_from<ServerKind>(0), std::nullopt);
    EXPECT_EQ(lib::number_from<ServerKind>(5), std::nullopt);
    EXPECT_EQ(lib::number_from<WaitKind>(256 + 1), std::nullopt) << "more than the enumeration's type holds";
    EXPECT_EQ(lib::number_from<Flow>(0), Flow::next);
}

} // namespace
