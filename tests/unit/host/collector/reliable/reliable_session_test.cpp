// SPDX-License-Identifier: MIT
// Tests one session and its streams, without peers and cookies: what is answered and when, what is counted, and what
// the store is asked to keep.
#include "host/collector/reliable/receiver.hpp"

#include "lib/crc32c.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace host::collector::reliable {

namespace session_test {

using wire::PacketType;
using Bytes = std::vector<std::byte>;

struct Disk {
    std::map<std::uint16_t, Bytes> bytes;
    std::map<std::uint16_t, Mark> marks;
    std::map<std::uint16_t, std::uint64_t> lost;
    std::set<std::uint16_t> stuck; // streams that cannot be synced
    bool full = false;
    std::uint64_t room = ~std::uint64_t{0}; // packets; then it is full
    int syncs = 0;
    bool aside = false;                    // flushes end with end_flushes()
    std::map<std::uint16_t, Mark> flushes; // that have not ended
    std::map<std::uint16_t, SyncState> ended;

    void end_flushes() {
        for (const auto& [stream, mark] : std::exchange(flushes, {})) {
            ended[stream] = stuck.contains(stream) ? SyncState::failed : SyncState::done;
            if (!stuck.contains(stream)) {
                marks[stream] = mark;
            }
        }
    }
};

class DiskStore final : public SessionStore {
  public:
    explicit DiskStore(Disk& disk)
        : m_disk(disk) {}

    [[nodiscard]] Mark durable(std::uint16_t stream) const override {
        const auto found = m_disk.marks.find(stream);
        return found != m_disk.marks.end() ? found->second : Mark{};
    }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        if (m_disk.full || m_disk.room == 0) {
            return false;
        }
        --m_disk.room;
        Bytes& bytes = m_disk.bytes[stream];
        bytes.insert(bytes.end(), records.begin(), records.end());
        return true;
    }

    void lost(std::uint16_t stream, std::uint64_t packets) override { m_disk.lost[stream] += packets; }

    [[nodiscard]] bool sync(std::uint16_t stream, const Mark& mark) override {
        ++m_disk.syncs;
        const bool synced = !m_disk.stuck.contains(stream);
        if (synced) {
            m_disk.marks[stream] = mark;
        }
        return synced;
    }

    [[nodiscard]] SyncState begin_sync(std::uint16_t stream, const Mark& mark) override {
        if (!m_disk.aside) {
            return SessionStore::begin_sync(stream, mark);
        }
        EXPECT_TRUE(m_disk.flushes.emplace(stream, mark).second) << "two flushes of a stream at a time";
        return SyncState::pending;
    }

    [[nodiscard]] SyncState sync_state(std::uint16_t stream) override {
        return m_disk.flushes.contains(stream) ? SyncState::pending : m_disk.ended[stream];
    }

  private:
    Disk& m_disk;
};

class OneSession : public testing::Test {
  protected:
    using Answer = std::optional<Reply>;

    template <typename Body>
    static Body body_of(const Answer& reply) {
        Bytes packet(wire::kHeaderBytes);
        packet.insert(packet.end(), reply->body.begin(), reply->body.end());
        return wire::decode_body<Body>(packet);
    }

    Answer hello(std::uint64_t seq = 0, std::uint8_t flags = 0, std::uint16_t stream = 0) {
        now = now + lib::milliseconds(30);
        return session.hello(
            {.type = PacketType::hello, .flags = flags, .stream = stream, .seq = seq, .stamp = now.value},
            {.cookie = 5}, now);
    }

    Answer data(std::uint64_t seq, std::uint8_t flags = 0, std::uint16_t stream = 0, std::size_t records = 1) {
        const Bytes bytes(records * tracer::kRecordBytes, static_cast<std::byte>(seq));
        return session.data(
            {.type = PacketType::data, .flags = flags, .stream = stream, .seq = seq, .stamp = 100 + seq}, bytes, now);
    }

    Answer fin(std::uint64_t seq, std::uint32_t streams = 1, std::uint16_t stream = 0) {
        const Bytes& kept = disk.bytes[stream];
        return session.fin({.type = PacketType::fin, .stream = stream, .seq = seq, .stamp = 7},
                           {.bytes = kept.size(), .crc32c = lib::crc32c(kept), .streams = streams});
    }

