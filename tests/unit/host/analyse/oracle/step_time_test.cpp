// SPDX-License-Identifier: MIT
// Tests how long steps count: from the end of a timer's interrupt to the next, and for eight times as long after it.
#include "host/analyse/oracle/oracle.hpp"

#include "host/trace/event.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace host::analyse::oracle::step_time_test {

namespace {

class Steps {
  public:
    // The delay after the event.
    std::uint64_t at(std::uint64_t stamp, std::string_view name) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = 0, .par2 = 0});
        event.ticks = {stamp};
        time.event(event);
        return time.delay();
    }

    StepTime time;
};

TEST(StepTime, CountsFromTheFirstStepToTheSwitch) {
    Steps steps;
    EXPECT_EQ(steps.at(100, "ipoint"), 0U);
    EXPECT_EQ(steps.at(200, "instruction"), 0U);
    EXPECT_EQ(steps.at(250, "block"), 50U);
    EXPECT_EQ(steps.at(300, "ipoint"), 100U);
    EXPECT_EQ(steps.at(340, "context_switch"), 140U);
    EXPECT_EQ(steps.at(900, "ipoint"), 140U) << "another task runs";
    EXPECT_EQ(steps.at(1000, "instruction"), 140U);
    EXPECT_EQ(steps.at(1005, "instruction"), 145U);
    EXPECT_EQ(steps.time.longest(), 145U);
}

TEST(StepTime, CountsNoStampThatFalls) {
    Steps steps;
    steps.at(100, "block");
    EXPECT_EQ(steps.at(90, "block"), 0U);
    EXPECT_EQ(steps.at(95, "block"), 5U);
}

// A section of 50 that ends at 150 counts up to 550.
TEST(StepTime, CountsASectionEightTimesAsLong) {
    Steps steps;
    steps.at(100, "instruction");
    EXPECT_EQ(steps.at(150, "timer_wakeup_end"), 50U);
    EXPECT_EQ(steps.at(151, "context_switch"), 50U) << "one tick of the next";
    EXPECT_EQ(steps.at(550, "ipoint"), 50U);
    EXPECT_EQ(steps.at(551, "ipoint"), 1U);
    EXPECT_EQ(steps.time.longest(), 50U);
}

// Sections of 20, 50 and 30: the longest counts, and then what is left of the shorter one.
TEST(StepTime, RemembersTheLongestSection) {
    Steps steps;
    steps.at(100, "block");
    EXPECT_EQ(steps.at(120, "timer_wakeup_end"), 20U);
    EXPECT_EQ(steps.at(170, "timer_wakeup_end"), 50U);
    steps.at(170, "context_switch");
    EXPECT_EQ(steps.at(540, "block"), 50U);
    EXPECT_EQ(steps.at(570, "timer_wakeup_end"), 50U) << "30 ticks, up to 810";
    steps.at(570, "context_switch");
    EXPECT_EQ(steps.at(571, "ipoint"), 30U);
    EXPECT_EQ(steps.at(810, "ipoint"), 30U);
    EXPECT_EQ(steps.at(811, "ipoint"), 0U);
    EXPECT_EQ(steps.time.longest(), 50U);
}

TEST(StepTime, DoesNotKnowWhoRunsAfterAGap) {
    Steps steps;
    steps.at(100, "block");
    EXPECT_EQ(steps.at(110, "block"), 10U);
    steps.time.forget();
    EXPECT_EQ(steps.at(500, "ipoint"), 10U);
    EXPECT_EQ(steps.at(500, "timer_wakeup_end"), 10U);
    EXPECT_EQ(steps.at(520, "timer_wakeup_end"), 10U) << "no step since: the section before still counts";
}

} // namespace

} // namespace host::analyse::oracle::step_time_test
