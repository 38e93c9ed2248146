// SPDX-License-Identifier: MIT
// Tests which file each record is stored in, and what the manifest states of it: chunks in a row, gaps of every length,
// chunks without a beginning, streams that are no records. Limits and errors: session_writer_limits_test.cpp.
#include "tests/support/session_writing.hpp"

namespace host::collector {

namespace session_writer_test {

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
    Bytes cut = chunk(0, 5).bytes();
    cut.resize(16 * (preamble() + 1));
    const Bytes second = chunk(1, 2).bytes();
    cut.insert(cut.end(), second.begin(), second.end());
    add(cut);
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

TEST_F(SessionWriting, ReadsAnEndThatIsCutIntoPackets) {
    const Bytes end = support::export_end({.chunks = 1, .records = 2});
    add(chunk(0, 2).bytes());
    add(end, 0, 3);
    EXPECT_FALSE(m_writer->export_end());
    add(end, 3, end.size() / 16);
    EXPECT_TRUE(m_writer->export_end());
    EXPECT_EQ(m_writer->stray_records(), 0U);
    EXPECT_EQ(chunks().size(), 1U);
}

// Its first slot is lost: nothing says what the others are.
TEST_F(SessionWriting, BelievesNoEndWithoutItsBeginning) {
    const Bytes end = support::export_end({.chunks = 1, .records = 2});
    add(chunk(0, 2).bytes());
    add(end, 3, end.size() / 16, 1);
    m_writer->finish();
    EXPECT_FALSE(m_writer->export_end());
    EXPECT_EQ(m_writer->chunks().size(), 2U);
    EXPECT_EQ(file(1), text(end, 3));
}

TEST_F(SessionWriting, ReadsNoEndAcrossALoss) {
    const Bytes end = support::export_end({.chunks = 1, .records = 2});
    add(chunk(0, 2).bytes());
    add(end, 0, 3);
    add(end, 4, end.size() / 16, 1);
    m_writer->finish();
    EXPECT_FALSE(m_writer->export_end());
    EXPECT_EQ(m_writer->stray_records() + m_writer->chunks().back().preamble, end.size() / 16 - 4);
}

TEST_F(SessionWriting, StatesNoBuildThatCannotBeRead) {
    ChunkBuilder builder(0);
    builder.build("control", 42).event(1'000, "ipoint");
    Bytes image = builder.bytes();
    image[16 * (preamble() - 1) + 2] = std::byte{3}; // its length
    image[16 * (preamble() - 1) + 3] = std::byte{0};
    add(image);
    EXPECT_FALSE(m_writer->build());
    EXPECT_EQ(m_writer->records(), 1U);
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

} // namespace session_writer_test

} // namespace host::collector
