// SPDX-License-Identifier: MIT
// Tests the NE2000 driver on the register-level fake: start-up, sending, receiving. The fake fails a test on any access
// that the data sheet forbids. Recovery is tested in a file of its own.
#include "drivers/ne2000/device.hpp"
#include "tests/support/fake_ne2000.hpp"
#include "tests/support/ne2000_fixture.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace drivers::ne2000 {

namespace {

using DwordPort = test::FakeNe2000::DwordPort;
using test::Frame;
using test::make_frame;

using Writes = std::vector<std::pair<int, int>>; // register, value

class Ne2000 : public test::Ne2000Fixture {
  protected:
    // Of the registers, from the first on.
    [[nodiscard]] Writes written(std::size_t first) const {
        Writes writes;
        for (std::size_t i = first; i < card.writes.size(); ++i) {
            writes.emplace_back(card.writes[i].reg, card.writes[i].value);
        }
        return writes;
    }
};

class Ne2000Widths : public Ne2000, public testing::WithParamInterface<DataWidth> {};

} // namespace

TEST_F(Ne2000, IsFoundAndReportsItsAddress) {
    ASSERT_TRUE(nic.start(options()));
    EXPECT_EQ(nic.mac(), test::kCardMac);
    EXPECT_TRUE(nic.running());
    EXPECT_TRUE(card.receiving());
    EXPECT_EQ(card.interrupt_mask(), 0);
}

TEST_F(Ne2000, ProgramsTheInterruptMaskThatWasAskedFor) {
    Options wanted = options();
    wanted.interrupt_mask = kIsrPRX | kIsrOVW;
    ASSERT_TRUE(nic.start(wanted));
    EXPECT_EQ(card.interrupt_mask(), kIsrPRX | kIsrOVW);
}

TEST_F(Ne2000, RefusesOptionsThatNoCardHas) {
    Options wanted = options();
    wanted.stop_page = 0xC1;
    EXPECT_EQ(nic.start(wanted).error(), lib::Error::invalid_argument);
    wanted.stop_page = 0x57;
    EXPECT_EQ(nic.start(wanted).error(), lib::Error::invalid_argument);
    wanted = options();
    wanted.io_base = 0xFFE1;
    EXPECT_EQ(nic.start(wanted).error(), lib::Error::invalid_argument);
    EXPECT_EQ(card.accesses(), 0);
}

TEST_F(Ne2000, RunsOnAfterOptionsThatNoCardHas) {
    ASSERT_TRUE(nic.start(options()));
    Options wanted = options();
    wanted.stop_page = 0x57;
    EXPECT_EQ(nic.start(wanted).error(), lib::Error::invalid_argument);
    EXPECT_TRUE(nic.running());
    EXPECT_TRUE(nic.send_frame(make_frame(60)));
}

TEST_F(Ne2000, TakesTheOptionsAtTheirLimits) {
    test::FakeNe2000 large(clock, 32 * 1024);
    Device<test::FakeNe2000> device(large, clock);
    Options wanted = options();
    for (const int stop_page : {0x58, 0xC0}) {
        wanted.stop_page = static_cast<std::uint8_t>(stop_page);
        ASSERT_TRUE(device.start(wanted)) << stop_page;
        for (std::size_t i = 0; i < 60; ++i) { // several times around
            ASSERT_TRUE(large.arrive(make_frame(1000, i)));
            ASSERT_TRUE(device.receive_frame(buffer)) << stop_page;
        }
    }
    wanted.io_base = 0xFFE0;
    EXPECT_EQ(device.start(wanted).error(), lib::Error::not_found);
}

TEST_F(Ne2000, ProgramsItsAddressAndNoMulticast) {
    ASSERT_TRUE(nic.start(options()));
    std::vector<std::pair<int, int>> page1; // register, value
    for (const auto& write : card.writes) {
        if (write.page == 1 && write.reg != kRegCR) {
            page1.emplace_back(write.reg, write.value);
        }
    }
    EXPECT_EQ(page1, (std::vector<std::pair<int, int>>{{1, 0x52},
                                                       {2, 0x54},
                                                       {3, 0x00},
                                                       {4, 0x12},
                                                       {5, 0x34},
                                                       {6, 0x56}, // PAR0..5
                                                       {8, 0},
                                                       {9, 0},
                                                       {10, 0},
                                                       {11, 0},
                                                       {12, 0},
                                                       {13, 0},
                                                       {14, 0},
                                                       {15, 0},      // MAR0..7
                                                       {7, 0x4D}})); // CURR
}