    lib::Nanoseconds now = lib::milliseconds(1'000);
    Disk disk;
    Session session{std::make_unique<DiskStore>(disk)};
};

TEST_F(OneSession, ContinuesWithWhatAnEarlierCollectorHas) {
    disk.marks[0] = {.packets = 5, .bytes = 80, .crc32c = 77};
    disk.marks[1] = {.packets = 6, .bytes = 64, .crc32c = 77, .lost = 2};
    disk.marks[2] = {.packets = 1, .bytes = 16, .crc32c = 77, .ended = true};
    EXPECT_TRUE(session.empty());
    auto reply = hello();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.type, PacketType::hello_ack);
    EXPECT_EQ(reply->header.seq, 5U);
    EXPECT_EQ(reply->header.flags, 0);
    EXPECT_EQ(reply->header.stamp, now.value);
    EXPECT_EQ(body_of<wire::HelloAck>(reply).cookie, 5U);
    EXPECT_EQ(body_of<wire::HelloAck>(reply).crc32c, 77U);
    EXPECT_EQ(body_of<wire::HelloAck>(reply).window, 64U);
    EXPECT_FALSE(session.empty());
    EXPECT_EQ(session.counters().lost, 0U);
    reply = hello(0, 0, 1);
    EXPECT_EQ(reply->header.seq, 6U);
    EXPECT_EQ(reply->header.flags, wire::kFlagLost);
    EXPECT_EQ(body_of<wire::HelloAck>(reply).crc32c, 2U) << "the number of the lost ones";
    EXPECT_EQ(session.counters().lost, 2U);
    reply = hello(9, 0, 2);
    EXPECT_EQ(reply->header.flags, wire::kFlagEnded) << "and nothing is lost after an end";
    EXPECT_EQ(reply->header.seq, 1U);
    EXPECT_EQ(session.counters().lost, 2U);
}

TEST_F(OneSession, KeepsWhatItHasWhenTheSenderGreetsAgain) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(0));
    static_cast<void>(data(2)); // waits for 1
    EXPECT_EQ(hello()->header.seq, 1U);
    EXPECT_EQ(disk.marks[0].packets, 1U);
    static_cast<void>(data(1));
    EXPECT_EQ(disk.bytes[0].size(), 2U * 16U) << "what waited is of before the greeting";
}

TEST_F(OneSession, KeepsWhatWaitsWhenTheSameGreetingComesTwice) {
    const wire::Header header{.type = PacketType::hello, .stamp = 9};
    ASSERT_TRUE(session.hello(header, {.cookie = 5}, now).has_value());
    static_cast<void>(data(1));
    ASSERT_TRUE(session.hello(header, {.cookie = 5}, now).has_value());
    static_cast<void>(data(0));
    EXPECT_EQ(disk.bytes[0].size(), 2U * 16U);
}

TEST_F(OneSession, IsEmptyUntilAPacketOfAnyStreamComes) {
    ASSERT_TRUE(hello().has_value());
    EXPECT_TRUE(session.empty());
    static_cast<void>(data(0));
    EXPECT_FALSE(session.empty());
    ASSERT_TRUE(hello(0, 0, 1).has_value());
    EXPECT_FALSE(session.empty()) << "the other stream has none";
}

TEST_F(OneSession, IsNotEmptyIfAnEarlierCollectorHasPackets) {
    disk.marks[0] = {.packets = 1, .bytes = 16};
    ASSERT_TRUE(hello().has_value());
    EXPECT_FALSE(session.empty());
}

