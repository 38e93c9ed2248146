// SPDX-License-Identifier: MIT
// Which file each record is stored in, and what the manifest states about it: chunks one after the other, gaps of every
// length, chunks without a beginning, streams that are no records, limits.
#include "host/collector/session_writer.hpp"

#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace host::collector {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using Lines = std::vector<std::string>;

std::string number(const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : std::string("-");
}

// All that a manifest states about a chunk besides its own description.
std::string in_words(const formats::dat::ManifestChunk& chunk) {
    std::string words =
        fmt::format("{}{} {}+{} missing {} stamps {}..{}", chunk.file, chunk.described ? "" : " (plain)",
                    chunk.preamble, chunk.records, chunk.missing, number(chunk.first_tsc), number(chunk.last_tsc));
    for (const formats::dat::ManifestGap& gap : chunk.gaps) {
        words += fmt::format(" | {} slots at {}, packets {} +{}, stamps {}..{}", gap.slots, gap.offset / 16,
                             gap.first_packet, gap.packets, number(gap.tsc_before), number(gap.tsc_after));
    }
    return words;
}

class SessionWriting : public testing::Test {
  protected:
    SessionWriting() { restart({}); }

    void restart(const Limits& limits) {
        m_writer.reset();
        m_limits = limits;
        m_path = m_directory / std::to_string(m_runs++);
        m_session = SessionDirectory::open(m_path, OldSession::keep).value();
        m_writer = std::make_unique<SessionWriter>(
            m_session, m_syncer, m_limits, m_usage,
            [this] {
                ++m_manifests;
                return formats::dat::Manifest();
            },
            [this](const formats::dat::ManifestChunk& chunk) { m_sealed.push_back(chunk.file); });
    }

    // Events at the ticks 1000, 1001 and so on after its preamble of `preamble()` slots.
    static ChunkBuilder chunk(std::uint16_t number, std::uint32_t records) {
        ChunkBuilder builder(number);
        for (std::uint32_t i = 0; i < records; ++i) {
            builder.event(1'000 + i, "ipoint", 1, i);
        }
        return builder;
    }

    static std::uint32_t preamble() { return chunk(0, 1).description().preamble_slots; }

    // The slots [begin, end) as one packet.
    void add(const Bytes& image, std::size_t begin, std::size_t end, std::uint64_t lost_before = 0) {
        m_writer->add(std::span(image).subspan(16 * begin, 16 * (end - begin)), lost_before);
    }

    void add(const Bytes& image, std::uint64_t lost_before = 0) { m_writer->add(image, lost_before); }

    [[nodiscard]] Lines chunks() const {
        Lines lines;
        for (const formats::dat::ManifestChunk& chunk : m_writer->chunks()) {
            lines.push_back(in_words(chunk));
            const auto checksum = formats::dat::checksum_file(m_path + '/' + chunk.file);
            EXPECT_EQ(checksum.value().bytes, chunk.bytes);
            EXPECT_EQ(checksum.value().crc32c, chunk.crc32c);
        }
        return lines;
    }

    [[nodiscard]] std::string file(int number) const {
        return support::read_text(m_path + '/' + std::to_string(number) + "trace.dat");
    }

    static std::string text(const Bytes& bytes, std::size_t begin = 0, std::size_t end = 1'000'000) {
        const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return all.substr(16 * begin, 16 * (end - begin));
    }

    static std::string empty_slots(std::size_t count) { return std::string(16 * count, '\0'); }

    TemporaryDirectory m_directory;
    Limits m_limits;
    Usage m_usage;
    Syncer m_syncer;
    int m_runs = 0;
    std::string m_path;
    std::shared_ptr<SessionDirectory> m_session;
    int m_manifests = 0;
    Lines m_sealed;
    std::unique_ptr<SessionWriter> m_writer;
};

TEST_F(SessionWriting, SealsEachChunkWithItsLastRecord) {
    const Bytes first = chunk(0, 5).bytes();
    const Bytes second = chunk(1, 3).bytes();
    add(first, 0, preamble() + 4);
    EXPECT_TRUE(m_sealed.empty());
    add(first, preamble() + 4, preamble() + 5);
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
    add(second);
    EXPECT_EQ(m_sealed, (Lines{"0trace.dat", "1trace.dat"}));
    EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+5 missing 0 stamps 1000..1004", preamble()),
                               fmt::format("1trace.dat {}+3 missing 0 stamps 1000..1002", preamble())}));
    EXPECT_EQ(file(0), text(first));
    EXPECT_EQ(file(1), text(second));
    EXPECT_EQ(m_writer->records(), 8U);
    EXPECT_EQ(m_writer->stray_records(), 0U);
    EXPECT_EQ(m_writer->taken_bytes(), first.size() + second.size());
    EXPECT_EQ(m_usage.bytes, first.size() + second.size());
    EXPECT_FALSE(m_writer->error());
    EXPECT_FALSE(m_writer->build());
    m_writer->finish();
    EXPECT_EQ(m_sealed.size(), 2U) << "nothing was open";
}

