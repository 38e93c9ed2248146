// SPDX-License-Identifier: MIT
// Tests the record path where a chunk ends: which next chunk is entered, and what a full cyclic one does with an event
// that is larger than itself.
#include "tests/support/tracer/fixture.hpp"

namespace record_path_edges_test {

using tests::main_records;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::Record;

constexpr std::uint16_t kOrdinary = tracer::event_code("ipoint");
constexpr std::uint16_t kLong = tracer::event_code("task_name");
constexpr std::uint16_t kBlackoutEnd = tracer::event_code("blackout_end");

void log(std::uint32_t serial) {
    tracer::detail::record(kOrdinary, 1, serial);
}

void log_long(std::uint32_t slots, std::uint32_t serial) {
    std::vector<Record> event(slots);
    for (std::uint32_t i = 0; i < slots; ++i) {
        event[i].code = static_cast<std::uint16_t>(kLong | static_cast<std::uint16_t>(tracer::combine_of(i, slots)));
        event[i].par2 = serial;
    }
    tracer::detail::record_long(event.data(), slots);
}

using Seen = std::pair<std::uint16_t, std::uint32_t>; // event, par2

std::vector<Seen> seen(const Chunk& chunk) {
    std::vector<Seen> found;
    for (const Record& record : main_records(chunk)) {
        found.emplace_back(record.event_code(), record.par2);
    }
    return found;
}

TEST(RecordPathEdges, AnEventAsLargeAsACyclicChunkFillsALap) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagCyclic);
    fixture.select_and_enable(chunk);
    log(1);
    log_long(4, 2);
    EXPECT_EQ(seen(chunk), (std::vector<Seen>{{kLong, 2}, {kLong, 2}, {kLong, 2}, {kLong, 2}}));
    EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.committed = 5, .overwritten = 1}));
}

TEST(RecordPathEdges, AFullCyclicChunkReportsALossInItsNextLap) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagCyclic);
    fixture.select_and_enable(chunk);
    for (std::uint32_t serial = 0; serial < 4; ++serial) {
        log(serial);
    }
    log_long(5, 100);
    log_long(5, 101);
    EXPECT_EQ(seen(chunk), (std::vector<Seen>{{kOrdinary, 0}, {kOrdinary, 1}, {kOrdinary, 2}, {kOrdinary, 3}}));
    log(4);
    EXPECT_EQ(seen(chunk), (std::vector<Seen>{{kOrdinary, 3}, {kBlackoutEnd, 10}, {kOrdinary, 4}}));
    EXPECT_EQ(fixture.tracer().control.totals(),
              (tracer::Totals{.committed = 5, .dropped = 10, .tracer_made = 1, .overwritten = 3}));
}

// What an unfinished one has overwritten of the lap before (cpu_trace.hpp).
TEST(RecordPathEdges, TheExtentOfALongEventIsItsEndInItsLap) {
    constexpr std::uint64_t kLap1 = std::uint64_t{1} << 32;
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(8, 0, tracer::kFlagCyclic);
    fixture.select_and_enable(chunk);
    log(1);
    EXPECT_EQ(chunk.control.scribbled, 0U);
    log_long(3, 2);
    EXPECT_EQ(chunk.control.scribbled, 4 * tracer::kRecordBytes);
    log_long(5, 3);
    EXPECT_EQ(chunk.control.scribbled, kLap1 | 5 * tracer::kRecordBytes);
    log_long(3, 4);
    EXPECT_EQ(chunk.control.scribbled, kLap1 | 8 * tracer::kRecordBytes);
    EXPECT_EQ(seen(chunk).size(), 8U);
}

TEST(RecordPathEdges, ANextChunkIsEnteredOnlyIfItIsOpenAndHasSpace) {
    constexpr std::uint64_t kClosed = TRACER_WORD_CLOSED;
    constexpr std::uint64_t kFull = 2 * tracer::kRecordBytes;
    for (const tracer::ChunkFlags mode : {tracer::kFlagStop, tracer::kFlagJumpToNext, tracer::kFlagCyclic}) {
        for (const std::uint64_t word : {kClosed, kClosed | 16, kFull, std::uint64_t{16}}) {
            TracerFixture fixture;
            fixture.expect_miscounts(); // records that were not logged
            Chunk& first = fixture.chunk(2, 1, tracer::kFlagJumpToNext);
            Chunk& next = fixture.chunk(2, 0, mode);
            fixture.link(first, next);
            fixture.select_and_enable(first);
            next.control.word = word;
            for (std::uint32_t serial = 0; serial < 3; ++serial) {
                log(serial);
            }
            const bool enters = (word & kClosed) == 0 && (word < kFull || mode == tracer::kFlagCyclic);
            EXPECT_EQ(fixture.tracer().cpu.active, enters ? &next.control : &first.control) << mode << ' ' << word;
            EXPECT_EQ(fixture.tracer().control.totals().dropped, enters ? 0U : 1U) << mode << ' ' << word;
            EXPECT_EQ(seen(first), (std::vector<Seen>{{kOrdinary, 0}, {kOrdinary, 1}}));
            if (enters) {
                EXPECT_EQ(seen(next).back(), (Seen{kOrdinary, 2}));
                continue;
            }
            EXPECT_EQ(next.control.word, word) << "unchanged";
            next.control.word = 0;
            log(3);
            EXPECT_EQ(seen(next), (std::vector<Seen>{{kBlackoutEnd, 1}, {kOrdinary, 3}}));
        }
    }
}

// A writer had entered the chunk just before it was closed: what it may have missed is reported by the next chunk.
TEST(RecordPathEdges, ABlackoutThatHasNotEndedGoesAlongWithoutALoss) {
    TracerFixture fixture;
    Chunk& first = fixture.chunk(4, 0, tracer::kFlagJumpToNext);
    Chunk& next = fixture.chunk(4, 0, tracer::kFlagStop);
    fixture.link(first, next);
    fixture.select_and_enable(first);
    log(1);
    first.control.word |= TRACER_WORD_RESUME | TRACER_WORD_CLOSED;
    log(2);
    EXPECT_EQ(seen(first), (std::vector<Seen>{{kOrdinary, 1}}));
    EXPECT_EQ(seen(next), (std::vector<Seen>{{kBlackoutEnd, 0}, {kOrdinary, 2}}));
}

} // namespace record_path_edges_test