TEST_F(OneSession, CountsWhatBecameOfEachPacket) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(0, 0, 0, 3));
    static_cast<void>(data(2));
    static_cast<void>(data(2)); // again, while it waits
    static_cast<void>(data(1));
    static_cast<void>(data(1)); // again
    EXPECT_FALSE(data(3 + 64).has_value());
    EXPECT_TRUE(data(3 + 63).has_value()) << "the last one of the window";
    const Session::Counters& counters = session.counters();
    EXPECT_EQ(counters.packets, 3U);
    EXPECT_EQ(counters.bytes, 5U * 16U);
    EXPECT_EQ(counters.duplicates, 2U);
    EXPECT_EQ(counters.early, 3U);
    EXPECT_EQ(counters.out_of_window, 1U);
    EXPECT_EQ(counters.no_space, 0U);
    EXPECT_EQ(counters.lost, 0U);
}

TEST_F(OneSession, SaysWhichPacketsWait) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(0));
    static_cast<void>(data(2));
    const auto reply = data(64);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.type, PacketType::ack);
    EXPECT_EQ(reply->header.seq, 1U);
    EXPECT_EQ(reply->header.stamp, 164U);
    const auto ack = body_of<wire::Ack>(reply);
    EXPECT_EQ(ack.received, 1U | (std::uint64_t{1} << 62U));
    EXPECT_EQ(ack.not_durable, 1U);
    EXPECT_EQ(ack.window, 64U);
}

TEST_F(OneSession, AnswersAtOnceOrAfterTenMilliseconds) {
    ASSERT_TRUE(hello().has_value());
    EXPECT_TRUE(data(0, wire::kFlagAsk).has_value());
    EXPECT_FALSE(data(1).has_value());
    now = now + lib::milliseconds(9);
    EXPECT_FALSE(data(2).has_value());
    EXPECT_FALSE(session.due(now).has_value());
    now = now + lib::milliseconds(1);
    const auto reply = session.due(now);
    ASSERT_TRUE(reply.has_value()) << "ten after the first";
    EXPECT_EQ(reply->header.seq, 3U);
    EXPECT_EQ(reply->header.stamp, 102U) << "of the newest packet";
    EXPECT_FALSE(session.due(now).has_value());
    for (std::uint64_t seq = 3; seq < 10; ++seq) {
        EXPECT_FALSE(data(seq).has_value()) << seq;
    }
    EXPECT_TRUE(data(10).has_value()) << "the eighth since then";
    EXPECT_FALSE(session.due(now + lib::milliseconds(100)).has_value()) << "and nothing is due";
    EXPECT_TRUE(data(10).has_value()) << "again";
}

TEST_F(OneSession, MakesDurableWhatIsPushed) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(1, wire::kFlagPush)); // 0 is missing
    EXPECT_EQ(disk.syncs, 0);
    const auto reply = data(0);
    EXPECT_EQ(disk.marks[0].packets, 2U);
    EXPECT_EQ(body_of<wire::Ack>(reply).not_durable, 0U);
    static_cast<void>(data(2));
    EXPECT_EQ(disk.syncs, 1) << "that was not pushed";
}

TEST_F(OneSession, MakesDurableAfterASecondOrSoManyBytes) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(0));
    now = now + lib::milliseconds(999);
    static_cast<void>(session.due(now));
    EXPECT_EQ(disk.syncs, 0);
    now = now + lib::milliseconds(1);
    static_cast<void>(session.due(now));
    EXPECT_EQ(disk.syncs, 1);
    constexpr std::uint64_t kPackets = Session::kSyncBytes / wire::kBodyBytesMax;
    for (std::uint64_t seq = 1; seq < kPackets; ++seq) {
        static_cast<void>(data(seq, 0, 0, wire::kRecordsMax));
    }
    EXPECT_EQ(disk.syncs, 1);
    static_cast<void>(data(kPackets, 0, 0, wire::kRecordsMax));
    EXPECT_EQ(disk.syncs, 2);
    EXPECT_EQ(disk.marks[0].packets, kPackets + 1);
    EXPECT_EQ(disk.marks[0].crc32c, lib::crc32c(disk.bytes[0]));
    EXPECT_EQ(disk.marks[0].bytes, disk.bytes[0].size());
    static_cast<void>(data(kPackets + 1, 0, 0, wire::kRecordsMax));
    EXPECT_EQ(disk.syncs, 2) << "that many bytes that are not durable";
}