TEST_F(SessionWriting, SealsWhatIsOpenAtTheEndAndStatesWhatIsMissing) {
    add(chunk(0, 5).bytes(), 0, preamble() + 2);
    m_writer->finish();
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
    EXPECT_EQ(chunks(), Lines{fmt::format("0trace.dat {}+2 missing 3 stamps 1000..1001", preamble())});
}

// A chunk starts a packet, but whoever sends may do otherwise: records decide.
TEST_F(SessionWriting, BeginsAFileWhereverAChunkBegins) {
    Bytes both = chunk(0, 2).bytes();
    const Bytes second = chunk(1, 2).bytes();
    both.insert(both.end(), second.begin(), second.end());
    add(both);
    EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+2 missing 0 stamps 1000..1001", preamble()),
                               fmt::format("1trace.dat {}+2 missing 0 stamps 1000..1001", preamble())}));
}

TEST_F(SessionWriting, CutsAChunkWhereAnotherOneBegins) {
    add(chunk(0, 5).bytes(), 0, preamble() + 1);
    add(chunk(1, 2).bytes());
    EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+1 missing 4 stamps 1000..1000", preamble()),
                               fmt::format("1trace.dat {}+2 missing 0 stamps 1000..1001", preamble())}));
}

TEST_F(SessionWriting, CountsWhatNoChunkAnnounced) {
    add(chunk(0, 2).bytes());
    add(chunk(0, 3).plain());
    EXPECT_EQ(m_writer->stray_records(), 3U);
    EXPECT_EQ(m_writer->records(), 2U);
    EXPECT_EQ(chunks().size(), 1U);
    add(support::export_end({.chunks = 1, .records = 2}));
    ASSERT_TRUE(m_writer->export_end());
    EXPECT_EQ(m_writer->export_end()->chunks, 1U);
    EXPECT_EQ(m_writer->export_end()->records, 2U);
    add(chunk(0, 3).plain());
    EXPECT_EQ(m_writer->stray_records(), 6U);
    EXPECT_EQ(chunks().size(), 1U) << "the end of the export is in no file";
}

TEST_F(SessionWriting, TakesTheEndForNoRecordOfAPlainStream) {
    add(chunk(0, 3).plain());
    EXPECT_TRUE(m_sealed.empty());
    add(support::export_end({.chunks = 1, .records = 3}));
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
    EXPECT_EQ(chunks(), Lines{"0trace.dat (plain) 0+3 missing 0 stamps 1000..1002"});
    EXPECT_TRUE(m_writer->export_end());
    EXPECT_EQ(file(0), text(chunk(0, 3).plain()));
}

