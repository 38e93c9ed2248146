// SPDX-License-Identifier: MIT
// Tests tick and nanosecond conversion at the limits where 64-bit products overflow.
#include "lib/units.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lib {

__extension__ using Wide = unsigned __int128;

TEST(MultiplyDivide, IsExactWhereTheProductLeaves64Bits) {
    EXPECT_EQ(multiply_divide(18'000'000'000, 1'000'000'000, 3'200'000'000), 5'625'000'000U);
    EXPECT_EQ(multiply_divide(~std::uint64_t{0}, 1, 1), ~std::uint64_t{0});
    EXPECT_EQ(multiply_divide(~std::uint64_t{0}, 0xFFFF'FFFF, 0xFFFF'FFFF), ~std::uint64_t{0});
    EXPECT_EQ(multiply_divide(0, 7, 3), 0U);
}

TEST(MultiplyDivide, RoundsDown) {
    EXPECT_EQ(multiply_divide(2, 1, 3), 0U);
    EXPECT_EQ(multiply_divide(3, 1, 3), 1U);
}

TEST(MultiplyDivide, SaturatesInsteadOfWrapping) {
    EXPECT_EQ(multiply_divide(~std::uint64_t{0}, 2, 1), ~std::uint64_t{0});
}

TEST(MultiplyDivide, AgreesWithWideArithmetic) {
    std::mt19937_64 random(20261120);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t value = random() >> (random() % 64);
        const std::uint64_t numerator = random() >> (random() % 64);
        const std::uint64_t denominator = 1 + (random() & 0xFFFF'FFFE);
        const Wide exact = static_cast<Wide>(value) * numerator / denominator;
        const auto expected = exact > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(exact);
        ASSERT_EQ(multiply_divide(value, numerator, denominator), expected)
            << value << " * " << numerator << " / " << denominator;
    }
}

TEST(Ticks, SaturateInsteadOfWrapping) {
    const Ticks never{~std::uint64_t{0}};
    EXPECT_EQ(never + Ticks{1}, never);
    EXPECT_EQ((Ticks{1} + Ticks{2}).value, 3U);
}

TEST(TickRate, ConvertsBothWays) {
    const TickRate rate{2'596'107};
    EXPECT_EQ(rate.to_ticks(milliseconds(1)).value, 2'596'107U);
    EXPECT_EQ(rate.to_nanoseconds(Ticks{2'596'107}).value, 1'000'000U);
}

TEST(TickRate, HoldsForAMonthOfTicks) {
    const TickRate rate{3'200'000};
    const Nanoseconds month = milliseconds(std::uint64_t{30} * 24 * 3600 * 1000);
    EXPECT_EQ(rate.to_nanoseconds(rate.to_ticks(month)), month);
}

} // namespace lib
