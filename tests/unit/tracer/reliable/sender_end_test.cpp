// SPDX-License-Identifier: MIT
// Tests the end of a run: the totals as a last packet, FIN for each stream, and what its answers must say.
#include "tests/support/tracer/sending.hpp"

#include "tracer/record/event_table.hpp"

namespace sender_end_test {

namespace wire = tracer::reliable;
using tests::Bytes;
using tests::Said;
using tests::Sending;
using tracer::SinkState;
using wire::PacketType;
using wire::Totals;

class Ending : public Sending {
  protected:
    // One chunk of one packet is durable, and the totals after it: FIN is the last datagram.
    void end() {
        make_image(1);
        connect();
        acknowledge(1, {.window = 64});
        step();
        ASSERT_TRUE(m_sink.finish({.chunks = 1}).ok());
        run_for_ms(1);
        ASSERT_EQ(last().seq, 1U);
        m_end.assign(m_peer.sent.back().begin() + wire::kHeaderBytes, m_peer.sent.back().end());
        acknowledge(2, {.window = 64});
        run_for_ms(1);
        ASSERT_EQ(last().type, PacketType::fin);
        ASSERT_EQ(m_sink.state(), SinkState::busy);
    }

    Totals totals() const {
        Bytes all(m_memory);
        all.insert(all.end(), m_end.begin(), m_end.end());
        return {.bytes = all.size(), .crc32c = lib::crc32c(all), .streams = 1};
    }

    Bytes m_end; // the packet with the totals
};

TEST_F(Ending, SaysWhatTheCollectorMustHave) {
    end();
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "3 hello 0 cookie 5 fresh", "5 data 0 push of 63",
                            "7 data 1 push of " + std::to_string(m_end.size() / 16), "8 fin 2 of 1"}));
    EXPECT_EQ(wire::decode_body<Totals>(m_peer.sent.back()), totals());
    answer(PacketType::fin_ack, 2, totals());
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Ending, RepeatsFinAndThenAsksWhoIsThere) {
    end();
    static_cast<void>(said());
    run_until_ms(1'060);
    EXPECT_EQ(said(), (Said{"28 fin 2 of 1", "68 fin 2 of 1", "148 fin 2 of 1", "308 fin 2 of 1", "558 fin 2 of 1",
                            "808 fin 2 of 1", "1059 hello 2 cookie 5"}));
    greet(2, totals().crc32c);
    run_for_ms(2);
    EXPECT_EQ(said(), Said{"1062 fin 2 of 1"});
    acknowledge(2, {.window = 64}); // of a packet: nothing is on its way
    step();
    EXPECT_EQ(m_sink.counters().ignored, 1U);
    answer(PacketType::fin_ack, 2, totals());
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Ending, FailsIfTheCollectorHasSomethingElse) {
    end();
    Totals wrong = totals();
    answer(PacketType::fin_ack, 3, wrong);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::corrupt);
}

TEST_F(Ending, FailsIfTheCollectorHasOtherBytes) {
    end();
    Totals wrong = totals();
    ++wrong.crc32c;
    answer(PacketType::fin_ack, 2, wrong);
    step();
    EXPECT_EQ(m_sink.last_error(), lib::Error::corrupt);
}

TEST_F(Ending, FailsIfTheCollectorHasFewerBytes) {
    end();
    Totals wrong = totals();
    --wrong.bytes;
    answer(PacketType::fin_ack, 2, wrong);
    step();
    EXPECT_EQ(m_sink.last_error(), lib::Error::corrupt);
}

TEST_F(Ending, SaysHelloToACollectorThatForgotTheSession) {
    end();
    const std::uint64_t stamp = last().stamp;
    answer(PacketType::unknown, 2, wire::Refusal{}, 0, stamp - 1);
    answer(PacketType::unknown, 1, wire::Refusal{}, 0, stamp);
    step();
    EXPECT_EQ(m_sink.counters().ignored, 2U);
    static_cast<void>(said());
    answer(PacketType::unknown, 2, wire::Refusal{}, 0, stamp);
    run_until_ms(24);
    EXPECT_EQ(said(), Said{"23 hello 2 cookie 0"}) << "20 ms after the last one, and without the forgotten cookie";
}