// Sections 11 and 5: the probe with its transfer of the PROM, then the initialisation.
TEST_F(Ne2000, ProgramsTheCardInTheOrderOfTheDataSheet) {
    ASSERT_TRUE(nic.start(options()));
    const Writes probe{{kRegCR, 0x21},  {kRegDCR, 0x48}, {kRegRBCR0, 0}, {kRegRBCR1, 0},  {kRegRCR, 0x20},
                       {kRegTCR, 0x02}, {kRegIMR, 0},    {kRegCR, 0x22}, {kRegISR, 0x40}, {kRegRBCR0, 32},
                       {kRegRBCR1, 0},  {kRegRSAR0, 0},  {kRegRSAR1, 0}, {kRegCR, 0x0A},  {kRegISR, 0x40},
                       {kRegCR, 0x22},  {kRegCR, 0x21}};
    const Writes page0{{kRegCR, 0x21},   {kRegDCR, 0x49}, {kRegRBCR0, 0},     {kRegRBCR1, 0},
                       {kRegRCR, 0x04},  {kRegTCR, 0x02}, {kRegPSTART, 0x4C}, {kRegPSTOP, 0x80},
                       {kRegBNRY, 0x4C}, {kRegISR, 0xFF}, {kRegIMR, 0},       {kRegCR, 0x61}};
    const Writes end{{kRegCURR, 0x4D}, {kRegCR, 0x22}, {kRegTCR, 0}};
    constexpr std::size_t kAddresses = 6 + 8;
    const Writes all = written(0);
    ASSERT_GT(all.size(), probe.size() + page0.size() + kAddresses + end.size());
    auto at = all.begin();
    const auto next = [&at](std::size_t count) {
        const auto from = std::exchange(at, at + static_cast<std::ptrdiff_t>(count));
        return Writes(from, at);
    };
    EXPECT_EQ(next(probe.size()), probe);
    EXPECT_EQ(next(page0.size()), page0);
    static_cast<void>(next(kAddresses));
    EXPECT_EQ(next(end.size()), end);
}

// Sections 5 and 8: a transfer of the frame, then its transmission.
TEST_F(Ne2000, ProgramsATransferAndATransmissionInTheOrderOfTheDataSheet) {
    ASSERT_TRUE(nic.start(options()));
    const std::size_t before = card.writes.size();
    ASSERT_TRUE(nic.send_frame(make_frame(1000)));
    EXPECT_EQ(written(before), (Writes{{kRegCR, 0x22},
                                       {kRegISR, 0x40},
                                       {kRegRBCR0, 0xE8},
                                       {kRegRBCR1, 0x03},
                                       {kRegRSAR0, 0}, //
                                       {kRegRSAR1, 0x40},
                                       {kRegCR, 0x12},
                                       {kRegISR, 0x40},
                                       {kRegCR, 0x22}, //
                                       {kRegISR, 0x0A},
                                       {kRegTPSR, 0x40},
                                       {kRegTBCR0, 0xE8},
                                       {kRegTBCR1, 0x03},
                                       {kRegCR, 0x26}}));
}

// So that an emulator runs the machine's other processors meanwhile.
TEST_F(Ne2000, PausesWhileItWaits) {
    card.behaviour.reset_dead = true;
    EXPECT_FALSE(nic.start(options()));
    EXPECT_GT(clock.pauses(), 1'000U) << "20 ms, a microsecond each";
}

TEST_F(Ne2000, IsNotFoundWhereNothingAnswers) {
    card.behaviour.absent = true;
    const auto before = clock.current();
    EXPECT_EQ(nic.start(options()).error(), lib::Error::not_found);
    EXPECT_LT((clock.current() - before).value, 100'000'000U) << "more than 100 ms";
    EXPECT_FALSE(nic.running());
    EXPECT_EQ(nic.send_frame(make_frame(60)).error(), lib::Error::io);
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::io);
    nic.poll();
}