TEST_F(SessionWriting, StatesTheBuildOfThePreamble) {
    ChunkBuilder builder(0);
    builder.build("control", 42, 7).event(1'000, "ipoint");
    add(builder.bytes());
    ASSERT_TRUE(m_writer->build());
    EXPECT_EQ(m_writer->build()->application.view(), "control");
    EXPECT_EQ(m_writer->build()->seed, 42U);
    EXPECT_EQ(m_writer->build()->image_id, 7U);
    EXPECT_EQ(chunks(),
              Lines{fmt::format("0trace.dat {}+1 missing 0 stamps 1000..1000", builder.description().preamble_slots)});
}

// --- gaps --------------------------------------------------------------------------------------------------------

// Lost packets carried as many records as the largest that came.
TEST_F(SessionWriting, KeepsThePlacesOfLostPackets) {
    const Bytes image = chunk(0, 100).bytes();
    const std::uint32_t p = preamble();
    add(image, 0, p + 2);
    add(image, p + 2, p + 22);
    add(image, p + 62, p + 80, 2); // 40 slots
    add(image, p + 80, p + 100);
    EXPECT_EQ(chunks(), Lines{fmt::format("0trace.dat {}+60 missing 40 stamps 1000..1099 | 40 slots at {}, packets 3 "
                                          "+2, stamps 1021..1062",
                                          p, p + 22)});
    EXPECT_EQ(file(0), text(image, 0, p + 22) + empty_slots(40) + text(image, p + 62, p + 100));
    EXPECT_EQ(m_usage.bytes, image.size());
    EXPECT_EQ(m_writer->records(), 60U);
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
}

TEST_F(SessionWriting, StatesEveryGapOfAChunk) {
    const std::uint32_t p = preamble();
    const Bytes image = chunk(0, 140).bytes();
    add(image, 0, p + 5);
    add(image, 2 * p + 10, 3 * p + 15, 1);
    add(image, 4 * p + 20, p + 140, 1);
    const auto stamp = [p](std::uint32_t slot) { return 1'000 + slot - p; };
    EXPECT_EQ(chunks(), Lines{fmt::format("0trace.dat {}+{} missing {} stamps 1000..1139 | {} slots at {}, packets 2 "
                                          "+1, stamps {}..{} | {} slots at {}, packets 4 +1, stamps {}..{}",
                                          p, 130 - 2 * p, 2 * p + 10, p + 5, p + 5, stamp(p + 4), stamp(2 * p + 10),
                                          p + 5, 3 * p + 15, stamp(3 * p + 14), stamp(4 * p + 20))});
}

// Nothing came between two losses: they are one gap.
TEST_F(SessionWriting, ContainsTheRestOfAChunkInAGapThatIsLongEnough) {
    const Bytes image = chunk(0, 40).bytes();
    const std::uint32_t p = preamble();
    for (const std::uint64_t lost : {1U, 2U}) {
        restart({});
        add(image, 0, p + 20);
        add(image, p + 30, p + 40, lost); // of a later chunk, if the gap has the rest of this one
        m_writer->finish();
        if (lost * (p + 20) < 20) {
            continue;
        }
        EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+20 missing 20 stamps 1000..1019", p),
                                   "1trace.dat (plain) 0+10 missing 0 stamps 1030..1039"}))
            << lost;
    }
}

TEST_F(SessionWriting, ContinuesAChunkOfWhichOneSlotRemainsAfterAGap) {
    const std::uint32_t p = preamble();
    const Bytes image = chunk(0, p + 41).bytes();
    add(image, 0, p + 20);
    add(image, 2 * p + 40, 2 * p + 41, 1);
    EXPECT_EQ(chunks().size(), 1U);
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
    EXPECT_EQ(m_writer->records(), 21U);
    restart({});
    m_sealed.clear();
    const Bytes shorter = chunk(0, p + 40).bytes();
    add(shorter, 0, p + 20);
    add(chunk(0, 1).plain(), 1);
    m_writer->finish();
    EXPECT_EQ(m_sealed, (Lines{"0trace.dat", "1trace.dat"})) << "nothing remained: it is of another chunk";
}