// Of one session, on all of its streams: what never comes in order takes no more memory.
TEST_F(OneSession, HoldsNoMorePacketsThatWaitThanTwoWindows) {
    for (std::uint16_t stream = 0; stream < wire::kStreamsMax; ++stream) {
        ASSERT_TRUE(hello(0, 0, stream).has_value());
        for (std::uint64_t seq = 1; seq < wire::kWindowPackets; ++seq) {
            static_cast<void>(data(seq, 0, stream));
        }
    }
    EXPECT_EQ(session.early_packets(), Session::kEarlyMax);
    EXPECT_TRUE(data(0, wire::kFlagAsk, 63).has_value()) << "what is in order is taken";
    EXPECT_EQ(disk.bytes[63].size(), tracer::kRecordBytes);
    static_cast<void>(data(0));
    EXPECT_EQ(session.early_packets(), Session::kEarlyMax - 63) << "a stream continues";
    ASSERT_TRUE(hello(0, 0, 1).has_value());
    EXPECT_EQ(session.early_packets(), Session::kEarlyMax - 126) << "its sender sends them again";
}

// --- a disk that is flushed beside the receiver ------------------------------------------------------------------

TEST_F(OneSession, AnswersAPushedPacketWhenItIsDurable) {
    ASSERT_TRUE(hello().has_value());
    disk.aside = true;
    EXPECT_FALSE(data(0, wire::kFlagPush).has_value());
    EXPECT_FALSE(session.due(now).has_value());
    static_cast<void>(data(1));
    EXPECT_EQ(body_of<wire::Ack>(data(0, wire::kFlagPush)).not_durable, 2U) << "it is sent again and answered at once";
    disk.end_flushes();
    const auto reply = session.due(now);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.seq, 2U);
    EXPECT_EQ(body_of<wire::Ack>(reply).not_durable, 1U) << "what came during the flush";
    EXPECT_FALSE(session.due(now).has_value());
}

TEST_F(OneSession, AnswersAPacketThatIsPushedDuringAFlush) {
    ASSERT_TRUE(hello().has_value());
    disk.aside = true;
    EXPECT_FALSE(data(0, wire::kFlagPush).has_value());
    EXPECT_FALSE(data(1, wire::kFlagPush).has_value());
    disk.end_flushes();
    EXPECT_FALSE(session.due(now).has_value()) << "one answer follows, which says that both are durable";
    disk.end_flushes();
    const auto reply = session.due(now);
    ASSERT_TRUE(reply.has_value()) << "the sender does not ask again";
    EXPECT_EQ(body_of<wire::Ack>(reply).not_durable, 0U);
    EXPECT_FALSE(session.due(now).has_value());
}

TEST_F(OneSession, AnswersHelloAndFinWhenEverythingIsDurable) {
    ASSERT_TRUE(hello().has_value());
    disk.aside = true;
    static_cast<void>(data(0));
    EXPECT_FALSE(hello().has_value());
    EXPECT_FALSE(session.due(now).has_value());
    disk.end_flushes();
    const auto greeted = session.due(now);
    ASSERT_TRUE(greeted.has_value());
    EXPECT_EQ(greeted->header.type, PacketType::hello_ack);
    EXPECT_EQ(greeted->header.stamp, now.value);
    EXPECT_EQ(greeted->header.seq, 1U);
    static_cast<void>(data(1));
    EXPECT_FALSE(fin(2).has_value());
    EXPECT_FALSE(session.make_all_durable());
    disk.end_flushes();
    const auto ended = session.due(now);
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->header.type, PacketType::fin_ack);
    EXPECT_TRUE(session.complete());
    EXPECT_TRUE(session.make_all_durable());
}

TEST_F(OneSession, AppendsNoMoreThanMayWaitForTheDisk) {
    ASSERT_TRUE(hello().has_value());
    disk.aside = true;
    std::uint64_t seq = 0;
    while (disk.bytes[0].size() < Session::kUnsyncedMax) {
        static_cast<void>(data(seq++, 0, 0, wire::kRecordsMax));
    }
    EXPECT_FALSE(data(seq, wire::kFlagAsk, 0, wire::kRecordsMax).has_value()) << "it waits for the disk";
    EXPECT_EQ(disk.bytes[0].size(), Session::kUnsyncedMax);
    disk.end_flushes();
    const auto reply = session.due(now);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.seq, seq + 1);
    EXPECT_EQ(body_of<wire::Ack>(reply).window, wire::kWindowPackets) << "the disk is not full";
}

