// SPDX-License-Identifier: MIT
// Tests the receiver in front of a sender that the test plays: no state without a cookie, limits, rates, and what a
// stranger can make it do. Whole transfers: tests/simulation/.
#include "host/collector/reliable/receiver.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace host::collector::reliable {

namespace receiver_test {

using wire::PacketType;
using Bytes = std::vector<std::byte>;

constexpr Peer kPeer{0x7F00'0001, 20000};

struct Stored {
    Bytes bytes;
    Mark mark; // of stream 0
    int syncs = 0;
    std::set<std::uint16_t> stuck; // streams that cannot be synced
    bool failed = false;
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
        const bool synced = !m_full && !m_stored.stuck.contains(stream);
        m_stored.mark = stream == 0 && synced ? mark : m_stored.mark;
        return synced;
    }

    [[nodiscard]] StoreState poll() override { return m_stored.failed ? StoreState::failed : StoreState::ready; }

  private:
    Stored& m_stored;
    const bool& m_full;
};

class Receiving : public testing::Test, public StoreProvider {
  protected:
    [[nodiscard]] std::shared_ptr<SessionStore> open(const Peer& /*peer*/, std::uint64_t session) override {
        return refuse ? nullptr : std::make_unique<FakeStore>(stored[session], full);
    }

    void forgotten(const Peer& /*peer*/, std::uint64_t session, bool ended) override {
        forgotten_sessions.emplace_back(session, ended);
    }

    // The answer to one packet, decoded; its body is in `answer`. The MAC is that of a sender that knows the cookie.
    std::optional<wire::Header> handle(const wire::Header& header, const Bytes& records, const Peer& peer = kPeer) {
        Bytes packet(wire::kHeaderBytes + records.size());
        std::ranges::copy(records, packet.begin() + wire::kHeaderBytes);
        const wire::SipKey own = wire::session_key({}, header.session, cookies[header.session]);
        wire::encode(header, wire::before_session(header.type) ? nullptr : &own, packet, wire::Covers::header);
        return handle(packet, peer);
    }

    std::optional<wire::Header> handle(const Bytes& packet, const Peer& peer) {
        const auto reply = receiver.handle(packet, peer, now);
        EXPECT_LE(reply.size(), packet.size());
        answer.assign(reply.begin(), reply.end());
        return reply.empty() ? std::nullopt : std::optional(wire::decode(reply).value());
    }

    std::optional<wire::Header> hello(std::uint64_t session, std::uint64_t cookie, const Peer& peer = kPeer) {
        return hello({.session = session, .stamp = now.value}, cookie, peer);
    }

    std::optional<wire::Header> hello(wire::Header header, std::uint64_t cookie, const Peer& peer = kPeer) {
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Hello{.cookie = cookie}, body);
        header.type = PacketType::hello;
        return handle(header, body, peer);
    }

    // Both HELLOs.
    std::optional<wire::Header> connect(std::uint64_t session, const Peer& peer = kPeer) {
        return connect(wire::Header{.session = session, .stamp = now.value}, peer);
    }

    std::optional<wire::Header> connect(const wire::Header& header, const Peer& peer = kPeer) {
        EXPECT_TRUE(hello(header, 0, peer).has_value());
        cookies[header.session] = wire::decode_body<wire::HelloAck>(answer).cookie;
        return hello(header, cookies[header.session], peer);
    }

    std::optional<wire::Header> data(std::uint64_t session, std::uint64_t seq, std::uint8_t flags = 0,
                                     std::uint16_t stream = 0) {
        return handle({.type = PacketType::data,
                       .flags = flags,
                       .stream = stream,
                       .session = session,
                       .seq = seq,
                       .stamp = now.value},
                      Bytes(tracer::kRecordBytes, static_cast<std::byte>(seq)));
    }

