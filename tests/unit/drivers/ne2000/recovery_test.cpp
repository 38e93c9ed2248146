// SPDX-License-Identifier: MIT
// Tests the NE2000 driver when the controller hangs, reports wrong values or overflows. QEMU's model never does any of
// this, so these paths run only on the fake. The fake checks the overflow routine step by step.
#include "drivers/ne2000/device.hpp"
#include "tests/support/fake_ne2000.hpp"
#include "tests/support/ne2000_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace drivers::ne2000 {

namespace {

using test::Frame;
using test::make_frame;

class Ne2000Recovery : public test::Ne2000Fixture {
  protected:
    void SetUp() override { ASSERT_TRUE(nic.start(options())); }

    // Frames of two pages until the ring is full. Returns how many were stored.
    std::size_t flood() {
        std::size_t stored = 0;
        while (card.arrive(make_frame(400, stored))) {
            ++stored;
        }
        return stored;
    }
};

struct CorruptHeader {
    const char* name;
    std::function<void(std::array<std::uint8_t, 4>&)> falsify;
};

class Ne2000CorruptHeaders : public Ne2000Recovery, public testing::WithParamInterface<CorruptHeader> {};

void set_length(std::array<std::uint8_t, 4>& header, std::size_t length) {
    header[2] = static_cast<std::uint8_t>(length);
    header[3] = static_cast<std::uint8_t>(length >> 8);
}

} // namespace

TEST_P(Ne2000CorruptHeaders, ResetTheRingAndReceptionContinues) {
    card.behaviour.falsify_header = GetParam().falsify;
    ASSERT_TRUE(card.arrive(make_frame(600)));
    card.behaviour.falsify_header = nullptr;
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::corrupt);
    EXPECT_EQ(nic.counters().rx_ring_resets, 1U);
    EXPECT_EQ(nic.counters().rx_frames, 0U);
    EXPECT_TRUE(card.receiving());
    ASSERT_TRUE(card.arrive(make_frame(77)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 77U);
}

// The frame has 600 bytes: length 604, three pages, next page 50h (80) after 4Dh.
INSTANTIATE_TEST_SUITE_P(
    Classes, Ne2000CorruptHeaders,
    testing::Values(CorruptHeader{"StatusNotReceived", [](auto& header) { header[0] = 0x00; }},
                    CorruptHeader{"StatusCrcError", [](auto& header) { header[0] = kRsrPRX | kRsrCRC; }},
                    CorruptHeader{"StatusMissed", [](auto& header) { header[0] = kRsrPRX | kRsrMPA; }},
                    CorruptHeader{"NextBelowTheRing", [](auto& header) { header[1] = 0x4B; }},
                    CorruptHeader{"NextBeyondTheRing", [](auto& header) { header[1] = 0x80; }},
                    CorruptHeader{"NextIsItself", [](auto& header) { header[1] = 0x4D; }},
                    CorruptHeader{"NextOnePageShort", [](auto& header) { header[1] = 0x4F; }},
                    CorruptHeader{"NextBeyondCurrent", [](auto& header) { header[1] = 0x51; }},
                    CorruptHeader{"LengthBelowEthernet", [](auto& header) { set_length(header, 17); }},
                    CorruptHeader{"LengthBeyondEthernet", [](auto& header) { set_length(header, 1523); }},
                    CorruptHeader{"LengthHuge", [](auto& header) { set_length(header, 0xFFFF); }},
                    CorruptHeader{"LengthOfFewerPages", [](auto& header) { set_length(header, 300); }},
                    CorruptHeader{"LengthOfMorePages", [](auto& header) { set_length(header, 1000); }}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(Ne2000Recovery, ACurrentPageOutsideTheRingResetsIt) {
    card.set_current_page(0x80);
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::corrupt);
    EXPECT_EQ(nic.counters().rx_ring_resets, 1U);
    ASSERT_TRUE(card.arrive(make_frame(77)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 77U);
}

TEST_F(Ne2000Recovery, ARingResetKeepsTheFramesBeingSent) {
    card.behaviour.transmit_time = lib::milliseconds(5);
    card.behaviour.stop_cuts_transmission = true;
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 2)));
    card.set_current_page(0);
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::corrupt);
    for (int i = 0; i < 3; ++i) {
        clock.advance(lib::milliseconds(10));
        nic.poll();
    }
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 1), make_frame(100, 2)}));
    EXPECT_EQ(nic.counters().tx_resends, 1U);
    EXPECT_EQ(nic.counters().tx_frames, 2U);
}

