// SPDX-License-Identifier: MIT
// Tests words of interrupt controllers, HPET, power management and the BIOS's vectors, as their data sheets draw them.
#include "arch/x86_64/hpet_words.hpp"
#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/power.hpp"
#include "arch/x86_64/real_mode.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace arch::x86_64 {
namespace {

TEST(IoApicEntry, IsMaskedAndHasVectorTriggerAndPolarity) {
    EXPECT_EQ(redirection(0x30, {.level = false, .active_low = false}), 0x1'0030U);
    EXPECT_EQ(redirection(0xEF, {.level = false, .active_low = true}), 0x1'20EFU);
    EXPECT_EQ(redirection(0x30, {.level = true, .active_low = false}), 0x1'8030U);
    EXPECT_EQ(redirection(0x30, {.level = true, .active_low = true}), 0x1'A030U);
    EXPECT_EQ(redirection(0x30, {}) & ~kRedirectionMasked, 0x30U);
    EXPECT_EQ(kRedirectionNmi, 0x400U) << "edge, active high, delivery mode 100, open";
}

TEST(IoApicVersion, StatesTheHighestLine) {
    EXPECT_EQ(lines_of(0x0017'0011), 24U);
    EXPECT_EQ(lines_of(0xFFEF'8020), 240U);
    EXPECT_EQ(lines_of(0x0000'0011), 1U);
}

TEST(PicMask, OpensAndClosesOneLine) {
    for (std::uint8_t line = 0; line < 8; ++line) {
        const auto bit = static_cast<std::uint8_t>(1U << line);
        EXPECT_EQ(pic_mask(0xFF, line, true), 0xFF ^ bit);
        EXPECT_EQ(pic_mask(0x00, line, false), bit);
        for (const std::uint8_t mask : std::to_array<std::uint8_t>({0x00, 0xA5, 0x5A, 0xFF})) {
            EXPECT_EQ(pic_mask(pic_mask(mask, line, true), line, true), mask & ~bit) << "open already";
            EXPECT_EQ(pic_mask(pic_mask(mask, line, true), line, false), mask | bit);
        }
    }
}

TEST(VectorInService, IsTheHighest) {
    std::array<std::uint32_t, 8> words{};
    const auto highest = [&words] { return highest_vector([&words](std::uint32_t word) { return words[word]; }); };
    EXPECT_FALSE(highest().has_value());
    for (std::uint32_t vector = 0; vector < 256; ++vector) { // each one above those before it
        words[vector / 32] |= 1U << vector % 32;
        EXPECT_EQ(highest(), vector);
    }
    words = {1, 0, 0, 0, 0, 0, 0, 1U << 16};
    EXPECT_EQ(highest(), 0xF0);
}

constexpr std::uint64_t capabilities(std::uint64_t period_fs, std::uint64_t timers = 3) {
    return period_fs << 32 | (timers - 1) << 8 | 1;
}

TEST(Hpet, HasTheRateOfItsPeriod) {
    EXPECT_EQ(hpet_khz(capabilities(10'000'000)).value(), 100'000U); // QEMU's
    EXPECT_EQ(hpet_khz(capabilities(69'841'279)).value(), 14'318U);  // that of a PC
}

TEST(Hpet, IsNoneWithAPeriodThatNoDeviceHas) {
    EXPECT_EQ(hpet_khz(capabilities(100'000'000)).value(), 10'000U);
    EXPECT_EQ(hpet_khz(capabilities(100'000'001)).error(), lib::Error::not_found);
    EXPECT_EQ(hpet_khz(capabilities(100'000)).value(), 10'000'000U);
    EXPECT_EQ(hpet_khz(capabilities(99'999)).error(), lib::Error::not_found);
    EXPECT_EQ(hpet_khz(~std::uint64_t{0}).error(), lib::Error::not_found) << "nothing answers";
    EXPECT_EQ(hpet_khz(0).error(), lib::Error::not_found);
}

TEST(Hpet, HasOneTo32Timers) {
    EXPECT_EQ(hpet_timers(capabilities(10'000'000, 1)), 1U);
    EXPECT_EQ(hpet_timers(capabilities(10'000'000, 32)), 32U);
    EXPECT_EQ(hpet_timers(capabilities(10'000'000, 3) | 1U << 13 | 1U << 15), 3U) << "the bits above are others";
}

constexpr std::uint64_t able(std::uint64_t lines, bool wide = true) {
    return lines << 32 | (wide ? 1U << 5 : 0U) | 1U << 4;
}

TEST(HpetTimer, TakesTheLeastLineThatIsNotThePits) {
    EXPECT_EQ(hpet_timer_line(able(1U << 20 | 1U << 21)).value(), 20U);
    EXPECT_EQ(hpet_timer_line(able(0xFFFF'FFFF)).value(), 1U);
    EXPECT_EQ(hpet_timer_line(able(0x0000'000D)).value(), 3U);
    EXPECT_EQ(hpet_timer_line(able(std::uint64_t{1} << 31)).value(), 31U);
    EXPECT_EQ(hpet_timer_line(able(0x0000'0005)).error(), lib::Error::not_found);
    EXPECT_EQ(hpet_timer_line(able(0)).error(), lib::Error::not_found);
    EXPECT_EQ(hpet_timer_line(able(0xFFFF'FFFF, false)).error(), lib::Error::not_found) << "of 32 bits";
}

TEST(HpetTimer, IsConfiguredAsOneEdgeOnItsLine) {
    EXPECT_EQ(hpet_timer_on(0), 0x4U);
    EXPECT_EQ(hpet_timer_on(20), 0x2804U);
    EXPECT_EQ(hpet_timer_on(31), 0x3E04U);
}

TEST(Pm1Control, HasTheSleepTypeBelowSleepEnable) {
    EXPECT_EQ(pm1_sleep(0), 0x2000U);
    EXPECT_EQ(pm1_sleep(5), 0x3400U);
    EXPECT_EQ(pm1_sleep(7), 0x3C00U);
    EXPECT_EQ(pm1_sleep(0xFF), 0x3C00U) << "no other bit of the register";
}

TEST(BiosVector, IsInRomFromTheVideoBiosToTheEndOfTheFirstMegabyte) {
    EXPECT_TRUE(is_in_rom(0xF000'F84D));
    EXPECT_TRUE(is_in_rom(0xC000'0000));
    EXPECT_TRUE(is_in_rom(0xF000'FFFF));
    EXPECT_TRUE(is_in_rom(0xBFFF'0010)) << "segment and offset add up";
    EXPECT_FALSE(is_in_rom(0xBFFF'000F));
    EXPECT_FALSE(is_in_rom(0xFFFF'0010)) << "1 MiB";
    EXPECT_FALSE(is_in_rom(0));
}

TEST(FarAddress, IsSegmentAndOffset) {
    EXPECT_EQ(far_address(kRealModeCode, 0x123), 0x0800'0123U);
    EXPECT_EQ(far_address(0xF'FFF0, 0xFFFF), 0xFFFF'FFFFU);
}

} // namespace
} // namespace arch::x86_64
