// SPDX-License-Identifier: MIT
// Runs the sender of acknowledged packets against a collector that the test plays, packet by packet, and shows what it
// sends in words: "4 data 3 ask" is packet 3, sent at 4 ms. One step takes one millisecond.
#pragma once

#include "tests/support/tracer/fake_peer.hpp"
#include "tracer/reliable/sender.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tests {

using Said = std::vector<std::string>;

// Returns its time, its type and what is particular about it. Stream 0, no flag and 64 records are usual and left out.
[[nodiscard]] inline std::string in_words(const Bytes& datagram) {
    namespace wire = tracer::reliable;
    const auto decoded = wire::decode(datagram);
    if (!decoded) {
        return "malformed";
    }
    const wire::Header& header = decoded.value();
    std::string words = std::to_string(header.stamp / 1'000'000);
    if (header.type == wire::PacketType::hello) {
        const auto hello = wire::decode_body<wire::Hello>(datagram);
        words += " hello " + std::to_string(header.seq) + " cookie " + std::to_string(hello.cookie);
        words += header.flags == wire::kFlagFresh ? " fresh" : "";
    } else if (header.type == wire::PacketType::data) {
        words += " data " + std::to_string(header.seq);
        words += header.flags == wire::kFlagPush ? " push" : header.flags == wire::kFlagAsk ? " ask" : "";
        words += header.records != wire::kRecordsMax ? " of " + std::to_string(header.records) : "";
    } else if (header.type == wire::PacketType::fin) {
        const auto totals = wire::decode_body<wire::Totals>(datagram);
        words += " fin " + std::to_string(header.seq) + " of " + std::to_string(totals.streams);
    }
    return words + (header.stream != 0 ? " stream " + std::to_string(header.stream) : "");
}

class Sending : public testing::Test {
  protected:
    static constexpr std::size_t kPackets = 6;

    Sending() {
        m_image.description.boot_id = 77;
        make_image(kPackets);
    }

    // Makes an image of this many packets; the last one has one record less than the others.
    void make_image(std::size_t packets) {
        m_memory.resize(packets * tracer::reliable::kBodyBytesMax - tracer::kRecordBytes);
        m_image.parts[0] = m_memory;
        for (std::size_t i = 0; i < m_memory.size(); ++i) {
            m_memory[i] = static_cast<std::byte>(i * 7 / 5);
        }
    }

    [[nodiscard]] std::uint32_t crc_of_packets(std::size_t packets) const {
        const std::size_t bytes = std::min(packets * tracer::reliable::kBodyBytesMax, m_memory.size());
        return lib::crc32c(std::span(m_memory).first(bytes));
    }

    [[nodiscard]] tracer::reliable::Header last() const {
        const auto header = tracer::reliable::decode(m_peer.sent.back());
        EXPECT_TRUE(header.ok());
        return header.value();
    }

    // Answers the last datagram, unless `stamp` names another.
    template <typename Body>
    void answer(tracer::reliable::PacketType type, std::uint64_t seq, const Body& body, std::uint8_t flags = 0,
                std::optional<std::uint64_t> stamp = {}) {
        namespace wire = tracer::reliable;
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        wire::encode_body(body, std::span(packet).subspan(wire::kHeaderBytes));
        const wire::Header header{.type = type,
                                  .flags = flags,
                                  .stream = last().stream,
                                  .session = m_sink.session(),
                                  .seq = seq,
                                  .stamp = stamp.value_or(last().stamp)};
        const wire::SipKey key = wire::session_key({}, m_sink.session(), cookie);
        wire::encode(header, wire::before_session(type) ? nullptr : &key, packet, wire::Covers::header);
        m_peer.inbox.push_back(packet);
    }

    void acknowledge(std::uint64_t received, const tracer::reliable::Ack& ack,
                     std::optional<std::uint64_t> stamp_ms = {}) {
        answer(tracer::reliable::PacketType::ack, received, ack, 0,
               stamp_ms ? std::optional(*stamp_ms * 1'000'000) : std::nullopt);
    }

    void greet(std::uint64_t durable, std::uint32_t crc32c, std::uint8_t flags = 0) {
        answer(tracer::reliable::PacketType::hello_ack, durable,
               tracer::reliable::HelloAck{.cookie = cookie, .crc32c = crc32c, .window = 64}, flags);
    }

    void step() {
        m_peer.time = m_peer.time + lib::milliseconds(1);
        static_cast<void>(m_sink.step());
    }

    // Runs until that time since the start, unless the sender has ended before.
    void run_until_ms(std::uint64_t end) {
        while (m_peer.time < lib::milliseconds(end) && m_sink.state() == tracer::SinkState::busy) {
            step();
        }
    }

    void run_for_ms(std::uint64_t time) { run_until_ms(m_peer.time.value / 1'000'000 + time); }

    // Returns what was sent since the last question.
    Said said() {
        Said words;
        for (; m_asked < m_peer.sent.size(); ++m_asked) {
            words.push_back(in_words(m_peer.sent[m_asked]));
        }
        return words;
    }

    // Connects with HELLO at 2 and 3 ms, and the first four packets at 5 ms.
    void connect() {
        ASSERT_TRUE(m_sink.submit(m_image).ok());
        greeted();
        step();
        step();
    }

    void greeted() {
        step();
        ASSERT_EQ(last().type, tracer::reliable::PacketType::hello);
        greet(0, 0, tracer::reliable::kFlagCookie);
        step();
        ASSERT_EQ(tracer::reliable::decode_body<tracer::reliable::Hello>(m_peer.sent.back()).cookie, cookie);
        greet(0, 0);
    }

    std::uint64_t cookie = 5; // of which the answers' key is made
    std::vector<std::byte> m_memory;
    tracer::ChunkImage m_image;
    FakePeer m_peer;
    tracer::reliable::ReliableSink m_sink{m_peer, {}};
    std::size_t m_asked = 0;
};

} // namespace tests
