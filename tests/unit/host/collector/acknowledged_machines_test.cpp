// SPDX-License-Identifier: MIT
// Tests acknowledged sessions without a socket and with a clock of the test's own: what is passed on and when, whose
// journals are kept, how long an answer may be awaited, and what is reported.
#include "host/collector/reliable_sessions.hpp"

#include "host/text/format.hpp"
#include "tests/support/flushes.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <set>

namespace host::collector {

namespace acknowledged_machines_test {

using support::Bytes;
using support::TemporaryDirectory;
using Lines = std::vector<std::string>;

namespace filesystem = std::filesystem;
namespace wire = tracer::reliable;

constexpr reliable::Peer kPeer{INADDR_LOOPBACK, 10'000};
constexpr reliable::Peer kOther{INADDR_LOOPBACK, 10'001};

constinit lib::Nanoseconds virtual_time{};

lib::Nanoseconds clock() {
    return virtual_time;
}

void pass(std::uint64_t ms) {
    virtual_time = virtual_time + lib::milliseconds(ms);
}

constexpr std::size_t kJournals = 100;

class Machines : public testing::Test {
  protected:
    Machines() { virtual_time = lib::milliseconds(1'000'000); }

    ReliableSessions& open(bool alone = false, bool beside = false, std::optional<wire::SipKey> key = {}) {
        m_sessions.reset();
        m_sessions = std::make_unique<ReliableSessions>(
            ReliableSessions::Options{.journals = m_path,
                                      .limits = m_limits,
                                      .alone = alone,
                                      .beside = beside,
                                      .flush_aside = m_flush_aside,
                                      .key = key,
                                      .clock = &clock,
                                      .journals_max = kJournals},
            ReliableSessions::Calls{
                .deliver =
                    [this](const Address& sender, std::uint32_t number, std::span<const std::byte> records) {
                        m_delivered.push_back(fmt::format("{}/{:x}: {} of {}", sender.port, sender.session.value(),
                                                          number, records.size()));
                        m_records.insert(m_records.end(), records.begin(), records.end());
                        return m_has_place;
                    },
                .open_beside =
                    [this](const Address& sender, std::uint64_t boot_id) {
                        m_beside.push_back(fmt::format("{:x} of boot {:x}", sender.session.value(), boot_id));
                        return m_has_place;
                    },
                .send =
                    [this](const Address& to, std::span<const std::byte> reply) {
                        m_answer.assign(reply.begin(), reply.end());
                        m_answered = to;
                    },
                .refuse = [this](const std::string& why) { m_refused.push_back(why); },
                .stray = [this](const Address& sender) { m_strays.push_back(sender); },
                .settled = [this](const Address& sender) { return m_settled.contains(*sender.session); }},
            m_usage);
        return *m_sessions;
    }

    // The type of the answer, if there is one.
    std::optional<wire::PacketType> take(const wire::Header& header, const Bytes& body,
                                         const reliable::Peer& peer = kPeer) {
        Bytes packet(wire::kHeaderBytes + body.size());
        std::ranges::copy(body, packet.begin() + wire::kHeaderBytes);
        const wire::SipKey key = wire::session_key({}, header.session, m_cookie);
        wire::encode(header, wire::before_session(header.type) ? nullptr : &key, packet, wire::Covers::header);
        m_answer.clear();
        m_sessions->take(packet, {peer.ipv4, peer.port});
        if (m_answer.empty()) {
            return std::nullopt;
        }
        EXPECT_EQ(m_answered, (Address{peer.ipv4, peer.port}));
        return wire::decode(m_answer).value().type;
    }

    std::optional<wire::PacketType> hello(std::uint64_t session, const reliable::Peer& peer = kPeer,
                                          std::uint64_t seq = 0) {
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Hello{}, body);
        const wire::Header header{
            .type = wire::PacketType::hello, .session = session, .seq = seq, .stamp = virtual_time.value};
        EXPECT_EQ(take(header, body, peer), wire::PacketType::hello_ack);
        m_cookie = wire::decode_body<wire::HelloAck>(m_answer).cookie;
        wire::encode_body(wire::Hello{.cookie = m_cookie}, body);
        return take(header, body, peer);
    }

    // So many packets of one record, the last of which is made durable.
    void data(std::uint64_t session, std::uint64_t packets, std::uint64_t from = 0,
              const reliable::Peer& peer = kPeer) {
        for (std::uint64_t seq = from; seq < from + packets; ++seq) {
            const bool last = seq + 1 == from + packets;
            static_cast<void>(take({.type = wire::PacketType::data,
                                    .flags = last ? wire::kFlagPush : std::uint8_t{0},
                                    .session = session,
                                    .seq = seq,
                                    .stamp = virtual_time.value},
                                   Bytes(16, static_cast<std::byte>(seq)), peer));
        }
    }

    // Right if the session has nothing but `packets` packets of data().
    void fin(std::uint64_t session, std::uint64_t packets, const reliable::Peer& peer = kPeer) {
        Bytes all;
        for (std::uint64_t seq = 0; seq < packets; ++seq) {
            all.insert(all.end(), 16, static_cast<std::byte>(seq));
        }
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Totals{.bytes = all.size(), .crc32c = lib::crc32c(all), .streams = 1}, body);
        EXPECT_EQ(take({.type = wire::PacketType::fin, .session = session, .seq = packets, .stamp = virtual_time.value},
                       body, peer),
                  wire::PacketType::fin_ack);
    }

    // So many machines say HELLO and nothing else.
    void fill(std::uint64_t machines) {
        for (std::uint64_t session = 1; session <= machines; ++session) {
            ASSERT_EQ(hello(0x100 + session, kOther), wire::PacketType::hello_ack);
        }
    }

    Lines delivered() { return std::exchange(m_delivered, {}); }

    [[nodiscard]] Lines files() const {
        Lines names;
        std::error_code none;
        for (const auto& entry : filesystem::directory_iterator(m_path, none)) {
            names.push_back(entry.path().filename());
        }
        std::ranges::sort(names);
        return names;
    }

    // The journal of an earlier collector, with a stream of so many bytes.
    void leave(std::uint64_t session, const Bytes& stream, bool ended, std::uint64_t lost = 0, std::size_t lost_at = 0,
               std::uint16_t number = 0) {
        m_sessions.reset();
        reliable::FileStores stores(m_path);
        const auto store = stores.open(kPeer, session);
        ASSERT_NE(store, nullptr) << stores.why();
        reliable::Mark mark;
        if (lost_at != 0) {
            ASSERT_TRUE(store->append(number, std::span(stream).first(lost_at)));
            mark = {.packets = 1, .bytes = lost_at, .crc32c = lib::crc32c(std::span(stream).first(lost_at))};
            ASSERT_TRUE(store->sync(number, mark));
        }
        ASSERT_TRUE(store->append(number, std::span(stream).subspan(lost_at)));
        mark = {
            .packets = 2 + lost, .bytes = stream.size(), .crc32c = lib::crc32c(stream), .lost = lost, .ended = ended};
        ASSERT_TRUE(store->sync(number, mark));
    }

    TemporaryDirectory m_directory;
    Lines m_beside;
    std::string m_path = m_directory / "all.journal";
    Limits m_limits;
    Usage m_usage;
    Lines m_delivered;
    Bytes m_records;
    Lines m_refused;
    std::vector<Address> m_strays;
    std::set<std::uint64_t> m_settled; // sessions that are on the disk
    bool m_has_place = true;
    bool m_flush_aside = false;
    std::uint64_t m_cookie = 0;
    Bytes m_answer;
    Address m_answered;
    std::unique_ptr<ReliableSessions> m_sessions;
};

// --- what is passed on -------------------------------------------------------------------------------------------

TEST_F(Machines, PassesOnWhatIsDurable) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    static_cast<void>(take({.type = wire::PacketType::data, .session = 0xA, .stamp = 1}, Bytes(48)));
    EXPECT_TRUE(delivered().empty());
    data(0xA, 1, 1);
    EXPECT_EQ(delivered(), (Lines{"10000/a: 1 of 48", "10000/a: 2 of 16"}));
    data(0xA, 1, 2);
    EXPECT_EQ(delivered(), Lines{"10000/a: 3 of 16"}) << "once";
    static_cast<void>(take({.type = wire::PacketType::data, .session = 0xA, .seq = 3, .stamp = 1}, Bytes(16)));
    m_sessions->sync();
    EXPECT_EQ(delivered(), Lines{"10000/a: 4 of 16"});
}

TEST_F(Machines, PassesOnTheStreamsOfASessionInOneSequence) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    Bytes body(wire::kControlBytes);
    wire::encode_body(wire::Hello{.cookie = m_cookie}, body);
    ASSERT_EQ(take({.type = wire::PacketType::hello, .stream = 5, .session = 0xA, .stamp = 2}, body),
              wire::PacketType::hello_ack);
    static_cast<void>(take({.type = wire::PacketType::data, .stream = 5, .session = 0xA, .stamp = 3}, Bytes(32)));
    data(0xA, 1);
    EXPECT_EQ(delivered(), Lines{"10000/a: 1 of 16"}) << "the other stream is not durable";
    m_sessions->sync();
    EXPECT_EQ(delivered(), Lines{"10000/a: 2 of 32"});
}