TEST_F(Ne2000Recovery, AnOverflowGoesThroughTheWholeRoutineAndLosesNothingStored) {
    const std::size_t stored = flood();
    ASSERT_GT(stored, 20U);
    EXPECT_FALSE(card.receiving());
    nic.poll();
    for (std::size_t i = 0; i < stored; ++i) {
        const auto size = nic.receive_frame(buffer);
        ASSERT_TRUE(size) << i;
        const Frame expected = make_frame(400, i);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), buffer.begin())) << i;
        EXPECT_EQ(card.overflow_recoveries(), 1) << "recovered when the first frame was taken, and only then";
    }
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::not_found);
    EXPECT_TRUE(card.receiving());
    EXPECT_EQ(nic.counters().rx_overflows, 1U);
    ASSERT_TRUE(card.arrive(make_frame(60)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 60U);
}

TEST_F(Ne2000Recovery, OverflowsAgainAndAgainAroundTheRing) {
    for (std::size_t round = 1; round <= 20; ++round) {
        const std::size_t stored = flood();
        nic.poll();
        for (std::size_t i = 0; i < stored; ++i) {
            ASSERT_TRUE(nic.receive_frame(buffer));
        }
        EXPECT_EQ(nic.counters().rx_overflows, round);
        EXPECT_TRUE(card.receiving());
    }
}

TEST_F(Ne2000Recovery, ATransmissionCutShortByTheOverflowRoutineIsIssuedAgain) {
    card.behaviour.transmit_time = lib::milliseconds(5);
    card.behaviour.stop_cuts_transmission = true;
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    flood();
    nic.poll();
    ASSERT_TRUE(nic.receive_frame(buffer));
    EXPECT_EQ(nic.counters().tx_resends, 1U);
    clock.advance(lib::milliseconds(10));
    nic.poll();
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 1)}));
    EXPECT_EQ(nic.counters().tx_frames, 1U);
}

TEST_F(Ne2000Recovery, ATransmissionThatEndedDuringTheOverflowRoutineIsNotSentTwice) {
    card.behaviour.transmit_time = lib::microseconds(1000);
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    flood();
    nic.poll();
    ASSERT_TRUE(nic.receive_frame(buffer));
    clock.advance(lib::milliseconds(10));
    nic.poll();
    EXPECT_EQ(card.sent().size(), 1U);
    EXPECT_EQ(nic.counters().tx_resends, 0U);
    EXPECT_EQ(nic.counters().tx_frames, 1U);
}

TEST_F(Ne2000Recovery, NothingIsSentBetweenAnOverflowAndItsRecovery) {
    flood();
    EXPECT_EQ(nic.send_frame(make_frame(60)).error(), lib::Error::busy);
    ASSERT_TRUE(nic.receive_frame(buffer));
    EXPECT_TRUE(nic.send_frame(make_frame(60)));
}

TEST_F(Ne2000Recovery, AQueuedFrameIsSentAfterTheOverflow) {
    card.behaviour.transmit_time = lib::microseconds(1000);
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 2)));
    flood();
    clock.advance(lib::milliseconds(2));
    nic.poll(); // the first has ended; the second must wait for the recovery
    EXPECT_EQ(card.sent().size(), 1U);
    ASSERT_TRUE(nic.receive_frame(buffer));
    clock.advance(lib::milliseconds(2));
    nic.poll();
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 1), make_frame(100, 2)}));
}