TEST_F(SessionWriting, GivesAChunkOfWhichTheBeginningIsLostAFileOfItsOwn) {
    const Bytes second = chunk(1, 8).bytes();
    add(chunk(0, 2).bytes());
    add(second, preamble(), preamble() + 4, 1);
    add(second, preamble() + 4, preamble() + 8, 1);
    add(chunk(2, 2).bytes());
    EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+2 missing 0 stamps 1000..1001", preamble()),
                               "1trace.dat (plain) 0+8 missing 0 stamps 1000..1007",
                               fmt::format("2trace.dat {}+2 missing 0 stamps 1000..1001", preamble())}));
    EXPECT_EQ(m_writer->stray_records(), 0U);
}

// Of a chunk that does not say how long it is, no place is kept.
TEST_F(SessionWriting, WritesNoEmptySlotsIntoAPlainStream) {
    const Bytes plain = chunk(0, 10).plain();
    add(plain, 0, 4);
    add(plain, 6, 10, 1);
    m_writer->finish();
    EXPECT_EQ(chunks(), Lines{"0trace.dat (plain) 0+8 missing 0 stamps 1000..1009"});
    EXPECT_EQ(file(0), text(plain, 0, 4) + text(plain, 6, 10));
}

TEST_F(SessionWriting, AGapInThePreambleKeepsThePlaceOfTheRecords) {
    ChunkBuilder builder = chunk(0, 20);
    for (std::uint16_t i = 0; i < 30; ++i) {
        builder.name("task", i, "sensor");
    }
    const Bytes image = builder.bytes();
    const std::size_t p = builder.description().preamble_slots;
    add(image, 0, 20);
    add(image, 40, p + 20, 1);
    EXPECT_EQ(chunks(),
              Lines{fmt::format("0trace.dat {}+20 missing 20 stamps 1000..1019 | 20 slots at 20, packets 2 +1, "
                                "stamps -..9999999",
                                p - 20)});
    EXPECT_EQ(m_writer->records(), 20U);
}

// --- streams that are no records ------------------------------------------------------------------------------------

TEST_F(SessionWriting, StoresACompactStreamAndItsEmergencyArea) {
    const ChunkBuilder builder = chunk(0, 300);
    const Bytes image = builder.compact(tracer::compact::Layout::b, 3);
    for (std::size_t slot = 0; slot < image.size() / 16; ++slot) {
        add(image, slot, slot + 1);
    }
    EXPECT_EQ(m_sealed, Lines{"0trace.dat"});
    EXPECT_EQ(chunks(),
              Lines{fmt::format("0trace.dat {}+{} missing 0 stamps -..-", preamble(), image.size() / 16 - preamble())});
    EXPECT_EQ(file(0), text(image));
    EXPECT_EQ(m_writer->stray_records(), 0U);
}

// Its bytes may look like the beginning of a chunk, or like an end.
TEST_F(SessionWriting, TakesNothingInAStreamForMetadata) {
    ChunkBuilder builder = chunk(0, 40);
    tracer::ChunkBegin begin = builder.description();
    begin.encoding = tracer::Encoding::compact;
    begin.compact_bytes = 37 * 16 + 1;
    Bytes image = builder.with(begin);
    const std::size_t p = begin.preamble_slots;
    const Bytes lookalike = chunk(7, 1).bytes();
    std::copy_n(lookalike.begin(), 32, image.begin() + static_cast<std::ptrdiff_t>(16 * (p + 3)));
    const Bytes end = support::export_end({.chunks = 9, .records = 9});
    std::copy_n(end.begin(), 16, image.begin() + static_cast<std::ptrdiff_t>(16 * (p + 37)));
    add(image, 0, p + 20);
    add(image, p + 20, p + 40);
    EXPECT_EQ(chunks(), Lines{fmt::format("0trace.dat {}+40 missing 0 stamps -..-", p)});
    EXPECT_EQ(file(0), text(image));
    EXPECT_FALSE(m_writer->export_end());
}