// The present stream first; another one says HELLO before, as for a chunk.
TEST_F(Ending, SendsFinForEveryStream) {
    make_image(1);
    connect();
    acknowledge(1, {.window = 64});
    step();
    m_image.description.cpu = 3;
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(23);
    greet(0, 0);
    run_for_ms(2);
    acknowledge(1, {.window = 64});
    step();
    ASSERT_TRUE(m_sink.finish({.chunks = 2}).ok());
    run_for_ms(1);
    acknowledge(2, {.window = 64});
    run_for_ms(1);
    const auto of_last = wire::decode_body<Totals>(m_peer.sent.back());
    EXPECT_EQ(of_last.streams, 2U);
    answer(PacketType::fin_ack, 2, of_last);
    run_until_ms(50);
    greet(1, crc_of_packets(1));
    run_for_ms(2);
    EXPECT_EQ(said(),
              (Said{"2 hello 0 cookie 0 fresh", "3 hello 0 cookie 5 fresh", "5 data 0 push of 63",
                    "23 hello 0 cookie 5 stream 3", "25 data 0 push of 63 stream 3", "27 data 1 push of 10 stream 3",
                    "28 fin 2 of 2 stream 3", "43 hello 1 cookie 5", "52 fin 1 of 2"}));
    const Totals first{.bytes = m_memory.size(), .crc32c = crc_of_packets(1), .streams = 2};
    EXPECT_EQ(wire::decode_body<Totals>(m_peer.sent.back()), first);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    answer(PacketType::fin_ack, 1, first);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Ending, FailsTwentySecondsAfterTheLastProgress) {
    m_peer.time = lib::milliseconds(500);
    ASSERT_TRUE(m_sink.finish({}).ok());
    run_until_ms(20'499);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::timeout);
}

// The totals come after everything that was sent: after the last record of each packet. A compact chunk has no stamps
// at its places.
TEST_F(Ending, StampsTheTotalsWithTheLatestRecord) {
    for (const auto encoding : {tracer::Encoding::records, tracer::Encoding::compact}) {
        wire::ReliableSink sink(m_peer, {.packet_records_max = 2});
        m_peer.sent.clear();
        m_memory.resize(4 * tracer::kRecordBytes);
        for (const std::size_t i : {0U, 1U, 2U, 3U}) {
            const std::uint64_t stamp = std::array{1U, 42U, 99U, 41U}[i];
            tracer::encode_record(tracer::make_record(1, 1, 1, {stamp}), std::span(m_memory).subspan(16 * i));
        }
        m_image.parts[0] = m_memory;
        m_image.description.encoding = encoding;
        ASSERT_TRUE(sink.submit(m_image).ok());
        const auto say = [&](PacketType type, std::uint64_t seq, const auto& body, std::uint8_t flags) {
            Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
            wire::encode_body(body, std::span(packet).subspan(wire::kHeaderBytes));
            const wire::SipKey key = wire::session_key({}, 77, 5);
            wire::encode({.type = type, .flags = flags, .session = 77, .seq = seq, .stamp = last().stamp},
                         wire::before_session(type) ? nullptr : &key, packet, wire::Covers::header);
            m_peer.inbox.push_back(packet);
            for (int i = 0; i < 2; ++i) {
                m_peer.time = m_peer.time + lib::milliseconds(1);
                static_cast<void>(sink.step());
            }
        };
        static_cast<void>(sink.step());
        say(PacketType::hello_ack, 0, wire::HelloAck{.cookie = 5}, wire::kFlagCookie);
        say(PacketType::hello_ack, 0, wire::HelloAck{.cookie = 5, .window = 64}, 0);
        say(PacketType::ack, 2, wire::Ack{.window = 64}, 0);
        ASSERT_EQ(sink.state(), SinkState::idle);
        ASSERT_TRUE(sink.finish({.chunks = 1}).ok());
        static_cast<void>(sink.step());
        const auto record = tracer::decode_record(std::span(m_peer.sent.back()).subspan(wire::kHeaderBytes));
        EXPECT_EQ(record.event_code(), tracer::event_code("export_end"));
        EXPECT_EQ(record.stamp().value, encoding == tracer::Encoding::records ? 42U : 0U);
    }
}

} // namespace sender_end_test
