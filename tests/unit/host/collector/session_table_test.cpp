// SPDX-License-Identifier: MIT
// Tests which packet belongs to which session, without a socket or a clock: machines that are reset, strangers, limits,
// many machines at once.
#include "host/collector/session_table.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <map>
#include <random>

namespace host::collector {

namespace session_table_test {

using formats::dat::Manifest;
using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using testing::HasSubstr;

constexpr Address kGuest{0x7F00'0001, 1000};
constexpr Address kOther{0x7F00'0001, 1001};

struct Closed : Observer {
    void closed(const SessionView& session, Manifest& manifest, std::optional<lib::Error> /*error*/) override {
        manifests[std::filesystem::path(session.directory).filename()] = manifest;
    }

    void refused(std::string_view why) override { refusal = why; }

    std::map<std::string, Manifest> manifests; // by the directory's name
    std::string refusal;
};

Bytes chunk_of(std::uint64_t boot_id, std::uint16_t number) {
    ChunkBuilder builder(number);
    builder.begin.boot_id = boot_id;
    builder.name("task", 12, "sensor").build("control", boot_id);
    for (std::uint32_t i = 0; i < 200; ++i) {
        builder.event(1000 + std::uint64_t{number} * 100'000 + i, "ipoint", static_cast<std::uint16_t>(boot_id), i);
    }
    return builder.bytes();
}

// Two chunks and the end, as datagrams.
std::vector<Bytes> run_of(std::uint64_t boot_id, tracer::RunResult result = tracer::RunResult::completed) {
    std::uint32_t number = 1;
    std::vector<Bytes> all;
    for (const Bytes& image :
         {chunk_of(boot_id, 0), chunk_of(boot_id, 1), support::export_end({2, result, 400, 0, 0, 0})}) {
        const auto packets = support::packets(image, number);
        all.insert(all.end(), packets.begin(), packets.end());
    }
    return all;
}

std::string text(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class SessionTables : public testing::Test {
  protected:
    SessionTable& record(const Limits& limits = {}) {
        auto directory = SessionDirectory::open(m_directory / "run", OldSession::keep);
        return *(m_table = std::make_unique<SessionTable>(directory.value(), nullptr, limits, m_observer));
    }

    SessionTable& serve(const Limits& limits = {}) {
        auto root = SessionDirectory::open(m_directory / "all", OldSession::leave);
        EXPECT_TRUE(root.ok());
        return *(m_table = std::make_unique<SessionTable>(nullptr, root.value(), limits, m_observer));
    }

    void send(const Address& sender, const Bytes& datagram) {
        const auto header = tracer::decode_packet_header(datagram);
        ASSERT_TRUE(header.ok());
        m_table->take(sender, header.value().number, std::span(datagram).subspan(tracer::kPacketHeaderBytes), m_now);
    }

    void send(const Address& sender, const std::vector<Bytes>& datagrams, std::size_t begin = 0,
              std::size_t end = 1000) {
        for (std::size_t i = begin; i < std::min(end, datagrams.size()); ++i) {
            send(sender, datagrams[i]);
        }
    }

    const Manifest& closed(const std::string& name) {
        EXPECT_TRUE(m_observer.manifests.contains(name)) << name;
        return m_observer.manifests[name];
    }

    std::vector<std::string> directories() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(m_directory / "all")) {
            names.push_back(entry.path().filename());
        }
        std::erase(names, kLockName);
        std::ranges::sort(names);
        return names;
    }

    TemporaryDirectory m_directory;
    Closed m_observer;
    std::unique_ptr<SessionTable> m_table;
    Clock::time_point m_now;
};

constexpr const char* kBoot1 = "0000000000000001-0";
constexpr const char* kBoot2 = "0000000000000002-0";

TEST_F(SessionTables, OpenAnotherSessionForAMachineThatWasReset) {
    record();
    send(kGuest, run_of(1), 0, 5);
    EXPECT_FALSE(m_table->finished());
    send(kGuest, run_of(2));
    EXPECT_TRUE(m_table->finished());
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().sessions, 2U);
    EXPECT_EQ(m_table->outcome().complete, 1U);
    EXPECT_EQ(closed("run").reason,
              "the end of the export never came: the machine was reset: boot 0000000000000002 follows");
    const std::string second = std::string("run-") + kBoot2;
    EXPECT_TRUE(closed(second).complete) << closed(second).reason;
    EXPECT_EQ(support::read_text(m_directory / (second + "/0trace.dat")), text(chunk_of(2, 0)));
    EXPECT_EQ(support::read_text(m_directory / (second + "/1trace.dat")), text(chunk_of(2, 1)));
    EXPECT_TRUE(text(chunk_of(1, 0)).starts_with(support::read_text(m_directory / "run/0trace.dat").substr(0, 960)));
}

// A boot exports first what a reset has left of the one before, and its own run when that has ended, whenever that is.
TEST_F(SessionTables, AwaitTheRunOfAMachineThatHasSentTheTraceOfAnEarlierBoot) {
    for (const auto& session : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(7)}) {
        const std::string name = session ? "acknowledged" : "plain";
        m_table = std::make_unique<SessionTable>(SessionDirectory::open(m_directory / name, OldSession::keep).value(),
                                                 nullptr, Limits(), m_observer);
        const Address earlier{kGuest.ipv4, kGuest.port, session};
        const Address own{kGuest.ipv4, kGuest.port, session ? std::optional(*session + 1) : session};
        send(earlier, run_of(1, tracer::RunResult::unknown));
        EXPECT_FALSE(m_table->finished());
        m_now += std::chrono::hours(1);
        send(own, run_of(2));
        EXPECT_TRUE(m_table->finished());
        m_table->close_all("");
        EXPECT_EQ(m_table->outcome().sessions, 2U);
        EXPECT_EQ(m_table->outcome().complete, 2U);
        EXPECT_TRUE(closed(name + '-' + kBoot2).complete);
    }
}

// Wherever the first boot was cut, and whatever the second lost at its beginning, as long as one number came twice.
TEST_F(SessionTables, NeverCallASpliceOfTwoBootsComplete) {
    const auto first = run_of(1);
    const auto second = run_of(2);
    for (std::size_t cut = 1; cut < first.size(); ++cut) {
        for (std::size_t lost = 0; lost < cut; ++lost) {
            const std::string name = "run" + std::to_string(cut) + '-' + std::to_string(lost);
            auto directory = SessionDirectory::open(m_directory / name, OldSession::keep);
            m_table = std::make_unique<SessionTable>(directory.value(), nullptr, Limits(), m_observer);
            send(kGuest, first, 0, cut);
            send(kGuest, second, lost);
            m_table->close_all("asked to stop");
            EXPECT_FALSE(closed(name).complete) << "cut " << cut << ", lost " << lost;
        }
    }
}

TEST_F(SessionTables, OpenNoSessionForALatePacketOfTheBootBefore) {
    record();
    send(kGuest, run_of(1), 0, 5);
    send(kGuest, run_of(2), 0, 3);
    send(kGuest, run_of(1).front());
    EXPECT_EQ(m_table->progress().strays, 1U);
    send(kGuest, run_of(2), 3);
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().sessions, 2U);
    EXPECT_EQ(m_table->outcome().complete, 1U);
}

// It was reset and is quick: late packets are of the boot that has ended, others are not.
TEST_F(SessionTables, OpenASessionForAnotherBootAtOnce) {
    serve();
    send(kGuest, run_of(1));
    send(kGuest, run_of(2));
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().complete, 2U);
    EXPECT_THAT(directories(), testing::ElementsAre(kBoot1, kBoot2));
}

