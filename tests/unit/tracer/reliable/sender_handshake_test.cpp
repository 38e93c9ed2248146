// SPDX-License-Identifier: MIT
// Tests HELLO and its answers: when it is said, what is believed, and what a collector may already have.
#include "tests/support/tracer/sending.hpp"

namespace sender_handshake_test {

namespace wire = tracer::reliable;
using tests::Bytes;
using tests::Said;
using tests::Sending;
using tracer::SinkState;
using wire::HelloAck;
using wire::PacketType;

TEST_F(Sending, SaysHelloEverMoreRarely) {
    m_image.description.tsc_khz = 2'500'000;
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(8'000);
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "102 hello 0 cookie 0 fresh", "302 hello 0 cookie 0 fresh",
                            "702 hello 0 cookie 0 fresh", "1502 hello 0 cookie 0 fresh", "3102 hello 0 cookie 0 fresh",
                            "5102 hello 0 cookie 0 fresh", "7102 hello 0 cookie 0 fresh"}));
    EXPECT_EQ(wire::decode_body<wire::Hello>(m_peer.sent.back()).tsc_khz, 2'500'000U);
    EXPECT_FALSE(m_sink.answered());
}

TEST_F(Sending, SaysHelloMoreOftenAtTheEnd) {
    ASSERT_TRUE(m_sink.finish({}).ok());
    run_until_ms(1'200);
    EXPECT_EQ(said(),
              (Said{"2 hello 0 cookie 0 fresh", "102 hello 0 cookie 0 fresh", "302 hello 0 cookie 0 fresh",
                    "552 hello 0 cookie 0 fresh", "802 hello 0 cookie 0 fresh", "1052 hello 0 cookie 0 fresh"}));
}

// Two machines that send each other cookies must not do so as fast as they can.
TEST_F(Sending, ReturnsTheFirstCookieAtOnceAndAnotherLater) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(302);
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}, wire::kFlagCookie);
    step();
    EXPECT_TRUE(m_sink.answered());
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 6}, wire::kFlagCookie);
    run_until_ms(800);
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "102 hello 0 cookie 0 fresh", "302 hello 0 cookie 0 fresh",
                            "303 hello 0 cookie 5 fresh", "404 hello 0 cookie 6 fresh", "504 hello 0 cookie 6 fresh",
                            "704 hello 0 cookie 6 fresh"}));
}

TEST_F(Sending, BelievesOnlyTheAnswerToItsLastHello) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(102);
    const std::uint64_t stamp = last().stamp;
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}, wire::kFlagCookie, stamp - 1);
    answer(PacketType::abort, 0, wire::Refusal{}, 0, stamp - 1);
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}, wire::kFlagCookie, m_peer.time.value + 1'000'001);
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}); // none was given
    step();
    EXPECT_EQ(m_sink.counters().ignored, 4U);
    EXPECT_EQ(m_sink.counters().aborted, 0U);
    EXPECT_EQ(m_sink.counters().handshakes, 0U);
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}, wire::kFlagCookie);
    step();
    EXPECT_EQ(said().back(), "104 hello 0 cookie 5 fresh");
    EXPECT_EQ(m_sink.counters().ignored, 4U);
}

TEST_F(Sending, IgnoresOtherFlowsAndItsOwnDirection) {
    connect();
    const wire::SipKey key = wire::session_key({}, 77, cookie);
    const auto arrive = [&](wire::Header header) {
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        header.stamp = last().stamp;
        wire::encode(header, wire::before_session(header.type) ? nullptr : &key, packet, wire::Covers::header);
        m_peer.inbox.push_back(packet);
    };
    arrive({.type = PacketType::ack, .session = 78, .seq = 1});
    arrive({.type = PacketType::ack, .stream = 1, .session = 77, .seq = 1});
    arrive({.type = PacketType::hello, .session = 77});
    arrive({.type = PacketType::data, .session = 77});
    arrive({.type = PacketType::fin, .session = 77});
    step();
    EXPECT_EQ(m_sink.counters().ignored, 5U);
    EXPECT_EQ(m_sink.counters().acknowledgements, 0U);
}

TEST_F(Sending, TakesInEightDatagramsInAStepAndCountsWhatIsNoPacket) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    m_peer.inbox.assign(8, Bytes(3));
    m_peer.inbox.emplace_back(wire::kBytesMax + 2); // longer than any
    m_peer.inbox.emplace_back(3);
    step();
    EXPECT_EQ(m_peer.inbox.size(), 2U);
    EXPECT_EQ(m_sink.counters().malformed, 8U);
    step();
    EXPECT_EQ(m_sink.counters().malformed, 10U);
    EXPECT_TRUE(m_peer.inbox.empty());
}

// Replayed are four packets in a step, and none is sent again.
TEST_F(Sending, ContinuesBeyondWhatTheCollectorAlreadyHas) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    greet(0, 0, wire::kFlagCookie);
    step();
    greet(5, crc_of_packets(5));
    step();
    EXPECT_EQ(m_sink.counters().handshakes, 0U) << "four of five";
    step();
    EXPECT_EQ(m_sink.counters().handshakes, 1U);
    EXPECT_EQ(said().size(), 2U);
    step();
    EXPECT_EQ(said(), Said{"6 data 5 push of 63"});
    acknowledge(6, {.window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
    EXPECT_EQ(m_sink.counters().packets, 1U);
}

TEST_F(Sending, IsDoneIfTheCollectorHasEverything) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    greet(0, 0, wire::kFlagCookie);
    step();
    greet(6, crc_of_packets(6));
    step();
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
    EXPECT_EQ(m_sink.session(), 77U);
    EXPECT_EQ(m_sink.counters().sends, 0U);
}

