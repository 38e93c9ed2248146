// SPDX-License-Identifier: MIT
// The receiver in front of a sender that the test plays: no state without a cookie, limits, rates, and what a stranger
// can make it do. Whole transfers: tests/simulation/.
#include "host/collector/reliable/receiver.hpp"

#include <gtest/gtest.h>
#include <map>

namespace host::collector::reliable {

namespace {

using wire::PacketType;
using Bytes = std::vector<std::byte>;

constexpr Peer kPeer{0x7F00'0001, 20000};

struct Stored {
    Bytes bytes;
    Mark mark;
    int syncs = 0;
};

class FakeStore final : public SessionStore {
  public:
    FakeStore(Stored& stored, const bool& full)
        : m_stored(stored)
        , m_full(full) {}

    [[nodiscard]] Mark durable(std::uint16_t stream) const override { return stream == 0 ? m_stored.mark : Mark{}; }

    [[nodiscard]] bool append(std::uint16_t /*stream*/, std::span<const std::byte> records) override {
        if (!m_full) {
            m_stored.bytes.insert(m_stored.bytes.end(), records.begin(), records.end());
        }
        return !m_full;
    }

    void lost(std::uint16_t /*stream*/, std::uint64_t /*packets*/) override {}

    [[nodiscard]] bool sync(std::uint16_t stream, const Mark& mark) override {
        ++m_stored.syncs;
        m_stored.mark = stream == 0 && !m_full ? mark : m_stored.mark;
        return !m_full;
    }

  private:
    Stored& m_stored;
    const bool& m_full;
};

class Receiving : public testing::Test, public StoreProvider {
  protected:
    [[nodiscard]] std::unique_ptr<SessionStore> open(const Peer& /*peer*/, std::uint64_t session) override {
        return refuse ? nullptr : std::make_unique<FakeStore>(stored[session], full);
    }

    // The answer to one packet, decoded; its body is in `body`.
    std::optional<wire::Header> handle(const wire::Header& header, const Bytes& records, const Peer& peer = kPeer) {
        Bytes packet(wire::kHeaderBytes + records.size());
        std::ranges::copy(records, packet.begin() + wire::kHeaderBytes);
        wire::encode(header, nullptr, packet);
        const auto reply = receiver.handle(packet, peer, now);
        EXPECT_LE(reply.size(), packet.size());
        answer.assign(reply.begin(), reply.end());
        return reply.empty() ? std::nullopt : std::optional(wire::decode(reply).value());
    }

    std::optional<wire::Header> hello(std::uint64_t session, std::uint64_t cookie, const Peer& peer = kPeer) {
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Hello{.cookie = cookie}, body);
        return handle({.type = PacketType::hello, .session = session, .stamp = now.value}, body, peer);
    }

    // Both HELLOs.
    std::optional<wire::Header> connect(std::uint64_t session, const Peer& peer = kPeer) {
        EXPECT_TRUE(hello(session, 0, peer).has_value());
        return hello(session, wire::decode_body<wire::HelloAck>(answer).cookie, peer);
    }

    std::optional<wire::Header> data(std::uint64_t session, std::uint64_t seq, std::uint8_t flags = 0) {
        return handle({.type = PacketType::data, .flags = flags, .session = session, .seq = seq, .stamp = now.value},
                      Bytes(tracer::kRecordBytes, static_cast<std::byte>(seq)));
    }

    std::map<std::uint64_t, Stored> stored;
    bool full = false;
    bool refuse = false;
    lib::Nanoseconds now = lib::milliseconds(1'000);
    Bytes answer;
    Receiver receiver{*this, {.secret = {1, 2}, .key = std::nullopt}};
};

TEST_F(Receiving, KeepsNothingOfAMachineThatHasNotReturnedItsCookie) {
    for (std::uint64_t session = 0; session < 1'000; ++session) {
        const auto reply = hello(session, session);
        ASSERT_TRUE(reply.has_value());
        EXPECT_EQ(reply->flags, wire::kFlagCookie);
    }
    EXPECT_TRUE(receiver.sessions().empty());
    EXPECT_TRUE(stored.empty());
}

TEST_F(Receiving, ACookieIsOfOnePeerAndOneSessionAndExpires) {
    ASSERT_TRUE(hello(9, 0).has_value());
    const std::uint64_t cookie = wire::decode_body<wire::HelloAck>(answer).cookie;
    EXPECT_EQ(hello(8, cookie)->flags, wire::kFlagCookie);
    EXPECT_EQ(hello(9, cookie, {kPeer.ipv4, 20001})->flags, wire::kFlagCookie);
    now = now + lib::milliseconds(130'000);
    EXPECT_EQ(hello(9, cookie)->flags, wire::kFlagCookie);
    EXPECT_TRUE(receiver.sessions().empty());
    EXPECT_EQ(connect(9)->flags, 0);
    EXPECT_EQ(receiver.sessions().size(), 1U);
}

TEST_F(Receiving, AcknowledgesEverySecondPacketOrAfterTenMilliseconds) {
    ASSERT_TRUE(connect(9).has_value());
    EXPECT_FALSE(data(9, 0).has_value());
    ASSERT_TRUE(data(9, 1).has_value());
    EXPECT_FALSE(data(9, 2).has_value());
    std::size_t late = 0;
    const auto count = [&late](const Peer&, std::span<const std::byte>) { ++late; };
    receiver.tick(now + lib::milliseconds(9), count);
    EXPECT_EQ(late, 0U);
    receiver.tick(now + lib::milliseconds(10), count);
    receiver.tick(now + lib::milliseconds(20), count);
    EXPECT_EQ(late, 1U);
}

TEST_F(Receiving, SaysOfAGapAtOnceWhatIsThere) {
    ASSERT_TRUE(connect(9).has_value());
    const auto reply = data(9, 2);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->seq, 0U);
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).received, 1U << 1U);
    EXPECT_TRUE(stored[9].bytes.empty());
    ASSERT_TRUE(data(9, 0).has_value() || data(9, 1).has_value());
    EXPECT_FALSE(data(9, 64 + 3).has_value()) << "outside of the window";
}

TEST_F(Receiving, SaysThatAPacketIsDurableOnlyAfterASync) {
    ASSERT_TRUE(connect(9).has_value());
    const int syncs = stored[9].syncs;
    static_cast<void>(data(9, 0));
    ASSERT_TRUE(data(9, 1).has_value());
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).not_durable, 2U);
    EXPECT_EQ(stored[9].syncs, syncs);
    ASSERT_TRUE(data(9, 2, wire::kFlagPush).has_value());
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).not_durable, 0U);
    EXPECT_EQ(stored[9].syncs, syncs + 1);
    EXPECT_EQ(stored[9].mark.packets, 3U);
}

