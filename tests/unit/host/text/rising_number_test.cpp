// SPDX-License-Identifier: MIT
// What is kept of one number is right for the next, whether it is near, far above or below.
#include "host/text/digits.hpp"

#include "host/text/format.hpp"

#include <array>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

namespace host::text {

namespace {

using Out = std::array<char, RisingNumber::kRoom>;

std::string text_of(const Out& out, const char* end) {
    return {out.data(), static_cast<std::size_t>(end - out.data())};
}

void expect_as_formatted(RisingNumber& number, std::uint64_t value) {
    Out out{};
    EXPECT_EQ(text_of(out, number.put(out.data(), value)), fmt::format("{}", value));
    EXPECT_EQ(text_of(out, number.put_thousandth(out.data(), value)),
              fmt::format("{}.{:03}", value / 1000, value % 1000));
}

} // namespace

TEST(RisingNumber, IsThatOfItsDigits) {
    RisingNumber number;
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{999}, std::uint64_t{1'000}, std::uint64_t{99'999'999},
          std::uint64_t{100'000'000}, std::uint64_t{100'000'001}, std::uint64_t{199'999'999},
          std::uint64_t{200'000'000}, std::uint64_t{100'000'000}, std::uint64_t{5},
          std::numeric_limits<std::uint64_t>::max()}) {
        expect_as_formatted(number, value);
    }
}

TEST(RisingNumber, MayBeFarFromTheOneBefore) {
    RisingNumber number;
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        expect_as_formatted(number, random() >> (random() % 64));
    }
}

} // namespace host::text