// Another boot had the number. The next one is derived from the collector's random number.
TEST_F(Sending, TakesAnotherSessionAtOnceIfThereIsMoreThanItHasOrAnEnd) {
    constexpr std::uint64_t kRandom = 0x0000'0009'0000'0003;
    const auto next = [](std::uint64_t session) { return session + (0x9E37'79B9'7F4A'7C15 ^ kRandom); };
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5, .crc32c = 3, .window = 9}, wire::kFlagCookie);
    step();
    greet(7, 0);
    step();
    EXPECT_EQ(m_sink.session(), next(77));
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5, .crc32c = 3, .window = 9}, wire::kFlagCookie);
    step();
    greet(0, 0, wire::kFlagEnded);
    step();
    EXPECT_EQ(m_sink.session(), next(next(77)));
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "3 hello 0 cookie 5 fresh", "4 hello 0 cookie 0 fresh",
                            "5 hello 0 cookie 5 fresh", "6 hello 0 cookie 0 fresh"}));
}

TEST_F(Sending, FailsWhenNineSessionsAreTaken) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    for (int taken = 1; taken <= 9; ++taken) {
        ASSERT_EQ(m_sink.state(), SinkState::busy) << taken;
        greet(0, 0, wire::kFlagCookie);
        step();
        greet(0, 0, wire::kFlagEnded);
        step();
    }
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::exists);
    EXPECT_EQ(m_sink.finish({}).error(), lib::Error::exists);
}

// A collector that lost its disk: what it says about the CRC is then the number of packets that are gone.
TEST_F(Sending, CountsWhatTheCollectorHasLost) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    greet(0, 0, wire::kFlagCookie);
    step();
    greet(4, 3, wire::kFlagLost);
    run_for_ms(2);
    EXPECT_EQ(m_sink.counters().lost, 3U);
    EXPECT_EQ(m_sink.session(), 77U) << "its CRC is not compared";
    EXPECT_EQ(said().back(), "5 data 5 push of 63");
    const auto again = [&](std::uint32_t lost) {
        answer(PacketType::unknown, last().seq, wire::Refusal{});
        run_for_ms(30);
        greet(0, 0, wire::kFlagCookie);
        step();
        greet(4, lost, wire::kFlagLost);
        run_for_ms(2);
    };
    again(4);
    EXPECT_EQ(m_sink.counters().lost, 4U) << "three of them were known";
    again(2);
    EXPECT_EQ(m_sink.counters().lost, 4U);
}

TEST_F(Sending, GivesEveryProcessorAStreamOfItsOwn) {
    make_image(1);
    connect();
    acknowledge(1, {.window = 64});
    step();
    ASSERT_EQ(m_sink.state(), SinkState::idle);
    m_image.description.cpu = 63;
    m_image.description.boot_id = 1;
    m_image.description.tsc_khz = 9;
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(30);
    EXPECT_EQ(m_sink.session(), 77U) << "the first chunk has named it";
    greet(0, 0);
    run_for_ms(2);
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "3 hello 0 cookie 5 fresh", "5 data 0 push of 63",
                            "23 hello 0 cookie 5 stream 63", "32 data 0 push of 63 stream 63"}));
    EXPECT_EQ(wire::decode_body<wire::Hello>(m_peer.sent[3]).tsc_khz, 0U);
    acknowledge(1, {.window = 64});
    step();
    ASSERT_EQ(m_sink.state(), SinkState::idle);
    m_image.description.cpu = 0;
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(60);
    EXPECT_EQ(said(), Said{"43 hello 1 cookie 5"}) << "it continues, and never asks twice within 20 ms";
    greet(0, 0);
    step();
    EXPECT_EQ(m_sink.counters().ignored, 1U) << "less than it has acknowledged";
    greet(1, crc_of_packets(1));
    run_for_ms(2);
    EXPECT_EQ(said(), Said{"63 data 1 push of 63"});
}

TEST_F(Sending, HasRoomForSixtyFourProcessors) {
    m_image.description.cpu = 64;
    EXPECT_EQ(m_sink.submit(m_image).error(), lib::Error::invalid_argument);
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

// Of the device: a full queue is tried again, a closed port is a packet that was lost, all else is an end.
TEST_F(Sending, TriesABusyDeviceAgainWithoutForgettingItsHello) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    m_peer.on_its_way = lib::Error::busy;
    m_peer.polled = lib::Error::busy;
    run_until_ms(110);
    EXPECT_EQ(m_peer.refusals, 9U) << "102 to 110 ms";
    answer(PacketType::hello_ack, 0, HelloAck{.cookie = 5}, wire::kFlagCookie); // to the one at 2 ms
    m_peer.on_its_way = {};
    m_peer.polled = lib::Error::unreachable;
    step();
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "111 hello 0 cookie 5 fresh"}));
    EXPECT_EQ(m_sink.counters().refused, 0U);
    m_peer.on_its_way = lib::Error::unreachable;
    run_until_ms(220);
    EXPECT_EQ(m_peer.refusals, 9U + 1U) << "once, at 211 ms";
    EXPECT_EQ(m_sink.counters().refused, 1U);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
}

TEST_F(Sending, FailsWithTheDevice) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    m_peer.polled = lib::Error::io;
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::io);
    EXPECT_TRUE(m_peer.sent.empty());
    step();
    EXPECT_EQ(m_peer.polls, 1U) << "nothing is left to do";

    wire::ReliableSink other(m_peer, {});
    m_peer.polled = {};
    m_peer.on_its_way = lib::Error::corrupt;
    ASSERT_TRUE(other.submit(m_image).ok());
    EXPECT_EQ(other.step(), SinkState::failed);
    EXPECT_EQ(other.last_error(), lib::Error::corrupt);
}

} // namespace sender_handshake_test