// A machine that only says HELLO in its own protocol sends no trace.
TEST_F(SessionTables, DoubtNoRunForAMachineThatWasRefused) {
    record();
    const auto run = run_of(1);
    send(kGuest, run, 0, 3);
    m_table->count_refused(kOther);
    send(kGuest, run, 3);
    m_table->close_all("");
    EXPECT_TRUE(closed("run").complete) << closed("run").reason;
    EXPECT_EQ(closed("run").transfer->other_senders, 1U);
}

TEST_F(SessionTables, CountTheProgressOfAllSessions) {
    serve();
    const auto run = run_of(1);
    const auto other = run_of(2);
    send(kGuest, run);
    send(kOther, other, 0, 4);
    m_table->count_malformed({0x7F00'0001, 1002});
    m_table->set_malformed_acknowledged(5);
    for (int i = 0; i < 2; ++i) {
        const Progress progress = m_table->progress();
        EXPECT_EQ(progress.packets, run.size() + 4);
        EXPECT_GT(progress.records, 400U);
        EXPECT_LT(progress.records, 800U);
        EXPECT_EQ(progress.chunks, 3U);
        EXPECT_EQ(progress.open, 1U);
        EXPECT_EQ(progress.strays, 6U);
        EXPECT_EQ(progress.lost, 0U);
        m_table->settle();
        m_table->tick(m_now, {}); // one of them is reported, and still counts
    }
    EXPECT_EQ(closed(kBoot1).chunks.size(), 2U);
}

TEST_F(SessionTables, KeepAMachineThatNumbersFromOneAgainInTheSameBootIncomplete) {
    record();
    auto other = run_of(1);
    for (Bytes& datagram : other) {
        datagram.back() ^= std::byte{1};
    }
    send(kGuest, run_of(1), 0, 5);
    send(kGuest, other);
    m_table->close_all("asked to stop");
    EXPECT_FALSE(closed("run").complete);
    EXPECT_EQ(closed("run").transfer->conflicts, 5U);
}

TEST_F(SessionTables, TakeAPublishedSenderOnlyIfItContinuesPlausibly) {
    record();
    ChunkBuilder plain;
    for (std::uint32_t i = 0; i < 150; ++i) {
        plain.event(1000 + i, "ipoint", 1, i);
    }
    std::uint32_t number = 1;
    const auto packets = support::packets(plain.plain(), number);
    send(kOther, support::packets(Bytes(4096, std::byte{0x55}), number = 1));
    send(kGuest, packets[1]); // has overtaken the first
    send(kGuest, packets[0]);
    send(kGuest, packets[2]);
    m_table->close_all("asked to stop");
    EXPECT_THAT(closed("run").reason, HasSubstr("no end mark"));
    EXPECT_EQ(closed("run").transfer->lost, 0U);
    EXPECT_EQ(support::read_text(m_directory / "run/0trace.dat"), text(plain.plain()));
}

TEST_F(SessionTables, LetNoStrangerTakePartInARun) {
    record();
    const auto run = run_of(1);
    send(kGuest, run, 0, 3);
    send(kOther, run_of(2));
    send(kGuest, run, 3);
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().sessions, 1U);
    EXPECT_FALSE(closed("run").complete);
    EXPECT_THAT(closed("run").reason, HasSubstr("another sender, 127.0.0.1:1001"));
    EXPECT_EQ(support::read_text(m_directory / "run/0trace.dat"), text(chunk_of(1, 0)));
}

TEST_F(SessionTables, KeepManyMachinesAtOnceApart) {
    serve();
    const auto run = run_of(1);
    const auto other = run_of(2);
    for (std::size_t i = 0; i < run.size(); ++i) {
        send(kGuest, run[i]);
        send(kOther, other[i]);
    }
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().complete, 2U);
    EXPECT_THAT(directories(), testing::ElementsAre(kBoot1, kBoot2));
    EXPECT_EQ(support::read_text(m_directory / ("all/" + std::string(kBoot1) + "/1trace.dat")), text(chunk_of(1, 1)));
    EXPECT_EQ(support::read_text(m_directory / ("all/" + std::string(kBoot2) + "/1trace.dat")), text(chunk_of(2, 1)));
}

