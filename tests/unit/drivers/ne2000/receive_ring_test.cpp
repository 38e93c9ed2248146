// SPDX-License-Identifier: MIT
// Tests the header check of the receive ring, each rule alone: every header here is correct except for one field, so
// that no other rule hides a missing one.
#include "drivers/ne2000/buffers.hpp"
#include "drivers/ne2000/registers.hpp"

#include <gtest/gtest.h>

#include <array>

namespace drivers::ne2000 {

namespace {

constexpr ReceiveRing kRing{0x4C, 0x80};
constexpr std::uint8_t kPage = 0x4D;
constexpr std::uint8_t kFarAhead = 0x60;

bool believed(const RingHeader& header, std::uint8_t page = kPage, std::uint8_t current = kFarAhead) {
    return kRing.validate(header, page, current).ok();
}

} // namespace

TEST(ReceiveRing, BelievesAConsistentHeaderAndTakesTheCrcOff) {
    EXPECT_EQ(kRing.validate({kRsrPRX, 0x50, 604}, kPage, kFarAhead).value(), 600U);
    EXPECT_TRUE(believed({kRsrPRX | 0x20, 0x50, 604})) << "broadcast bit";
}

TEST(ReceiveRing, BelievesAStatusOnlyIfTheFrameCameInIntact) {
    for (const int wrong : {0x00, 0x20, kRsrPRX | kRsrCRC, kRsrPRX | kRsrFAE, kRsrPRX | kRsrFO, kRsrPRX | kRsrMPA}) {
        EXPECT_FALSE(believed({static_cast<std::uint8_t>(wrong), 0x50, 604})) << wrong;
    }
}

TEST(ReceiveRing, BelievesLengthsOf18To1522) {
    EXPECT_FALSE(believed({kRsrPRX, 0x4E, 17}));
    EXPECT_TRUE(believed({kRsrPRX, 0x4E, 18}));
    EXPECT_TRUE(believed({kRsrPRX, 0x53, 1522}));
    EXPECT_FALSE(believed({kRsrPRX, 0x53, 1523}));
}

TEST(ReceiveRing, BelievesANextPageOnlyInsideTheRing) {
    EXPECT_TRUE(believed({kRsrPRX, 0x4C, 64}, 0x7F, 0x4E));
    EXPECT_FALSE(believed({kRsrPRX, 0x80, 64}, 0x7F, 0x4E));
    EXPECT_FALSE(believed({kRsrPRX, 0x4B, 64}, 0x7F, 0x4E));
    EXPECT_FALSE(believed({kRsrPRX, 0x00, 64}, 0x7F, 0x4E));
    EXPECT_FALSE(believed({kRsrPRX, 0xFF, 64}, 0x7F, 0x4E));
}

TEST(ReceiveRing, HoldsTheNextPageAgainstTheLength) {
    EXPECT_FALSE(believed({kRsrPRX, 0x4D, 604})) << "itself";
    EXPECT_FALSE(believed({kRsrPRX, 0x4F, 604}));
    EXPECT_FALSE(believed({kRsrPRX, 0x51, 604}));
}

TEST(ReceiveRing, AllowsOnePageOfDisagreementWhereTheCrcMeetsAPageEnd) {
    for (const std::uint16_t length : std::array<std::uint16_t, 4>{252, 253, 255, 256}) {
        EXPECT_TRUE(believed({kRsrPRX, 0x4E, length})) << length;
        EXPECT_TRUE(believed({kRsrPRX, 0x4F, length})) << length;
    }
    EXPECT_FALSE(believed({kRsrPRX, 0x4F, 251}));
    EXPECT_FALSE(believed({kRsrPRX, 0x4E, 257}));
}

TEST(ReceiveRing, BelievesNoFrameThatReachesBeyondTheReceiver) {
    EXPECT_TRUE(believed({kRsrPRX, 0x50, 604}, kPage, 0x50));
    EXPECT_FALSE(believed({kRsrPRX, 0x50, 604}, kPage, 0x4F));
    EXPECT_TRUE(believed({kRsrPRX, 0x4E, 604}, 0x7F, 0x4E)) << "around the end";
    EXPECT_FALSE(believed({kRsrPRX, 0x4E, 604}, 0x7F, 0x4D));
}

} // namespace drivers::ne2000