TEST_F(Machines, LeavesAGapInTheNumbersForWhatIsLost) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    pass(100);
    ASSERT_EQ(hello(0xA, kPeer, 5), wire::PacketType::hello_ack); // its packets 2, 3 and 4 are gone
    data(0xA, 1, 5);
    EXPECT_EQ(delivered(), (Lines{"10000/a: 1 of 16", "10000/a: 2 of 16", "10000/a: 6 of 16"}));
}

TEST_F(Machines, PassesOnEverythingAnewAfterADrop) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    static_cast<void>(delivered());
    m_sessions->drop({kPeer.ipv4, kPeer.port});
    m_sessions->drop({kPeer.ipv4, kPeer.port, 0xB});
    data(0xA, 1, 2);
    EXPECT_EQ(delivered(), Lines{"10000/a: 3 of 16"}) << "another one was dropped";
    m_sessions->drop({kPeer.ipv4, kPeer.port, 0xA});
    pass(100);
    ASSERT_EQ(hello(0xA, kPeer, 3), wire::PacketType::hello_ack);
    EXPECT_EQ(delivered(), Lines{"10000/a: 1 of 48"}) << "of the journal";
    data(0xA, 1, 3);
    EXPECT_EQ(delivered(), Lines{"10000/a: 2 of 16"});
}