TEST_F(SessionTables, LeaveTheSessionsOfAnEarlierCollectorAsTheyAre) {
    for (int i = 0; i < 2; ++i) {
        m_table.reset();
        serve();
        send(kGuest, run_of(1));
        m_table->close_all("");
    }
    EXPECT_THAT(directories(), testing::ElementsAre(kBoot1, "0000000000000001-1"));
}

TEST_F(SessionTables, OpenNoSecondSessionForALatePacketButOneForAnotherRun) {
    serve();
    send(kGuest, run_of(1));
    send(kGuest, run_of(1));
    EXPECT_EQ(directories().size(), 1U);
    m_now += std::chrono::seconds(11);
    send(kGuest, run_of(1));
    EXPECT_EQ(directories().size(), 2U);
}

TEST_F(SessionTables, EndASessionWhoseSenderIsSilent) {
    serve();
    send(kGuest, run_of(1), 0, 4);
    m_table->tick(m_now += std::chrono::seconds(59), std::chrono::seconds(60));
    EXPECT_EQ(m_table->progress().open, 1U);
    m_table->tick(m_now += std::chrono::seconds(1), std::chrono::seconds(60));
    EXPECT_EQ(m_table->progress().open, 0U);
    m_table->close_all("");
    EXPECT_THAT(closed(kBoot1).reason, HasSubstr("nothing came for 60000 ms"));
}

