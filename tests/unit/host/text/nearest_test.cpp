// SPDX-License-Identifier: MIT
// Tests which word is the nearest, and when none is near enough to be named.
#include "host/text/nearest.hpp"

#include <array>
#include <gtest/gtest.h>

namespace host::text {

namespace {

const std::array<std::string, 5> kWords{"print", "pack", "unpack", "--task", "control"};

TEST(Nearest, FindsOneErrorOfEachKind) {
    EXPECT_EQ(nearest("prnt", kWords), "print");
    EXPECT_EQ(nearest("prrint", kWords), "print");
    EXPECT_EQ(nearest("prunt", kWords), "print");
    EXPECT_EQ(nearest("pritn", kWords), "print");
    EXPECT_EQ(nearest("--tsk", kWords), "--task");
}

TEST(Nearest, AllowsAThirdOfTheLettersAndNoMore) {
    EXPECT_EQ(nearest("cotrl", kWords), "control"); // 2 of 5
    EXPECT_EQ(nearest("ctrl", kWords), "");         // 3 of 4
    EXPECT_EQ(nearest("pk", kWords), "");           // 2 of 2
    EXPECT_EQ(nearest("contrl", kWords), "control");
    EXPECT_EQ(nearest("cntrol", kWords), "control");
    EXPECT_EQ(nearest("cnotrl", kWords), "control"); // 2 of 6: a swap and a letter
    EXPECT_EQ(nearest("", kWords), "");
    EXPECT_EQ(nearest("x", kWords), "");
}

TEST(Nearest, PrefersTheCloserThenTheFirst) {
    EXPECT_EQ(nearest("upack", kWords), "pack"); // unpack is as close
    EXPECT_EQ(nearest("unpac", kWords), "unpack");
    EXPECT_EQ(nearest("pack", kWords), "pack");
}

TEST(Nearest, LeavesWhatIsNoWordAlone) {
    EXPECT_EQ(nearest(std::string(1'000'000, 'p'), kWords), "");
    const std::array<std::string, 1> long_word{std::string(65, 'p')};
    EXPECT_EQ(nearest(std::string(64, 'p'), long_word), "");
}

TEST(Nearest, MakesTheRemedy) {
    EXPECT_EQ(did_you_mean("prnt", kWords), "; did you mean print?");
    EXPECT_EQ(did_you_mean("frobnicate", kWords), "");
    const std::array<std::string, 1> odd{"a\nbcd"};
    EXPECT_EQ(did_you_mean("a\nbcx", odd), "; did you mean a\\x0abcd?");
}

} // namespace

} // namespace host::text
