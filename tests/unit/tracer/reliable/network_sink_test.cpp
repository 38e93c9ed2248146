// SPDX-License-Identifier: MIT
// Tests which protocol the chunks of a run leave by: what is chosen, what answers, and that the first chunk decides.
#include "tracer/reliable/network_sink.hpp"

#include "tests/support/tracer/fake_peer.hpp"

#include <gtest/gtest.h>

namespace network_sink_test {

namespace wire = tracer::reliable;
using tests::Bytes;
using tests::FakePeer;
using tracer::SinkState;
using wire::NetworkSink;
using wire::Protocol;

class Choosing : public testing::Test {
  protected:
    Choosing() {
        m_image.parts[0] = m_memory;
        m_image.description.boot_id = 77;
    }

    void step_for(lib::Nanoseconds time) {
        const lib::Nanoseconds end = m_peer.time + time;
        while (m_peer.time < end && m_sink.state() == SinkState::busy) {
            m_peer.time = m_peer.time + lib::milliseconds(1);
            static_cast<void>(m_sink.step());
        }
    }

    // Packets of that version among those sent.
    std::size_t sent(bool version_2) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            m_peer.sent, [=](const Bytes& packet) { return wire::is_version_2(packet) == version_2; }));
    }

    void answer_hello() {
        const auto asked = wire::decode(m_peer.sent.back());
        ASSERT_TRUE(asked.ok() && asked.value().type == wire::PacketType::hello);
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        wire::encode_body(wire::HelloAck{.cookie = 5}, std::span(packet).subspan(wire::kHeaderBytes));
        wire::encode({.type = wire::PacketType::hello_ack,
                      .flags = wire::kFlagCookie,
                      .session = asked.value().session,
                      .stamp = asked.value().stamp},
                     nullptr, packet);
        m_peer.inbox.push_back(packet);
    }

    std::vector<std::byte> m_memory = std::vector<std::byte>(std::size_t{3} * wire::kBodyBytesMax);
    tracer::ChunkImage m_image;
    FakePeer m_peer;
    NetworkSink m_sink{m_peer};
};