TEST_F(Ne2000Recovery, ACorruptHeaderFoundDuringTheOverflowRoutineResetsTheRingAndResends) {
    card.behaviour.transmit_time = lib::milliseconds(5);
    card.behaviour.stop_cuts_transmission = true;
    card.behaviour.falsify_header = [](auto& header) { header[1] = 0; };
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    flood();
    card.behaviour.falsify_header = nullptr;
    nic.poll();
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::corrupt);
    EXPECT_TRUE(card.receiving());
    clock.advance(lib::milliseconds(10));
    nic.poll();
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 1)}));
}

TEST_F(Ne2000Recovery, TheWatchdogResetsACardWhoseTransmissionNeverEnds) {
    card.behaviour.transmitter_stuck = true;
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 2)));
    clock.advance(lib::milliseconds(49));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_watchdog_resets, 0U);
    clock.advance(lib::milliseconds(2));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_watchdog_resets, 1U);
    EXPECT_EQ(nic.counters().tx_abandoned, 1U);
    EXPECT_EQ(nic.counters().resets, 1U);
    card.behaviour.transmitter_stuck = false;
    nic.poll();
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 2)})) << "the frame that waited after it";
    EXPECT_TRUE(nic.send_frame(make_frame(100, 3)));
}

TEST_F(Ne2000Recovery, TheWatchdogCountsFromTheFirstAttemptThroughEveryOverflow) {
    card.behaviour.transmitter_stuck = true;
    card.behaviour.stop_cuts_transmission = true;
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    for (std::uint64_t resends = 1; resends <= 2; ++resends) {
        clock.advance(lib::milliseconds(20));
        flood();
        nic.poll();
        while (nic.receive_frame(buffer)) {
        }
        EXPECT_EQ(nic.counters().tx_resends, resends);
        EXPECT_EQ(nic.counters().tx_watchdog_resets, 0U);
    }
    clock.advance(lib::milliseconds(11));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_watchdog_resets, 1U);
    EXPECT_EQ(nic.counters().tx_abandoned, 1U);
}

TEST_F(Ne2000Recovery, ADmaThatNeverCompletesCostsAResetAndTheFrame) {
    card.behaviour.dma_never_completes = true;
    const auto before = clock.current();
    EXPECT_EQ(nic.send_frame(make_frame(100)).error(), lib::Error::timeout);
    EXPECT_LT((clock.current() - before).value, 100'000'000U);
    EXPECT_EQ(nic.counters().dma_timeouts, 1U);
    EXPECT_EQ(nic.counters().resets, 1U);
    card.behaviour.dma_never_completes = false;
    EXPECT_TRUE(nic.send_frame(make_frame(100)));
    EXPECT_EQ(card.sent().size(), 1U);
}

TEST_F(Ne2000Recovery, ADmaThatNeverCompletesInReceptionCostsAReset) {
    ASSERT_TRUE(card.arrive(make_frame(100)));
    card.behaviour.dma_never_completes = true;
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::timeout);
    card.behaviour.dma_never_completes = false;
    ASSERT_TRUE(card.arrive(make_frame(60)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 60U);
}

TEST_F(Ne2000Recovery, ACardThatDoesNotComeBackFromResetHasFailedUntilStartedAgain) {
    card.behaviour.dma_never_completes = true;
    card.behaviour.reset_dead = true;
    EXPECT_EQ(nic.send_frame(make_frame(100)).error(), lib::Error::timeout);
    EXPECT_FALSE(nic.running());
    EXPECT_EQ(nic.counters().failures, 1U);
    EXPECT_EQ(nic.send_frame(make_frame(100)).error(), lib::Error::io);
    card.behaviour = {};
    ASSERT_TRUE(nic.start(options()));
    EXPECT_TRUE(nic.send_frame(make_frame(100)));
}

TEST_F(Ne2000Recovery, ACardThatVanishesHasFailed) {
    card.behaviour.absent = true;
    nic.poll();
    EXPECT_FALSE(nic.running());
    EXPECT_EQ(nic.send_frame(make_frame(100)).error(), lib::Error::io);
}

} // namespace drivers::ne2000
