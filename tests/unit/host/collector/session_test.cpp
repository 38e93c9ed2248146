// SPDX-License-Identifier: MIT
// Tests the verdict of one session, word for word: what makes it incomplete, and what its manifest counts.
#include "host/collector/session.hpp"

#include "tests/support/flushes.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>
#include <semaphore>

namespace host::collector {

namespace session_test {

using formats::dat::Manifest;
using std::chrono::milliseconds;
using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;

constexpr Address kGuest{0x7F00'0001, 1000};

struct Sealing : Observer {
    void sealed(const SessionView& session, const formats::dat::ManifestChunk& chunk) override {
        sealings.push_back(session.directory + '/' + chunk.file);
    }

    std::vector<std::string> sealings;
};

class Verdict : public testing::Test {
  protected:
    Verdict() { restart({}); }

    void restart(const Limits& limits, bool alone = true) {
        m_session.reset();
        m_limits = limits;
        m_surroundings.emplace(Surroundings{m_syncer, m_observer, m_limits, m_usage, m_strays, alone});
        m_path = m_directory / std::to_string(m_runs++);
        m_session =
            std::make_unique<Session>(SessionDirectory::open(m_path, OldSession::keep).value(), *m_surroundings);
        m_next = 1;
        m_now = {};
    }

    // Two packets of 60 records and the rest.
    static ChunkBuilder chunk(std::uint16_t number, std::uint32_t records) {
        ChunkBuilder builder(number);
        builder.begin.boot_id = 7;
        for (std::uint32_t i = 0; i < records; ++i) {
            builder.event(1'000 + i, "ipoint", 1, i);
        }
        return builder;
    }

    std::vector<Bytes> packets(const Bytes& image) { return support::packets(image, m_next); }

    void send(const Bytes& datagram, std::optional<std::uint64_t> boot_id = {}) {
        m_session->take(tracer::decode_packet_header(datagram).value().number,
                        std::span(datagram).subspan(tracer::kPacketHeaderBytes), boot_id, m_now);
    }

    void send_all(const Bytes& image) {
        for (const Bytes& datagram : packets(image)) {
            send(datagram);
        }
    }

    void bind() { m_session->bind(kGuest, 7, m_now); }

    static Bytes end(std::uint32_t chunks, std::uint64_t records) {
        return support::export_end({.chunks = chunks, .records = records});
    }

    Manifest close(const std::string& cut = "asked to stop") {
        m_session->close(cut);
        m_syncer.drain();
        EXPECT_TRUE(m_session->settled());
        Manifest result = m_session->result();
        EXPECT_EQ(result.complete, result.reason.empty());
        if (!m_session->error()) {
            const auto stored = formats::dat::load_manifest(m_path);
            EXPECT_TRUE(stored.ok());
            EXPECT_EQ(to_json_text(stored.value()), to_json_text(result));
        }
        return result;
    }

    TemporaryDirectory m_directory;
    Limits m_limits;
    Usage m_usage;
    Strays m_strays;
    Sealing m_observer;
    Syncer m_syncer;
    std::optional<Surroundings> m_surroundings;
    int m_runs = 0;
    std::string m_path;
    std::unique_ptr<Session> m_session;
    std::uint32_t m_next = 1;
    Clock::time_point m_now;
};

TEST_F(Verdict, HasAManifestBeforeAnythingIsFlushed) {
    std::binary_semaphore disk(0);
    const auto wait = [&disk](int) {
        disk.acquire();
        disk.release();
        return 0;
    };
    const support::WithFlushes slow({.of_file = wait, .of_file_system = wait, .of_name = wait});
    restart({});
    EXPECT_EQ(formats::dat::load_manifest(m_path).value().reason, "the collector was still receiving, or was killed");
    disk.release();
    m_syncer.drain();
}

TEST_F(Verdict, IsCompleteIfAllThatWasAnnouncedCame) {
    m_strays.socket_overflow = 5;
    restart({});
    bind();
    ChunkBuilder builder = chunk(0, 150);
    builder.begin.tsc_error_ppm = 12;
    builder.build("control", 42);
    send_all(builder.bytes());
    EXPECT_FALSE(m_session->ended());
    send_all(end(1, 150));
    EXPECT_TRUE(m_session->ended());
    EXPECT_EQ(m_observer.sealings, std::vector<std::string>{m_path + "/0trace.dat"});
    m_strays.socket_overflow = 7;
    m_strays.packets = 3;
    m_strays.malformed = 4;
    m_strays.malformed_acknowledged = 5;
    m_session->count_malformed();
    const Manifest manifest = close();
    EXPECT_EQ(manifest.reason, "");
    EXPECT_EQ(manifest.origin, "udp");
    EXPECT_EQ(manifest.clock_mode, tracer::ClockMode::icount);
    EXPECT_EQ(manifest.tsc_source, tracer::TscSource::hpet);
    EXPECT_EQ(manifest.tsc_khz, 1'000'000U);
    EXPECT_EQ(manifest.tsc_error_ppm, 12U);
    EXPECT_EQ(manifest.boot_id, 7U);
    EXPECT_EQ(manifest.build.value().seed, 42U);
    EXPECT_EQ(manifest.announced.value().records, 150U);
    ASSERT_EQ(manifest.chunks.size(), 1U);
    const formats::dat::ManifestTransfer& transfer = manifest.transfer.value();
    EXPECT_EQ(transfer.packets, 4U);
    EXPECT_EQ(transfer.records, 150U);
    EXPECT_EQ(transfer.malformed, 10U);
    EXPECT_EQ(transfer.other_senders, 3U);
    EXPECT_EQ(transfer.socket_overflow, 2U) << "since it began";
    EXPECT_EQ(transfer.lost + transfer.late + transfer.duplicate + transfer.conflicts + transfer.reordered +
                  transfer.stray_records,
              0U);
}

// With --serve what belongs to no session is nothing to this one.
TEST_F(Verdict, CountsNoStrangersAmongManySessions) {
    restart({}, false);
    bind();
    send_all(chunk(0, 10).bytes());
    send_all(end(1, 10));
    m_session->count_malformed();
    m_strays = {.packets = 3, .malformed = 4, .malformed_acknowledged = 5, .traces = 6, .socket_overflow = 0};
    const Manifest manifest = close();
    EXPECT_TRUE(manifest.complete) << manifest.reason;
    EXPECT_EQ(manifest.transfer.value().malformed, 1U);
    EXPECT_EQ(manifest.transfer.value().other_senders, 0U);
}

TEST_F(Verdict, SaysUntilTheEndThatItReceives) {
    m_syncer.drain();
    const auto stored = formats::dat::load_manifest(m_path);
    ASSERT_TRUE(stored.ok()) << "from the beginning on";
    EXPECT_FALSE(stored.value().complete);
    EXPECT_EQ(stored.value().reason, "the collector was still receiving, or was killed");
    EXPECT_FALSE(m_session->settled());
}

// Who reads a session that still grows would take what is stated of a part of a chunk for the whole of it.
TEST_F(Verdict, ListsNoChunkWhoseFileStillGrows) {
    bind();
    for (std::uint16_t number = 0; number < 3; ++number) {
        send_all(chunk(number, 10).bytes()); // faster than manifests become durable: the last ones are listed later
    }
    send(packets(chunk(3, 150).bytes()).front());
    m_syncer.drain();
    m_session->list_sealed();
    m_syncer.drain();
    EXPECT_EQ(formats::dat::load_manifest(m_path).value().chunks.size(), 3U);
    EXPECT_EQ(close().chunks.size(), 4U);
}

TEST_F(Verdict, SaysThatNothingCame) {
    EXPECT_EQ(close().reason, "no packet came: asked to stop");
    restart({});
    m_strays.packets = 1;
    EXPECT_EQ(close().reason, "no chunk came, only 1 packet that belongs to none: asked to stop");
    restart({});
    m_strays.packets = 2;
    EXPECT_EQ(close().reason, "no chunk came, only 2 packets that belong to none: asked to stop");
}

TEST_F(Verdict, SaysHowManyPacketsWereLost) {
    for (const std::uint32_t lost : {1U, 2U}) {
        restart({});
        bind();
        m_next += lost;
        send_all(chunk(0, 10).bytes());
        send_all(end(1, 10));
        const Manifest manifest = close();
        EXPECT_EQ(manifest.reason, lost == 1 ? "1 packet was lost" : "2 packets were lost");
        EXPECT_EQ(manifest.transfer.value().lost, lost);
    }
}

TEST_F(Verdict, SaysThatPacketsCameAgainWithOtherContents) {
    for (const std::size_t conflicts : {1U, 2U}) {
        restart({});
        bind();
        auto all = packets(chunk(0, 150).bytes());
        for (const Bytes& datagram : all) {
            send(datagram);
        }
        for (std::size_t i = 0; i < conflicts; ++i) {
            all[i].back() ^= std::byte{1};
            send(all[i]);
        }
        send_all(end(1, 150));
        EXPECT_EQ(close().reason, std::string(conflicts == 1 ? "1 packet" : "2 packets") +
                                      " came again with other contents: another sender, or a machine that was reset");
    }
}

TEST_F(Verdict, DoubtsARunBesideATraceOfAnotherSender) {
    bind();
    send_all(chunk(0, 10).bytes());
    send_all(end(1, 10));
    m_strays.traces = 1;
    m_strays.sender = {0x0102'0304, 5};
    EXPECT_EQ(close().reason,
              "another sender, 1.2.3.4:5, sent a trace at the same time (--serve keeps each in a session "
              "of its own)");
}

TEST_F(Verdict, SaysThatTheEndNeverCame) {
    bind();
    EXPECT_EQ(close().reason, "the end of the export never came: asked to stop") << "and no chunk either";
    restart({});
    bind();
    send_all(chunk(0, 10).bytes());
    EXPECT_EQ(close("the socket failed").reason, "the end of the export never came: the socket failed");
    restart({});
    bind();
    send_all(chunk(0, 10).plain());
    EXPECT_EQ(close().reason, "a stream without metadata has no end mark: asked to stop");
}

// Each packet came: the machine sent no more.
TEST_F(Verdict, SaysHowManyRecordsAreMissing) {
    bind();
    Bytes first = chunk(0, 10).bytes();
    first.resize(first.size() - 32);
    Bytes second = chunk(1, 10).bytes();
    second.resize(second.size() - 16);
    send_all(first);
    send_all(second);
    send_all(end(2, 17));
    EXPECT_EQ(close().reason, "3 records are missing");
}

TEST_F(Verdict, SaysWhichChecksumsAreWrong) {
    for (const std::size_t wrong : {1U, 2U}) {
        restart({});
        bind();
        for (std::uint16_t i = 0; i < wrong; ++i) {
            Bytes image = support::sealed(chunk(i, 10).bytes());
            image.back() ^= std::byte{1};
            send_all(image);
        }
        send_all(end(static_cast<std::uint32_t>(wrong), 10 * wrong));
        EXPECT_EQ(close().reason, std::string("the checksum of ") + (wrong == 1 ? "1 chunk" : "2 chunks") +
                                      " is wrong: bytes changed on their way");
    }
}

TEST_F(Verdict, SaysThatRecordsBelongToNoChunk) {
    bind();
    send_all(chunk(0, 10).bytes());
    send_all(chunk(0, 3).plain());
    send_all(end(1, 10));
    const Manifest manifest = close();
    EXPECT_EQ(manifest.reason, "3 records belong to no chunk");
    EXPECT_EQ(manifest.transfer.value().stray_records, 3U);
}

TEST_F(Verdict, ComparesChunksAndRecordsWithWhatWasAnnounced) {
    for (const auto& [chunks, records] :
         {std::pair{1U, 11U}, std::pair{2U, 10U}, std::pair{0U, 10U}, std::pair{1U, 9U}}) {
        restart({});
        bind();
        send_all(chunk(0, 10).bytes());
        send_all(end(chunks, records));
        EXPECT_EQ(close().reason, "the sender announces " + std::to_string(chunks) + " chunks with " +
                                      std::to_string(records) + " records; 1 with 10 came");
    }
}

TEST_F(Verdict, NamesTheLimitThatEndedIt) {
    restart({.files = 0});
    bind();
    send_all(chunk(0, 10).bytes());
    EXPECT_TRUE(m_session->ended());
    EXPECT_EQ(m_session->error(), lib::Error::no_space);
    EXPECT_EQ(close().reason, "cut off by a limit: a session has at most 0 files");
}

TEST_F(Verdict, SaysThatWritingFailed) {
    m_directory.write("0/0trace.dat", Bytes(1));
    bind();
    send_all(chunk(0, 10).bytes());
    EXPECT_TRUE(m_session->ended());
    const Manifest manifest = close();
    EXPECT_FALSE(manifest.complete);
    EXPECT_TRUE(manifest.reason.starts_with("writing failed: ")) << manifest.reason;
}

// --- packets and boots -------------------------------------------------------------------------------------------

TEST_F(Verdict, WaitsAQuarterOfASecondForAPacketThatIsMissing) {
    bind();
    EXPECT_EQ(m_session->last_packet(), m_now) << "of a sender, before its first packet";
    const auto all = packets(chunk(0, 150).bytes());
    m_now += milliseconds(100);
    send(all[0]);
    send(all[2]);
    m_session->tick(m_now += milliseconds(249));
    EXPECT_EQ(m_session->counts().delivered, 1U);
    m_session->tick(m_now += milliseconds(1));
    EXPECT_EQ(m_session->counts().delivered, 2U);
    EXPECT_EQ(m_session->counts().lost, 1U);
    EXPECT_EQ(m_session->last_packet(), m_now - milliseconds(250));
}

TEST_F(Verdict, GivesUpAtTheEndWhatIsMissing) {
    bind();
    const auto all = packets(chunk(0, 150).bytes());
    send(all[0]);
    send(all[2]);
    const Manifest manifest = close();
    EXPECT_EQ(manifest.reason, "1 packet was lost");
    EXPECT_EQ(manifest.transfer.value().packets, 2U);
}

TEST_F(Verdict, KeepsTheFirstBootThatIsNamed) {
    m_session->bind(kGuest, 0, m_now);
    EXPECT_EQ(m_session->boot_id(), 0U);
    const auto all = packets(chunk(0, 150).bytes());
    send(all[0]);
    EXPECT_EQ(m_session->boot_id(), 0U);
    send(all[1], 9);
    EXPECT_EQ(m_session->boot_id(), 9U);
    send(all[2], 8);
    EXPECT_EQ(m_session->boot_id(), 9U);
    EXPECT_EQ(m_session->view().boot_id, 9U);
    EXPECT_EQ(m_session->view().sender, kGuest);
    EXPECT_EQ(m_session->view().directory, m_path);
}

TEST_F(Verdict, KnowsAChunkOfAnotherBoot) {
    bind();
    EXPECT_FALSE(m_session->is_other_boot(7, 1));
    EXPECT_TRUE(m_session->is_other_boot(8, 1));
    EXPECT_FALSE(m_session->is_other_boot(0, 1)) << "no boot is named";
    restart({});
    m_session->bind(kGuest, 0, m_now);
    send_all(chunk(0, 10).plain()); // packet 1
    EXPECT_TRUE(m_session->is_other_boot(7, 1)) << "a number that it has passed";
    EXPECT_FALSE(m_session->is_other_boot(7, 2));
}

} // namespace session_test

} // namespace host::collector
