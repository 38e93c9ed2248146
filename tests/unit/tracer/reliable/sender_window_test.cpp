// SPDX-License-Identifier: MIT
// Tests how many packets are on their way, which are sent again and when, and which acknowledgements are believed.
#include "tests/support/tracer/sending.hpp"

namespace sender_window_test {

namespace wire = tracer::reliable;
using tests::Said;
using tests::Sending;
using tracer::SinkState;
using wire::PacketType;

class Window : public Sending {
  protected:
    // Sent and not received, as the collector last said.
    std::uint64_t in_flight() const { return m_sink.counters().packets - m_received; }

    // Everything that was sent has arrived, or so much of it.
    void receive(std::uint64_t packets) {
        m_received += packets;
        acknowledge(m_received, {.window = 64});
        run_for_ms(17); // 64 packets leave in 16 steps, and no timeout ends
    }

    std::uint64_t m_received = 0;
};

TEST_F(Window, DoublesUntilALossAndThenGrowsByOneForEachWindow) {
    make_image(1'000);
    connect();
    std::vector<std::uint64_t> windows{in_flight()};
    for (int i = 0; i < 5; ++i) {
        receive(in_flight());
        windows.push_back(in_flight());
    }
    run_for_ms(10);
    EXPECT_EQ(m_sink.counters().sends, m_sink.counters().packets + 1) << "a timeout";
    for (int i = 0; i < 3; ++i) {
        receive(in_flight());
        windows.push_back(in_flight());
    }
    for (const std::uint64_t part : {10U, 24U, 1U}) {
        receive(part);
        windows.push_back(in_flight());
    }
    EXPECT_EQ(windows, (std::vector<std::uint64_t>{4, 8, 16, 32, 64, 64, 33, 34, 35, 35, 35, 36}));
}

TEST_F(Window, IsNeverSmallerThanFour) {
    make_image(100);
    connect();
    run_until_ms(700); // five timeouts
    EXPECT_EQ(m_sink.counters().sends, 4U + 5U);
    receive(4);
    EXPECT_EQ(in_flight(), 5U);
    receive(5);
    EXPECT_EQ(in_flight(), 6U);
}

TEST_F(Window, IsNoLargerThanTheCollectorGrants) {
    make_image(100);
    connect();
    acknowledge(4, {.window = 7});
    run_for_ms(5);
    EXPECT_EQ(said(), (Said{"2 hello 0 cookie 0 fresh", "3 hello 0 cookie 5 fresh", "5 data 0", "5 data 1", "5 data 2",
                            "5 data 3 ask", "6 data 4", "6 data 5", "6 data 6", "6 data 7", "7 data 8", "7 data 9",
                            "7 data 10 ask"}));
}

TEST_F(Window, RepeatsTheOldestPacketEverMoreRarelyAndThenAsksWhoIsThere) {
    connect();
    static_cast<void>(said());
    run_until_ms(1'700);
    EXPECT_EQ(said(), (Said{"25 data 0 push", "65 data 0 push", "145 data 0 push", "305 data 0 push", "555 data 0 push",
                            "805 data 0 push", "1055 data 0 push", "1305 data 0 push", "1306 hello 0 cookie 5 fresh",
                            "1406 hello 0 cookie 5 fresh", "1606 hello 0 cookie 5 fresh"}));
    EXPECT_EQ(m_sink.counters().absences, 1U);
    EXPECT_EQ(m_sink.counters().packets, 4U);
    EXPECT_EQ(m_sink.counters().sends, 12U);
    greet(2, crc_of_packets(2));
    run_for_ms(2);
    EXPECT_EQ(said(), (Said{"1702 data 2", "1702 data 3", "1702 data 4", "1702 data 5 push of 63"}));
}

// HELLO is answered and no packet is: the path may be one of short packets.
TEST_F(Window, SendsShortPacketsAfterTwoHandshakesOfWhichNothingCame) {
    make_image(2);
    connect();
    const auto reconnect = [this] {
        run_until_ms(m_peer.time.value / 1'000'000 + 1'400);
        greet(0, 0);
        static_cast<void>(said());
        run_for_ms(2);
        return said();
    };
    EXPECT_EQ(reconnect().size(), 2U) << "as before";
    const Said shorter = reconnect();
    EXPECT_EQ(shorter.size(), 4U);
    acknowledge(4, {.window = 64});
    run_for_ms(5);
    EXPECT_EQ(m_sink.counters().packets, 2U + 2U + 8U);
    acknowledge(8, {.window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle) << "eight of sixteen records";
}

TEST_F(Window, AnAnswerEndsTheSilence) {
    connect();
    run_until_ms(1'100); // seven timeouts
    acknowledge(1, {.window = 64});
    run_for_ms(400); // three more
    EXPECT_EQ(m_sink.counters().absences, 0U);
    EXPECT_EQ(m_sink.counters().acknowledgements, 1U);
}

// Packets that arrived are not sent again. The others are, when a later one has arrived and they are late.
TEST_F(Window, RepeatsWhatALaterPacketHasOvertaken) {
    connect();
    acknowledge(0, {.received = 0b011, .window = 64}); // 1 and 2
    step();
    EXPECT_EQ(said().back(), "6 data 5 push of 63");
    acknowledge(0, {.received = 0b1011, .window = 64}); // and 4
    run_until_ms(9);
    EXPECT_EQ(said(), (Said{"7 data 0 push", "7 data 3 push"}));
    EXPECT_EQ(m_sink.counters().packets, 6U);
    EXPECT_EQ(m_sink.counters().sends, 8U);
    acknowledge(6, {.window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

// Answers overtake each other. An older one adds what it knows; the newest may take something back.
TEST_F(Window, KnowsWhatArrivedByTheNewestAnswer) {
    make_image(20);
    connect();
    acknowledge(0, {.received = 0b001, .window = 64}, 5);
    step();
    acknowledge(0, {.received = 0b011, .window = 64}, 6);
    step();
    acknowledge(0, {.received = 0b100, .window = 64}, 5);
    step();
    static_cast<void>(said());
    acknowledge(0, {.received = 0b000, .window = 64}, 8);
    run_for_ms(2);
    EXPECT_EQ(m_sink.counters().packets, 7U);
    acknowledge(7, {.window = 64}, 8);
    step();
    EXPECT_EQ(m_sink.counters().acknowledgements, 5U);
    EXPECT_EQ(said().back(), "11 data 10");
}

TEST_F(Window, ShiftsWhatItKnowsWithTheOldestMissingPacket) {
    make_image(20);
    connect();
    acknowledge(0, {.received = 0b110, .window = 64}); // 2 and 3: two more may leave
    step();
    acknowledge(1, {.received = 0b000, .window = 64}, 4); // an old one; 1 is missing, 4 and 5 are on their way
    step();
    EXPECT_EQ(m_sink.counters().packets, 8U) << "one was received, and the window has grown by one";
    acknowledge(4, {.window = 64});
    step();
    EXPECT_EQ(m_sink.counters().packets, 12U);
}

TEST_F(Window, IgnoresWhatNoCollectorCanHave) {
    make_image(100);
    connect();
    acknowledge(4, {.not_durable = 5, .window = 64});
    acknowledge(5, {.window = 64});
    acknowledge(0, {.received = 0b1000, .window = 64});
    acknowledge(0, {.received = std::uint64_t{1} << 63U, .window = 64});
    step();
    EXPECT_EQ(m_sink.counters().ignored, 4U);
    acknowledge(0, {.received = 0b111, .window = 64});
    acknowledge(3, {.not_durable = 3, .window = 64});
    acknowledge(2, {.window = 64});
    acknowledge(4, {.not_durable = 4, .window = 64});
    step();
    EXPECT_EQ(m_sink.counters().ignored, 5U) << "less than before";
    EXPECT_EQ(m_sink.counters().acknowledgements, 3U);
}

TEST_F(Window, OfSixtyFourPacketsIsAnsweredInOneWord) {
    make_image(200);
    connect();
    for (const std::uint64_t received : {4U, 12U, 28U, 60U}) {
        acknowledge(received, {.window = 64});
        run_for_ms(17);
    }
    ASSERT_EQ(m_sink.counters().packets, 124U);
    acknowledge(60, {.received = ~std::uint64_t{0} >> 1U, .window = 64}); // all but 60
    step();
    EXPECT_EQ(m_sink.counters().ignored, 0U);
    static_cast<void>(said());
    run_for_ms(25);
    const Said repeated = said();
    ASSERT_FALSE(repeated.empty());
    EXPECT_TRUE(repeated.front().ends_with("data 60 push")) << repeated.front();
}

// The last packet asks what is durable.
TEST_F(Window, AsksWithTheLastPacketUntilAllIsDurable) {
    connect();
    acknowledge(4, {.window = 64});
    step();
    acknowledge(6, {.not_durable = 2, .window = 64});
    step();
    static_cast<void>(said());
    run_until_ms(80);
    EXPECT_EQ(said(), (Said{"27 data 5 push of 63", "67 data 5 push of 63"}));
    acknowledge(6, {.not_durable = 1, .window = 64}); // progress, so the timeout counts from here
    run_until_ms(102);
    EXPECT_EQ(said(), Said{"101 data 5 push of 63"});
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    acknowledge(6, {.window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Window, AsksAFullCollectorOnceASecond) {
    make_image(10);
    connect();
    acknowledge(4, {.window = 0});
    run_until_ms(12'000);
    static_cast<void>(said());
    EXPECT_EQ(m_sink.counters().packets, 5U) << "the packet that asks";
    EXPECT_EQ(m_sink.counters().sends, 4U + 11U) << "at 1006 ms, and so on";
    EXPECT_EQ(m_sink.counters().absences, 0U);
    acknowledge(5, {.window = 64});
    step();
    EXPECT_EQ(said(), (Said{"12001 data 5", "12001 data 6", "12001 data 7", "12001 data 8"}));
}

TEST_F(Window, WaitsBeforeItAsksAFullCollectorAboutAnotherChunk) {
    make_image(4);
    connect();
    acknowledge(4, {.window = 0});
    step();
    ASSERT_EQ(m_sink.state(), SinkState::idle);
    m_peer.time = lib::milliseconds(5'000);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    static_cast<void>(said());
    run_until_ms(6'500);
    EXPECT_EQ(said(), Said{"6000 data 4 push"});
}

// An open stream needs no HELLO; its packets are numbered through all chunks.
TEST_F(Window, ContinuesWithTheNextChunk) {
    make_image(2);
    connect();
    acknowledge(2, {.window = 64});
    step();
    ASSERT_EQ(m_sink.state(), SinkState::idle);
    static_cast<void>(said());
    m_peer.time = lib::milliseconds(5'000);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(5'030);
    EXPECT_EQ(said(), (Said{"5001 data 2", "5001 data 3 push of 63", "5021 data 2 push"}));
    const auto& first = m_peer.sent[m_peer.sent.size() - 3];
    EXPECT_TRUE(std::equal(first.begin() + wire::kHeaderBytes, first.end(), m_memory.begin()));
    acknowledge(1, {.window = 64});
    acknowledge(3, {.not_durable = 2, .window = 64});
    step();
    EXPECT_EQ(m_sink.counters().ignored, 2U) << "what was durable remains so";
    acknowledge(4, {.window = 64});
    step();
    EXPECT_EQ(m_sink.state(), SinkState::idle);
}

TEST_F(Window, StaysAsItIsWhileTheDeviceIsBusy) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    greeted();
    step();
    m_peer.on_its_way = lib::Error::busy;
    run_until_ms(10);
    EXPECT_EQ(m_peer.refusals, 6U) << "one in a step";
    EXPECT_EQ(m_sink.counters().sends, 0U);
    m_peer.on_its_way = {};
    step();
    static_cast<void>(said());
    m_peer.on_its_way = lib::Error::busy;
    run_until_ms(40); // a timeout that cannot be used
    m_peer.on_its_way = {};
    step();
    EXPECT_EQ(said(), Said{"41 data 0 push"});
    EXPECT_EQ(m_sink.timeout(), lib::milliseconds(40));
}

TEST_F(Window, CountsWhatTheNetworkRefusesAsSentAndLost) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    greeted();
    step();
    m_peer.on_its_way = lib::Error::unreachable;
    step();
    m_peer.on_its_way = {};
    run_until_ms(30);
    EXPECT_EQ(m_sink.counters().refused, 4U);
    EXPECT_EQ(m_sink.counters().packets, 4U);
    EXPECT_EQ(said().back(), "25 data 0 push");
}

TEST_F(Window, FailsWhenThereIsNoProgressForItsPatience) {
    m_sink.set_patience(lib::milliseconds(300));
    m_peer.time = lib::milliseconds(200); // a submit() begins it again
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    run_until_ms(499);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::timeout);
}

TEST_F(Window, CountsAsProgressWhatIsReceivedOrDurable) {
    connect();
    m_sink.set_patience(lib::milliseconds(300)); // at 5 ms
    run_until_ms(200);
    acknowledge(4, {.not_durable = 4, .window = 64});
    run_until_ms(400);
    acknowledge(4, {.not_durable = 3, .window = 64});
    run_until_ms(600);
    acknowledge(4, {.not_durable = 3, .window = 64}); // the same again
    acknowledge(4, {.received = 1, .not_durable = 3, .window = 64});
    run_until_ms(700);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::timeout);
}

TEST_F(Window, CountsAsProgressThatMoreIsDurableThanItKnew) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    m_sink.set_patience(lib::milliseconds(300));
    step();
    greet(0, 0, wire::kFlagCookie);
    step();
    m_peer.time = lib::milliseconds(250);
    greet(2, crc_of_packets(2));
    run_until_ms(550);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
    step();
    EXPECT_EQ(m_sink.state(), SinkState::failed);
}

} // namespace sender_window_test
