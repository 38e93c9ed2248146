// SPDX-License-Identifier: MIT
// Tests compact chunks on the host: the same events as from records, in every layout; damage with its place; a session
// that was received.
#include "host/analyse/account.hpp"
#include "host/collector/session_writer.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tracer/compact/decoder.hpp"

#include <gmock/gmock.h>

namespace host::formats::compact_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using testing::HasSubstr;

class CompactReading : public testing::Test {
  protected:
    struct Seen {
        std::uint16_t raw_code;
        std::uint64_t ticks;
        std::uint16_t par1;
        std::uint32_t par2;
        bool operator==(const Seen&) const = default;
    };

    trace::ExitStatus read(std::span<const std::byte> bytes, const trace::OpenOptions& options = {}) {
        return read_path(m_directory.write("0trace.dat", bytes), options);
    }

    trace::ExitStatus read_path(const std::string& path, const trace::OpenOptions& options = {}) {
        m_lines.clear();
        m_seen.clear();
        m_doubtful = 0;
        trace::Diagnostics diagnostics([this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        const auto opened = Trace::open(path, options, diagnostics);
        EXPECT_TRUE(opened.ok());
        opened.value()->for_each([&](const trace::Event& event) {
            if (!event.metadata) {
                m_doubtful += event.doubtful ? 1 : 0;
                m_seen.push_back({event.raw_code, event.ticks.value, event.par1, event.par2});
            }
        });
        diagnostics.finish();
        m_chunks = opened.value()->facts().chunks;
        m_faults = analyse::manifest_faults(*opened.value()).size();
        return diagnostics.exit_status(opened.value()->facts().usable_events != 0);
    }

    // Tasks taking turns; long enough for several windows of the reader.
    static ChunkBuilder busy(std::uint16_t number = 3, std::uint32_t wide = 7) {
        ChunkBuilder chunk(number);
        chunk.name("task", 1, "one");
        std::uint64_t ticks = 1'000'000;
        for (unsigned i = 0; i < 5'000; ++i) {
            chunk.event(ticks, i % 2 == 0 ? "task_schedule" : "timer_post", static_cast<std::uint16_t>(i * i % 5),
                        i % 7 == 0 ? wide : i % 3);
            ticks += i % 100 == 0 ? 1'000'000'000 : 100 + i % 3;
        }
        return chunk;
    }

    TemporaryDirectory m_directory;
    std::string m_lines;
    std::vector<Seen> m_seen;
    std::size_t m_doubtful = 0; // of those
    std::vector<trace::ChunkReport> m_chunks;
    std::size_t m_faults = 0;
};

TEST_F(CompactReading, GivesTheSameEventsAsRecordsDo) {
    const ChunkBuilder chunk = busy();
    ASSERT_EQ(read(chunk.bytes()), trace::ExitStatus::clean) << m_lines;
    const auto plain = m_seen;
    for (const auto& row : tracer::compact::kLayoutRows) {
        SCOPED_TRACE(row.name);
        ASSERT_EQ(read(chunk.compact(row.layout, 3)), trace::ExitStatus::clean) << m_lines;
        ASSERT_EQ(m_seen.size(), plain.size());
        for (std::size_t i = 0; i < plain.size(); ++i) {
            Seen exact = m_seen[i];
            ASSERT_LE(exact.ticks, plain[i].ticks);
            ASSERT_LT(plain[i].ticks - exact.ticks, std::uint64_t{1} << row.lsb);
            exact.ticks = plain[i].ticks;
            ASSERT_EQ(exact, plain[i]) << i;
        }
        ASSERT_EQ(m_chunks.size(), 1U);
        EXPECT_EQ(m_chunks[0].events, plain.size());
        EXPECT_EQ(m_chunks[0].missing + m_chunks[0].extra + m_chunks[0].skipped, 0U);
    }
}

// Memory does not grow with the stream.
TEST_F(CompactReading, TakesNoMoreOfAStreamThanItsWindow) {
    ChunkBuilder chunk;
    for (std::uint32_t i = 0; i < 5'000; ++i) {
        chunk.event(1'000'000 + i * i, "ipoint", static_cast<std::uint16_t>(i), i * 0x9E37'79B9U);
    }
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened =
        Trace::open(m_directory.write("0trace.dat", chunk.compact(tracer::compact::Layout::a)), {}, diagnostics);
    ASSERT_TRUE(opened.ok());
    while (opened.value()->next_batch().front().metadata) {
    }
    constexpr std::size_t kWindowBytes = 4 * tracer::compact::Decoder::kLookaheadBytes;
    const std::uint64_t taken = opened.value()->facts().chunks.at(0).records;
    EXPECT_EQ(taken, (kWindowBytes + tracer::kRecordBytes - 1) / tracer::kRecordBytes);
    EXPECT_LT(taken, opened.value()->facts().chunks.at(0).description.records);
}

// Fewer than there are, or more: that a record was skipped is known, and at least one.
TEST_F(CompactReading, ReportsAnotherNumberOfRecordsThanItsHeaderAnnounces) {
    ChunkBuilder chunk;
    chunk.event(1000, "ipoint", 1).event(2000, "ipoint", 2).event(3000, "ipoint", 3);
    for (const auto& [announced, skipped] : {std::pair{2U, 1U}, {4U, 1U}, {7U, 4U}}) {
        Bytes bytes = chunk.compact(tracer::compact::Layout::a);
        const auto payload_byte = [&bytes](std::size_t at) -> std::byte& {
            return bytes[at / 6 * 16 + (at % 6 < 2 ? 2 + at % 6 : 10 + at % 6)];
        };
        ASSERT_EQ(payload_byte(66), std::byte{3});
        payload_byte(66) = static_cast<std::byte>(announced);
        EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
        EXPECT_THAT(m_lines,
                    HasSubstr(fmt::format("E-COMPACT the chunk decodes to 3 records and announces {}\n", announced)));
        EXPECT_EQ(m_chunks.at(0).skipped, skipped);
        EXPECT_EQ(m_seen.size(), 3U);
    }
}

TEST_F(CompactReading, ContinuesWithTheNextChunk) {
    Bytes both = busy(1).compact(tracer::compact::Layout::a);
    const Bytes second = busy(2).bytes();
    both.insert(both.end(), second.begin(), second.end());
    ASSERT_EQ(read(both), trace::ExitStatus::clean) << m_lines;
    EXPECT_EQ(m_chunks.size(), 2U);
    EXPECT_EQ(m_seen.size(), 10'000U);
}

// They are of another chunk, before which any records may be missing.
TEST_F(CompactReading, DoubtsTheRecordsAfterThoseThatItAnnounces) {
    for (const std::size_t emergency : {0U, 2U}) {
        ChunkBuilder surplus(4);
        const Bytes extra = surplus.event(9'000'000'000'000, "panic").bytes();
        Bytes bytes = busy().compact(tracer::compact::Layout::a, emergency);
        bytes.insert(bytes.end(), extra.end() - tracer::kRecordBytes, extra.end());
        EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
        EXPECT_THAT(m_lines, HasSubstr("W-EXTRA 1 records more"));
        EXPECT_EQ(m_seen.size(), 5'001U);
        EXPECT_EQ(m_doubtful, 1U);
    }
}

TEST_F(CompactReading, IsFoundAgainAtAnyByteAfterALoss) {
    const Bytes first = busy(1).compact(tracer::compact::Layout::a);
    const Bytes others[] = {busy(2).compact(tracer::compact::Layout::a), busy(3).bytes()};
    for (const std::size_t lost : {1U, 7U, 16U, 21U}) {
        Bytes bytes = first;
        const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
        bytes.erase(middle, middle + static_cast<std::ptrdiff_t>(lost));
        for (const Bytes& other : others) {
            bytes.insert(bytes.end(), other.begin(), other.end());
        }
        EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
        EXPECT_EQ(m_chunks.size(), 3U) << lost;
        EXPECT_EQ(std::ranges::count(m_chunks, false, &trace::ChunkReport::damaged), 2) << lost << m_lines;
        EXPECT_GE(m_seen.size() - m_doubtful, 10'000U) << lost;
        EXPECT_LE(m_seen.size() - m_doubtful, 15'000U) << lost;
    }
}

TEST_F(CompactReading, ReportsWhereAStreamIsDamaged) {
    const ChunkBuilder chunk = busy();
    const Bytes good = chunk.compact(tracer::compact::Layout::a, 2);
    const std::size_t begin = chunk.description().preamble_slots * tracer::kRecordBytes;
    for (std::size_t at = begin + 48; at < good.size() - 48; at += 997) {
        Bytes bad = good;
        bad[at] ^= std::byte{0x10};
        EXPECT_EQ(read(bad), trace::ExitStatus::damaged) << at;
        EXPECT_THAT(m_lines, HasSubstr("W-BCRC")) << at;
        EXPECT_EQ(m_seen.size(), 2U) << "nothing of the stream";
        EXPECT_EQ(read(bad, {.salvage = true}), trace::ExitStatus::damaged) << at;
        EXPECT_THAT(m_lines, HasSubstr("E-COMPACT")) << at;
        EXPECT_THAT(m_lines, HasSubstr("0trace.dat:0x")) << at;
    }
    Bytes bad = good;
    bad[begin] ^= std::byte{1};
    EXPECT_EQ(read(bad), trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines,
                HasSubstr(fmt::format("0trace.dat:0x{:x} chunk 3 cpu 0 E-COMPACT this is no compact stream", begin)));
    EXPECT_EQ(m_seen.size(), 2U) << "the emergency area is still read";
}

TEST_F(CompactReading, ReportsThatAStreamIsCutOff) {
    const Bytes good = busy().compact(tracer::compact::Layout::a);
    for (const std::size_t cut : {std::size_t{16}, good.size() / 2, std::size_t{8'000}}) {
        EXPECT_EQ(read(std::span(good).first(good.size() - cut)), trace::ExitStatus::damaged);
        EXPECT_THAT(m_lines, HasSubstr("W-SHORT"));
        EXPECT_THAT(m_lines, HasSubstr("E-COMPACT the compact stream is cut off"));
    }
}

// A session's writer, and what it shares with its collector.
struct Writing {
    explicit Writing(const std::string& path)
        : writer(collector::SessionDirectory::open(path, collector::OldSession::keep).value(), syncer, limits, usage,
                 [] { return dat::Manifest(); }) {}

    collector::Syncer syncer;
    collector::Limits limits;
    collector::Usage usage;
    collector::SessionWriter writer;
};

TEST_F(CompactReading, IsReceivedByteForByteWhateverItsWordsLookLike) {
    // In this layout each seventh event has a word at a multiple of 16 that reads like the first slot of a chunk_begin.
    const ChunkBuilder chunk = busy(5, 0x0001'100C);
    const Bytes image = chunk.compact(tracer::compact::Layout::large64, 2);
    std::size_t alike = 0;
    for (std::size_t at = chunk.description().preamble_slots * 16; at < image.size(); at += 16) {
        alike += lib::load_le<std::uint16_t>(std::span(image).subspan(at)) == 0x100C ? 1U : 0U;
    }
    ASSERT_GT(alike, 0U);
    Writing writing(m_directory.path());
    collector::SessionWriter& writer = writing.writer;
    constexpr std::size_t kPacket = 60 * tracer::kRecordBytes;
    const Bytes next = busy(6).bytes();
    for (const Bytes* const each : {&image, &next}) {
        for (std::size_t at = 0; at < each->size(); at += kPacket) {
            writer.add(std::span(*each).subspan(at, std::min(kPacket, each->size() - at)), 0);
        }
    }
    writer.finish();
    ASSERT_FALSE(writer.error());
    writing.syncer.drain();
    ASSERT_EQ(writer.chunks().size(), 2U);
    EXPECT_EQ(writer.chunks()[0].bytes, image.size());
    EXPECT_EQ(writer.chunks()[0].missing, 0U);
    EXPECT_EQ(writer.stray_records(), 0U);
    dat::Manifest manifest;
    manifest.origin = "udp";
    manifest.complete = true;
    manifest.chunks = writer.chunks();
    const auto parsed = dat::parse_manifest(dat::to_json_text(manifest));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(dat::encoding_name(parsed.value().chunks[0].description), "compact large64");
    EXPECT_EQ(parsed.value().chunks[0].description.events, 5'000U);
    ASSERT_TRUE(dat::save_manifest(manifest, m_directory.path()).ok());
    EXPECT_EQ(read_path(m_directory.path()), trace::ExitStatus::clean) << m_lines;
    EXPECT_EQ(m_seen.size(), 10'000U);
    EXPECT_EQ(m_faults, 0U);
}

TEST_F(CompactReading, FindsTheNextChunkWhenTheEndOfAStreamIsLost) {
    const Bytes image = busy(5).compact(tracer::compact::Layout::a);
    const Bytes next = busy(6).bytes();
    Writing writing(m_directory.path());
    collector::SessionWriter& writer = writing.writer;
    constexpr std::size_t kPacket = 60 * tracer::kRecordBytes;
    const std::size_t kept = image.size() / kPacket / 2;
    for (std::size_t packet = 0; packet < kept; ++packet) {
        writer.add(std::span(image).subspan(packet * kPacket, kPacket), 0);
    }
    for (std::size_t at = 0; at < next.size(); at += kPacket) { // more is lost than is noticed
        writer.add(std::span(next).subspan(at, std::min(kPacket, next.size() - at)), at == 0 ? 1 : 0);
    }
    writer.finish();
    ASSERT_FALSE(writer.error());
    writing.syncer.drain();
    ASSERT_EQ(writer.chunks().size(), 2U);
    EXPECT_EQ(writer.chunks()[0].missing, image.size() / tracer::kRecordBytes - kept * 60);
    EXPECT_EQ(writer.chunks()[1].missing, 0U);
    EXPECT_EQ(writer.chunks()[1].bytes, next.size());
}

} // namespace

} // namespace host::formats::compact_test