// The packets are not known any more: as much at once as a packet holds at most.
// Its flush has begun, and ends when the session gives up its place.
TEST_F(Machines, PassesOnWhatIsDurableOfASessionThatGivesUpItsPlace) {
    m_flush_aside = true;
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 1);
    pass(10);
    fill(64);
    EXPECT_EQ(delivered(), Lines{"10000/a: 1 of 16"});
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    EXPECT_EQ(wire::decode(m_answer).value().seq, 1U) << "the machine does not send it again";
}

TEST_F(Machines, PassesOnWhatAnEarlierCollectorReceived) {
    Bytes stream(2'500 / 16 * 16);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        stream[i] = static_cast<std::byte>(i * 7 / 3);
    }
    leave(0xA, stream, true, 3, 1'040);
    leave(0xB, stream, false);
    open().begin();
    EXPECT_EQ(delivered(),
              (Lines{"10000/a: 1 of 1024", "10000/a: 2 of 16", "10000/a: 6 of 1024", "10000/a: 7 of 432"}));
    EXPECT_EQ(m_records, stream);
    EXPECT_TRUE(m_refused.empty());
    pass(1'000);
    ASSERT_EQ(hello(0xB), wire::PacketType::hello_ack) << "which had not ended: when its machine continues";
    EXPECT_EQ(delivered(), (Lines{"10000/b: 1 of 1024", "10000/b: 2 of 1024", "10000/b: 3 of 448"}));
    m_settled = {0xA, 0xB};
    m_sessions->tick();
    EXPECT_EQ(files(), (Lines{"000000000000000b-7f000001-10000-0.trc", "000000000000000b-7f000001-10000.journal"}));
}

// It may be the only copy.
TEST_F(Machines, NeverDeleteWhatAnEarlierCollectorReceived) {
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    leave(0xA, image, true);
    m_has_place = false;
    open(true, true).begin();
    EXPECT_TRUE(delivered().empty());
    m_settled = {0xA};
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U) << "there was no place for it";
    m_has_place = true;
    m_usage.bytes = 0;
    open(true, true).begin();
    EXPECT_EQ(delivered().size(), 1U);
    EXPECT_THAT(m_beside, testing::Contains(testing::StartsWith("a of boot ")));
    m_settled = {};
    m_sessions->tick();
    EXPECT_EQ(files().size(), 2U) << "not settled";
    m_settled = {0xA};
    m_sessions->tick();
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(m_usage.bytes, 0U);
}

TEST_F(Machines, ASessionOfTwoStreamsHasEndedIfBothHave) {
    leave(0xA, Bytes(160), true);
    leave(0xA, Bytes(160), false, 0, 0, 3);
    open().begin();
    EXPECT_TRUE(delivered().empty());
    leave(0xB, Bytes(160), true);
    leave(0xB, Bytes(160), true, 0, 0, 3);
    open().begin();
    EXPECT_EQ(delivered(), (Lines{"10000/b: 1 of 160", "10000/b: 2 of 160"}));
}

TEST_F(Machines, SaysWhichJournalCannotBeRead) {
    leave(0xA, Bytes(160), true);
    const std::string stream = m_path + "/000000000000000a-7f000001-10000-0.trc";
    filesystem::resize_file(stream, 100);
    open().begin();
    EXPECT_TRUE(delivered().empty());
    EXPECT_EQ(m_refused, Lines{stream + ": shorter than its journal says; remove its files or record elsewhere"});
}

TEST_F(Machines, PassOnAllThatEndedBeforeIfNoSingleRunIsRecorded) {
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    leave(0xA, image, true);
    leave(0xB, image, true);
    open().begin();
    EXPECT_EQ(delivered().size(), 2U);
    m_settled = {0xA, 0xB};
    m_sessions->remove_journals();
    EXPECT_FALSE(filesystem::exists(m_path)) << "without a tick in between";
    leave(0xA, image, true);
    leave(0xB, image, true);
    open(true).begin();
    EXPECT_EQ(delivered().size(), 2U);
    EXPECT_EQ(m_beside.size(), 1U) << "the run of one machine, and another one beside it";
}

TEST_F(Machines, FillTheDiskUpToTheLimitOfAllSessions) {
    for (const std::uint64_t room : {16U, 15U}) {
        m_limits.total_bytes = 1'000;
        open();
        m_usage.bytes = 1'000 - room;
        m_refused.clear();
        ASSERT_EQ(hello(0xA0 + room), wire::PacketType::hello_ack);
        data(0xA0 + room, 1);
        EXPECT_EQ(m_sessions->disk_full(), room == 15);
        data(0xA0 + room, 1);
        EXPECT_EQ(m_refused, room == 16 ? Lines{}
                                        : Lines{"cut off by a limit: all sessions together have at most 1000 bytes "
                                                "(--total-bytes)"});
    }
}

// --- one run ---------------------------------------------------------------------------------------------------

TEST_F(Machines, AreStrangersToARunOnceAChunkOfItHasBegun) {
    open(true);
    ASSERT_EQ(hello(0xB, kOther), wire::PacketType::hello_ack);
    data(0xB, 1, 0, kOther); // no chunk begins with it
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    static_cast<void>(
        take({.type = wire::PacketType::data, .flags = wire::kFlagPush, .session = 0xA, .stamp = virtual_time.value},
             image));
    pass(100);
    EXPECT_EQ(hello(0xC, kOther), wire::PacketType::abort);
    EXPECT_EQ(m_strays, (std::vector<Address>{{kOther.ipv4, kOther.port, 0xC}}));
    pass(100);
    EXPECT_EQ(hello(0xD), wire::PacketType::hello_ack) << "the machine itself, reset";
    EXPECT_TRUE(m_refused.empty());
}

TEST_F(Machines, AreAllTakenWithoutARunThatIsRecorded) {
    open();
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    static_cast<void>(
        take({.type = wire::PacketType::data, .flags = wire::kFlagPush, .session = 0xA, .stamp = virtual_time.value},
             image));
    EXPECT_EQ(hello(0xC, kOther), wire::PacketType::hello_ack);
    EXPECT_TRUE(m_strays.empty());
}

// --- how long an answer may be awaited -------------------------------------------------------------------------------

TEST_F(Machines, AreAwaitedForThreeSecondsAfterAPacketAndOneAfterTheEnd) {
    open();
    EXPECT_FALSE(m_sessions->awaited());
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 1);
    pass(2'999);
    EXPECT_TRUE(m_sessions->awaited());
    pass(1);
    EXPECT_FALSE(m_sessions->awaited());
    fin(0xA, 1);
    pass(999);
    EXPECT_TRUE(m_sessions->awaited());
    pass(1);
    EXPECT_FALSE(m_sessions->awaited());
}

TEST_F(Machines, AreAwaitedLongerAfterTheEndIfTheNetworkLosesPackets) {
    for (int kind = 0; kind < 3; ++kind) {
        open();
        const std::uint64_t session = 0xA0 + static_cast<std::uint64_t>(kind);
        ASSERT_EQ(hello(session), wire::PacketType::hello_ack);
        data(session, 1);
        if (kind == 0) {
            data(session, 1); // a duplicate
        } else if (kind == 1) {
            data(session, 1, 2); // early
        } else {
            m_sessions->take(Bytes(100), {kPeer.ipv4, kPeer.port});
        }
        fin(session, 1);
        pass(4'999);
        EXPECT_TRUE(m_sessions->awaited()) << kind;
        pass(1);
        EXPECT_FALSE(m_sessions->awaited()) << kind;
    }
}

TEST_F(Machines, OtherThanTheOneThatIsRecordedAreNotAwaited) {
    open(true);
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    static_cast<void>(
        take({.type = wire::PacketType::data, .flags = wire::kFlagPush, .session = 0xA, .stamp = virtual_time.value},
             image));
    pass(3'000);
    EXPECT_FALSE(m_sessions->awaited());
    ASSERT_EQ(hello(0xD), wire::PacketType::hello_ack);
    EXPECT_TRUE(m_sessions->awaited()) << "of its own address";

    open(true);
    m_settled = {};
    ASSERT_EQ(hello(0xB, kOther), wire::PacketType::hello_ack);
    EXPECT_TRUE(m_sessions->awaited()) << "no run has begun";
}

// --- journals -----------------------------------------------------------------------------------------------------

TEST_F(Machines, HaveTheirJournalsRemovedAMinuteAfterTheEnd) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    fin(0xA, 2);
    EXPECT_EQ(m_usage.bytes, 32U + 2 * 40U);
    m_settled = {0xA};
    pass(59'999);
    m_sessions->tick();
    EXPECT_EQ(files().size(), 2U);
    pass(1);
    m_sessions->tick();
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(m_usage.bytes, 0U);
}

// The session has given up its place, and its machine has not heard that it has ended.
TEST_F(Machines, HaveTheirJournalsWhileTheyAskAgainAfterTheEnd) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    fin(0xA, 2);
    pass(1'000);
    fill(64);
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    m_settled = {0xA};
    m_sessions->tick();
    EXPECT_EQ(files().size(), 2U);
    fin(0xA, 2);
    pass(60'000);
    m_sessions->tick();
    EXPECT_TRUE(files().empty());
}

TEST_F(Machines, KeepTheirJournalsIfWhatCameHasNoPlace) {
    open();
    m_has_place = false;
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    fin(0xA, 2);
    EXPECT_EQ(m_refused, Lines{m_path + "/000000000000000a-7f000001-10000-0.trc: what came has no place in a session, "
                                        "and stays there"})
        << "once";
    m_settled = {0xA};
    pass(60'000);
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U);
    EXPECT_GT(m_usage.bytes, 0U);
}

TEST_F(Machines, LeaveAtTheEndOnlyTheJournalsOfWhatIsUnfinished) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    fin(0xA, 2);
    ASSERT_EQ(hello(0xB, kOther), wire::PacketType::hello_ack);
    data(0xB, 1, 0, kOther);
    m_settled = {0xA, 0xB};
    m_sessions->remove_journals();
    EXPECT_EQ(files(), (Lines{"000000000000000b-7f000001-10001-0.trc", "000000000000000b-7f000001-10001.journal"}));
    fin(0xB, 1, kOther);
    m_sessions->remove_journals();
    EXPECT_FALSE(filesystem::exists(m_path));
}

TEST_F(Machines, FindJournalsThatCountForTheirUsage) {
    leave(0xA, Bytes(160), false);
    std::ofstream(m_path + "/other") << "seven b";
    m_usage.bytes = 1'000;
    open();
    EXPECT_EQ(m_usage.bytes, 1'000U + 160 + 40 + 7);
}

TEST_F(Machines, JournalBesideTheDirectoryOfTheirSessions) {
    EXPECT_EQ(ReliableSessions::journals_of("run"), "run.journal");
    EXPECT_EQ(ReliableSessions::journals_of("a/run//"), "a/run.journal");
    EXPECT_EQ(ReliableSessions::journals_of("/"), "/.journal");
    EXPECT_EQ(ReliableSessions::journals_of(""), ".journal");
}

// A service may write to its directory alone.
TEST_F(Machines, JournalInAServedDirectory) {
    const std::string served = m_directory / "all";
    filesystem::create_directory(served);
    EXPECT_EQ(ReliableSessions::prepare(served), "");
    EXPECT_TRUE(filesystem::is_directory(served + "/journal"));
    filesystem::remove(served + "/journal");
    leave(0xA, Bytes(160), true); // beside it, as earlier versions did
    EXPECT_EQ(ReliableSessions::prepare(served), "");
    EXPECT_FALSE(filesystem::exists(m_path));
    EXPECT_TRUE(filesystem::exists(served + "/journal/000000000000000a-7f000001-10000.journal"));
}

// Another user may have put a link there.
TEST_F(Machines, FollowNoLinkToTheirJournals) {
    filesystem::create_directory(m_directory / "elsewhere");
    filesystem::create_directory_symlink(m_directory / "elsewhere", m_path);
    open();
    EXPECT_EQ(hello(0xA), wire::PacketType::abort);
    EXPECT_THAT(m_refused, testing::ElementsAre(testing::HasSubstr(m_path)));
    EXPECT_TRUE(filesystem::is_empty(m_directory / "elsewhere"));
    filesystem::create_directory(m_directory / "all");
    filesystem::create_directory_symlink(m_directory / "elsewhere", m_directory / "all/journal");
    EXPECT_THAT(ReliableSessions::prepare(m_directory / "all"), testing::HasSubstr("all/journal"));
}

// --- reports ------------------------------------------------------------------------------------------------------

TEST_F(Machines, AreRefusedIfSixtyFourOthersProgress) {
    open();
    for (std::uint64_t session = 1; session <= 64; ++session) {
        ASSERT_EQ(hello(session), wire::PacketType::hello_ack);
        data(session, 10);
    }
    m_sessions->tick();
    EXPECT_TRUE(m_refused.empty());
    EXPECT_EQ(hello(65), wire::PacketType::abort);
    m_sessions->tick();
    m_sessions->tick();
    EXPECT_EQ(m_refused, Lines{"a machine is refused: 64 acknowledged sessions are open, and all of them progress"});
}

TEST_F(Machines, WithAnotherKeyAreReportedEachThousandTimesMore) {
    open(false, false, wire::SipKey{1, 2});
    Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
    wire::encode({.type = wire::PacketType::hello, .session = 1}, nullptr, packet);
    m_sessions->tick();
    EXPECT_TRUE(m_refused.empty());
    for (int i = 0; i < 3; ++i) {
        m_sessions->take(packet, {kPeer.ipv4, kPeer.port});
        m_sessions->tick();
    }
    const std::string cause = " not authentic: the machine has another key than --key, or another machine forges them";
    EXPECT_EQ(m_refused, Lines{"a datagram came that is" + cause});
    EXPECT_EQ(m_sessions->malformed(), 3U);
    m_sessions->take(Bytes(3), {kPeer.ipv4, kPeer.port});
    EXPECT_EQ(m_sessions->malformed(), 4U);
    for (int i = 3; i < 3'000; ++i) {
        m_sessions->take(packet, {kPeer.ipv4, kPeer.port});
    }
    EXPECT_EQ(m_refused, (Lines{"a datagram came that is" + cause, "1024 datagrams came that are" + cause}));
}

TEST_F(Machines, WithoutAKeyAreNotReportedAsForgers) {
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    m_cookie ^= 2;
    data(0xA, 1);
    m_sessions->tick();
    EXPECT_EQ(m_sessions->malformed(), 1U);
    EXPECT_TRUE(m_refused.empty());
}

// Three hundred machines that say HELLO and nothing else.
TEST_F(Machines, OfWhichNothingCameTakeNoPlaceForever) {
    open();
    for (std::uint64_t session = 1; session <= 3 * kJournals; ++session) {
        pass(1'000);
        ASSERT_EQ(hello(session), wire::PacketType::hello_ack) << session;
    }
    EXPECT_TRUE(m_refused.empty());
}

// Of which something came, and which did not end: the oldest that are written elsewhere make room for others.
TEST_F(Machines, KeepNoMoreJournalsThanTheLimit) {
    open();
    std::uint64_t session = 1;
    for (; session <= kJournals; ++session) {
        pass(10'000);
        ASSERT_EQ(hello(session), wire::PacketType::hello_ack) << session;
        data(session, 1);
    }
    EXPECT_TRUE(m_refused.empty());
    pass(10'000);
    EXPECT_EQ(hello(session), wire::PacketType::abort) << "the journals are the only copies";
    EXPECT_EQ(m_refused, Lines{m_path + " has 100 journals of sessions that have not ended: move some elsewhere"});
    m_settled = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        pass(10'000);
        ASSERT_EQ(hello(session + static_cast<std::uint64_t>(i)), wire::PacketType::hello_ack) << i;
        data(session + static_cast<std::uint64_t>(i), 1);
    }
    EXPECT_EQ(files().size(), 2 * kJournals);
}

} // namespace acknowledged_machines_test

} // namespace host::collector
