// SPDX-License-Identifier: MIT
// Tests whose journals of acknowledged sessions are kept, and what is reported.
#include "host/collector/reliable_sessions.hpp"

#include "tests/support/acknowledged_machines.hpp"
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/counted_disk.hpp"
#include "tests/support/flushes.hpp"

#include <atomic>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <semaphore>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

std::atomic<std::size_t> g_reads = 0;                             // NOLINT: of this function, by whichever thread
std::atomic<std::size_t> g_bytes = 0;                             // NOLINT: as above
std::atomic<const std::function<void()>*> g_after_read = nullptr; // NOLINT: as above

} // namespace

extern "C" ssize_t pread(int file, void* bytes, std::size_t size, off_t offset) {
    const ssize_t count = ::syscall(SYS_pread64, file, bytes, size, offset);
    ++g_reads;
    g_bytes += count > 0 ? static_cast<std::size_t>(count) : 0U;
    if (const auto* const after_read = g_after_read.load()) {
        (*after_read)();
    }
    return count;
}

namespace host::collector {

namespace acknowledged_machines_test {

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

// It gives up its place while what came before is being closed.
TEST_F(Machines, KeepTheirJournalsAlsoIfTheyContinueAfterwards) {
    open();
    m_has_place = false;
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    pass(1'000);
    fill(64);
    m_has_place = true;
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    fin(0xA, 2);
    m_settled = {0xA};
    pass(60'000);
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U) << "the only copy";
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
    EXPECT_TRUE(ReliableSessions::prepare(served).ok());
    EXPECT_TRUE(filesystem::is_directory(served + "/journal"));
    filesystem::remove(served + "/journal");
    leave(0xA, Bytes(160), true); // beside it, as earlier versions did
    EXPECT_TRUE(ReliableSessions::prepare(served).ok());
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
    const auto prepared = ReliableSessions::prepare(m_directory / "all");
    ASSERT_FALSE(prepared.ok());
    EXPECT_THAT(prepared.error().text, testing::HasSubstr("all/journal"));
    EXPECT_EQ(prepared.error().cause, lib::Error::refused);
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

// Whoever can receive at an address can open sessions: what begins with no chunk does not keep machines out.
TEST_F(Machines, WithoutAKeyFillNoDirectoryWithWhatBeginsWithNoChunk) {
    m_strangers_max = 6;
    constexpr reliable::Peer kElsewhere{INADDR_LOOPBACK + 1, 10'000};
    for (int collector = 0; collector < 2; ++collector) { // those that an earlier collector has left count, too
        start();
        for (std::uint64_t session = 1; session <= 5; ++session) {
            for (const reliable::Peer& peer : {kPeer, kElsewhere}) {
                pass(1'000);
                ASSERT_EQ(hello(session, peer), wire::PacketType::hello_ack);
                data(session, 1, 0, peer);
                m_sessions->tick();
            }
        }
        EXPECT_EQ(files().size(), 2U * 6) << "three of each address";
        EXPECT_EQ(m_refused.size(), 1U);
        EXPECT_THAT(m_refused.front(),
                    testing::EndsWith("begin with no chunk, 3 of one address: no more are taken without --key"));
        EXPECT_FALSE(m_sessions->disk_full());
        m_refused.clear();
    }
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    EXPECT_EQ(
        take({.type = wire::PacketType::data, .flags = wire::kFlagPush, .session = 0xA, .stamp = virtual_time.value},
             image),
        wire::PacketType::ack);
    EXPECT_EQ(files().size(), 2U * 7) << "a machine is received";
    m_strangers_max = 1'000;
}

// Whoever can receive at an address can open sessions without end.
TEST_F(Machines, OfWhichNothingWasTakenAreForgotten) {
    m_strangers_max = 0;
    open();
    const auto be_refused = [this](std::uint64_t session) {
        pass(1'000);
        EXPECT_EQ(hello(session), wire::PacketType::hello_ack);
        data(session, 1);
        m_sessions->tick();
    };
    be_refused(1);
    const std::size_t before = allocated_bytes();
    for (std::uint64_t session = 2; session <= 300; ++session) {
        be_refused(session);
    }
    EXPECT_LT(allocated_bytes(), before + 64'000);
    EXPECT_TRUE(files().empty());
}

// Three hundred machines that say HELLO and nothing else, in less than a second.
TEST_F(Machines, OfWhichNothingCameTakeNoPlaceOfAJournal) {
    open();
    for (std::uint64_t session = 1; session <= 3 * kJournals; ++session) {
        pass(1);
        ASSERT_EQ(hello(session), wire::PacketType::hello_ack) << session;
    }
    EXPECT_TRUE(m_refused.empty());
}

TEST_F(Machines, HaveNoJournalOfALossBeforeTheirFirstPacket) {
    open();
    ASSERT_EQ(hello(0xA, kPeer, 5), wire::PacketType::hello_ack);
    m_sessions->tick();
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(m_usage.bytes, 0U);
    data(0xA, 1, 5);
    EXPECT_EQ(delivered(), Lines{"10000/a: 6 of 16"});
    open();
    ASSERT_EQ(hello(0xA, kPeer, 6), wire::PacketType::hello_ack);
    EXPECT_EQ(delivered(), Lines{"10000/a: 6 of 16"}) << "the journal does not state what was lost";
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
    pass(10'000);
    EXPECT_EQ(hello(session), wire::PacketType::abort);
    EXPECT_EQ(m_refused, Lines{m_path + " has 100 journals of sessions that have not ended: move some elsewhere"});
    EXPECT_EQ(hello(1), wire::PacketType::hello_ack) << "it has a journal";
    m_settled = {2, 3, 4};
    pass(10'000);
    for (int i = 0; i < 3; ++i) { // at once
        ASSERT_EQ(hello(session + static_cast<std::uint64_t>(i)), wire::PacketType::hello_ack) << i;
        data(session + static_cast<std::uint64_t>(i), 1);
    }
    EXPECT_EQ(files().size(), 2 * kJournals);
}

// An earlier collector has left them; a chunk, and what has ended, stays.
TEST_F(Machines, MakeRoomForOthersIfTheyLeftNoChunk) {
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    for (std::uint64_t session = 1; session < kJournals; ++session) {
        leave(session, session == 1 ? Bytes(160) : image, false);
    }
    leave(kJournals, Bytes(160), true);
    m_has_place = false;
    start();
    for (std::uint64_t session = 1; session <= kJournals; ++session) {
        m_settled.insert(session);
    }
    ASSERT_EQ(hello(kJournals + 1), wire::PacketType::hello_ack);
    data(kJournals + 1, 1);
    EXPECT_FALSE(filesystem::exists(m_path + "/0000000000000001-7f000001-10000.journal"));
    EXPECT_EQ(files().size(), 2 * kJournals);
    EXPECT_EQ(hello(kJournals + 2), wire::PacketType::abort);
}

// --- a start ------------------------------------------------------------------------------------------------------

class Starts : public Machines {
  protected:
    ~Starts() override { m_sessions.reset(); }

    support::CountedDisk m_disk;
    Bytes m_image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
};

TEST_F(Starts, WithASmallReadOfEachJournalAndNoFlush) {
    constexpr std::uint64_t kLeft = kJournals - 2;
    m_image.resize(100'000);
    for (std::uint64_t session = 1; session <= kLeft; ++session) {
        leave(session, m_image, session % 2 == 0);
    }
    m_flush_aside = true;
    open();
    m_disk.flushes = 0;
    g_reads = 0;
    g_bytes = 0;
    m_sessions->begin();
    ASSERT_EQ(hello(kLeft + 1), wire::PacketType::hello_ack) << "it waits for what others have left";
    EXPECT_EQ(m_disk.flushes, 0U);
    EXPECT_LE(g_reads, 2 * kLeft) << "one of the journal, one of what the session begins with";
    EXPECT_LE(g_bytes, 8'192 * kLeft);
    EXPECT_TRUE(delivered().empty());
    static_cast<void>(hello(1)); // is answered when another thread has read its journal
    while (m_records.size() < (kLeft / 2 + 1) * m_image.size()) {
        m_sessions->tick();
        std::this_thread::yield();
    }
    EXPECT_TRUE(m_refused.empty());
    for (std::uint64_t session = 1; session <= kLeft; ++session) {
        m_settled.insert(session);
    }
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2 * (kLeft / 2)) << "what has not ended stays";
}

// Its machine has not heard that it has ended; the session is passed on once.
TEST_F(Starts, AndLetsAMachineContinueWhatItPassesOn) {
    leave(0xA, m_image, true);
    leave(0xB, m_image, true);
    leave(0xB, m_image, false, 0, 0, 3); // its last mark ends no stream
    leave(0xC, m_image, false, 0, 0, 3);
    leave(0xC, m_image, true); // its last mark ends one of two
    m_has_room = false;
    open().begin();
    for (int i = 0; i < 4; ++i) {
        m_sessions->tick();
    }
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    ASSERT_EQ(hello(0xC), wire::PacketType::hello_ack);
    m_has_room = true;
    for (int i = 0; i < 4; ++i) {
        m_sessions->tick();
    }
    EXPECT_EQ(m_records.size(), 3 * m_image.size()) << "A once, and both streams of C";
    m_settled = {0xA, 0xB, 0xC};
    m_sessions->tick();
    EXPECT_EQ(files().size(), 2U + 3 + 3) << "A's machine may ask again";
    pass(60'000);
    fill(64);
    m_sessions->tick();
    EXPECT_EQ(files().size(), 3U + 3);
    EXPECT_EQ(m_records.size(), 3 * m_image.size());
}

// The session into which it was passed on has been closed.
TEST_F(Starts, AndPassesOnFromTheBeginningWhatIsDropped) {
    m_image.resize(3 << 18U);
    leave(0xA, m_image, true);
    open().begin();
    m_sessions->tick();
    EXPECT_LT(m_records.size(), m_image.size());
    EXPECT_GT(m_records.size(), 0U);
    m_sessions->drop({kPeer.ipv4, kPeer.port, 0xA});
    m_records.clear();
    for (int i = 0; i < 4; ++i) {
        m_sessions->tick();
    }
    EXPECT_EQ(m_records, m_image);
    EXPECT_FALSE(m_sessions->awaited());
}

// A stream that cannot be read now may begin with a chunk.
TEST_F(Starts, AndMakesNoRoomInPlaceOfWhatCannotBeRead) {
    for (std::uint64_t session = 1; session <= kJournals; ++session) {
        leave(session, Bytes(160), false, session == 1 ? 0 : 1); // after a loss, a chunk may follow
    }
    m_settled = {1};
    const std::string stream = m_path + "/0000000000000001-7f000001-10000-0.trc";
    filesystem::remove(stream);
    filesystem::create_directory(stream);
    start();
    EXPECT_EQ(hello(kJournals + 1), wire::PacketType::abort);
    filesystem::remove(stream);
    start();
    EXPECT_EQ(hello(kJournals + 1), wire::PacketType::abort) << "it is missing";
    filesystem::copy_file(m_path + "/0000000000000002-7f000001-10000-0.trc", stream);
    start();
    EXPECT_EQ(hello(kJournals + 1), wire::PacketType::hello_ack);
}

// All are open before the first of them has a journal.
TEST_F(Starts, AndTakesNoMoreJournalsThanTheLimit) {
    for (std::uint64_t session = 1; session <= kJournals - 2; ++session) {
        leave(session, m_image, false);
    }
    open().begin();
    std::vector<std::uint64_t> cookies;
    for (std::uint64_t session = 0xA; session <= 0xC; ++session) {
        ASSERT_EQ(hello(session, kOther), wire::PacketType::hello_ack);
        cookies.push_back(m_cookie);
    }
    for (std::uint64_t session = 0xA; session <= 0xC; ++session) {
        m_cookie = cookies[session - 0xA];
        data(session, 1, 0, kOther);
    }
    m_sessions->tick();
    EXPECT_EQ(files().size(), 2 * kJournals);
    EXPECT_EQ(m_refused, Lines{m_path + " has 100 journals of sessions that have not ended: move some elsewhere"});
    EXPECT_EQ(hello(0xC, kOther), wire::PacketType::abort);
    EXPECT_EQ(hello(0xA, kOther), wire::PacketType::hello_ack);
}

// A collector that stops passes on the whole of what it has begun.
TEST_F(Starts, AndStopsBetweenTwoSessions) {
    m_image.resize(3 << 18U);
    leave(0xA, m_image, true);
    leave(0xB, m_image, true);
    open().begin();
    m_sessions->tick();
    m_sessions->sync();
    EXPECT_EQ(m_records, m_image);
    m_settled = {0xA, 0xB};
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U) << "the next collector passes on the other one";
}

// While a large journal is read, neither a flush of another machine waits for that, nor one that continues.
TEST_F(Machines, KeepNoOtherOneWaitingWhileTheirJournalIsRead) {
    const Bytes large(1U << 20U, std::byte{7});
    leave(0xA, large, true);
    leave(0xC, Bytes(160), false);
    std::binary_semaphore begun{0};
    std::binary_semaphore proceed{0};
    const std::function<void()> hold = [&] {
        if (g_bytes > 1'000) { // of A's stream
            g_after_read = nullptr;
            begun.release();
            proceed.acquire();
        }
    };
    std::vector<std::size_t> read_before; // each flush
    const auto count = [&](int) {
        read_before.push_back(g_bytes);
        return 0;
    };
    const support::WithFlushes with({.of_file = count, .of_file_system = {}, .of_name = {}});
    m_flush_aside = true;
    open().begin();
    ASSERT_EQ(hello(0xB, kOther), wire::PacketType::hello_ack);
    g_bytes = 0;
    g_after_read = &hold;
    m_sessions->tick();
    begun.acquire();
    data(0xB, 1, 0, kOther);
    EXPECT_EQ(hello(0xC), std::nullopt);
    proceed.release();
    m_sessions->sync();
    m_sessions.reset();
    ASSERT_EQ(read_before.size(), 4U) << "of A's journal, B's stream and journal, C's journal";
    EXPECT_LT(read_before.back(), large.size());
}

// Its journal is removed when its store is loaded and nothing has asked for that yet: the next one has its own store.
TEST_F(Machines, ArePassedOnThoughTheOneBeforeThemIsRemoved) {
    std::binary_semaphore proceed{1};
    const support::WithFlushes with({.of_file =
                                         [&proceed](int) {
                                             proceed.acquire();
                                             proceed.release();
                                             return 0;
                                         },
                                     .of_file_system = {},
                                     .of_name = [](int) { return 0; }});
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    for (std::uint64_t session = 1; session <= kJournals; ++session) {
        leave(session, image, session <= 2, 0, 0, 3);
    }
    std::vector<std::uint64_t> order; // in which those that have ended are found
    for (const auto& [peer, session] : reliable::FileStores(m_path).sessions()) {
        if (session <= 2) {
            order.push_back(session);
        }
    }
    const std::uint64_t first = order.at(0);
    leave(first, image, false);
    leave(first, image, true, 0, 0, 4); // its last mark ends one of three
    m_flush_aside = true;
    open().begin();
    static_cast<void>(hello(first));
    m_sessions->sync();
    proceed.acquire();
    data(first, 1, 2);
    m_sessions->drop({kPeer.ipv4, kPeer.port, first});
    m_sessions->tick(); // its store waits for the flush
    delivered();
    m_settled = {first};
    proceed.release();
    for (int i = 0; i < 60'000 && hello(kJournals + 1) != wire::PacketType::hello_ack; ++i) {
        pass(1'000);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pass(10'000);
    while (m_sessions->awaited()) {
        m_sessions->tick();
        std::this_thread::yield();
    }
    EXPECT_EQ(delivered(), Lines{fmt::format("10000/{:x}: 1 of {}", order.at(1), image.size())});
    m_sessions.reset();
}

} // namespace acknowledged_machines_test

} // namespace host::collector
