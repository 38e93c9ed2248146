// SPDX-License-Identifier: MIT
// A ratio gives what the division gives: at every power of two and around every multiple of the denominator, and for
// random values.
#include "lib/ratio.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace lib {
namespace {

constexpr auto kNumbers =
    std::to_array<std::uint32_t>({1, 2, 3, 7, 999, 1'000, 1'000'000, 2'596'107, 3'200'000, 0x7FFF'FFFF, 0x8000'0000,
                                  0x8000'0001, 0xFFFF'FFFE, 0xFFFF'FFFF});

void agrees(const Ratio& ratio, std::uint64_t value, std::uint32_t numerator, std::uint32_t denominator) {
    ASSERT_EQ(ratio.of(value), multiply_divide(value, numerator, denominator))
        << value << " * " << numerator << " / " << denominator;
}

void agrees_around(const Ratio& ratio, std::uint64_t value, std::uint32_t numerator, std::uint32_t denominator) {
    for (const std::uint64_t near : {value - 1, value, value + 1}) {
        agrees(ratio, near, numerator, denominator);
    }
}

TEST(Ratio, AgreesWithTheDivisionAtBoundaries) {
    for (const std::uint32_t numerator : kNumbers) {
        for (const std::uint32_t denominator : kNumbers) {
            const Ratio ratio(numerator, denominator);
            for (int bit = 0; bit < 64; ++bit) {
                agrees_around(ratio, std::uint64_t{1} << bit, numerator, denominator);
            }
            // The greatest multiple is where an error of the factor weighs most.
            const std::uint64_t most = ~std::uint64_t{0} / denominator;
            for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{2}, most / 2, most - 1, most}) {
                agrees_around(ratio, times * denominator, numerator, denominator);
            }
            agrees_around(ratio, 0, numerator, denominator);
        }
    }
}

TEST(Ratio, AgreesWithTheDivisionForRandomValues) {
    std::mt19937_64 random(20261124);
    const auto number = [&random] { return static_cast<std::uint32_t>(random() >> (32 + random() % 32)); };
    for (int i = 0; i < 2'000; ++i) {
        const std::uint32_t numerator = number();
        const std::uint32_t denominator = number() | 1;
        const Ratio ratio(numerator, denominator);
        for (int k = 0; k < 100; ++k) {
            agrees(ratio, random() >> (random() % 64), numerator, denominator);
        }
    }
}

TEST(Ratio, SaturatesInsteadOfWrapping) {
    EXPECT_EQ(Ratio(2, 1).of(~std::uint64_t{0}), ~std::uint64_t{0});
    EXPECT_EQ(Ratio(2, 1).of(~std::uint64_t{0} / 2), ~std::uint64_t{0} - 1);
    EXPECT_EQ(Ratio(0xFFFF'FFFF, 1).of(std::uint64_t{1} << 32), 0xFFFF'FFFF'0000'0000U);
    EXPECT_EQ(Ratio(0xFFFF'FFFF, 1).of(0x1'0000'0002), ~std::uint64_t{0});
    EXPECT_EQ(Ratio(0, 3).of(~std::uint64_t{0}), 0U);
}

TEST(TickConversion, GivesWhatTheRateGives) {
    std::mt19937_64 random(20261125);
    for (const std::uint32_t khz : {1U, 999'999U, 1'000'000U, 1'000'001U, 2'596'107U, 4'294'967'295U}) {
        const TickRate rate{khz};
        const TickConversion conversion(rate);
        for (int i = 0; i < 10'000; ++i) {
            const std::uint64_t value = random() >> (random() % 64);
            ASSERT_EQ(conversion.to_ticks({value}), rate.to_ticks({value})) << value << " ns at " << khz << " kHz";
            ASSERT_EQ(conversion.to_nanoseconds({value}), rate.to_nanoseconds({value})) << value << " at " << khz;
        }
    }
}

} // namespace
} // namespace lib
