// SPDX-License-Identifier: MIT
// Where an index says that the parts of a chunk are, of which chunks it says nothing, and how many records it reads for
// that.
#include "host/sql/record_index.hpp"

#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace host::sql {

namespace {

using support::Bytes;
using support::ChunkBuilder;

constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

// Records of which each is `step` ticks after the one before.
ChunkBuilder rising(std::uint16_t number, std::uint64_t begin, std::uint64_t records, std::uint64_t step = 10) {
    ChunkBuilder chunk(number);
    for (std::uint64_t i = 0; i < records; ++i) {
        chunk.event(begin + step * i, "ipoint", 1, static_cast<std::uint32_t>(i));
    }
    return chunk;
}

class RecordIndexTest : public testing::Test {
  protected:
    void read(const Bytes& bytes) {
        m_source = support::source_of(bytes);
        const std::vector<trace::NamedSource> inputs = {{.name = "t.dat", .bytes = m_source, .keep_open = true}};
        m_index = std::make_unique<RecordIndex>(inputs, m_diagnostics, m_statistics);
    }

    // Main area and emergency area in records from the end of the preamble, and the stamps of the main area.
    [[nodiscard]] std::string text_of(std::size_t number) const {
        const IndexedChunk& chunk = m_index->chunks()[number];
        if (!chunk.searchable) {
            return fmt::format("{} kHz, to be read whole", chunk.tsc_khz);
        }
        const auto records = [&](std::uint64_t from, std::uint64_t to) { return (to - from) / 16; };
        return fmt::format("{} kHz, cpu {}, {} slots, {} records from {} to {}, {} in the emergency area{}",
                           chunk.tsc_khz, chunk.cpu, records(chunk.segment.begin_bytes, chunk.main_bytes),
                           records(chunk.main_bytes, chunk.emergency_bytes), chunk.first_stamp, chunk.last_stamp,
                           records(chunk.emergency_bytes, chunk.segment.end_bytes), chunk.empty ? ", empty" : "");
    }

    // Of the first chunk: which records of the main area, from 0.
    std::string found(std::uint64_t first, std::uint64_t last) {
        const IndexedChunk& chunk = m_index->chunks().front();
        const auto window = RecordIndex::find(chunk, *m_source, {.first = first, .last = last}, m_statistics);
        return window ? fmt::format("{} to {}", (window->begin_bytes - chunk.main_bytes) / 16,
                                    (window->end_bytes - chunk.main_bytes) / 16)
                      : "nothing";
    }

