// SPDX-License-Identifier: MIT
// Tests the calibrations and the one-shot timer at the ends of their ranges: wrapping counters, disturbed windows, a
// host that was suspended, and times beyond the counter.
#include "arch/x86_64/clock_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace arch::x86_64 {
namespace {

constexpr std::uint64_t kPmTimerHz = 3'579'545;

TEST(PmTimer, WrapsAfter24Or32Bits) {
    EXPECT_EQ(counted(0xFF'FFF0, 0x10, pm_timer_mask(false)), 0x20U);
    EXPECT_EQ(counted(0xFFFF'FFF0, 0x10, pm_timer_mask(true)), 0x20U);
    EXPECT_EQ(counted(0xFF'FFF0, 0x100'0010, pm_timer_mask(true)), 0x20U) << "no wrap of a wide one";
    EXPECT_EQ(counted(0xFFFF'FFF0, 0x11, pm_timer_mask(true)), 0x21U);
    EXPECT_EQ(counted(0xFF'FFF0, 0x11, pm_timer_mask(false)), 0x21U);
    EXPECT_EQ(counted(7, 7, pm_timer_mask(false)), 0U);
    EXPECT_EQ(counted(8, 7, pm_timer_mask(false)), 0xFF'FFFFU) << "the greatest distance";
}

TEST(TscRate, IsExactToTheKilohertz) {
    EXPECT_EQ(rate_khz(kPmTimerHz * 2, kPmTimerHz, kPmTimerHz), 7'159U);
    EXPECT_EQ(rate_khz(5'000'000, 1'000'000, 2'000), 2'500'000U); // 2 ms at 2.5 GHz
    EXPECT_EQ(rate_khz(4'000'000'000ULL * 1'000, kPmTimerHz, kPmTimerHz * 1'000), 4'000'000U)
        << "a host that was suspended for a thousand seconds";
}

TEST(TscRate, IsTheLeastOfTheWindows) {
    std::array<std::uint64_t, 3> windows{2'500'400, 2'500'000, 2'500'100};
    do {
        std::uint64_t best = 0;
        std::ranges::for_each(windows, [&best](std::uint64_t khz) { best = better_tsc_khz(best, khz); });
        EXPECT_EQ(best, 2'500'000U);
    } while (std::ranges::next_permutation(windows).found);
}

TEST(ApicTimerRate, IsTheGreatestOfTheWindows) {
    std::array<std::uint32_t, 3> windows{999'900, 0, 1'000'000};
    do {
        std::uint32_t best = 0;
        std::ranges::for_each(windows, [&best](std::uint32_t khz) { best = better_timer_khz(best, khz); });
        EXPECT_EQ(best, 1'000'000U);
    } while (std::ranges::next_permutation(windows).found);
}

TEST(ApicTimerRate, IsNoneOfAWindowLongerThanTheCounterRuns) {
    constexpr lib::TickRate kClock{2'500'000};
    EXPECT_EQ(timer_khz(1'000'000, kClock, {2'500'000}), 1'000'000U);
    EXPECT_EQ(timer_khz(0xFFFF'FFFF, kClock, {kTimerCountMax}), 2'500'000U) << "the longest window";
    EXPECT_EQ(timer_khz(0xFFFF'FFFF, kClock, {std::uint64_t{kTimerCountMax} + 1}), 0U);
    EXPECT_EQ(timer_khz(0xFFFF'FFFF, kClock, {0x1'8000'0000}), 0U) << "two turns of the counter";
}

TEST(ApicTimer, NeverRingsBeforeItsTime) {
    constexpr lib::TickRate kClock{3'000'000};
    constexpr std::uint32_t kKhz = 1'000'000; // a count is three ticks
    for (const std::uint64_t delta : std::to_array<std::uint64_t>({0, 1, 2, 3, 4, 299, 300, 301})) {
        const std::uint32_t count = timer_count({delta}, {kKhz, kClock.khz});
        EXPECT_GT(std::uint64_t{count} * 3, delta);
        EXPECT_LE(std::uint64_t{count} * 3, delta + 3) << "nor a count too late";
    }
}

TEST(ApicTimer, HasNoMoreLeftThanItWasArmedFor) {
    constexpr lib::TickRate kClock{3'000'000};
    constexpr std::uint32_t kKhz = 1'000'000;
    EXPECT_EQ(timer_left(0, kKhz, kClock).value, 0U) << "it has fired";
    EXPECT_EQ(timer_left(7, kKhz, kClock).value, 21U);
    EXPECT_EQ(timer_left(2, 3'000'000, {1'000'000}).value, 0U) << "rounded down";
    EXPECT_EQ(timer_left(kTimerCountMax, kKhz, kClock).value, std::uint64_t{kTimerCountMax} * 3);
    for (const std::uint64_t delta : std::to_array<std::uint64_t>({0, 1, 299, 300, 1'000'000'007})) {
        const std::uint64_t left = timer_left(timer_count({delta}, {kKhz, kClock.khz}), kKhz, kClock).value;
        EXPECT_GE(left, delta);
        EXPECT_LE(left, delta + 3) << "a count";
    }
}

// An initial count of 0 would stop the timer.
TEST(ApicTimer, CutsATimeBeyondTheCounterToItsGreatestCount) {
    constexpr lib::TickRate kClock{1'000'000};
    EXPECT_EQ(timer_count({kTimerCountMax - 2}, {1'000'000, kClock.khz}), kTimerCountMax - 1);
    EXPECT_EQ(timer_count({kTimerCountMax - 1}, {1'000'000, kClock.khz}), kTimerCountMax);
    EXPECT_EQ(timer_count({kTimerCountMax}, {1'000'000, kClock.khz}), kTimerCountMax);
    EXPECT_EQ(timer_count({std::uint64_t{1} << 32}, {1'000'000, kClock.khz}), kTimerCountMax);
    EXPECT_EQ(timer_count({~std::uint64_t{0}}, {1'000'000, kClock.khz}), kTimerCountMax);
    EXPECT_EQ(timer_count({~std::uint64_t{0}}, {1'000'001, kClock.khz}), kTimerCountMax) << "the product saturates";
}

} // namespace
} // namespace arch::x86_64