TEST_F(SessionWriting, EndsAStreamWhereAWholeBeginningStartsAPacket) {
    ChunkBuilder builder = chunk(0, 40);
    tracer::ChunkBegin begin = builder.description();
    begin.encoding = tracer::Encoding::compact;
    begin.compact_bytes = 40 * 16;
    const Bytes image = builder.with(begin);
    const std::size_t p = begin.preamble_slots;
    add(image, 0, p + 20);
    add(chunk(1, 2).bytes());
    add(image, 0, p + 20);
    add(support::export_end({.chunks = 2, .records = 2}));
    EXPECT_EQ(chunks(), (Lines{fmt::format("0trace.dat {}+20 missing 20 stamps -..-", p),
                               fmt::format("1trace.dat {}+2 missing 0 stamps 1000..1001", p),
                               fmt::format("2trace.dat {}+20 missing 20 stamps -..-", p)}));
    EXPECT_TRUE(m_writer->export_end());
}

TEST_F(SessionWriting, StatesNoStampsBesideAGapInAStream) {
    ChunkBuilder builder = chunk(0, 90);
    tracer::ChunkBegin begin = builder.description();
    begin.encoding = tracer::Encoding::compact;
    begin.compact_bytes = 90 * 16;
    const Bytes image = builder.with(begin);
    const std::size_t p = begin.preamble_slots;
    add(image, 0, p + 10);
    add(image, 2 * p + 20, p + 90, 1);
    EXPECT_EQ(chunks(),
              Lines{fmt::format("0trace.dat {}+{} missing {} stamps -..- | {} slots at {}, packets 2 +1, stamps "
                                "-..-",
                                p, 80 - p, p + 10, p + 10, p + 10)});
}

// --- the preamble ------------------------------------------------------------------------------------------------

// A length that is over before the description of it is.
TEST_F(SessionWriting, DescribesNoChunkByABeginningThatContradictsItself) {
    const ChunkBuilder builder = chunk(0, 3);
    tracer::ChunkBegin begin = builder.description();
    const std::uint32_t own = begin.preamble_slots - 2; // of chunk_begin itself
    for (const std::uint32_t slots : {own - 1, own}) {
        restart({});
        begin.preamble_slots = slots;
        add(builder.with(begin));
        m_writer->finish();
        EXPECT_EQ(m_writer->chunks().at(0).described, slots == own) << slots;
    }
}

