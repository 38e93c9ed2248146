// SPDX-License-Identifier: MIT
// Tests what counts as a hang: each kind alone, after the limit and not before, and what is none.
#include "kernel/panic/hang.hpp"

#include <gtest/gtest.h>

#include <array>

namespace kernel {

namespace {

// What `looks` looks at the same sight find; the last finding.
Hang after(HangDetector& detector, std::uint32_t looks, const Sight& sight) {
    Hang found = Hang::none;
    for (std::uint32_t i = 0; i < looks; ++i) {
        found = detector.look(sight);
    }
    return found;
}

// A look at which all was well, then the limit without one look, then the limit.
void expect_hang(const Sight& sight, Hang expected) {
    HangDetector detector;
    Sight well = sight;
    well.answered = true;
    EXPECT_EQ(detector.look(well), Hang::none);
    EXPECT_EQ(after(detector, HangDetector::kLooks - 1, sight), Hang::none);
    EXPECT_EQ(detector.look(sight), expected);
}

constexpr Sight kRunning{.dispatched_at = {1000}};

} // namespace

TEST(HangDetector, FindsATaskThatKeepsTheProcessor) {
    expect_hang(kRunning, Hang::task);
}

TEST(HangDetector, FindsInterruptsThatAreOff) {
    Sight sight = kRunning;
    sight.answered = false;
    expect_hang(sight, Hang::interrupts_off);
    sight.idle = true;
    sight.something_comes = true;
    expect_hang(sight, Hang::interrupts_off);
}

TEST(HangDetector, FindsAHandlerThatDoesNotReturn) {
    Sight sight = kRunning;
    sight.answered = false;
    sight.in_interrupt = true;
    expect_hang(sight, Hang::handler);
}

TEST(HangDetector, FindsThatNothingCanHappenAnyMore) {
    Sight sight = kRunning;
    sight.idle = true;
    expect_hang(sight, Hang::main);
}

TEST(HangDetector, FindsAnEndThatDoesNotProgress) {
    Sight sight = kRunning;
    sight.ending = true;
    sight.answered = false;
    expect_hang(sight, Hang::end);
    sight.idle = true;
    sight.something_comes = true;
    expect_hang(sight, Hang::end); // whatever could wake a task comes too late
}

TEST(HangDetector, NamesInterruptsIfTheyWentOffAfterATaskHadComputedForLong) {
    HangDetector detector;
    EXPECT_EQ(after(detector, HangDetector::kLooks, kRunning), Hang::none);
    Sight off = kRunning;
    off.answered = false;
    EXPECT_EQ(detector.look(off), Hang::interrupts_off);
}

TEST(HangDetector, LetsASystemSleepThatATimerWakes) {
    HangDetector detector;
    Sight sight = kRunning;
    sight.idle = true;
    sight.something_comes = true;
    EXPECT_EQ(after(detector, 100, sight), Hang::none);
}

TEST(HangDetector, TakesADispatchAKickAndAnAnswerForProgress) {
    HangDetector detector;
    Sight sight = kRunning;
    for (std::uint32_t i = 0; i < 100; ++i) {
        if (i % 4 == 0) {
            ++sight.dispatched_at.value;
        } else if (i % 4 == 2) {
            ++sight.kicks;
        }
        sight.answered = i % 3 == 0;
        EXPECT_EQ(detector.look(sight), Hang::none) << i;
    }
}

TEST(HangDetector, CountsTheEndFromItsBeginning) {
    HangDetector detector;
    Sight sight = kRunning;
    sight.answered = false;
    EXPECT_EQ(after(detector, HangDetector::kLooks - 1, sight), Hang::none);
    sight.ending = true;
    EXPECT_EQ(after(detector, HangDetector::kLooks, sight), Hang::none);
    EXPECT_EQ(detector.look(sight), Hang::end);
}

TEST(HangDetector, NamesEachKindDifferently) {
    constexpr std::array kAll = {Hang::none, Hang::interrupts_off, Hang::handler, Hang::task, Hang::main, Hang::end};
    for (const Hang one : kAll) {
        for (const Hang other : kAll) {
            EXPECT_EQ(hang_text(one) == hang_text(other), one == other);
        }
    }
}

} // namespace kernel