// --- limits: what exceeds one ends its session and nothing else
// --------------------------------------------------------

// `record --out` begins before its machine, which may take any time to boot.
TEST_F(SessionTables, WaitForTheFirstPacketHoweverLongItTakes) {
    record();
    m_now = Clock::time_point(std::chrono::hours(1000));
    EXPECT_TRUE(m_table->tick(m_now, std::chrono::seconds(60)).empty());
    EXPECT_TRUE(m_table->tick(m_now += std::chrono::hours(1), std::chrono::seconds(60)).empty());
    EXPECT_TRUE(m_observer.manifests.empty());
    EXPECT_FALSE(m_table->finished());
    send(kGuest, run_of(1));
    EXPECT_TRUE(m_table->finished());
    m_table->close_all("");
    EXPECT_TRUE(closed("run").complete) << closed("run").reason;
}

TEST_F(SessionTables, MakeNoMoreFilesThanTheirLimit) {
    serve({.files = 3});
    send(kOther, run_of(2), 0, 4);
    std::uint32_t number = 1;
    for (std::uint16_t chunk = 0; chunk < 20; ++chunk) {
        for (const Bytes& datagram : support::packets(chunk_of(1, chunk), number)) {
            send(kGuest, datagram);
        }
    }
    send(kOther, run_of(2), 4);
    m_table->close_all("");
    EXPECT_EQ(closed(kBoot1).reason, "cut off by a limit: a session has at most 3 files");
    EXPECT_EQ(closed(kBoot1).chunks.size(), 3U);
    EXPECT_TRUE(closed(kBoot2).complete) << closed(kBoot2).reason;
    EXPECT_EQ(m_table->outcome().error, lib::Error::no_space);
}

TEST_F(SessionTables, WriteNoMoreBytesThanTheirLimits) {
    const std::uint64_t whole = chunk_of(1, 0).size();
    serve({.session_bytes = whole + 100});
    send(kGuest, run_of(1));
    m_table->close_all("");
    EXPECT_THAT(closed(kBoot1).reason, HasSubstr("(--session-bytes)"));
    EXPECT_EQ(std::filesystem::file_size(m_directory / ("all/" + std::string(kBoot1) + "/0trace.dat")), whole);
    m_table.reset();
    serve({.total_bytes = 2 * whole}); // the session above and its manifest count
    send(kGuest, run_of(2));
    m_table->close_all("");
    EXPECT_THAT(closed(kBoot2).reason, HasSubstr("(--total-bytes)"));
}

TEST_F(SessionTables, RefuseMoreSessionsThanTheirLimitsAndEndNone) {
    serve({.sessions = 2});
    send(kGuest, run_of(1), 0, 4);
    send(kOther, run_of(2), 0, 4);
    send({0x7F00'0001, 1002}, run_of(3));
    EXPECT_THAT(m_observer.refusal, HasSubstr("2 open sessions"));
    send(kGuest, run_of(1), 4);
    send(kOther, run_of(2), 4);
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().complete, 2U);
    m_table.reset();
    serve({.directories = 2});
    send(kGuest, run_of(4));
    EXPECT_THAT(m_observer.refusal, HasSubstr("there are 2 sessions in"));
    EXPECT_EQ(directories().size(), 2U);
}

// Its own session has been silent for the longest time.
TEST_F(SessionTables, ReplaceTheSessionOfAMachineThatWasResetInAFullTableOnce) {
    serve({.sessions = 2});
    send(kGuest, run_of(1), 0, 4);
    m_now += std::chrono::seconds(1);
    send(kOther, run_of(2), 0, 4);
    send(kGuest, run_of(3), 0, 4);
    EXPECT_EQ(m_table->progress().open, 2U);
    send(kGuest, run_of(3), 4);
    send(kOther, run_of(2), 4);
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().complete, 2U);
    EXPECT_THAT(closed(kBoot1).reason, HasSubstr("boot 0000000000000003 follows"));
}

