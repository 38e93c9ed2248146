// SPDX-License-Identifier: MIT
// Tests a map that finds values by one look-up after the first.
#include "host/trace/event.hpp"

#include <gtest/gtest.h>

namespace host::trace {

namespace {

TEST(NumberMap, FindsWhatWasMade) {
    NumberMap<int> map;
    EXPECT_EQ(map.find(7), nullptr);
    map[7] = 70;
    map[0xFFFF] = 1;
    EXPECT_EQ(*map.find(7), 70);
    EXPECT_EQ(map[7], 70);
    EXPECT_EQ(map.values().size(), 2U);
    EXPECT_EQ(map.values().begin()->first, 7U);
}

TEST(NumberMap, ForgetsWhatIsErased) {
    NumberMap<int> map;
    map[7] = 70;
    map.erase(7);
    EXPECT_EQ(map.find(7), nullptr);
    EXPECT_EQ(map[7], 0);
    map.clear();
    EXPECT_EQ(map.find(7), nullptr);
}

TEST(NumberMap, ACopyHasValuesOfItsOwn) {
    NumberMap<int> map;
    map[7] = 70;
    NumberMap<int> copy = map;
    copy[7] = 71;
    EXPECT_EQ(map[7], 70);
    map = copy;
    copy[7] = 72;
    EXPECT_EQ(map[7], 71);
}

} // namespace

} // namespace host::trace
