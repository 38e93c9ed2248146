// SPDX-License-Identifier: MIT
// Tests the receive loop: when it ends, what it does in a flood and reports, and which version of the protocol it has.
#include "host/collector/collector.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tracer/reliable/packet.hpp"

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace host::collector {

namespace collector_loop_test {

using std::chrono::milliseconds;
using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
namespace wire = tracer::reliable;

struct Watch : Observer {
    void closed(const SessionView& /*session*/, formats::dat::Manifest& manifest,
                std::optional<lib::Error> /*error*/) override {
        last = manifest;
    }

    void refused(std::string_view why) override {
        refusal = why;
        ++refusals;
        if (on_refusal) {
            on_refusal();
        }
    }

    void progress(const Progress& now) override { progresses.push_back(now); }

    formats::dat::Manifest last;
    std::string refusal;
    std::size_t refusals = 0;
    std::function<void()> on_refusal;
    std::vector<Progress> progresses;
};

class Loop : public testing::Test {
  protected:
    Loop() {
        EXPECT_TRUE(m_socket.bind({INADDR_LOOPBACK, 0}).ok());
        EXPECT_TRUE(m_sender.bind({INADDR_LOOPBACK, 0}).ok());
        m_options.directory = SessionDirectory::open(m_directory / "run", OldSession::keep).value();
        m_options.timeout = milliseconds(5'000);
    }

    void send(const Bytes& datagram) { m_sender.send(datagram, m_socket.local()); }

    void send_all(const Bytes& image) {
        for (const Bytes& datagram : support::packets(image, m_next)) {
            send(datagram);
        }
    }

    // One chunk and the end.
    void send_run() {
        ChunkBuilder builder(0);
        builder.event(1'000, "ipoint");
        send_all(builder.bytes());
        send_all(support::export_end({1, tracer::RunResult::completed, 1, 0, 0, 0}));
    }

    // To be answered: no session is known.
    static Bytes acknowledged_packet() {
        Bytes packet(wire::kHeaderBytes + 16);
        wire::encode({.type = wire::PacketType::data, .session = 1, .seq = 4}, nullptr, packet);
        return packet;
    }

    SessionTable::Outcome run() { return Collector(m_socket, m_options, m_watch).run(); }

    TemporaryDirectory m_directory;
    UdpSocket m_socket;
    UdpSocket m_sender;
    CollectOptions m_options;
    Watch m_watch;
    std::uint32_t m_next = 1;
};

TEST_F(Loop, EndsWithTheRunAndReadsNothingAfterIt) {
    send_run();
    send(acknowledged_packet());
    EXPECT_EQ(run().complete, 1U);
    EXPECT_TRUE(m_watch.last.complete) << m_watch.last.reason;
    Bytes answer(100);
    EXPECT_EQ(m_sender.receive(answer).error(), lib::Error::busy) << "it was answered";
    EXPECT_TRUE(m_socket.receive(answer).ok()) << "it is still in the socket";
}

TEST_F(Loop, AnswersAnUnknownSession) {
    m_options.timeout = milliseconds(1);
    send(acknowledged_packet());
    static_cast<void>(run());
    Bytes answer(wire::kBytesMax);
    const auto size = m_sender.receive(answer);
    ASSERT_TRUE(size.ok());
    answer.resize(size.value().size_bytes);
    const auto header = wire::decode(answer);
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header.value().type, wire::PacketType::unknown);
    EXPECT_EQ(header.value().seq, 4U);
    EXPECT_EQ(m_watch.last.reason, "no packet came: no end within 1ms");
}

// However many datagrams wait: the wish to stop is seen.
TEST_F(Loop, IsStoppedInAFlood) {
    constexpr std::size_t kFlood = 500'000;
    volatile std::sig_atomic_t stop = 0;
    m_options.stop = &stop;
    m_options.timeout = {};
    m_options.key = wire::SipKey{1, 2}; // each packet of version 1 is then reported
    std::uint32_t number = 1;
    const Bytes datagram = support::packets(ChunkBuilder(0).event(1, "ipoint").plain(), number).front();
    m_watch.on_refusal = [&] {
        stop = 1;
        if (m_watch.refusals < kFlood) {
            send(datagram); // the socket is never empty
        }
    };
    send(datagram);
    send(datagram);
    EXPECT_EQ(run().complete, 0U);
    EXPECT_GT(m_watch.refusals, 1U);
    EXPECT_LT(m_watch.refusals, kFlood);
    EXPECT_EQ(m_watch.last.reason, "no packet came: asked to stop");
}

TEST_F(Loop, ReportsItsProgressOnceASecond) {
    m_options.timeout = milliseconds(1'100);
    m_options.idle_timeout = milliseconds(60'000);
    ChunkBuilder builder(0);
    for (std::uint32_t i = 0; i < 70; ++i) {
        builder.event(1'000 + i, "ipoint");
    }
    send_all(builder.bytes());
    send(Bytes(5));
    EXPECT_EQ(run().complete, 0U);
    ASSERT_GE(m_watch.progresses.size(), 1U);
    EXPECT_LE(m_watch.progresses.size(), 2U);
    const Progress& progress = m_watch.progresses.front();
    EXPECT_EQ(progress.packets, 2U);
    EXPECT_EQ(progress.records, 70U);
    EXPECT_EQ(progress.lost, 0U);
    EXPECT_EQ(progress.chunks, 1U);
    EXPECT_EQ(progress.open, 1U);
    EXPECT_EQ(m_watch.last.transfer.value().malformed, 1U);
}

TEST_F(Loop, TakesNothingThatNoKeyAuthenticates) {
    m_options.key = wire::SipKey{1, 2};
    m_options.timeout = milliseconds(1);
    send_run();
    send(Bytes(5));
    static_cast<void>(run());
    EXPECT_EQ(m_watch.refusals, 2U) << "of what has a form";
    EXPECT_EQ(m_watch.refusal, "packets of TRACER-V1.0 come, which no key authenticates: a machine without the key, or "
                               "with PROTOCOL=v1");
    EXPECT_EQ(m_watch.last.transfer.value().malformed, 0U);
    EXPECT_EQ(m_watch.last.transfer.value().other_senders, 0U);
    EXPECT_TRUE(m_watch.last.chunks.empty());
}

TEST_F(Loop, TakesThePacketOfNumberOneAndNotOfNumberZero) {
    m_options.timeout = milliseconds(1);
    m_next = 0;
    send_run(); // numbers 0 and 1: the end alone is no session
    static_cast<void>(run());
    EXPECT_EQ(m_watch.last.transfer.value().malformed, 1U);
    EXPECT_EQ(m_watch.last.transfer.value().packets, 0U);
    EXPECT_EQ(m_watch.last.transfer.value().other_senders, 1U);
}

TEST_F(Loop, EndsASessionOfASilentSender) {
    m_options.directory = nullptr;
    m_options.serve = SessionDirectory::open(m_directory / "all", OldSession::leave).value();
    m_options.idle_timeout = milliseconds(1);
    m_options.timeout = milliseconds(400);
    ChunkBuilder builder(0);
    builder.event(1'000, "ipoint");
    send_all(builder.bytes());
    EXPECT_EQ(run().sessions, 1U);
    EXPECT_EQ(m_watch.last.reason, "the end of the export never came: nothing came for 1 ms");
}

TEST_F(Loop, EndsIfTheSocketFails) {
    const int next = ::dup(STDOUT_FILENO);
    ::close(next);
    UdpSocket socket;
    ASSERT_TRUE(socket.bind({INADDR_LOOPBACK, 0}).ok());
    const int other = ::open("/dev/zero", O_RDONLY | O_CLOEXEC); // always ready, and no socket
    ASSERT_EQ(::dup2(other, next), next);
    ::close(other);
    EXPECT_EQ(Collector(socket, m_options, m_watch).run().complete, 0U);
    EXPECT_EQ(m_watch.last.reason, "no packet came: the socket failed");
}

// The longest datagram there is has no form, and is read as a whole.
TEST_F(Loop, CountsALongDatagramAsMalformed) {
    m_options.timeout = milliseconds(1);
    send(Bytes(65'507));
    static_cast<void>(run());
    EXPECT_EQ(m_watch.last.transfer.value().malformed, 1U);
}

} // namespace collector_loop_test

} // namespace host::collector