TEST_F(SessionWriting, CountsMetadataAfterThePreambleAsRecords) {
    ChunkBuilder builder = chunk(0, 2);
    builder.raw(tracer::make_record(0x10, 1, 2, {2'000}));
    add(builder.bytes());
    EXPECT_EQ(chunks(), Lines{fmt::format("0trace.dat {}+3 missing 0 stamps 1000..2000", preamble())});
}

TEST_F(SessionWriting, FindsAWrongChecksumOnlyInAWholeChunk) {
    const Bytes image = support::sealed(chunk(0, 20).bytes());
    Bytes wrong = image;
    wrong.back() ^= std::byte{1};
    add(image);
    EXPECT_EQ(m_writer->wrong_checksums(), 0U);
    add(wrong);
    EXPECT_EQ(m_writer->wrong_checksums(), 1U);
    add(chunk(0, 20).bytes()); // without one
    EXPECT_EQ(m_writer->wrong_checksums(), 1U);
    add(wrong, 0, preamble() + 10);
    m_writer->finish();
    EXPECT_EQ(m_writer->wrong_checksums(), 1U);
    EXPECT_EQ(chunks().size(), 4U);
}

// --- limits and errors -------------------------------------------------------------------------------------------

TEST_F(SessionWriting, TakesAsManyBytesAsItsLimitAndNotOneMore) {
    const Bytes image = chunk(0, 4).bytes();
    restart({.session_bytes = image.size()});
    add(image);
    EXPECT_FALSE(m_writer->error());
    add(chunk(0, 1).plain());
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(), fmt::format("a session has at most {} bytes (--session-bytes)", image.size()));
    EXPECT_EQ(m_writer->taken_bytes(), image.size());
    restart({.session_bytes = image.size() - 1});
    add(image);
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_TRUE(m_writer->chunks().empty());
    EXPECT_EQ(m_writer->taken_bytes(), 0U);
}

TEST_F(SessionWriting, TakesAsManyBytesAsAllSessionsMayHave) {
    const Bytes image = chunk(0, 4).bytes();
    m_usage.bytes = 100;
    restart({.total_bytes = image.size() + 100});
    add(image);
    EXPECT_FALSE(m_writer->error());
    EXPECT_EQ(m_usage.bytes, image.size() + 100);
    m_usage.bytes = 101;
    restart({.total_bytes = image.size() + 100});
    add(image);
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(),
              fmt::format("all sessions together have at most {} bytes (--total-bytes)", image.size() + 100));
    EXPECT_EQ(m_usage.bytes, 101U);
}

TEST_F(SessionWriting, CountsEmptySlotsForItsLimit) {
    const Bytes image = chunk(0, 100).bytes();
    const std::uint32_t p = preamble();
    for (const std::size_t room : {0U, 1U}) {
        restart({.session_bytes = 16 * (p + 10 + p + 10) - 1 + room});
        add(image, 0, p + 10);
        add(image, 2 * p + 20, 2 * p + 25, 1);
        EXPECT_EQ(m_writer->error().has_value(), room == 0) << room;
    }
}

TEST_F(SessionWriting, MakesAsManyFilesAsItsLimit) {
    restart({.files = 2});
    add(chunk(0, 2).bytes());
    add(chunk(1, 2).bytes());
    EXPECT_FALSE(m_writer->error());
    add(chunk(2, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(), "a session has at most 2 files");
    EXPECT_EQ(chunks().size(), 2U);
    EXPECT_EQ(m_sealed.size(), 2U);
}

TEST_F(SessionWriting, KeepsTheFirstErrorAndWritesNothingMore) {
    m_directory.write("0/0trace.dat", Bytes(1));
    add(chunk(0, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::exists);
    EXPECT_TRUE(m_writer->exceeded().empty());
    add(chunk(1, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::exists);
    EXPECT_TRUE(m_writer->chunks().empty());
    EXPECT_EQ(m_usage.bytes, 0U);
    EXPECT_EQ(file(0).size(), 1U);
}

// --- the manifest -------------------------------------------------------------------------------------------------

TEST_F(SessionWriting, ListsASealedChunkInAManifestOnce) {
    add(chunk(0, 2).bytes());
    m_syncer.drain();
    EXPECT_EQ(m_manifests, 1);
    m_writer->list_sealed();
    m_syncer.drain();
    EXPECT_EQ(m_manifests, 1) << "it is listed";
    EXPECT_TRUE(formats::dat::load_manifest(m_path).ok());
    EXPECT_TRUE(m_writer->durability()->manifest_idle());
}

TEST_F(SessionWriting, MakesAnOpenFileDurableOnRequest) {
    const Bytes image = chunk(0, 5).bytes();
    m_writer->sync();
    m_syncer.drain();
    EXPECT_EQ(m_writer->durability()->bytes(), 0U);
    add(image, 0, preamble() + 2);
    m_writer->sync();
    m_syncer.drain();
    EXPECT_EQ(m_writer->durability()->bytes(), 16 * (preamble() + 2));
    EXPECT_EQ(file(0), text(image, 0, preamble() + 2)) << "and readable";
    EXPECT_EQ(m_manifests, 0);
}

} // namespace

} // namespace host::collector