TEST_F(OneSession, SaysThatAFlushBesideItHasFailed) {
    ASSERT_TRUE(hello().has_value());
    disk.aside = true;
    EXPECT_FALSE(data(0, wire::kFlagPush).has_value());
    disk.stuck = {0};
    disk.end_flushes();
    EXPECT_EQ(body_of<wire::Ack>(session.due(now)).window, 0U);
    EXPECT_TRUE(session.disk_full());
    disk.stuck = {};
    now = now + Session::kSyncAfter;
    static_cast<void>(session.due(now));
    disk.end_flushes();
    static_cast<void>(session.due(now));
    EXPECT_FALSE(session.disk_full());
    EXPECT_EQ(disk.marks[0].packets, 1U);
}

TEST_F(OneSession, ClosesTheWindowOfAFullDisk) {
    ASSERT_TRUE(hello().has_value());
    EXPECT_FALSE(session.disk_full());
    disk.full = true;
    auto reply = data(0);
    ASSERT_TRUE(reply.has_value()) << "at once";
    EXPECT_EQ(body_of<wire::Ack>(reply).window, 0U);
    EXPECT_TRUE(session.disk_full());
    EXPECT_EQ(session.counters().no_space, 1U);
    disk.full = false;
    reply = data(0);
    EXPECT_EQ(reply->header.seq, 1U);
    EXPECT_EQ(body_of<wire::Ack>(reply).window, 64U);
    EXPECT_FALSE(session.disk_full());
    disk.stuck = {0};
    reply = data(1, wire::kFlagPush);
    EXPECT_EQ(body_of<wire::Ack>(reply).window, 0U);
    EXPECT_TRUE(session.disk_full());
    EXPECT_EQ(session.counters().no_space, 2U);
    EXPECT_FALSE(hello().has_value()) << "what was received cannot be promised";
    EXPECT_FALSE(fin(2).has_value());
}

// The disk fills with a packet that has waited.
TEST_F(OneSession, SaysAtOnceThatTheDiskIsFullAfterAPacketThatWasTaken) {
    ASSERT_TRUE(hello().has_value());
    ASSERT_TRUE(data(1).has_value());
    disk.room = 1;
    const auto reply = data(0);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.seq, 1U);
    EXPECT_EQ(body_of<wire::Ack>(reply).window, 0U);
    EXPECT_EQ(session.counters().no_space, 1U);
    disk.room = 1;
    EXPECT_EQ(data(1)->header.seq, 2U);
}

// Of all streams, whichever of them cannot.
TEST_F(OneSession, SaysWhetherEverythingIsDurable) {
    for (const std::uint16_t stream : std::initializer_list<std::uint16_t>{0, 1, 2}) {
        ASSERT_TRUE(hello(0, 0, stream).has_value());
        static_cast<void>(data(0, 0, stream));
    }
    disk.stuck = {1};
    EXPECT_FALSE(session.sync_all());
    EXPECT_EQ(disk.marks[0].packets, 1U);
    EXPECT_EQ(disk.marks[2].packets, 1U) << "the others are";
    disk.stuck = {};
    EXPECT_TRUE(session.sync_all());
    EXPECT_EQ(disk.marks[1].packets, 1U);
    const int syncs = disk.syncs;
    EXPECT_TRUE(session.sync_all());
    EXPECT_EQ(disk.syncs, syncs);
}

