// SPDX-License-Identifier: MIT
// The place of a section is that of the code that opened it, also through a function that hands its caller's place on.
#include "kernel/section/section_meter.hpp"

#include <gtest/gtest.h>

namespace kernel {

namespace {

SectionPlace opened(SectionPlace place = {}) {
    return place;
}

SectionPlace opened_for_caller(SectionPlace place = {}) {
    return opened(place);
}

} // namespace

TEST(SectionPlace, IsTheCallersAlsoWhereItIsHandedOn) {
    const unsigned line = __LINE__;
    const SectionPlace direct = opened();
    const SectionPlace handed_on = opened_for_caller();
    EXPECT_EQ(direct.line, line + 1);
    EXPECT_EQ(handed_on.line, line + 2);
    EXPECT_STREQ(handed_on.file, __FILE__);
    EXPECT_STREQ(handed_on.function, "TestBody");
}

TEST(SectionMeter, CountsTheSectionsOfAPlaceTogetherAndThoseOfAnotherLineApart) {
    SectionMeter meter;
    for (int i = 0; i < 3; ++i) {
        meter.begin({"a.cpp", "f", 1});
        meter.end();
    }
    meter.begin({"a.cpp", "f", 2});
    meter.end();
    meter.end(); // none is open
    ASSERT_EQ(meter.sections().size(), 2U);
    EXPECT_EQ(meter.sections()[0].count, 3U);
    EXPECT_EQ(meter.sections()[1].count, 1U);
    EXPECT_EQ(meter.lost(), 0U);
}

TEST(SectionMeter, SumsUpAndFindsTheLongest) {
    SectionMeter meter;
    for (const std::uint64_t ticks : {5U, 9U, 2U}) {
        meter.begin({"a.cpp", "f", 1});
        arch::fake_cpu.time += ticks;
        meter.end();
        arch::fake_cpu.time += 100; // interrupts are on
    }
    ASSERT_EQ(meter.sections().size(), 1U);
    EXPECT_EQ(meter.sections()[0].total.value, 16U);
    EXPECT_EQ(meter.sections()[0].longest.value, 9U);
}

TEST(SectionMeter, CountsWhatIsBeyondItsPlacesAsLost) {
    SectionMeter meter;
    for (int lap = 0; lap < 2; ++lap) {
        for (unsigned line = 0; line <= SectionMeter::kPlacesMax; ++line) {
            meter.begin({"a.cpp", "f", line});
            meter.end();
        }
    }
    ASSERT_EQ(meter.sections().size(), SectionMeter::kPlacesMax);
    EXPECT_EQ(meter.sections().back().place.line, SectionMeter::kPlacesMax - 1);
    EXPECT_EQ(meter.sections().back().count, 2U);
    EXPECT_EQ(meter.lost(), 2U);
}

TEST(SectionMeter, DoesNotTakeAnUnusedPlaceForAKnownOne) {
    SectionMeter meter;
    meter.begin(meter.sections().data()->place); // of a place that is still unused
    meter.end();
    EXPECT_EQ(meter.sections().size(), 1U);
}

} // namespace kernel