TEST_F(Ne2000, IsNotFoundIfTheResetNeverEnds) {
    card.behaviour.reset_dead = true;
    const auto before = clock.current();
    EXPECT_EQ(nic.start(options()).error(), lib::Error::not_found);
    EXPECT_LT((clock.current() - before).value, 100'000'000U);
}

TEST_F(Ne2000, ReportsARemoteDmaThatNeverCompletes) {
    card.behaviour.dma_never_completes = true;
    const auto before = clock.current();
    EXPECT_EQ(nic.start(options()).error(), lib::Error::timeout);
    EXPECT_LT((clock.current() - before).value, 100'000'000U);
}

TEST_F(Ne2000, RejectsAPromWithoutSignature) {
    card.prom[30] = 0x42;
    EXPECT_EQ(nic.start(options()).error(), lib::Error::corrupt);
}

TEST_F(Ne2000, RejectsAPromWhoseBytesAreNotDoubled) {
    card.prom[5] = 0x01;
    EXPECT_EQ(nic.start(options()).error(), lib::Error::corrupt);
}

TEST_F(Ne2000, RejectsAGroupAddressAndTheZeroAddress) {
    card.prom[0] = card.prom[1] = 0x53;
    EXPECT_EQ(nic.start(options()).error(), lib::Error::corrupt);
    std::fill_n(card.prom.begin(), 12, std::uint8_t{0});
    EXPECT_EQ(nic.start(options()).error(), lib::Error::corrupt);
}

TEST_F(Ne2000, TakesTheWidestAccessByDefault) {
    ASSERT_TRUE(nic.start(options()));
    EXPECT_EQ(nic.width(), DataWidth::dword32);
}

TEST_F(Ne2000, TriesNoAccessThatIsWiderThanAllowed) {
    card.behaviour.dword_port = DwordPort::never_access;
    Options wanted = options();
    wanted.width_max = DataWidth::word16;
    ASSERT_TRUE(nic.start(wanted));
    EXPECT_EQ(nic.width(), DataWidth::word16);
    wanted.width_max = DataWidth::byte8;
    ASSERT_TRUE(nic.start(wanted));
    EXPECT_EQ(nic.width(), DataWidth::byte8);
}

TEST_F(Ne2000, TakesWordsFromACardThatDamagesOrIgnoresDoubleWords) {
    for (const DwordPort fault :
         {DwordPort::halved, DwordPort::upper_lost, DwordPort::swapped, DwordPort::read_only, DwordPort::write_only}) {
        card.behaviour.dword_port = fault;
        const auto before = clock.current();
        ASSERT_TRUE(nic.start(options())) << static_cast<int>(fault);
        EXPECT_LT((clock.current() - before).value, 200'000'000U) << "more than 200 ms";
        EXPECT_EQ(nic.width(), DataWidth::word16) << static_cast<int>(fault);
        const Frame frame = make_frame(63);
        ASSERT_TRUE(nic.send_frame(frame));
        EXPECT_EQ(card.sent().back(), frame) << static_cast<int>(fault);
        ASSERT_TRUE(card.arrive(frame));
        ASSERT_TRUE(nic.receive_frame(buffer));
        EXPECT_TRUE(std::equal(frame.begin(), frame.end(), buffer.begin())) << static_cast<int>(fault);
    }
}

TEST_F(Ne2000, TakesBytesFromACardForAnEightBitSlot) {
    card.behaviour.dword_port = DwordPort::halved;
    card.behaviour.word_port = false;
    ASSERT_TRUE(nic.start(options()));
    EXPECT_EQ(nic.width(), DataWidth::byte8);
    const Frame frame = make_frame(61);
    ASSERT_TRUE(nic.send_frame(frame));
    EXPECT_EQ(card.sent().back(), frame);
}

TEST_F(Ne2000, DoesNotStartWithoutMemoryThatKeepsItsContents) {
    card.behaviour.memory_lost = true;
    Options wanted = options();
    wanted.interrupt_mask = kIsrPRX;
    EXPECT_EQ(nic.start(wanted).error(), lib::Error::io);
    EXPECT_FALSE(nic.running());
    EXPECT_EQ(card.interrupt_mask(), 0U) << "nothing serves its interrupts";
    EXPECT_FALSE(card.arrive(make_frame(63))) << "nothing reads its ring";
}

