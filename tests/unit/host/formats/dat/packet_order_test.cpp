// SPDX-License-Identifier: MIT
// Tests order, loss and duplication by packet number.
#include "host/formats/dat/packet_order.hpp"

#include <array>
#include <gmock/gmock.h>

namespace host::formats::packet_order_test {

namespace {

using testing::ElementsAre;

class PacketOrdering : public testing::Test {
  protected:
    void accept(std::uint32_t number) { accept(number, static_cast<std::byte>(number & 0xFF)); }

    void accept(std::uint32_t number, std::byte contents) { m_order.accept(number, std::array{contents}); }

    std::vector<int> m_delivered;
    std::vector<std::uint64_t> m_lost;
    dat::PacketOrder m_order{[this](std::span<const std::byte> records, std::uint64_t lost) {
        m_delivered.push_back(static_cast<int>(records[0]));
        m_lost.push_back(lost);
    }};
};

TEST_F(PacketOrdering, PutsOvertakenPacketsBackInOrder) {
    for (const std::uint32_t number : {2U, 1U, 4U, 5U, 3U}) {
        accept(number);
    }
    EXPECT_THAT(m_delivered, ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(m_order.counts().lost, 0U);
    EXPECT_EQ(m_order.counts().reordered, 2U);
}

TEST_F(PacketOrdering, DropsDuplicatesWhetherDeliveredOrWaiting) {
    for (const std::uint32_t number : {1U, 1U, 3U, 3U, 2U}) {
        accept(number);
    }
    EXPECT_THAT(m_delivered, ElementsAre(1, 2, 3));
    EXPECT_EQ(m_order.counts().duplicate, 2U);
}

// A machine that was reset numbers its packets from 1 again.
TEST_F(PacketOrdering, CountsARepeatedNumberWithOtherContentsAsAConflictWhetherDeliveredOrWaiting) {
    accept(1);
    accept(1, std::byte{0xEE});
    accept(3);
    accept(3, std::byte{0xEE});
    accept(2);
    EXPECT_THAT(m_delivered, ElementsAre(1, 2, 3)) << "the first is kept";
    EXPECT_EQ(m_order.counts().conflict, 2U);
    EXPECT_EQ(m_order.counts().duplicate, 0U);
}

TEST_F(PacketOrdering, TakesNothingForADuplicateThatIsTooOldToBeCompared) {
    for (std::uint32_t number = 1; number <= dat::PacketOrder::kRemembered + 1; ++number) {
        accept(number);
    }
    accept(2);
    EXPECT_EQ(m_order.counts().duplicate, 1U);
    accept(1);
    EXPECT_EQ(m_order.counts().conflict, 1U);
}

TEST_F(PacketOrdering, GivesUpAGapWhenTheWindowIsFullAndNotBefore) {
    accept(1);
    for (std::uint32_t number = 3; number < 2 + dat::PacketOrder::kWindow; ++number) {
        accept(number);
    }
    EXPECT_EQ(m_delivered.size(), 1U);
    accept(2 + dat::PacketOrder::kWindow);
    EXPECT_EQ(m_delivered.size(), 1U + dat::PacketOrder::kWindow);
    EXPECT_EQ(m_lost.at(1), 1U);
    EXPECT_EQ(m_order.counts().lost, 1U);
    accept(2);
    EXPECT_EQ(m_order.counts().late, 1U);
    EXPECT_EQ(m_order.counts().duplicate, 0U);
}

TEST_F(PacketOrdering, LosesNoOtherPacketToOneWrongNumber) {
    accept(1);
    accept(2 + (1U << 19)); // a flipped bit
    for (std::uint32_t number = 3; number < 60; ++number) {
        accept(number);
    }
    accept(2);
    EXPECT_EQ(m_delivered.size(), 59U);
    EXPECT_EQ(m_order.counts().lost, 0U);
}

TEST_F(PacketOrdering, ReportsTheLengthOfEachGapWhenFlushed) {
    for (const std::uint32_t number : {3U, 4U, 9U}) {
        accept(number);
    }
    m_order.flush();
    EXPECT_THAT(m_delivered, ElementsAre(3, 4, 9));
    EXPECT_THAT(m_lost, ElementsAre(2, 0, 4));
    EXPECT_EQ(m_order.counts().lost, 6U);
}

// Packets that came on either side of a gap are no late ones.
TEST_F(PacketOrdering, CountsAsLateWhatIsInsideOfAGapAlone) {
    for (const std::uint32_t number : {1U, 2U, 5U, 6U, 9U, 10U}) {
        accept(number);
    }
    m_order.flush();
    for (const std::uint32_t number : {3U, 4U, 7U, 8U}) {
        accept(number);
    }
    EXPECT_EQ(m_order.counts().late, 4U);
    for (const std::uint32_t number : {1U, 2U, 5U, 6U, 9U, 10U}) {
        accept(number);
    }
    EXPECT_EQ(m_order.counts().late, 4U);
    EXPECT_EQ(m_order.counts().duplicate, 6U);
    EXPECT_EQ(m_order.counts().conflict, 0U);
    EXPECT_EQ(m_order.counts().delivered, 6U);
    EXPECT_EQ(m_order.counts().reordered, 0U);
    EXPECT_EQ(m_order.expected(), 11U);
    EXPECT_FALSE(m_order.waiting());
}

TEST_F(PacketOrdering, ForgetsTheOldestOfManyGaps) {
    for (std::uint32_t gap = 0; gap <= dat::PacketOrder::kGapsMax; ++gap) {
        accept(2 + 2 * gap);
        m_order.flush();
    }
    accept(3);
    EXPECT_EQ(m_order.counts().late, 1U);
    accept(1);
    EXPECT_EQ(m_order.counts().late, 1U);
    EXPECT_EQ(m_order.counts().conflict, 1U) << "not to be compared";
}

TEST_F(PacketOrdering, TakesTheFarthestJumpThatIsNoNonsense) {
    accept(1);
    accept(2 + dat::PacketOrder::kJumpMax);
    EXPECT_EQ(m_order.counts().implausible, 0U);
    EXPECT_TRUE(m_order.waiting());
    m_order.flush();
    EXPECT_EQ(m_order.counts().lost, dat::PacketOrder::kJumpMax);
    EXPECT_THAT(m_lost, ElementsAre(0, dat::PacketOrder::kJumpMax));
}

// The sender may have begun long before.
TEST_F(PacketOrdering, BeginsAtAnyNumber) {
    accept(5 + 2 * dat::PacketOrder::kJumpMax);
    accept(6 + 2 * dat::PacketOrder::kJumpMax);
    accept(7 + 3 * dat::PacketOrder::kJumpMax);
    EXPECT_EQ(m_order.counts().implausible, 1U) << "a jump";
    m_order.flush();
    EXPECT_THAT(m_lost, ElementsAre(4 + 2 * dat::PacketOrder::kJumpMax, 0));
}

TEST_F(PacketOrdering, TakesAWildJumpForNonsense) {
    accept(1);
    accept(0);
    accept(2 + dat::PacketOrder::kJumpMax + 1);
    accept(2);
    EXPECT_THAT(m_delivered, ElementsAre(1, 2));
    EXPECT_EQ(m_order.counts().implausible, 2U);
}

} // namespace

} // namespace host::formats::packet_order_test
