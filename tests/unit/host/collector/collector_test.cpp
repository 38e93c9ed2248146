// SPDX-License-Identifier: MIT
// Tests the collector: chunks and manifests, over a real UDP socket on the loopback. Packet numbers:
// packet_order_test.cpp; which packet belongs to which session: session_table_test.cpp.
#include "host/collector/collector.hpp"

#include "host/collector/session_directory.hpp"
#include "host/collector/session_writer.hpp"
#include "host/formats/trace.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <arpa/inet.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace host::collector {

namespace collector_test {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using testing::HasSubstr;

class Sender {
  public:
    explicit Sender(const Address& to)
        : m_descriptor(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(to.ipv4);
        where.sin_port = htons(to.port);
        EXPECT_EQ(::connect(m_descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
    }

    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    ~Sender() { ::close(m_descriptor); }

    void send(const Bytes& datagram) const {
        EXPECT_EQ(::send(m_descriptor, datagram.data(), datagram.size(), 0), static_cast<ssize_t>(datagram.size()));
    }

    void send(const std::vector<Bytes>& datagrams) const {
        for (const Bytes& datagram : datagrams) {
            send(datagram);
        }
    }

  private:
    int m_descriptor;
};

struct LastManifest : Observer {
    void closed(const SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> /*error*/) override {
        view = session;
        last = manifest;
    }

    SessionView view;
    formats::dat::Manifest last;
};

class Collecting : public testing::Test {
  protected:
    Collecting() { EXPECT_TRUE(m_socket.bind({INADDR_LOOPBACK, 0}).ok()); }

    static ChunkBuilder chunk(std::uint16_t number, std::size_t records) {
        ChunkBuilder builder(number);
        builder.name("task", 12, "sensor").build("control", 42);
        for (std::size_t i = 0; i < records; ++i) {
            builder.event(1000 + std::uint64_t{number} * 100'000 + i, "ipoint", static_cast<std::uint16_t>(i));
        }
        return builder;
    }

    // Everything was sent before: the loopback holds it, so no time passes in the test.
    formats::dat::Manifest collect() {
        Collector collector(m_socket,
                            {.directory = m_session,
                             .serve = {},
                             .limits = {},
                             .idle_timeout = std::chrono::milliseconds(300),
                             .timeout = std::chrono::milliseconds(5000)},
                            m_observer);
        EXPECT_FALSE(collector.run().error);
        const auto read_back = formats::dat::load_manifest(m_directory.path());
        EXPECT_TRUE(read_back.ok());
        EXPECT_EQ(formats::dat::to_json_text(read_back.value()), formats::dat::to_json_text(m_observer.last));
        return m_observer.last;
    }

    // Three chunks and the end: what a correct sender sends.
    std::vector<Bytes> session() {
        std::uint32_t number = 1;
        std::vector<Bytes> all;
        const auto add = [&](const Bytes& image) {
            for (Bytes& datagram : support::packets(image, number)) {
                all.push_back(std::move(datagram));
            }
        };
        for (std::uint16_t i = 0; i < 3; ++i) {
            add(chunk(i, 200).bytes());
        }
        add(support::export_end({3, tracer::RunResult::completed, 600, 0, 0, 0}));
        return all;
    }

    std::string file(int number) const { return support::read_text(m_directory / fmt_name(number)); }

    static std::string fmt_name(int number) { return std::to_string(number) + "trace.dat"; }

    static std::string text(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

    UdpSocket m_socket;
    LastManifest m_observer;
    TemporaryDirectory m_directory;
    std::shared_ptr<SessionDirectory> m_session = SessionDirectory::open(m_directory.path(), OldSession::keep).value();
};

TEST_F(Collecting, WritesEachChunkByteForByteAndAManifestThatSaysComplete) {
    Sender(m_socket.local()).send(session());
    const formats::dat::Manifest manifest = collect();
    EXPECT_TRUE(manifest.complete) << manifest.reason;
    ASSERT_EQ(manifest.chunks.size(), 3U);
    for (std::uint16_t i = 0; i < 3; ++i) {
        const Bytes image = chunk(i, 200).bytes();
        EXPECT_EQ(file(i), text(image));
        EXPECT_EQ(manifest.chunks[i].description.chunk, i);
        EXPECT_EQ(manifest.chunks[i].records, 200U);
        EXPECT_EQ(manifest.chunks[i].preamble, chunk(i, 200).description().preamble_slots);
        EXPECT_EQ(manifest.chunks[i].first_tsc, 1000U + i * 100'000U);
        EXPECT_EQ(manifest.chunks[i].last_tsc, 1199U + i * 100'000U);
        const auto checksum = formats::dat::checksum_file(m_directory / fmt_name(i));
        EXPECT_EQ(checksum.value().crc32c, manifest.chunks[i].crc32c);
        EXPECT_EQ(checksum.value().bytes, image.size());
    }
    EXPECT_EQ(manifest.build->application.view(), "control");
    EXPECT_EQ(manifest.build->seed, 42U);
    EXPECT_EQ(manifest.tsc_khz, 1'000'000U);
    EXPECT_EQ(manifest.transfer->records, 600U);
}

// A link that another process puts into the directory leads nowhere.
TEST_F(Collecting, FollowsNoLinkInItsDirectory) {
    const TemporaryDirectory elsewhere;
    const std::string precious = elsewhere.write("precious", Bytes(5, std::byte{'x'}));
    std::filesystem::create_symlink(precious, m_directory / "0trace.dat");
    Syncer syncer;
    const Limits limits;
    Usage usage;
    SessionWriter writer(m_session, syncer, limits, usage, [] { return formats::dat::Manifest(); });
    writer.add(chunk(0, 20).bytes(), 0);
    EXPECT_EQ(writer.error(), lib::Error::exists);
    std::filesystem::create_symlink(precious, m_directory / "manifest.json.new");
    EXPECT_TRUE(formats::dat::save_manifest({}, m_directory.path()).ok());
    EXPECT_EQ(support::read_text(precious), "xxxxx");
}

// A code of the metadata's family without a row is a record, as it is for every reader.
TEST_F(Collecting, CountsRecordsAfterThePreambleWhateverTheirFamily) {
    ChunkBuilder builder = chunk(0, 20);
    builder.raw(tracer::make_record(0xFC, 1, 2, {200'000})).raw(tracer::make_record(0xFC, 1, 2, {200'000}));
    std::uint32_t number = 1;
    std::vector<Bytes> all = support::packets(builder.bytes(), number);
    all.push_back(
        support::packets(support::export_end({1, tracer::RunResult::completed, 22, 0, 0, 0}), number).front());
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_TRUE(manifest.complete) << manifest.reason;
    EXPECT_EQ(manifest.chunks.at(0).records, 22U);
    EXPECT_EQ(manifest.chunks.at(0).preamble, builder.description().preamble_slots);
}

TEST_F(Collecting, IsCompleteInSpiteOfDuplicatesReorderingMalformedAndForeignPackets) {
    std::vector<Bytes> all = session();
    std::swap(all[1], all[3]);
    all.insert(all.begin() + 4, all[0]);
    Bytes other = all[0];
    other[16] ^= std::byte{1};
    all.insert(all.begin() + 1, other);
    all.insert(all.begin() + 1, Bytes(5));
    std::uint32_t far_away = 4'000'000'000; // no packets are lost in between
    all.insert(all.begin() + 2, support::packets(chunk(0, 10).plain(), far_away).front());
    const Sender ours(m_socket.local());
    const Sender foreign(m_socket.local());
    ours.send(all[0]);
    foreign.send(session()[1]);
    ours.send(std::vector<Bytes>(all.begin() + 1, all.end()));
    const formats::dat::Manifest manifest = collect();
    EXPECT_TRUE(manifest.complete) << manifest.reason;
    EXPECT_EQ(manifest.transfer->duplicate, 1U);
    EXPECT_EQ(manifest.transfer->malformed, 3U);
    EXPECT_EQ(manifest.transfer->other_senders, 1U);
    EXPECT_EQ(manifest.transfer->reordered, 1U); // the second of all: packets after it were there first
    EXPECT_EQ(file(0), text(chunk(0, 200).bytes()));
}

// Whoever sends first: a number 0 and datagrams of no form make no sender the owner.
TEST_F(Collecting, BelongsToTheFirstPlausibleSender) {
    const Sender stranger(m_socket.local());
    std::uint32_t zero = 0;
    stranger.send(support::packets(chunk(0, 10).plain(), zero).front());
    stranger.send(Bytes(200, std::byte{0x55}));
    std::uint32_t one = 1;
    stranger.send(support::packets(Bytes(320, std::byte{0x55}), one));
    Sender(m_socket.local()).send(session());
    const formats::dat::Manifest manifest = collect();
    EXPECT_TRUE(manifest.complete) << manifest.reason;
    EXPECT_EQ(manifest.transfer->malformed, 2U);
    EXPECT_EQ(manifest.transfer->other_senders, 1U);
}

// The end of an export finishes only the session of its sender, and only with its totals.
TEST_F(Collecting, IsNeverCompleteWithAForgedEnd) {
    std::uint32_t number = 1;
    const auto forged = support::packets(support::export_end({.chunks = 0, .records = 0}), number);
    const Sender stranger(m_socket.local());
    stranger.send(forged);
    stranger.send(forged);
    Sender(m_socket.local()).send(session());
    stranger.send(forged);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("another sender, 127.0.0.1:"));
    EXPECT_EQ(manifest.transfer->records, 600U) << "the trace is there all the same";
    EXPECT_EQ(manifest.transfer->lost, 0U);
}

TEST_F(Collecting, SaysHowManyRecordsAreMissingWhenAPacketIsLostInsideAChunk) {
    std::vector<Bytes> all = session();
    all.erase(all.begin() + 1);
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("1 packet was lost"));
    EXPECT_EQ(manifest.transfer->lost, 1U);
    ASSERT_EQ(manifest.chunks.size(), 3U);
    EXPECT_EQ(manifest.chunks[0].missing, 60U);
    EXPECT_EQ(manifest.chunks[1].missing, 0U);
    std::string expected = text(chunk(0, 200).bytes());
    expected.replace(std::size_t{60} * 16, std::size_t{60} * 16, std::size_t{60} * 16, '\0');
    EXPECT_EQ(file(0), expected) << "what arrived keeps its place";
    const std::uint64_t preamble = chunk(0, 200).description().preamble_slots;
    const formats::dat::ManifestGap gap{.offset = std::uint64_t{60} * 16,
                                        .slots = 60,
                                        .first_packet = 2,
                                        .packets = 1,
                                        .tsc_before = 1000 + (60 - preamble) - 1,
                                        .tsc_after = 1000 + (120 - preamble)};
    EXPECT_THAT(manifest.chunks[0].gaps, testing::ElementsAre(gap));
}

TEST_F(Collecting, ReadsWhatFollowsLostPacketsOfAPreamble) {
    ChunkBuilder builder = chunk(0, 200);
    for (std::uint16_t i = 0; i < 100; ++i) {
        builder.name("task", static_cast<std::uint16_t>(100 + i), "one of many");
    }
    std::uint32_t number = 1;
    std::vector<Bytes> all = support::packets(builder.bytes(), number);
    all.erase(all.begin() + 1, all.begin() + 3);
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    ASSERT_EQ(manifest.chunks.size(), 1U);
    EXPECT_EQ(manifest.chunks[0].records, 200U);
    EXPECT_EQ(manifest.chunks[0].missing, 120U);
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace = formats::Trace::open(m_directory.path(), {}, diagnostics);
    ASSERT_TRUE(trace.ok());
    trace.value()->for_each([&](const trace::Event&) {});
    EXPECT_EQ(trace.value()->facts().usable_events, 200U);
    EXPECT_EQ(trace.value()->facts().chunks.at(0).missing, 120U);
    EXPECT_TRUE(diagnostics.damaged());
}

TEST_F(Collecting, BelievesNoTotalsThatChangedOnTheirWay) {
    std::vector<Bytes> all = session();
    all.back()[24 + 76] ^= std::byte{2}; // of the end's fifth slot
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("the end of the export never came"));
}

TEST_F(Collecting, WritesNoMoreEmptySlotsThanWhatCameIsWorth) {
    support::ChunkBuilder liar = chunk(0, 20);
    tracer::ChunkBegin begin = liar.description();
    begin.records = 0x0FFF'FFFF;
    Syncer syncer;
    const Limits limits;
    Usage usage;
    SessionWriter writer(m_session, syncer, limits, usage, [] { return formats::dat::Manifest(); });
    writer.add(liar.with(begin), 0);
    for (int i = 0; i < 20; ++i) {
        writer.add(Bytes(16, std::byte{1}), 17'400);
    }
    writer.finish();
    EXPECT_FALSE(writer.error());
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(m_directory.path())) {
        bytes += file.file_size();
    }
    EXPECT_LT(bytes, 1'000'000U);
}

TEST_F(Collecting, IsNotCompleteIfBytesChangedOnTheirWay) {
    for (const bool flips : {false, true}) {
        Syncer syncer;
        const Limits limits;
        Usage usage;
        SessionWriter writer(m_session, syncer, limits, usage, [] { return formats::dat::Manifest(); });
        Bytes image = support::sealed(chunk(0, 20).bytes());
        image.back() ^= flips ? std::byte{1} : std::byte{0};
        writer.add(image, 0);
        writer.finish();
        EXPECT_FALSE(writer.error());
        EXPECT_EQ(writer.wrong_checksums(), flips ? 1U : 0U);
        std::filesystem::remove(m_directory / "0trace.dat");
    }
    std::uint32_t number = 1;
    Bytes image = support::sealed(chunk(0, 20).bytes());
    image.back() ^= std::byte{1};
    std::vector<Bytes> all = support::packets(image, number);
    all.push_back(support::packets(support::export_end({1, tracer::RunResult::completed, 20, 0, 0, 0}), number)[0]);
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("the checksum of 1 chunk is wrong"));
}

TEST_F(Collecting, GivesAChunkWhoseBeginningIsLostAFileOfItsOwn) {
    std::vector<Bytes> all = session();
    const std::size_t per_chunk = (all.size() - 1) / 3;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(per_chunk));
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    ASSERT_EQ(manifest.chunks.size(), 3U);
    EXPECT_EQ(manifest.chunks[0].missing, 0U);
    EXPECT_FALSE(manifest.chunks[1].described);
    EXPECT_TRUE(manifest.chunks[2].described);
    EXPECT_EQ(file(1), text(chunk(1, 200).bytes()).substr(std::size_t{60} * 16));
}

TEST_F(Collecting, EndsAsIncompleteWhenTheEndNeverComes) {
    std::vector<Bytes> all = session();
    all.pop_back();
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("the end of the export never came"));
    EXPECT_EQ(manifest.transfer->records, 600U);
}

TEST_F(Collecting, KeepsAPlainStreamInOneFile) {
    std::uint32_t number = 1;
    const ChunkBuilder plain = chunk(0, 150);
    Sender(m_socket.local()).send(support::packets(plain.plain(), number));
    const formats::dat::Manifest manifest = collect();
    ASSERT_EQ(manifest.chunks.size(), 1U);
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("without metadata"));
    EXPECT_EQ(file(0), text(plain.plain()));
    EXPECT_EQ(manifest.chunks[0].records, 150U);
}

