// SPDX-License-Identifier: MIT
// Reports of parts become one for each chunk: every count of it.
#include "host/formats/dat/chunk_ledger.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace host::formats::dat::chunk_parts_test {

namespace {

using trace::ChunkReport;

// A part of a chunk, all of whose counts are different multiples of a number.
ChunkReport part_of(std::uint16_t chunk, std::uint64_t number) {
    ChunkReport part{.file = "f", .order = number, .described = true};
    part.description.chunk = chunk;
    part.description.records = static_cast<std::uint32_t>(number);
    part.description.overwritten = 20 * number;
    part.preamble = 2 * number;
    part.records = 3 * number;
    part.events = 4 * number;
    part.missing = 5 * number;
    part.extra = 6 * number;
    part.unused = 7 * number;
    part.skipped = 8 * number;
    part.gaps = 9 * number;
    part.blackout = 10 * number;
    part.in_blackout = number % 2 == 1;
    part.numevents = static_cast<std::uint32_t>(11 * number);
    part.first_stamp = lib::Ticks{100 * number};
    part.last_stamp = lib::Ticks{100 * number + 50};
    return part;
}

void expect_sum(const ChunkReport& chunk, std::uint64_t sum, std::uint64_t last) {
    EXPECT_EQ(chunk.order, last);
    EXPECT_EQ(chunk.description.records, last);
    EXPECT_EQ(chunk.description.overwritten, 20 * sum);
    EXPECT_EQ(chunk.preamble, 2 * sum);
    EXPECT_EQ(chunk.records, 3 * sum);
    EXPECT_EQ(chunk.events, 4 * sum);
    EXPECT_EQ(chunk.missing, 5 * sum);
    EXPECT_EQ(chunk.extra, 6 * sum);
    EXPECT_EQ(chunk.unused, 7 * sum);
    EXPECT_EQ(chunk.skipped, 8 * sum);
    EXPECT_EQ(chunk.gaps, 9 * sum);
    EXPECT_EQ(chunk.blackout, 10 * sum);
    EXPECT_EQ(chunk.in_blackout, last % 2 == 1);
    EXPECT_EQ(chunk.numevents, 11 * last);
}

TEST(ChunkParts, OfOneChunkAreOneReport) {
    std::vector<ChunkReport> reports{part_of(4, 1)};
    add_part(reports, 0);
    ASSERT_EQ(reports.size(), 2U) << "the part's own, and the chunk's";
    reports[0] = part_of(4, 2);
    reports[0].damaged = true;
    add_part(reports, 0);
    ASSERT_EQ(reports.size(), 2U);
    expect_sum(reports[1], 3, 2);
    EXPECT_TRUE(reports[1].damaged);
    EXPECT_EQ(reports[1].first_stamp, lib::Ticks{100});
    EXPECT_EQ(reports[1].last_stamp, lib::Ticks{250});
    reports[0] = part_of(4, 5);
    reports[0].first_stamp.reset();
    reports[0].last_stamp.reset();
    end_parts(reports, 0);
    ASSERT_EQ(reports.size(), 1U);
    expect_sum(reports[0], 8, 5);
    EXPECT_TRUE(reports[0].damaged) << "a part of it was";
    EXPECT_EQ(reports[0].first_stamp, lib::Ticks{100});
    EXPECT_EQ(reports[0].last_stamp, lib::Ticks{250}) << "the last part has no event";
}

TEST(ChunkParts, OfAChunkWithoutEventsSoFarHaveTheFirstStampOfALaterOne) {
    std::vector<ChunkReport> reports{part_of(4, 1)};
    reports[0].first_stamp.reset();
    add_part(reports, 0);
    reports[0] = part_of(4, 2);
    end_parts(reports, 0);
    EXPECT_EQ(reports.at(0).first_stamp, lib::Ticks{200});
}

TEST(ChunkParts, OfOtherChunksAndProcessorsAreReportsOfTheirOwn) {
    std::vector<ChunkReport> reports{part_of(4, 1)};
    add_part(reports, 0);
    reports[0] = part_of(5, 1);
    add_part(reports, 0);
    reports[0] = part_of(4, 1);
    reports[0].description.cpu = 1;
    add_part(reports, 0);
    ASSERT_EQ(reports.size(), 4U);
    reports[0] = part_of(5, 2);
    end_parts(reports, 0);
    ASSERT_EQ(reports.size(), 3U);
    expect_sum(reports[0], 3, 2);
    EXPECT_EQ(reports[1].description.chunk, 4U);
    EXPECT_EQ(reports[2].description.cpu, 1U);
    reports[0] = part_of(6, 1);
    end_parts(reports, 0);
    EXPECT_EQ(reports.size(), 3U) << "the only part of its chunk";
}

TEST(ChunkParts, ThatDoNotSayWhoseTheyAreAreKeptNowhere) {
    std::vector<ChunkReport> reports{part_of(4, 1)};
    reports[0].described = false;
    add_part(reports, 0);
    EXPECT_EQ(reports.size(), 1U);
    reports[0] = part_of(4, 1);
    add_part(reports, 0);
    reports[0].described = false;
    add_part(reports, 0);
    ASSERT_EQ(reports.size(), 2U);
    expect_sum(reports[1], 1, 1);
}

} // namespace

} // namespace host::formats::dat::chunk_parts_test