TEST_P(Ne2000Widths, SendsEveryLengthByteForByteAndPadsWithZeros) {
    Options wanted = options();
    wanted.width_max = GetParam();
    ASSERT_TRUE(nic.start(wanted));
    for (const std::size_t size : {14U, 15U, 42U, 59U, 60U, 61U, 62U, 63U, 64U, 1000U, 1511U, 1512U, 1513U, 1514U}) {
        Frame expected = make_frame(size);
        ASSERT_TRUE(nic.send_frame(expected)) << size;
        expected.resize(std::max<std::size_t>(size, 60), std::byte{0});
        ASSERT_FALSE(card.sent().empty());
        EXPECT_EQ(card.sent().back(), expected) << size;
    }
    nic.poll();
    EXPECT_EQ(nic.counters().tx_frames, 14U);
    EXPECT_EQ(card.sent().size(), 14U);
}

TEST_P(Ne2000Widths, ReceivesEveryLengthByteForByteAcrossTheEndOfTheRing) {
    Options wanted = options();
    wanted.width_max = GetParam();
    ASSERT_TRUE(nic.start(wanted));
    std::uint64_t frames = 0;
    // 52 pages; lengths that cross each page boundary of the CRC, several times around.
    for (std::size_t round = 0; round < 12; ++round) {
        for (const std::size_t size :
             {60U, 61U, 243U, 244U, 245U, 246U, 247U, 248U, 249U, 252U, 500U, 1019U, 1500U, 1513U, 1514U, 1518U}) {
            const Frame frame = make_frame(size, round);
            ASSERT_TRUE(card.arrive(frame)) << size;
            const auto received = nic.receive_frame(buffer);
            ASSERT_TRUE(received) << size;
            ASSERT_EQ(received.value(), size);
            EXPECT_TRUE(std::equal(frame.begin(), frame.end(), buffer.begin())) << size;
            ++frames;
        }
    }
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::not_found);
    EXPECT_EQ(nic.counters().rx_frames, frames);
    EXPECT_EQ(nic.counters().rx_ring_resets, 0U);
}

INSTANTIATE_TEST_SUITE_P(Widths, Ne2000Widths,
                         testing::Values(DataWidth::byte8, DataWidth::word16, DataWidth::dword32));

TEST_F(Ne2000, RefusesFramesThatEthernetCannotCarry) {
    ASSERT_TRUE(nic.start(options()));
    EXPECT_EQ(nic.send_frame(make_frame(13)).error(), lib::Error::invalid_argument);
    EXPECT_EQ(nic.send_frame(make_frame(1515)).error(), lib::Error::invalid_argument);
    EXPECT_TRUE(card.sent().empty());
}

TEST_F(Ne2000, FillsOneBufferWhileTheOtherIsSentAndThenSaysBusy) {
    card.behaviour.transmit_time = lib::milliseconds(1);
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 2)));
    EXPECT_EQ(nic.send_frame(make_frame(100, 3)).error(), lib::Error::busy);
    EXPECT_EQ(nic.counters().tx_busy, 1U);
    EXPECT_TRUE(card.sent().empty());
    clock.advance(lib::milliseconds(2));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 3))); // the second is being sent, the third waits
    clock.advance(lib::milliseconds(2));
    nic.poll();
    clock.advance(lib::milliseconds(2));
    nic.poll();
    EXPECT_EQ(card.sent(), (std::vector<Frame>{make_frame(100, 1), make_frame(100, 2), make_frame(100, 3)}));
    EXPECT_EQ(nic.counters().tx_frames, 3U);
    EXPECT_EQ(nic.counters().tx_bytes, 300U);
}

// A real card completes later than the command: until then the machine must not be switched off.
TEST_F(Ne2000, IsSendingUntilTheLastFrameHasLeftTheCard) {
    EXPECT_FALSE(nic.sending());
    card.behaviour.transmit_time = lib::milliseconds(1);
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 1)));
    ASSERT_TRUE(nic.send_frame(make_frame(100, 2)));
    for (const std::size_t sent : {0U, 1U}) {
        EXPECT_TRUE(nic.sending());
        EXPECT_EQ(card.sent().size(), sent);
        clock.advance(lib::milliseconds(2));
        nic.poll();
    }
    EXPECT_EQ(card.sent().size(), 2U);
    EXPECT_FALSE(nic.sending());
}