TEST_F(Collecting, NoticesAChunkThatTheSenderAnnouncesAndNeverSends) {
    std::uint32_t number = 1;
    std::vector<Bytes> all = support::packets(chunk(0, 10).bytes(), number);
    const std::vector<Bytes> end =
        support::packets(support::export_end({2, tracer::RunResult::completed, 20, 0, 0, 0}), number);
    all.insert(all.end(), end.begin(), end.end());
    Sender(m_socket.local()).send(all);
    const formats::dat::Manifest manifest = collect();
    EXPECT_FALSE(manifest.complete);
    EXPECT_THAT(manifest.reason, HasSubstr("announces 2 chunks with 20 records; 1 with 10 came"));
}

TEST_F(Collecting, SaysThatItWasAskedToStopWhoeverAsked) {
    const volatile std::sig_atomic_t stop = 1;
    Collector collector(
        m_socket, {.directory = m_session, .serve = {}, .limits = {}, .idle_timeout = {}, .timeout = {}, .stop = &stop},
        m_observer);
    EXPECT_EQ(collector.run().complete, 0U);
    EXPECT_EQ(m_observer.last.reason, "no packet came: asked to stop");
}

TEST_F(Collecting, RefusesATakenPort) {
    UdpSocket second;
    EXPECT_EQ(second.bind(m_socket.local()).error(), lib::Error::exists);
}

TEST(Address, IsParsedStrictly) {
    EXPECT_EQ(parse_address("127.0.0.1:20000").value(), (Address{INADDR_LOOPBACK, 20000}));
    for (const char* const text : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "a:1"}) {
        EXPECT_FALSE(parse_address(text).ok()) << text;
    }
}

} // namespace collector_test

} // namespace host::collector
