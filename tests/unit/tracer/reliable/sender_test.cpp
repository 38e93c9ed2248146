// SPDX-License-Identifier: MIT
// Tests the sender in front of a collector that the test plays, packet by packet: order of the handshake, the window
// read again from the chunk, and steps that are abandoned. Loss, delay and restarts: tests/simulation/.
#include "tests/support/tracer/sending.hpp"

#include <set>

namespace sender_test {

namespace wire = tracer::reliable;
using tests::Bytes;
using tests::Sending;
using tracer::SinkState;
using wire::PacketType;

TEST_F(Sending, BeginsWithTwoHellosAndFourPackets) {
    connect();
    ASSERT_EQ(m_peer.sent.size(), 2U + 4U);
    EXPECT_EQ(last().type, PacketType::data);
    EXPECT_EQ(last().seq, 3U);
    step();
    EXPECT_EQ(m_peer.sent.size(), 6U) << "more than the congestion window allows";
}

TEST_F(Sending, AsksForAnAnswerWithThePacketThatFillsTheWindow) {
    connect();
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(wire::decode(m_peer.sent[2 + i]).value().flags, i == 3 ? wire::kFlagAsk : 0) << i;
    }
    answer(PacketType::ack, 2, wire::Ack{.not_durable = 2, .window = 3}); // two are on their way, one may follow
    step();
    ASSERT_EQ(m_peer.sent.size(), 2U + 5U);
    EXPECT_EQ(last().flags, wire::kFlagAsk);
}