TEST_F(Ne2000, IsNotSendingOnceTheCardHasFailed) {
    card.behaviour.transmitter_stuck = true;
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(nic.send_frame(make_frame(100)));
    EXPECT_TRUE(nic.sending());
    card.behaviour.absent = true;
    nic.poll();
    EXPECT_FALSE(nic.sending());
}

TEST_F(Ne2000, CountsTransmissionsThatTheCardGaveUp) {
    card.behaviour.transmit_status = kTsrABT;
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(nic.send_frame(make_frame(60)));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_errors, 1U);
    EXPECT_EQ(nic.counters().tx_frames, 0U);
}

TEST_F(Ne2000, CountsBytesWithPaddingAndWithoutCrc) {
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(nic.send_frame(make_frame(14)));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_bytes, 60U);
    ASSERT_TRUE(nic.send_frame(make_frame(61)));
    nic.poll();
    EXPECT_EQ(nic.counters().tx_bytes, 121U);
    ASSERT_TRUE(card.arrive(make_frame(77)));
    ASSERT_TRUE(card.arrive(make_frame(1001)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 77U);
    EXPECT_EQ(nic.counters().rx_bytes, 77U);
    EXPECT_EQ(nic.receive_frame(buffer).value(), 1001U);
    EXPECT_EQ(nic.counters().rx_bytes, 1078U);
}

TEST_F(Ne2000, CountsWhatTheCardReportsOnce) {
    ASSERT_TRUE(nic.start(options()));
    nic.poll();
    EXPECT_EQ(nic.counters().rx_errors, 0U);
    card.raise_receive_error();
    nic.poll();
    nic.poll();
    EXPECT_EQ(nic.counters().rx_errors, 1U);
    card.raise_receive_error();
    nic.poll();
    EXPECT_EQ(nic.counters().rx_errors, 2U);
}

TEST_F(Ne2000, TakesFramesInTheOrderOfArrival) {
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(card.arrive(make_frame(60, 1)));
    ASSERT_TRUE(card.arrive(make_frame(300, 2)));
    ASSERT_TRUE(card.arrive(make_frame(1514, 3)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 60U);
    EXPECT_EQ(nic.receive_frame(buffer).value(), 300U);
    EXPECT_EQ(nic.receive_frame(buffer).value(), 1514U);
    EXPECT_EQ(nic.receive_frame(buffer).error(), lib::Error::not_found);
}

TEST_F(Ne2000, AcceptsRuntsThatAnEmulatedLinkDidNotPad) {
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(card.arrive(make_frame(42)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 42U);
    EXPECT_EQ(nic.counters().rx_runts, 1U);
    ASSERT_TRUE(card.arrive(make_frame(60))); // the shortest frame that is none
    EXPECT_EQ(nic.receive_frame(buffer).value(), 60U);
    EXPECT_EQ(nic.counters().rx_runts, 1U);
    ASSERT_TRUE(card.arrive(make_frame(59)));
    EXPECT_EQ(nic.receive_frame(buffer).value(), 59U);
    EXPECT_EQ(nic.counters().rx_runts, 2U);
}

TEST_F(Ne2000, DropsAFrameLongerThanTheCallersBufferAndContinues) {
    ASSERT_TRUE(nic.start(options()));
    ASSERT_TRUE(card.arrive(make_frame(101)));
    ASSERT_TRUE(card.arrive(make_frame(100)));
    EXPECT_EQ(nic.receive_frame(std::span(buffer).first(100)).error(), lib::Error::no_space);
    EXPECT_EQ(nic.receive_frame(std::span(buffer).first(100)).value(), 100U);
    EXPECT_EQ(nic.counters().rx_oversized, 1U);
}

TEST_F(Ne2000, AddsUpTheTallyCounters) {
    ASSERT_TRUE(nic.start(options()));
    card.set_tally_counters(1, 2, 130);
    nic.poll();
    card.set_tally_counters(0, 5, 0);
    nic.poll();
    nic.poll();
    EXPECT_EQ(nic.counters().rx_alignment_errors, 1U);
    EXPECT_EQ(nic.counters().rx_crc_errors, 7U);
    EXPECT_EQ(nic.counters().rx_missed, 130U);
}

} // namespace drivers::ne2000
