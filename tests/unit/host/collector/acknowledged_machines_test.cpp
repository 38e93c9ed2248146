// SPDX-License-Identifier: MIT
// Tests acknowledged sessions without a socket: what is passed on and when, and how long an answer may be awaited.
#include "host/collector/reliable_sessions.hpp"

#include "tests/support/acknowledged_machines.hpp"
#include "tests/support/flushes.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <semaphore>
#include <thread>

namespace host::collector {

namespace acknowledged_machines_test {

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

// Returns flushes of files that wait until the semaphore is released, and never on the thread that receives.
support::Flushes held_by(std::binary_semaphore& proceed) {
    return {.of_file =
                [&proceed, receiving = std::this_thread::get_id()](int /*file*/) {
                    EXPECT_NE(std::this_thread::get_id(), receiving);
                    proceed.acquire();
                    proceed.release();
                    return 0;
                },
            .of_file_system = {},
            .of_name = {}};
}

// A flush is pending when a session gives up its place, and when it comes again: nothing waits for that but its answer.
TEST_F(Machines, ThatGiveUpTheirPlacesKeepNoOtherOneWaiting) {
    std::binary_semaphore proceed{0};
    const support::WithFlushes with(held_by(proceed));
    m_flush_aside = true;
    open();
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 1);
    data(0xA, 1, 1); // what is not flushed when its place is taken is sent again
    pass(10);
    fill(64);
    EXPECT_EQ(hello(0xA), std::nullopt) << "what is durable is not known yet";
    const std::uint64_t cookie = m_cookie;
    EXPECT_EQ(hello(0xB), wire::PacketType::hello_ack) << "another machine";
    m_sessions->tick();
    EXPECT_TRUE(delivered().empty());
    proceed.release();
    m_sessions->sync();
    EXPECT_EQ(delivered(), Lines{"10000/a: 1 of 16"});
    m_sessions->tick();
    EXPECT_EQ(wire::decode(m_answer).value().type, wire::PacketType::hello_ack);
    EXPECT_EQ(wire::decode(m_answer).value().seq, 1U) << "the machine does not send it again";
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
    m_cookie = cookie;
    data(0xA, 1, 1);
    m_sessions->sync();
    EXPECT_EQ(delivered(), Lines{"10000/a: 2 of 16"});
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
}

// Returns false if no answer comes. It needs the thread that reads the journal, which a busy host may delay.
bool is_answered(ReliableSessions& sessions, const Bytes& answer) {
    constexpr int kTicksMax = 60'000;
    for (int ticks = 0; answer.empty() && ticks < kTicksMax; ++ticks) {
        sessions.tick();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return !answer.empty();
}

// However much an earlier collector has received: it is read beside the receiver, and passed on in parts.
TEST_F(Machines, ContinueAfterAnotherCollectorWithoutKeepingOthersWaiting) {
    const Bytes stream(1U << 20U, std::byte{7});
    leave(0xA, stream, false);
    filesystem::resize_file(m_path + "/000000000000000a-7f000001-10000-0.trc", stream.size() + 100);
    std::binary_semaphore proceed{0};
    const support::WithFlushes with(held_by(proceed));
    m_flush_aside = true;
    open();
    EXPECT_EQ(hello(0xA), std::nullopt);
    EXPECT_EQ(hello(0xB), wire::PacketType::hello_ack);
    proceed.release();
    m_answer.clear();
    ASSERT_TRUE(is_answered(*m_sessions, m_answer));
    EXPECT_EQ(wire::decode(m_answer).value().seq, 2U);
    std::size_t passed_on = m_records.size();
    EXPECT_LE(passed_on, 512U << 10U);
    std::size_t ticks = 0;
    for (; passed_on < stream.size() && ticks < 100; ++ticks) {
        m_sessions->tick();
        EXPECT_LE(m_records.size() - passed_on, 512U << 10U);
        passed_on = m_records.size();
    }
    EXPECT_GT(ticks, 1U);
    EXPECT_EQ(m_records, stream);
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
}

// The file is damaged: the machine hears it when that is known.
TEST_F(Machines, HearThatTheirJournalIsDamagedWhenItIsRead) {
    leave(0xA, Bytes(160), false);
    filesystem::resize_file(m_path + "/000000000000000a-7f000001-10000-0.trc", 100);
    m_flush_aside = true;
    open();
    EXPECT_NE(hello(0xA), wire::PacketType::hello_ack);
    ASSERT_TRUE(is_answered(*m_sessions, m_answer));
    EXPECT_EQ(wire::decode(m_answer).value().type, wire::PacketType::abort);
    m_sessions->tick();
    EXPECT_EQ(m_refused.size(), 1U);
    EXPECT_FALSE(m_sessions->disk_full());
    EXPECT_EQ(files().size(), 2U);
}

// The table has no room: what is durable waits in its journal, and comes in order.
TEST_F(Machines, WaitInTheirJournalsForAPlace) {
    open();
    m_has_room = false;
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    data(0xA, 2);
    m_sessions->tick();
    EXPECT_TRUE(delivered().empty());
    fin(0xA, 2);
    m_settled = {0xA};
    pass(60'000);
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U) << "it is the only copy";
    m_has_room = true;
    m_sessions->tick();
    EXPECT_EQ(m_records.size(), 32U);
    m_sessions->tick();
    EXPECT_TRUE(files().empty());
}

// A machine that the provider refuses takes no place.
TEST_F(Machines, ThatAreRefusedTakeNoPlace) {
    open(true);
    ASSERT_EQ(hello(0xA), wire::PacketType::hello_ack);
    const std::uint64_t cookie = m_cookie;
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    static_cast<void>(
        take({.type = wire::PacketType::data, .flags = wire::kFlagPush, .session = 0xA, .stamp = virtual_time.value},
             image));
    for (std::uint64_t session = 1; session <= 63; ++session) {
        ASSERT_EQ(hello(0x100 + session), wire::PacketType::hello_ack);
    }
    pass(400'000);
    EXPECT_EQ(hello(0xC, kOther), wire::PacketType::abort);
    m_cookie = cookie;
    data(0xA, 1, 1);
    EXPECT_EQ(wire::decode(m_answer).value().type, wire::PacketType::ack) << "its session is there still";
}

// The packets are not known any more: as much at once as a packet holds at most.
TEST_F(Machines, PassesOnWhatAnEarlierCollectorReceived) {
    Bytes stream(2'500 / 16 * 16);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        stream[i] = static_cast<std::byte>(i * 7 / 3);
    }
    leave(0xA, stream, true, 3, 1'040);
    leave(0xB, stream, false);
    start();
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
    start(true, true);
    EXPECT_TRUE(delivered().empty());
    m_settled = {0xA};
    m_sessions->tick();
    m_sessions->remove_journals();
    EXPECT_EQ(files().size(), 2U) << "there was no place for it";
    m_has_place = true;
    m_usage.bytes = 0;
    start(true, true);
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
    start();
    EXPECT_TRUE(delivered().empty());
    leave(0xB, Bytes(160), true);
    leave(0xB, Bytes(160), true, 0, 0, 3);
    start();
    EXPECT_EQ(delivered(), (Lines{"10000/b: 1 of 160", "10000/b: 2 of 160"}));
}

TEST_F(Machines, SaysWhichJournalCannotBeRead) {
    leave(0xA, Bytes(160), true);
    const std::string stream = m_path + "/000000000000000a-7f000001-10000-0.trc";
    filesystem::resize_file(stream, 100);
    start();
    EXPECT_TRUE(delivered().empty());
    EXPECT_EQ(m_refused, Lines{stream + ": shorter than its journal says; remove its files or record elsewhere"});
}

TEST_F(Machines, PassOnAllThatEndedBeforeIfNoSingleRunIsRecorded) {
    const Bytes image = support::ChunkBuilder(0).event(1'000, "ipoint").bytes();
    leave(0xA, image, true);
    leave(0xB, image, true);
    start();
    EXPECT_EQ(delivered().size(), 2U);
    m_settled = {0xA, 0xB};
    m_sessions->remove_journals();
    EXPECT_FALSE(filesystem::exists(m_path)) << "without a tick in between";
    leave(0xA, image, true);
    leave(0xB, image, true);
    start(true);
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

} // namespace acknowledged_machines_test

} // namespace host::collector