TEST_F(OneSession, TakesNoteOfWhatASenderNoLongerHas) {
    ASSERT_TRUE(hello().has_value());
    static_cast<void>(data(0));
    const auto reply = hello(4);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.seq, 4U);
    EXPECT_EQ(reply->header.flags, wire::kFlagLost);
    EXPECT_EQ(body_of<wire::HelloAck>(reply).crc32c, 3U);
    EXPECT_EQ(disk.lost[0], 3U);
    EXPECT_EQ(disk.marks[0].packets, 4U);
    EXPECT_EQ(disk.marks[0].lost, 3U);
    EXPECT_EQ(disk.marks[0].bytes, 16U);
    EXPECT_EQ(session.counters().lost, 3U);
    EXPECT_EQ(disk.syncs, 2) << "before the gap, and with it";
    static_cast<void>(data(4));
    ASSERT_TRUE(fin(5).has_value());
    EXPECT_TRUE(session.ended());
    EXPECT_FALSE(session.complete()) << "with a loss it never is";
}

TEST_F(OneSession, EndsWithItsLastStream) {
    ASSERT_TRUE(hello().has_value());
    ASSERT_TRUE(hello(0, 0, 63).has_value());
    static_cast<void>(data(0));
    static_cast<void>(data(0, 0, 63));
    EXPECT_FALSE(session.ended());
    auto reply = fin(1, 2);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.type, PacketType::fin_ack);
    EXPECT_EQ(reply->header.seq, 1U);
    EXPECT_EQ(reply->header.stamp, 7U);
    EXPECT_EQ(body_of<wire::Totals>(reply),
              (wire::Totals{.bytes = 16, .crc32c = lib::crc32c(disk.bytes[0]), .streams = 2}));
    EXPECT_TRUE(disk.marks[0].ended);
    EXPECT_FALSE(session.ended()) << "one of two";
    EXPECT_FALSE(session.complete());
    ASSERT_TRUE(fin(1, 2, 63).has_value());
    EXPECT_TRUE(session.ended());
    EXPECT_TRUE(session.complete());
    EXPECT_EQ(session.counters().duplicates, 0U);
    ASSERT_TRUE(fin(1, 2).has_value());
    EXPECT_EQ(session.counters().duplicates, 1U);
    EXPECT_FALSE(data(1).has_value());
    EXPECT_EQ(session.counters().out_of_window, 1U) << "after its end";
}

TEST_F(OneSession, IsNotCompleteWithOtherTotals) {
    for (const std::uint16_t stream : std::initializer_list<std::uint16_t>{0, 1, 2}) {
        ASSERT_TRUE(hello(0, 0, stream).has_value());
        static_cast<void>(data(0, 0, stream));
    }
    const std::uint32_t crc32c = lib::crc32c(disk.bytes[0]);
    const auto ends = [&](std::uint16_t stream, std::uint64_t seq, const wire::Totals& totals) {
        static_cast<void>(session.fin({.type = PacketType::fin, .stream = stream, .seq = seq}, totals));
        return disk.marks[stream].ended;
    };
    EXPECT_FALSE(ends(0, 2, {.bytes = 16, .crc32c = crc32c, .streams = 3}));
    EXPECT_FALSE(ends(1, 1, {.bytes = 17, .crc32c = crc32c, .streams = 3}));
    EXPECT_FALSE(ends(2, 1, {.bytes = 16, .crc32c = crc32c + 1, .streams = 3}));
    EXPECT_TRUE(session.ended());
    EXPECT_FALSE(session.complete());
    EXPECT_TRUE(ends(0, 1, {.bytes = 16, .crc32c = crc32c, .streams = 3}));
}

// A sender of which nothing has been acknowledged cannot have sent what is here.
TEST_F(OneSession, BelongsToAnotherRunIfAFreshSenderFindsOtherStreams) {
    EXPECT_EQ(hello(0, wire::kFlagFresh)->header.flags, 0);
    static_cast<void>(data(0));
    EXPECT_EQ(hello(0, wire::kFlagFresh)->header.flags, 0) << "its own";
    EXPECT_EQ(hello(0, wire::kFlagFresh, 1)->header.flags, wire::kFlagEnded);
    EXPECT_EQ(hello(0, 0, 1)->header.flags, 0) << "who has sent before";
    disk.marks[63] = {.packets = 1, .bytes = 16};
    EXPECT_EQ(hello(0, wire::kFlagFresh)->header.flags, wire::kFlagEnded) << "of an earlier collector";
}

} // namespace session_test

} // namespace host::collector::reliable
