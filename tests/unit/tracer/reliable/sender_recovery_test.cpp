// SPDX-License-Identifier: MIT
// Tests what a sender does after a loss, an absence, and the end of a chunk: how much it sends at once, in which order,
// and what its timeout counts from.
#include "tests/support/tracer/sending.hpp"

namespace sender_recovery_test {

namespace wire = tracer::reliable;
using tests::Said;
using tests::Sending;
using tracer::SinkState;
using wire::PacketType;

class Recovery : public Sending {
  protected:
    // Windows of 4, 8 and so on, until so many packets have been sent; the last window is not answered.
    void send_packets(std::uint64_t packets) {
        for (std::uint64_t received = 4; m_sink.counters().packets < packets; received += received + 4) {
            acknowledge(received, {.window = 64});
            run_for_ms(17);
        }
        ASSERT_EQ(m_sink.counters().packets, packets);
    }

    void carry(std::uint16_t stream) {
        m_image.description.cpu = stream;
        ASSERT_TRUE(m_sink.submit(m_image).ok());
        run_for_ms(25); // no HELLO within 20 ms of the last one
        greet(0, 0);
        run_for_ms(2);
        acknowledge(1, {.window = 64});
        step();
        ASSERT_EQ(m_sink.state(), SinkState::idle);
    }
};

TEST_F(Recovery, RepeatsFourPacketsInAStepAtMost) {
    make_image(100);
    connect();
    send_packets(28); // 12 to 27 are on their way
    static_cast<void>(said());
    acknowledge(12, {.received = 1U << 14U, .window = 64}); // 27 alone has arrived
    m_peer.on_its_way = lib::Error::busy;                   // until all of them are late
    run_for_ms(300);
    m_peer.on_its_way = {};
    run_for_ms(10);
    const Said repeated = said();
    std::vector<std::size_t> in_a_step;
    std::string time;
    for (const std::string& words : repeated) {
        const std::string at = words.substr(0, words.find(' '));
        in_a_step.resize(in_a_step.size() + (at != time ? 1 : 0));
        ++in_a_step.back();
        time = at;
    }
    EXPECT_GE(repeated.size(), 12U);
    EXPECT_LE(*std::ranges::max_element(in_a_step), 4U);
}

// A window that a loss has halved is doubled again after an absence: it may be another network.
TEST_F(Recovery, DoublesItsWindowAgainAfterAnAbsence) {
    make_image(200);
    connect();
    run_until_ms(8'600); // ten timeouts, and HELLO
    ASSERT_EQ(m_sink.counters().absences, 1U);
    greet(0, 0);
    run_for_ms(3);
    const std::uint64_t before = m_sink.counters().packets - 4;
    std::uint64_t received = 0;
    std::vector<std::uint64_t> windows;
    for (const std::uint64_t window : {4U, 8U, 16U}) {
        received += window;
        acknowledge(received, {.window = 64});
        run_for_ms(10);
        windows.push_back(m_sink.counters().packets - before - received);
    }
    EXPECT_EQ(windows, (std::vector<std::uint64_t>{8, 16, 32}));
}

TEST_F(Recovery, FillsItsWindowWithTheNextChunk) {
    make_image(2);
    connect();
    acknowledge(2, {.window = 64});
    step();
    ASSERT_EQ(m_sink.state(), SinkState::idle);
    make_image(20);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_for_ms(10);
    EXPECT_EQ(m_sink.counters().packets, 2U + 6U) << "four, and two that were acknowledged";
}

// What has been received beyond a gap is forgotten with the gap: the window of the next packets is their own.
TEST_F(Recovery, CountsNothingAsReceivedAfterAWholeWindow) {
    make_image(400);
    connect();
    send_packets(124); // 60 to 123 are on their way
    while (m_sink.counters().sends == 124) {
        step(); // a timeout halves the window
    }
    acknowledge(60, {.received = ~std::uint64_t{0} >> 1U, .window = 64}); // all but 60
    step();
    acknowledge(124, {.window = 64}, m_peer.time.value / 1'000'000 - 30); // an older answer
    static_cast<void>(said());
    run_for_ms(18);
    EXPECT_EQ(m_sink.counters().ignored, 0U);
    EXPECT_GE(m_sink.counters().packets, 124U + 32U);
    EXPECT_LE(m_sink.counters().packets, 124U + 36U);
}

// --- the timeout --------------------------------------------------------------------------------------------------

TEST_F(Recovery, CountsItsTimeoutFromTheLastNews) {
    struct Case {
        std::uint64_t received;
        wire::Ack ack;
        std::uint64_t repeated_ms;
    };

    const std::vector<Case> cases{{0, {.window = 64}, 25},                    // nothing new
                                  {0, {.received = 0b100, .window = 64}, 35}, // 3 has arrived
                                  {1, {.not_durable = 1, .window = 64}, 35},
                                  {2, {.not_durable = 2, .window = 64}, 35},
                                  {1, {.window = 64}, 35}};
    for (const Case& each : cases) {
        wire::ReliableSink* const sink = &m_sink;
        std::destroy_at(sink);
        std::construct_at(sink, m_peer, wire::ReliableSink::Limits{});
        m_peer.time = lib::milliseconds(1);
        m_peer.sent.clear();
        m_asked = 0;
        m_image.description.cpu = 0;
        make_image(4);
        connect();
        run_until_ms(14);
        static_cast<void>(said());
        acknowledge(each.received, each.ack, 5);
        run_until_ms(60);
        const Said words = said();
        ASSERT_FALSE(words.empty());
        EXPECT_TRUE(words.front().starts_with(std::to_string(each.repeated_ms) + " data")) << words.front();
    }
}

// --- the end ------------------------------------------------------------------------------------------------------

// The present stream first, then the next higher ones, and then from the first one on.
TEST_F(Recovery, EndsItsStreamsInTheOrderOfTheirNumbers) {
    make_image(1);
    connect();
    acknowledge(1, {.window = 64});
    step();
    carry(5);
    carry(3);
    ASSERT_TRUE(m_sink.finish({.chunks = 3}).ok());
    run_for_ms(1);
    acknowledge(2, {.window = 64});
    run_for_ms(1);
    std::vector<std::uint16_t> ended;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(last().type, PacketType::fin);
        ended.push_back(last().stream);
        answer(PacketType::fin_ack, last().seq, wire::decode_body<wire::Totals>(m_peer.sent.back()));
        run_for_ms(25);
        if (m_sink.state() == SinkState::busy) {
            ASSERT_EQ(last().type, PacketType::hello);
            greet(1, crc_of_packets(1));
            run_for_ms(2);
        }
    }
    EXPECT_EQ(ended, (std::vector<std::uint16_t>{3, 5, 0}));
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

// The collector had the totals, and its answer was lost: it says that the session has ended.
TEST_F(Recovery, EndsASessionThatTheCollectorHasEnded) {
    make_image(1);
    connect();
    acknowledge(1, {.window = 64});
    step();
    ASSERT_TRUE(m_sink.finish({.chunks = 1}).ok());
    run_for_ms(1);
    tests::Bytes all = m_memory;
    all.insert(all.end(), m_peer.sent.back().begin() + wire::kHeaderBytes, m_peer.sent.back().end());
    acknowledge(2, {.window = 64});
    while (last().type != PacketType::hello) {
        step();
    }
    greet(2, lib::crc32c(all), wire::kFlagEnded);
    run_for_ms(2);
    EXPECT_EQ(m_sink.session(), 77U);
    ASSERT_EQ(last().type, PacketType::fin);
    answer(PacketType::fin_ack, 2, wire::decode_body<wire::Totals>(m_peer.sent.back()));
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

} // namespace sender_recovery_test