    // FIN with totals that are not those of the session: it ends, as not complete.
    void end(std::uint64_t session) {
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Totals{.bytes = 1'000, .crc32c = 0, .streams = 1}, body);
        ASSERT_TRUE(handle({.type = PacketType::fin, .session = session, .seq = 99}, body).has_value());
    }

    [[nodiscard]] std::uint32_t window() const { return wire::decode_body<wire::Ack>(answer).window; }

    std::map<std::uint64_t, Stored> stored;
    std::map<std::uint64_t, std::uint64_t> cookies; // by session
    std::vector<std::pair<std::uint64_t, bool>> forgotten_sessions;
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

TEST_F(Receiving, ACookieIsValidInThePeriodAfterItsOwn) {
    for (const std::uint64_t later_ms : {0U, 64'000U, 128'000U}) {
        now = lib::milliseconds(200'000);
        const std::uint64_t session = 10 + later_ms;
        ASSERT_TRUE(hello(session, 0).has_value());
        const std::uint64_t cookie = wire::decode_body<wire::HelloAck>(answer).cookie;
        now = now + lib::milliseconds(later_ms);
        EXPECT_EQ(hello(session, cookie ^ 2)->flags, wire::kFlagCookie) << "guessed";
        EXPECT_EQ(hello(session, cookie)->flags, later_ms < 128'000 ? 0 : wire::kFlagCookie) << later_ms;
    }
    EXPECT_EQ(receiver.sessions().size(), 2U);
}

TEST_F(Receiving, AMachineThatAnswersLateKeepsTheCookieOfItsSession) {
    ASSERT_EQ(connect(9)->flags, 0);
    now = now + lib::milliseconds(500'000);
    EXPECT_EQ(hello(9, cookies[9])->flags, 0);
    EXPECT_EQ(hello(9, cookies[9] ^ 2)->flags, wire::kFlagCookie);
}

TEST_F(Receiving, AcknowledgesEveryEighthPacketOrAfterTenMilliseconds) {
    ASSERT_TRUE(connect(9).has_value());
    for (std::uint64_t seq = 0; seq < 24; ++seq) {
        EXPECT_EQ(data(9, seq).has_value(), seq % 8 == 7) << seq;
    }
    EXPECT_FALSE(data(9, 24).has_value());
    std::size_t late = 0;
    const auto count = [&late](const Peer&, std::span<const std::byte>) { ++late; };
    receiver.tick(now + lib::milliseconds(9), count);
    EXPECT_EQ(late, 0U);
    receiver.tick(now + lib::milliseconds(10), count);
    receiver.tick(now + lib::milliseconds(20), count);
    EXPECT_EQ(late, 1U);
    for (std::uint64_t seq = 25; seq < 33; ++seq) {
        EXPECT_EQ(data(9, seq).has_value(), seq == 32) << seq;
    }
}

TEST_F(Receiving, AnswersAtOnceWhenItIsAsked) {
    ASSERT_TRUE(connect(9).has_value());
    const int syncs = stored[9].syncs;
    EXPECT_FALSE(data(9, 0).has_value());
    ASSERT_TRUE(data(9, 1, wire::kFlagAsk).has_value());
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).not_durable, 2U);
    EXPECT_EQ(stored[9].syncs, syncs) << "an answer is no reason to flush the disk";
    for (std::uint64_t seq = 2; seq < 10; ++seq) {
        EXPECT_EQ(data(9, seq).has_value(), seq == 9) << seq;
    }
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
    ASSERT_TRUE(data(9, 1, wire::kFlagAsk).has_value());
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

TEST_F(Receiving, AnswersAStrangerOnceInTwentyMilliseconds) {
    std::size_t answers = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        now = now + lib::milliseconds(1);
        const auto reply = data(7, i);
        answers += reply ? 1U : 0U;
        EXPECT_TRUE(!reply || reply->type == PacketType::unknown);
    }
    EXPECT_EQ(answers, 50U);
}

TEST_F(Receiving, AFloodStarvesNoOtherSenderOfItsAnswer) {
    for (std::uint16_t i = 2; i < 100; ++i) { // from many ports, and in its name
        static_cast<void>(handle({.type = PacketType::data, .session = i}, Bytes(16), {kPeer.ipv4 + 1, i}));
        static_cast<void>(handle({.type = PacketType::data, .session = i}, Bytes(16)));
    }
    EXPECT_EQ(data(1, 0)->type, PacketType::unknown);
    EXPECT_FALSE(data(1, 0).has_value());
    refuse = true;
    EXPECT_FALSE(connect(1).has_value()) << "one answer of both kinds";
}

TEST_F(Receiving, RefusesTheSixtyFifthSessionThatProgresses) {
    for (std::uint64_t session = 0; session < Receiver::kSessionsMax; ++session) {
        ASSERT_TRUE(connect(session).has_value());
        static_cast<void>(data(session, 0));
    }
    const auto refusal = connect(1'000);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->type, PacketType::abort);
    EXPECT_EQ(refusal->stamp, now.value);
    EXPECT_EQ(wire::decode_body<wire::Refusal>(answer).reason, wire::RefusalReason::sessions);
    EXPECT_EQ(receiver.sessions().size(), Receiver::kSessionsMax);
    EXPECT_EQ(receiver.counters().refused, 1U);
    EXPECT_TRUE(data(5, 1, wire::kFlagAsk).has_value()) << "an earlier session suffers";
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

// --- one session, many streams ------------------------------------------------------------------------------------

TEST_F(Receiving, AStreamThatCannotBeSyncedHoldsUpNoOther) {
    ASSERT_TRUE(connect({.stream = 0, .session = 9, .stamp = 1}).has_value());
    ASSERT_TRUE(hello({.stream = 1, .session = 9, .stamp = 2}, cookies[9]).has_value());
    stored[9].stuck = {1};
    ASSERT_TRUE(data(9, 0, wire::kFlagPush, 1).has_value());
    EXPECT_EQ(window(), 0U);
    ASSERT_TRUE(data(9, 1).has_value());
    EXPECT_EQ(window(), 64U) << "the other stream's failure";
    ASSERT_TRUE(data(9, 0, wire::kFlagPush, 0).has_value());
    EXPECT_EQ(wire::decode_body<wire::Ack>(answer).not_durable, 0U);
    ASSERT_TRUE(data(9, 2, 0, 1).has_value());
    EXPECT_EQ(window(), 0U) << "the other stream's success";
    EXPECT_TRUE(receiver.sessions()[0]->session.disk_full());
}

// A second boot with the first one's number: what the first one lost hides which bytes are there.
TEST_F(Receiving, AFreshSenderDoesNotContinueAStreamWithALoss) {
    stored[9].mark = {.packets = 5, .bytes = 48, .crc32c = 7, .lost = 2};
    EXPECT_EQ(connect({.flags = wire::kFlagFresh, .session = 9, .stamp = 1})->flags,
              wire::kFlagEnded | wire::kFlagLost);
    EXPECT_EQ(hello({.session = 9, .stamp = 2}, cookies[9])->flags, wire::kFlagLost) << "the one that lost them";
}

TEST_F(Receiving, AMachineThatHelloedAgainBeginsWithItsOwnClock) {
    ASSERT_TRUE(connect({.session = 9, .stamp = 1'000'000}).has_value());
    now = lib::milliseconds(2'000);
    static_cast<void>(data(9, 0, wire::kFlagPush)); // its stamp: 2 s
    now = now + lib::milliseconds(1);
    ASSERT_TRUE(hello({.session = 9, .seq = 1, .stamp = 5}, cookies[9]).has_value());
    Bytes records(tracer::kRecordBytes);
    EXPECT_FALSE(handle({.type = PacketType::data, .session = 9, .seq = 1, .stamp = 6}, records).has_value());
    std::uint64_t stamp = 0;
    receiver.tick(now + lib::milliseconds(10), [&stamp](const Peer&, std::span<const std::byte> reply) {
        stamp = wire::decode(reply).value().stamp;
    });
    EXPECT_EQ(stamp, 6U) << "of the boot before";
}

// --- limits -------------------------------------------------------------------------------------------------------

TEST_F(Receiving, FlushesTheDiskForAHelloOnceInTwentyMilliseconds) {
    ASSERT_TRUE(connect(9).has_value());
    const int before = stored[9].syncs;
    std::size_t answers = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i) { // each announces one more loss
        now = now + lib::milliseconds(1);
        answers += hello({.session = 9, .seq = i + 1, .stamp = i + 1}, cookies[9]) ? 1U : 0U;
    }
    EXPECT_LE(stored[9].syncs - before, 50);
    EXPECT_EQ(answers, 50U);
}

TEST_F(Receiving, SaysThatItsStoreRefusesASessionAndNotOftenerThanStrangersAreAnswered) {
    refuse = true;
    std::size_t answers = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        now = now + lib::milliseconds(1);
        const auto reply = connect(9);
        answers += reply ? 1U : 0U;
        EXPECT_TRUE(!reply || (reply->type == PacketType::abort && reply->mac == 0));
        EXPECT_TRUE(!reply || wire::decode_body<wire::Refusal>(answer).reason == wire::RefusalReason::store);
    }
    EXPECT_EQ(answers, 50U);
    EXPECT_EQ(receiver.counters().refused, 1'000U);
    refuse = false;
    EXPECT_EQ(connect(9)->type, PacketType::hello_ack);
}

TEST_F(Receiving, AFullTableReplacesWhatEndedOrDoesNotProgress) {
    for (std::uint64_t session = 0; session < Receiver::kSessionsMax; ++session) {
        ASSERT_TRUE(connect(session).has_value());
        static_cast<void>(data(session, 0));
    }
    end(7); // as not complete
    EXPECT_EQ(connect(1'000)->type, PacketType::abort) << "its sender may ask again";
    now = now + Receiver::kEndedFor;
    EXPECT_EQ(connect(1'000)->type, PacketType::hello_ack);
    EXPECT_EQ(receiver.counters().replaced, 1U);
    static_cast<void>(data(1'000, 0));
    now = now + Receiver::kUnknownInterval; // session 7 has been answered with UNKNOWN
    for (std::uint64_t session = 1; session < Receiver::kSessionsMax; ++session) {
        static_cast<void>(data(session, 1));
    }
    EXPECT_EQ(connect(1'001)->type, PacketType::hello_ack) << "session 0 is silent for longer than it is owed";
    EXPECT_EQ(data(1, 2, wire::kFlagPush)->type, PacketType::ack) << "another one was replaced";
    now = now + Receiver::kUnknownInterval;
    EXPECT_EQ(data(0, 0)->type, PacketType::unknown);
    EXPECT_EQ(receiver.sessions().size(), Receiver::kSessionsMax);
}

// What it had received and was not durable is sent again.
TEST_F(Receiving, ASessionThatGaveUpItsPlaceContinues) {
    ASSERT_TRUE(connect(9).has_value());
    static_cast<void>(data(9, 0, wire::kFlagPush));
    static_cast<void>(data(9, 1));
    now = now + lib::milliseconds(1'500);
    for (std::uint64_t session = 100; session < 100 + Receiver::kSessionsMax; ++session) {
        ASSERT_TRUE(connect(session).has_value());
    }
    EXPECT_EQ(data(9, 2)->type, PacketType::unknown);
    const auto greeted = connect(9);
    ASSERT_TRUE(greeted.has_value());
    EXPECT_EQ(greeted->type, PacketType::hello_ack);
    EXPECT_EQ(greeted->seq, 1U);
    EXPECT_EQ(data(9, 1, wire::kFlagPush)->seq, 2U);
}

// Else its provider remembers it, and anybody can open sessions that fail.
TEST_F(Receiving, ReportsToItsProviderASessionThatFailed) {
    ASSERT_TRUE(connect(1).has_value());
    ASSERT_TRUE(connect(2).has_value());
    stored[1].failed = true;
    receiver.tick(now, [](const Peer&, std::span<const std::byte>) {});
    EXPECT_EQ(receiver.sessions().size(), 1U);
    EXPECT_EQ(forgotten_sessions, (std::vector<std::pair<std::uint64_t, bool>>{{1, false}}));
}

// --- strangers ----------------------------------------------------------------------------------------------------

// A stranger that sends in the machine's name and has not seen HELLO_ACK.
TEST_F(Receiving, BelievesOnlyWhoHasSeenTheCookie) {
    ASSERT_TRUE(connect(9).has_value());
    Bytes packet(wire::kHeaderBytes + tracer::kRecordBytes);
    const wire::Header header{.type = PacketType::data, .flags = wire::kFlagPush, .session = 9, .stamp = 3};
    const wire::SipKey guessed = wire::session_key({}, 9, cookies[9] ^ 2);
    for (const wire::SipKey* key : {static_cast<const wire::SipKey*>(nullptr), &guessed}) {
        wire::encode(header, key, packet, wire::Covers::header);
        EXPECT_FALSE(handle(packet, kPeer).has_value());
    }
    EXPECT_EQ(receiver.counters().unauthentic, 2U);
    EXPECT_TRUE(stored[9].bytes.empty());
    EXPECT_TRUE(data(9, 0, wire::kFlagPush).has_value());
    EXPECT_EQ(wire::decode(answer).value().mac,
              wire::packet_mac(wire::session_key({}, 9, cookies[9]), answer, wire::Covers::header));
}

// A limit would be a way to silence it.
TEST_F(Receiving, ForgeriesNeverSilenceIt) {
    constexpr wire::SipKey kKey{3, 4};
    Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
    Receiver tried(*this, {.secret = {1, 2}, .key = kKey});
    const wire::SipKey wrong{3, 5};
    wire::encode({.type = PacketType::hello, .session = 5}, &wrong, packet);
    constexpr std::uint64_t kForged = 20'000;
    for (std::uint64_t i = 0; i < kForged; ++i) {
        ASSERT_TRUE(tried.handle(packet, kPeer, now).empty());
    }
    EXPECT_EQ(tried.counters().unauthentic, kForged);
    wire::encode({.type = PacketType::hello, .session = 5}, &kKey, packet);
    EXPECT_EQ(tried.handle(packet, kPeer, now).size(), packet.size());
}

TEST_F(Receiving, ForgetsAnEndedSessionAfterItsSilence) {
    ASSERT_TRUE(connect(1).has_value());
    ASSERT_TRUE(connect(2).has_value());
    end(2);
    std::vector<std::uint64_t> forgotten;
    const auto note = [&forgotten](const Receiver::Entry& entry) {
        forgotten.push_back(entry.number);
        return forgotten.size() > 1; // not at first
    };
    now = now + lib::milliseconds(59'999);
    receiver.forget_ended(now, lib::milliseconds(60'000), note);
    EXPECT_TRUE(forgotten.empty());
    now = now + lib::milliseconds(1);
    receiver.forget_ended(now, lib::milliseconds(60'000), note);
    EXPECT_EQ(receiver.sessions().size(), 2U);
    receiver.forget_ended(now, lib::milliseconds(60'000), note);
    EXPECT_EQ(forgotten, (std::vector<std::uint64_t>{2, 2}));
    EXPECT_EQ(receiver.sessions().size(), 1U);
}

// Its sender has what is not durable.
TEST_F(Receiving, DropsOneSessionOfAPeer) {
    const Peer other{kPeer.ipv4, 20001};
    ASSERT_TRUE(connect(1).has_value());
    ASSERT_TRUE(connect(2).has_value());
    ASSERT_TRUE(connect(3, other).has_value());
    static_cast<void>(data(1, 0));
    static_cast<void>(data(2, 0));
    receiver.drop(kPeer, 3); // there is none
    receiver.drop(other, 2);
    EXPECT_EQ(receiver.sessions().size(), 3U);
    stored[2].stuck = {0};
    EXPECT_FALSE(receiver.sync_all());
    EXPECT_EQ(stored[1].mark.packets, 1U) << "the others are durable";
    receiver.drop(kPeer, 2);
    ASSERT_EQ(receiver.sessions().size(), 2U);
    EXPECT_EQ(receiver.sessions()[0]->number, 1U);
    EXPECT_EQ(receiver.sessions()[1]->number, 3U);
    now = now + Receiver::kUnknownInterval;
    EXPECT_EQ(data(2, 1)->type, PacketType::unknown);
}

TEST_F(Receiving, ForgetsNoSessionThatIsNotDurable) {
    ASSERT_TRUE(connect(1).has_value());
    end(1);
    ASSERT_TRUE(connect({.stream = 1, .session = 1, .stamp = now.value}).has_value());
    static_cast<void>(data(1, 0, 0, 1));
    stored[1].stuck = {1};
    int offered = 0;
    const auto forget = [&](lib::Nanoseconds silence) {
        receiver.forget_ended(now, silence, [&](const Receiver::Entry&) { return ++offered == 2; });
    };
    forget(lib::milliseconds(1));
    EXPECT_EQ(offered, 0) << "it is not silent";
    now = now + lib::milliseconds(1);
    forget(lib::milliseconds(1));
    EXPECT_EQ(offered, 0) << "it is not durable";
    stored[1].stuck = {};
    forget(lib::milliseconds(1));
    EXPECT_EQ(offered, 1);
    EXPECT_EQ(receiver.sessions().size(), 1U) << "it was not released";
    forget(lib::milliseconds(1));
    EXPECT_TRUE(receiver.sessions().empty());
}

TEST_F(Receiving, IgnoresAnswersOfAMachineWithoutASession) {
    for (const PacketType type : {PacketType::hello_ack, PacketType::unknown, PacketType::abort}) {
        EXPECT_FALSE(handle({.type = type, .session = 9}, Bytes(wire::kControlBytes)).has_value());
    }
    EXPECT_EQ(receiver.counters().malformed, 3U);
}

TEST_F(Receiving, CountsWhatItIsSent) {
    static_cast<void>(handle(Bytes(3), kPeer));
    ASSERT_TRUE(connect(1).has_value());
    static_cast<void>(handle({.type = PacketType::ack, .session = 1}, Bytes(wire::kControlBytes)));
    static_cast<void>(handle({.type = PacketType::abort, .session = 1}, Bytes(wire::kControlBytes)));
    static_cast<void>(data(1, 0));
    static_cast<void>(data(2, 0)); // of no session
    static_cast<void>(data(2, 0));
    const Receiver::Counters& counters = receiver.counters();
    EXPECT_EQ(counters.packets, 8U);
    EXPECT_EQ(counters.malformed, 3U);
    EXPECT_EQ(counters.cookies, 1U);
    EXPECT_EQ(counters.unknown, 2U);
    EXPECT_EQ(counters.replies, 3U) << "two to HELLO, one UNKNOWN";
    EXPECT_EQ(counters.unauthentic, 0U);
    EXPECT_EQ(counters.refused, 0U);
    EXPECT_EQ(counters.table_full, 0U);
}

} // namespace receiver_test

} // namespace host::collector::reliable