// --- senders of acknowledged packets
// -----------------------------------------------------------------------------------

constexpr Address kAcknowledged{0x7F00'0001, 1000, 7};
constexpr Address kAcknowledgedAgain{0x7F00'0001, 1000, 8};

TEST_F(SessionTables, TakeNoPlainPacketIntoAnAcknowledgedSession) {
    record();
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 3);
    send(kGuest, run_of(2), 3, 5); // forged: the next numbers, other records
    send(kAcknowledged, run, 3);
    m_table->close_all("");
    EXPECT_EQ(support::read_text(m_directory / "run/0trace.dat"), text(chunk_of(1, 0)));
    EXPECT_EQ(support::read_text(m_directory / "run/1trace.dat"), text(chunk_of(1, 1)));
}

// A clock that counts instructions makes the same boot id twice.
TEST_F(SessionTables, KeepTwoAcknowledgedRunsOfOneBootIdApart) {
    serve();
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 6);
    send(kAcknowledgedAgain, run);
    m_table->close_all("");
    EXPECT_THAT(closed(kBoot1).reason, HasSubstr("the machine was reset"));
    EXPECT_TRUE(closed("0000000000000001-1").complete) << closed("0000000000000001-1").reason;
}

// The collector had received it before the machine was reset, and made it durable later.
TEST_F(SessionTables, TakeWhatIsDurableLateOfASessionThatAnotherRunReplaced) {
    serve();
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 3);
    send(kAcknowledgedAgain, run_of(2));
    send(kAcknowledged, run, 3, 6);
    EXPECT_TRUE(m_table->tick(m_now, {}).empty());
    EXPECT_EQ(m_table->tick(m_now += SessionTable::kSupersededFor, {}), std::vector<Address>{kAcknowledged});
    EXPECT_FALSE(m_table->take(kAcknowledged, 7, std::span(run[6]).subspan(tracer::kPacketHeaderBytes), m_now));
    m_table->close_all("");
    EXPECT_EQ(directories().size(), 2U);
    EXPECT_EQ(closed(kBoot1).transfer.value().packets, 6U);
    EXPECT_THAT(closed(kBoot1).reason, HasSubstr("the machine was reset: boot 0000000000000002 follows"));
    EXPECT_TRUE(closed(kBoot2).complete) << closed(kBoot2).reason;
}

// The replaced session ends by itself before its time is over.
TEST_F(SessionTables, EndAReplacedSessionWithItsOwnEnd) {
    serve();
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 3);
    send(kAcknowledgedAgain, run_of(2), 0, 4);
    send(kAcknowledged, run, 3);
    EXPECT_TRUE(m_table->tick(m_now += SessionTable::kSupersededFor, {}).empty());
    send(kAcknowledgedAgain, run_of(2), 4);
    m_table->close_all("");
    EXPECT_EQ(m_table->outcome().complete, 2U);
}

// What is passed on again, after the session was closed for silence, is a session again and no late packet.
TEST_F(SessionTables, TakeAnAcknowledgedRunAnew) {
    serve({.sessions = 3});
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 6);
    EXPECT_TRUE(m_table->tick(m_now + std::chrono::seconds(60), std::chrono::seconds(60)).empty()) << "there is room";
    send(kOther, run_of(2), 0, 1);
    EXPECT_FALSE(m_table->settled(kAcknowledged));
    EXPECT_EQ(m_table->tick(m_now += std::chrono::seconds(60), std::chrono::seconds(60)),
              (std::vector<Address>{kAcknowledged, kOther}));
    send(kAcknowledged, run);
    m_table->close_all("");
    EXPECT_FALSE(closed(kBoot1).complete);
    EXPECT_TRUE(closed("0000000000000001-1").complete) << closed("0000000000000001-1").reason;
    EXPECT_TRUE(m_table->settled(kAcknowledged));
}