    std::shared_ptr<trace::ByteSource> m_source;
    trace::Diagnostics m_diagnostics{[this](std::string_view line) { m_lines += std::string(line) + '\n'; }};
    std::string m_lines;
    Statistics m_statistics;
    std::unique_ptr<RecordIndex> m_index;
};

TEST_F(RecordIndexTest, SaysWhereTheAreasOfEachChunkAre) {
    ChunkBuilder first = rising(0, 1000, 10);
    first.begin.cpu = 3;
    first.begin.tsc_khz = 2'000'000;
    first.name("task", 1, "one").unordered(1085, "task_deadline_miss", 5).unordered(3000, "blackout_start");
    Bytes bytes = rising(1, 5000, 1).bytes();
    const Bytes earlier = first.bytes();
    bytes.insert(bytes.end(), earlier.begin(), earlier.end());
    read(bytes);
    ASSERT_EQ(m_index->chunks().size(), 2U);
    const auto slots = first.description().preamble_slots;
    EXPECT_EQ(text_of(0), fmt::format("2000000 kHz, cpu 3, {} slots, 10 records from 1000 to 1090, 2 in the emergency "
                                      "area",
                                      slots));
    EXPECT_EQ(text_of(1), fmt::format("1000000 kHz, cpu 0, {} slots, 1 records from 5000 to 5000, 0 in the emergency "
                                      "area",
                                      rising(1, 5000, 1).description().preamble_slots));
    EXPECT_EQ(m_index->start_ticks(), 1000U);
    EXPECT_TRUE(m_index->all_described());
    EXPECT_EQ(m_lines, "");
}

TEST_F(RecordIndexTest, ReadsTheHeadTheEndsAndEachStride) {
    const std::uint64_t head = support::metadata("chunk_begin", ChunkBuilder().begin, {0}).size();
    read(rising(0, 1000, 10).bytes());
    EXPECT_EQ(m_statistics.visited, head + 3) << "once to look for an emergency area, the first and the last";
    m_statistics = {};
    read(rising(0, 1000, 1).bytes());
    EXPECT_EQ(m_statistics.visited, head + 2) << "the first is the last";
    m_statistics = {};
    read(rising(0, 1000, RecordIndex::kStride + 1).bytes());
    EXPECT_EQ(m_statistics.visited, head + 3);
    m_statistics = {};
    read(rising(0, 1000, RecordIndex::kStride + 2).bytes());
    EXPECT_EQ(m_statistics.visited, head + 4);
    m_statistics = {};
    read(rising(0, 1000, 10).plain());
    EXPECT_EQ(m_statistics.visited, 1U) << "it has no head";
    EXPECT_EQ(m_statistics.searched + m_statistics.skipped + m_statistics.scanned, 0U);
}

TEST_F(RecordIndexTest, AMainAreaMayBeEmpty) {
    ChunkBuilder alone;
    const auto slots = alone.description().preamble_slots;
    read(alone.bytes());
    EXPECT_EQ(
        text_of(0),
        fmt::format("1000000 kHz, cpu 0, {} slots, 0 records from 0 to 0, 0 in the emergency area, empty", slots));
    alone.unordered(3000, "blackout_start");
    read(alone.bytes());
    EXPECT_EQ(
        text_of(0),
        fmt::format("1000000 kHz, cpu 0, {} slots, 0 records from 0 to 0, 1 in the emergency area, empty", slots));
}

TEST_F(RecordIndexTest, ARecordThatNoTableKnowsIsOfTheMainArea) {
    ChunkBuilder chunk = rising(0, 1000, 2);
    chunk.raw(tracer::make_record(0xFC, 7, 6, {1100}));
    read(chunk.bytes());
    EXPECT_EQ(text_of(0), fmt::format("1000000 kHz, cpu 0, {} slots, 3 records from 1000 to 1100, 0 in the emergency "
                                      "area",
                                      chunk.description().preamble_slots));
}

TEST_F(RecordIndexTest, StampsMayBeEqualAndNotFallWhereTheyAreChecked) {
    const auto searchable = [&](std::uint64_t records, std::uint64_t at, std::uint64_t stamp) {
        ChunkBuilder chunk = rising(0, 1000, at, 0);
        chunk.unordered(stamp, "ipoint");
        for (std::uint64_t i = at + 1; i < records; ++i) {
            chunk.unordered(1000, "ipoint");
        }
        read(chunk.bytes());
        return m_index->chunks().front().searchable;
    };
    EXPECT_TRUE(searchable(10, 9, 1000));
    EXPECT_TRUE(searchable(1, 0, 0));
    EXPECT_FALSE(searchable(10, 9, 999));
    EXPECT_TRUE(searchable(10, 8, 999)) << "between the checked ones";
    EXPECT_FALSE(searchable(RecordIndex::kStride + 2, RecordIndex::kStride, 999));
    EXPECT_TRUE(searchable(RecordIndex::kStride + 2, RecordIndex::kStride - 1, 999));
    EXPECT_FALSE(searchable(2 * RecordIndex::kStride + 2, 2 * RecordIndex::kStride, 1));
}

TEST_F(RecordIndexTest, OtherLayoutsAreReadWhole) {
    const ChunkBuilder chunk = rising(0, 1000, 10);
    read(chunk.compact(tracer::compact::Layout::a));
    EXPECT_EQ(text_of(0), "1000000 kHz, to be read whole");
    EXPECT_TRUE(m_index->all_described());
    Bytes cut = chunk.bytes();
    cut.resize(cut.size() - 16);
    read(cut);
    EXPECT_EQ(text_of(0), "1000000 kHz, to be read whole");
    read(chunk.plain());
    EXPECT_EQ(text_of(0), "0 kHz, to be read whole");
    EXPECT_FALSE(m_index->all_described());
    ChunkBuilder slow = rising(0, 1000, 10);
    slow.begin.tsc_khz = 0;
    read(slow.bytes());
    EXPECT_FALSE(m_index->all_described());
    EXPECT_TRUE(m_index->chunks().front().searchable);
}

TEST_F(RecordIndexTest, AChunkOfAnotherRunThanTheFirstIsReadWhole) {
    ChunkBuilder other = rising(1, 5000, 10);
    other.begin.boot_id = 1;
    Bytes bytes = other.bytes();
    const Bytes first = rising(0, 1000, 10).bytes();
    const Bytes last = rising(2, 9000, 10).bytes();
    bytes.insert(bytes.end(), first.begin(), first.end());
    bytes.insert(bytes.end(), last.begin(), last.end());
    read(bytes);
    EXPECT_TRUE(m_index->chunks()[0].searchable);
    EXPECT_EQ(text_of(1), "1000000 kHz, to be read whole");
    EXPECT_TRUE(m_index->chunks()[2].searchable);
}

TEST_F(RecordIndexTest, WithoutChunksATraceBeginsAtZero) {
    const RecordIndex none({}, m_diagnostics, m_statistics);
    EXPECT_EQ(none.start_ticks(), 0U);
    EXPECT_TRUE(none.all_described());
}

TEST_F(RecordIndexTest, AWindowHasBothItsBounds) {
    read(rising(0, 1000, 10).bytes());
    EXPECT_EQ(found(0, kEnd), "0 to 10");
    EXPECT_EQ(found(1000, 1090), "0 to 10");
    EXPECT_EQ(found(1001, 1089), "1 to 9");
    EXPECT_EQ(found(1000, 1000), "0 to 1");
    EXPECT_EQ(found(1050, 1050), "5 to 6");
    EXPECT_EQ(found(1051, 1059), "6 to 6");
    EXPECT_EQ(found(0, 999), "0 to 0");
    EXPECT_EQ(found(1090, kEnd), "9 to 10");
    EXPECT_EQ(found(1091, kEnd), "10 to 10");
    EXPECT_EQ(found(1060, 1040), "nothing");
}

TEST_F(RecordIndexTest, AWindowHasAllRecordsOfOneStamp) {
    read(rising(0, 1000, 10, 0).bytes());
    EXPECT_EQ(found(1000, 1000), "0 to 10");
    EXPECT_EQ(found(1001, 1001), "10 to 10");
    EXPECT_EQ(found(999, 999), "0 to 0");
}

TEST_F(RecordIndexTest, ASearchHalves) {
    read(rising(0, 1000, 1024).bytes());
    m_statistics = {};
    EXPECT_EQ(found(0, 0), "0 to 0");
    EXPECT_EQ(m_statistics.visited, 2 * 11U);
    m_statistics = {};
    EXPECT_EQ(found(kEnd, kEnd), "1024 to 1024");
    EXPECT_EQ(m_statistics.visited, 2 * 10U);
}

TEST_F(RecordIndexTest, StampsThatContradictEachOtherEndASearch) {
    const auto with = [&](std::uint64_t stamp) {
        ChunkBuilder chunk = rising(0, 1000, 5);
        chunk.unordered(stamp, "ipoint").event(1060, "ipoint").event(1070, "ipoint").event(1080, "ipoint");
        chunk.event(1090, "ipoint");
        read(chunk.bytes());
    };
    with(999);
    EXPECT_EQ(found(1000, 1090), "nothing");
    with(1000);
    EXPECT_EQ(found(1060, 1090), "6 to 10") << "within what the ends say";
    with(1090);
    EXPECT_EQ(found(1000, 1020), "0 to 3");
    with(1091);
    EXPECT_EQ(found(1000, 1020), "nothing");
}

TEST_F(RecordIndexTest, AChecksumIsComparedOnce) {
    Bytes bytes = support::sealed(rising(0, 1000, 10).bytes());
    read(bytes);
    m_statistics = {};
    EXPECT_TRUE(m_index->is_intact(0, *m_source, m_statistics));
    const std::uint64_t head = m_statistics.visited;
    EXPECT_EQ(head, support::metadata("chunk_begin", ChunkBuilder().begin, {0}).size());
    EXPECT_TRUE(m_index->is_intact(0, *m_source, m_statistics));
    EXPECT_EQ(m_statistics.visited, head);
    bytes[bytes.size() - 13] ^= std::byte{1};
    read(bytes);
    EXPECT_TRUE(m_index->chunks().front().searchable);
    EXPECT_FALSE(m_index->is_intact(0, *m_source, m_statistics));
    EXPECT_FALSE(m_index->chunks().front().searchable);
    EXPECT_FALSE(m_index->is_intact(0, *m_source, m_statistics));
    read(rising(0, 1000, 10).bytes());
    EXPECT_TRUE(m_index->is_intact(0, *m_source, m_statistics)) << "it states none";
}

TEST_F(RecordIndexTest, AChunkThatIsThereTwiceCountsOnce) {
    const Bytes once = rising(0, 1000, 10).bytes();
    Bytes twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    read(twice);
    EXPECT_EQ(m_index->chunks().size(), 1U);
    EXPECT_THAT(m_lines, testing::HasSubstr("W-DUP"));
}

} // namespace

} // namespace host::sql