TEST_F(Choosing, StaysWithVersion2IfItIsAnswered) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(1));
    answer_hello();
    step_for(lib::milliseconds(5'000));
    EXPECT_EQ(m_sink.used(), Protocol::v2);
    EXPECT_EQ(sent(false), 0U);
    EXPECT_EQ(m_sink.state(), SinkState::busy) << "the collector fell silent, and its chunk is kept";
}

TEST_F(Choosing, SendsTheWholeChunkByVersion1WithoutAnAnswer) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(NetworkSink::kAnswerTime - lib::milliseconds(1));
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
    EXPECT_EQ(sent(true), 5U) << "HELLO after 0, 50, 150, 350, 750 ms";
    EXPECT_EQ(sent(false), 0U);
    step_for(lib::milliseconds(1'000));
    EXPECT_EQ(m_sink.used(), Protocol::v1);
    EXPECT_EQ(m_sink.state(), SinkState::idle);
    EXPECT_EQ(sent(false), 4U) << "3 KiB in packets of 960 bytes";
    EXPECT_EQ(sent(true), 5U);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(1'000));
    EXPECT_EQ(sent(true), 5U) << "the first chunk has decided";
    EXPECT_EQ(sent(false), 8U);
}

TEST_F(Choosing, WaitsForAnAnswerAsLongAsItIsRunning) {
    m_sink.wait_for_answer(true);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(60'000));
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
    EXPECT_EQ(sent(false), 0U);
    m_sink.wait_for_answer(false);
    m_peer.sent.clear();
    step_for(NetworkSink::kAnswerTime - lib::milliseconds(1));
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
    EXPECT_EQ(sent(true), 2U) << "once more: a collector may have started";
    step_for(lib::milliseconds(100));
    EXPECT_EQ(m_sink.used(), Protocol::v1);
}

TEST_F(Choosing, UsesWhatWasChosen) {
    ASSERT_TRUE(m_sink.choose(Protocol::v1).ok());
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(100));
    EXPECT_EQ(sent(true), 0U);
    EXPECT_EQ(sent(false), 4U);
    EXPECT_EQ(m_sink.choose(Protocol::v2).error(), lib::Error::exists) << "one session, one protocol";
    EXPECT_TRUE(m_sink.choose(Protocol::automatic).ok());
    EXPECT_TRUE(m_sink.choose(Protocol::v1).ok());

    NetworkSink other(m_peer);
    m_peer.sent.clear();
    ASSERT_TRUE(other.choose(Protocol::v2).ok());
    other.set_patience(lib::milliseconds(60'000));
    ASSERT_TRUE(other.submit(m_image).ok());
    for (int i = 0; i < 5'001 && other.step() == SinkState::busy; ++i) {
        m_peer.time = m_peer.time + lib::milliseconds(1);
    }
    EXPECT_EQ(other.last_error(), lib::Error::timeout);
    EXPECT_EQ(sent(false), 0U);
}

TEST_F(Choosing, NeverUsesVersion1WithAKey) {
    m_sink.set_key({1, 2});
    EXPECT_EQ(m_sink.choose(Protocol::v1).error(), lib::Error::refused);
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(10'000));
    EXPECT_EQ(sent(false), 0U);
}

TEST_F(Choosing, SendsAnEndAloneByVersion1) {
    ASSERT_TRUE(m_sink.finish({}).ok());
    step_for(lib::milliseconds(100));
    EXPECT_EQ(m_sink.used(), Protocol::v1);
    EXPECT_EQ(sent(false), 1U);
}

// Two boots that have nothing to send but their ends are two sessions.
TEST_F(Choosing, NamesTheSessionAfterTheBootWithoutAChunkThatDoes) {
    ASSERT_TRUE(m_sink.choose(Protocol::v2).ok());
    m_sink.set_boot(88);
    ASSERT_TRUE(m_sink.finish({}).ok());
    step_for(lib::milliseconds(1));
    EXPECT_EQ(wire::decode(m_peer.sent.back()).value().session, 88U);

    NetworkSink other(m_peer);
    other.set_boot(89);
    m_image.description.boot_id = 0;
    ASSERT_TRUE(other.submit(m_image).ok());
    static_cast<void>(other.step());
    EXPECT_EQ(wire::decode(m_peer.sent.back()).value().session, 89U);
}

TEST_F(Choosing, IsCalledUdpWhateverItUses) {
    EXPECT_EQ(m_sink.name(), "udp");
    EXPECT_EQ(m_sink.state(), SinkState::idle);
    ASSERT_TRUE(m_sink.choose(Protocol::v1).ok());
    ASSERT_TRUE(m_sink.choose(Protocol::v2).ok()) << "nothing has been sent";
    ASSERT_TRUE(m_sink.choose(Protocol::automatic).ok()) << "and so it remains";
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    EXPECT_EQ(m_sink.used(), Protocol::v2);
    EXPECT_EQ(m_sink.state(), SinkState::busy);
}

TEST_F(Choosing, KeepsWhatItIsAskingFor) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(10));
    EXPECT_EQ(m_sink.choose(Protocol::v1).error(), lib::Error::exists);
    EXPECT_EQ(m_sink.choose(Protocol::v2).error(), lib::Error::exists);
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
    step_for(lib::milliseconds(3'000));
    EXPECT_EQ(m_sink.used(), Protocol::v1);
    EXPECT_TRUE(m_sink.choose(Protocol::v1).ok());
    EXPECT_EQ(m_sink.choose(Protocol::v2).error(), lib::Error::exists);
}

TEST_F(Choosing, DecidesNothingBeforeTheFirstChunk) {
    m_peer.time = lib::milliseconds(60'000);
    EXPECT_EQ(m_sink.step(), SinkState::idle);
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
    EXPECT_TRUE(m_peer.sent.empty());
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(NetworkSink::kAnswerTime - lib::milliseconds(1));
    EXPECT_EQ(m_sink.used(), Protocol::automatic);
}

TEST_F(Choosing, CanDoNothingWithoutADevice) {
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    m_peer.polled = lib::Error::io;
    step_for(lib::milliseconds(100));
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::io);
}

// Of an absent collector five seconds, of one that has answered what is asked for.
TEST_F(Choosing, IsPatientAsLongAsItIsAskedToWithACollectorThatAnswered) {
    m_sink.set_key({});
    m_sink.set_patience(lib::milliseconds(8'000));
    ASSERT_TRUE(m_sink.submit(m_image).ok());
    step_for(lib::milliseconds(4'000));
    ASSERT_EQ(m_sink.state(), SinkState::busy);
    const auto asked = wire::decode(m_peer.sent.back());
    Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
    const wire::SipKey key{};
    wire::encode_body(wire::HelloAck{.cookie = 5}, std::span(packet).subspan(wire::kHeaderBytes));
    wire::encode({.type = wire::PacketType::hello_ack,
                  .flags = wire::kFlagCookie,
                  .session = asked.value().session,
                  .stamp = asked.value().stamp},
                 &key, packet);
    m_peer.inbox.push_back(packet);
    const lib::Nanoseconds before = m_peer.time;
    step_for(lib::milliseconds(60'000));
    EXPECT_EQ(m_sink.state(), SinkState::failed);
    EXPECT_EQ(m_sink.last_error(), lib::Error::timeout);
    EXPECT_EQ(m_peer.time - before, lib::milliseconds(8'002)) << "from the step after the answer";
}

} // namespace network_sink_test