TEST_F(Receiving, AFullDiskClosesTheWindow) {
    ASSERT_TRUE(connect(9).has_value());
    full = true;
    ASSERT_TRUE(data(9, 0).has_value());
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).window, 0U);
    full = false;
    const auto reply = data(9, 0);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->seq, 1U);
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).window, 64U);
    EXPECT_EQ(stored[9].bytes.size(), tracer::kRecordBytes) << "stored twice";
}

TEST_F(Receiving, AnswersStrangersOnceInTwentyMilliseconds) {
    std::size_t answers = 0;
    for (int i = 0; i < 1'000; ++i) {
        now = now + lib::milliseconds(1);
        const auto reply = data(static_cast<std::uint64_t>(i), 0);
        answers += reply ? 1U : 0U;
        EXPECT_TRUE(!reply || reply->type == PacketType::unknown);
    }
    EXPECT_EQ(answers, 50U);
}

TEST_F(Receiving, RefusesTheSixtyFifthSession) {
    for (std::uint64_t session = 0; session < Receiver::kSessionsMax; ++session) {
        ASSERT_TRUE(connect(session).has_value());
    }
    EXPECT_FALSE(connect(1'000).has_value());
    EXPECT_EQ(receiver.sessions().size(), Receiver::kSessionsMax);
    EXPECT_EQ(receiver.counters().refused, 1U);
    EXPECT_FALSE(data(5, 0).has_value()) << "an earlier session suffers"; // in order: no answer yet
    EXPECT_TRUE(data(5, 1).has_value());
}

TEST_F(Receiving, EndsWithEqualTotalsOnly) {
    ASSERT_TRUE(connect(9).has_value());
    ASSERT_TRUE(data(9, 0, wire::kFlagPush).has_value());
    Bytes body(wire::kControlBytes);
    const auto fin = [&](std::uint64_t packets, std::uint64_t bytes) {
        wire::encode_body(wire::Totals{.bytes = bytes, .crc32c = stored[9].mark.crc32c, .streams = 1}, body);
        return handle({.type = PacketType::fin, .session = 9, .seq = packets}, body);
    };
    ASSERT_TRUE(fin(2, 32).has_value());
    EXPECT_FALSE(receiver.sessions()[0]->session.complete());
    const auto reply = fin(1, 16);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->type, PacketType::fin_ack);
    EXPECT_TRUE(receiver.sessions()[0]->session.complete());
    EXPECT_TRUE(stored[9].mark.ended);
    EXPECT_EQ(connect(9)->flags, wire::kFlagEnded);
}

} // namespace

} // namespace host::collector::reliable