TEST_F(SessionTables, SayThatAPacketHasNoPlace) {
    record();
    const auto run = run_of(1);
    send(kAcknowledged, run, 0, 3);
    EXPECT_FALSE(m_table->take({0x7F00'0001, 1001, 9}, 1,
                               std::span(run_of(2).front()).subspan(tracer::kPacketHeaderBytes), m_now));
}

// --- what a collector leaves that is killed
// ----------------------------------------------------------------------------

TEST_F(SessionTables, ListEachSealedChunkInTheManifestAtOnce) {
    record();
    const auto run = run_of(1);
    const std::size_t per_chunk = (run.size() - 1) / 2;
    for (std::size_t sealed = 1; sealed <= 2; ++sealed) {
        send(kGuest, run, (sealed - 1) * per_chunk, sealed * per_chunk);
        m_table->settle();
        const auto manifest = formats::dat::load_manifest(m_directory / "run");
        ASSERT_TRUE(manifest.ok());
        ASSERT_EQ(manifest.value().chunks.size(), sealed);
        EXPECT_EQ(manifest.value().chunks.back().missing, 0U);
        EXPECT_FALSE(manifest.value().complete);
        EXPECT_THAT(manifest.value().reason, HasSubstr("was killed"));
    }
}

TEST_F(SessionTables, ReportAsDurableWhatWasFlushed) {
    auto directory = SessionDirectory::open(m_directory / "writer", OldSession::keep);
    Syncer syncer;
    const Limits limits;
    Usage usage;
    SessionWriter writer(directory.value(), syncer, limits, usage, [] { return Manifest(); });
    const Bytes image = chunk_of(1, 0);
    writer.add(std::span(image).first(960), 0);
    syncer.drain();
    EXPECT_EQ(writer.durability()->bytes(), 0U);
    writer.sync();
    syncer.drain();
    EXPECT_EQ(writer.durability()->bytes(), 960U);
    writer.add(std::span(image).subspan(960), 0);
    syncer.drain();
    EXPECT_EQ(writer.durability()->bytes(), image.size()) << "the chunk is whole: it is sealed";
    EXPECT_EQ(writer.taken_bytes(), image.size());
    EXPECT_TRUE(writer.durability()->idle());
}

// TRACER-V1.0 repeats nothing: no packet may be given up before a slow network has brought it.
TEST_F(SessionTables, WaitForPacketsThatANetworkDelays) {
    constexpr std::uint64_t kBoots = 5;
    constexpr std::uint64_t kPacketsASecond = 1'280;
    serve();
    for (std::uint64_t boot = 1; boot <= kBoots; ++boot) {
        ChunkBuilder builder(0);
        builder.begin.boot_id = boot;
        builder.name("task", 12, "sensor").build("control", boot);
        for (std::uint32_t i = 0; i < 19'000; ++i) {
            builder.event(1'000 + i, "ipoint", 1, i);
        }
        std::uint32_t number = 1;
        std::vector<Bytes> sent = support::packets(builder.bytes(), number);
        const auto records = builder.description().records;
        for (const Bytes& end :
             support::packets(support::export_end({1, tracer::RunResult::completed, records, 0, 0, 0}), number)) {
            sent.push_back(end);
        }
        ASSERT_GT(sent.size(), 300U);
        std::mt19937 random(static_cast<std::uint32_t>(boot));
        std::multimap<Clock::time_point, Bytes> arriving;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const auto sending = std::chrono::microseconds(i * 1'000'000 / kPacketsASecond);
            arriving.emplace(m_now + sending + std::chrono::microseconds(random() % 200'000), sent[i]);
        }
        for (const auto& [time, packet] : arriving) {
            for (; m_now + std::chrono::milliseconds(10) < time; m_now += std::chrono::milliseconds(10)) {
                m_table->tick(m_now, std::chrono::seconds(60));
            }
            send(kGuest, packet);
        }
        m_now += std::chrono::seconds(20);
    }
    m_table->close_all("asked to stop");
    for (const auto& [name, manifest] : m_observer.manifests) {
        EXPECT_TRUE(manifest.complete) << name << ": " << manifest.reason;
        EXPECT_EQ(manifest.transfer->late + manifest.transfer->lost, 0U) << name;
        EXPECT_GT(manifest.transfer->reordered, 10U) << name;
    }
    EXPECT_EQ(m_observer.manifests.size(), kBoots);
}

} // namespace session_table_test

} // namespace host::collector