TEST_F(Sending, IsDoneOnlyWhenAllIsDurable) {
    connect();
    answer(PacketType::ack, 4, wire::Ack{.not_durable = 4, .window = 64});
    step();
    EXPECT_EQ(last().seq, 5U);
    EXPECT_EQ(last().flags, wire::kFlagPush);
    EXPECT_EQ(m_peer.sent.back().size(), wire::kBytesMax - 16);
    answer(PacketType::ack, 6, wire::Ack{.not_durable = 1, .window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    answer(PacketType::ack, 6, wire::Ack{.not_durable = 0, .window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Sending, ReadsALostPacketAgainFromTheChunk) {
    connect();
    const Bytes first = m_peer.sent[2];
    for (int i = 0; i < 300 && m_peer.sent.size() == 6; ++i) {
        step();
    }
    ASSERT_EQ(m_peer.sent.size(), 7U) << "a timeout sends one packet";
    ASSERT_EQ(last().seq, 0U);
    EXPECT_TRUE(
        std::equal(first.begin() + wire::kHeaderBytes, first.end(), m_peer.sent.back().begin() + wire::kHeaderBytes));
}

TEST_F(Sending, DoublesItsTimeoutWhileNothingIsAnswered) {
    connect();
    for (int i = 0; i < 1'000; ++i) {
        step();
    }
    EXPECT_GE(m_peer.sent.size(), 6U + 5U); // after 20, 40, 80, 160, 320 ms
    EXPECT_LE(m_peer.sent.size(), 6U + 6U);
}

TEST_F(Sending, IgnoresWhatContradictsWhatWasSent) {
    connect();
    answer(PacketType::ack, 5, wire::Ack{.window = 64});                         // packet 4 was not sent
    answer(PacketType::ack, 0, wire::Ack{.received = 1U << 3U, .window = 64});   // nor received
    answer(PacketType::ack, 2, wire::Ack{.not_durable = 3, .window = 64});       // of two packets, three
    answer(PacketType::fin_ack, 4, wire::Totals{});                              // to no FIN
    answer(PacketType::hello_ack, 0, wire::HelloAck{.cookie = 5, .window = 64}); // to no HELLO
    step();
    EXPECT_EQ(m_sink.counters().ignored, 5U);
    EXPECT_EQ(m_sink.counters().acknowledgements, 0U);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
}

// A panic in the middle of a step: the export after it begins with a step of its own.
TEST_F(Sending, AsksAgainAfterAnAbandonedStep) {
    connect();
    answer(PacketType::ack, 4, wire::Ack{.window = 64});

    struct Panic {};

    m_peer.on_send = [] { throw Panic{}; };
    EXPECT_THROW(step(), Panic);
    m_peer.on_send = nullptr;
    m_peer.time = m_peer.time + lib::milliseconds(20);
    step();
    ASSERT_EQ(last().type, PacketType::hello);
    // Five packets are durable: they are read again for the CRC, and not sent.
    const std::uint32_t crc = lib::crc32c(std::span(m_memory).first(5 * wire::kBodyBytesMax));
    answer(PacketType::hello_ack, 5, wire::HelloAck{.cookie = 5, .crc32c = crc, .window = 64});
    step();
    step();
    step();
    EXPECT_EQ(last().type, PacketType::data);
    EXPECT_EQ(last().seq, 5U);
}

TEST_F(Sending, TakesAnotherSessionIfTheCollectorHasOtherBytes) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step();
    answer(PacketType::hello_ack, 0, wire::HelloAck{.cookie = 5}, wire::kFlagCookie);
    step();
    answer(PacketType::hello_ack, 1, wire::HelloAck{.cookie = 5, .crc32c = 0xBAD, .window = 64});
    step();
    step();
    EXPECT_EQ(last().type, PacketType::hello);
    EXPECT_NE(last().session, 77U);
    EXPECT_EQ(last().seq, 0U);
}

TEST_F(Sending, WaitsForACollectorAsLongAsItsPatience) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    for (int i = 0; i < 100'000; ++i) {
        step();
    }
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    EXPECT_LE(m_peer.sent.size(), 60U); // in 100 s
    m_sink.set_patience(lib::milliseconds(500));
    for (int i = 0; i < 600; ++i) {
        step();
    }
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::timeout);
    EXPECT_EQ(m_sink.submit(m_image).error(), lib::Error::timeout);
}

// A stranger that has not seen HELLO_ACK knows the session's number and guesses the rest.
TEST_F(Sending, BelievesOnlyWhoKnowsTheCookie) {
    connect();
    cookie = 6;
    answer(PacketType::ack, 4, wire::Ack{.window = 64});
    answer(PacketType::fin_ack, 4, wire::Totals{});
    step();
    EXPECT_EQ(m_sink.counters().unauthentic, 2U);
    EXPECT_EQ(m_sink.counters().acknowledgements, 0U);
    cookie = 5;
    answer(PacketType::ack, 4, wire::Ack{.window = 64});
    step();
    EXPECT_EQ(m_sink.counters().acknowledgements, 1U);
}

TEST_F(Sending, BelievesUnknownOnlyOfAPacketThatItSent) {
    connect();
    const auto unknown = [this](std::uint64_t seq, std::uint64_t stamp) {
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        wire::encode({.type = PacketType::unknown, .session = 77, .seq = seq, .stamp = stamp}, nullptr, packet);
        m_peer.inbox.push_back(packet);
        step();
    };
    const wire::Header newest = last();
    unknown(newest.seq, newest.stamp - 1);
    unknown(newest.seq, 0);
    unknown(newest.seq + 1, newest.stamp);
    EXPECT_EQ(m_sink.counters().ignored, 3U);
    EXPECT_EQ(last().type, PacketType::data);
    unknown(newest.seq, newest.stamp);
    for (int i = 0; i < 20; ++i) {
        step();
    }
    EXPECT_EQ(last().type, PacketType::hello);
}

// More than eight boots have had the number before; the collector has all of them.
TEST_F(Sending, TakesASessionNumberThatNoOtherBootCanHaveTaken) {
    std::set<std::uint64_t> numbers;
    for (std::uint32_t boot = 1; boot <= 4; ++boot) {
        wire::ReliableSink sink(m_peer, {});
        m_peer.sent.clear();
        ASSERT_TRUE(sink.submit(m_image).ok());
        const auto say = [&](const wire::HelloAck& ack, std::uint8_t flags) {
            m_peer.time = m_peer.time + lib::milliseconds(200);
            static_cast<void>(sink.step());
            Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
            wire::encode_body(ack, std::span(packet).subspan(wire::kHeaderBytes));
            wire::encode(
                {.type = PacketType::hello_ack, .flags = flags, .session = sink.session(), .stamp = last().stamp},
                nullptr, packet);
            m_peer.inbox.push_back(packet);
            static_cast<void>(sink.step());
        };
        say({.cookie = 5, .crc32c = boot, .window = 9}, wire::kFlagCookie);
        say({.cookie = 5}, wire::kFlagEnded);
        EXPECT_NE(sink.session(), 77U);
        numbers.insert(sink.session());
    }
    EXPECT_EQ(numbers.size(), 4U);
}

TEST_F(Sending, SaysInTheEndThatItWasRefused) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    m_sink.set_patience(lib::milliseconds(500));
    step();
    answer(PacketType::hello_ack, 0, wire::HelloAck{.cookie = 5}, wire::kFlagCookie);
    step();
    answer(PacketType::abort, 0, wire::Refusal{.reason = wire::RefusalReason::sessions});
    for (int i = 0; i < 600; ++i) {
        step();
    }
    EXPECT_EQ(m_sink.counters().aborted, 1U);
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::refused);
}

TEST_F(Sending, SaysInTheEndThatTheCollectorHadNoSpace) {
    connect();
    m_sink.set_patience(lib::milliseconds(5'000));
    answer(PacketType::ack, 0, wire::Ack{.window = 0});
    for (int i = 0; i < 5'000; ++i) {
        step();
    }
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::no_space);
}

} // namespace sender_test
