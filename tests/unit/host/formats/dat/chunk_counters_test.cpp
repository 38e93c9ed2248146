// SPDX-License-Identifier: MIT
// Tests what counters, stamps and gaps of all chunks state together: each report at its limit, with place and text.
#include "host/formats/dat/chunk_ledger.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace host::formats::dat::chunk_counters_test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ChunkCounters : public testing::Test {
  protected:
    // One more chunk that was handed over: dropped so far, and reported by its own blackouts.
    trace::ChunkReport& add(std::uint64_t dropped, std::uint64_t blackout = 0, std::uint16_t cpu = 0) {
        trace::ChunkReport chunk{.file = "f", .order = m_facts.chunks.size(), .described = true};
        chunk.begin_bytes = 16 * m_facts.chunks.size();
        chunk.description.chunk = static_cast<std::uint16_t>(m_facts.chunks.size());
        chunk.description.cpu = cpu;
        chunk.description.dropped = dropped;
        chunk.blackout = blackout;
        m_facts.chunks.push_back(chunk);
        return m_facts.chunks.back();
    }

    std::vector<std::string> lines_of(void (*check)(const trace::TraceFacts&, trace::Diagnostics&)) const {
        std::vector<std::string> lines;
        trace::Diagnostics diagnostics([&](std::string_view line) { lines.emplace_back(line); });
        check(m_facts, diagnostics);
        return lines;
    }

    trace::TraceFacts m_facts;
};

TEST_F(ChunkCounters, ThatRiseOrStayAreNotReported) {
    add(0);
    add(3, 3);
    add(3);
    add(7, 0, 1);
    m_facts.export_end = tracer::ExportEnd{.dropped = 7};
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
}

TEST_F(ChunkCounters, ThatFallAreReportedAgainstTheGreatestSoFar) {
    add(9, 9).description.refused = 4;
    add(8).description.refused = 4;
    add(8).description.refused = 3;
    EXPECT_THAT(
        lines_of(check_counters),
        ElementsAre("f:0x10 chunk 1 cpu 0 W-COUNTER the number of dropped records falls from 9 to 8: the greater "
                    "one counts",
                    "f:0x20 chunk 2 cpu 0 W-COUNTER the number of dropped records falls from 9 to 8: the greater "
                    "one counts",
                    "f:0x20 chunk 2 cpu 0 W-COUNTER the number of refused records falls from 4 to 3: the greater "
                    "one counts"));
}

TEST_F(ChunkCounters, BeyondTheTotalsOfTheExportAreReported) {
    add(5, 5).description.refused = 2;
    m_facts.export_end = tracer::ExportEnd{.dropped = 4, .refused = 2};
    EXPECT_THAT(lines_of(check_counters),
                ElementsAre("f:0x0 chunk 0 cpu 0 W-COUNTER 5 dropped records are more than the 4 of the whole export"));
    m_facts.export_end = tracer::ExportEnd{.dropped = 5, .refused = 1};
    EXPECT_THAT(lines_of(check_counters),
                ElementsAre("f:0x0 chunk 0 cpu 0 W-COUNTER 2 refused records are more than the 1 of the whole export"));
}

TEST_F(ChunkCounters, AreComparedInTheOrderOfHandingOverAndForEachProcessorAlone) {
    add(9, 9).order = 1;
    add(3, 0).order = 0;
    add(1, 0, 1).order = 2;
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
    m_facts.chunks[2].description.cpu = 0;
    EXPECT_EQ(lines_of(check_counters).size(), 1U);
    m_facts.chunks[2].described = false;
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
}

TEST_F(ChunkCounters, ThatRiseByMoreThanBlackoutsReportAreAGapAfterTheChunkBefore) {
    add(2);
    add(2);
    add(6, 1);
    add(6);
    const std::string line = "f:0x20 chunk 2 cpu 0 W-GAP 3 records were dropped after chunk 1 and no blackout reports "
                             "them: some blackouts are missing";
    EXPECT_THAT(lines_of(check_counters), ElementsAre(line));
    m_facts.chunks[3].in_blackout = true; // a later chunk would report them
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
    m_facts.chunks[3].in_blackout = false;
    m_facts.chunks[2].in_blackout = true;
    EXPECT_THAT(lines_of(check_counters), ElementsAre(line));
    m_facts.chunks[3].blackout = 3; // reported later
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
    m_facts.chunks[3].blackout = 2;
    EXPECT_THAT(
        lines_of(check_counters),
        ElementsAre("f:0x20 chunk 2 cpu 0 W-GAP 1 records were dropped after chunk 1 and no blackout reports them: "
                    "some blackouts are missing"));
}

// Its counter rose after it was handed over: the blackout is in the chunk, and not yet in the counter.
TEST_F(ChunkCounters, OfAChunkHandedOverBeforeItsCounterRoseAreNoGap) {
    add(0, 5);
    add(5);
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
    add(6);
    EXPECT_THAT(
        lines_of(check_counters),
        ElementsAre("f:0x20 chunk 2 cpu 0 W-GAP 1 records were dropped after chunk 1 and no blackout reports them: "
                    "some blackouts are missing"));
}

TEST_F(ChunkCounters, OfTheFirstChunkAloneAreNoGap) {
    add(5);
    EXPECT_THAT(lines_of(check_counters), IsEmpty());
}

TEST_F(ChunkCounters, WhatIsMissingIsSummedUp) {
    EXPECT_THAT(lines_of(report_missing), IsEmpty());
    add(0).missing = 2;
    add(0).missing = 3;
    EXPECT_THAT(
        lines_of(report_missing),
        ElementsAre("f:0x0 W-GAP 5 records in all are missing: whoever follows a machine must not be slower than "
                    "it; write the output to a file, not to a pager or a slow pipe"));
    m_facts.chunks[0].missing = m_facts.chunks[1].missing = 0;
    EXPECT_THAT(lines_of(report_missing), IsEmpty());
}

TEST_F(ChunkCounters, AClockThatDoesNotAdvanceIsReportedOnce) {
    m_facts.chunks.reserve(3);
    add(0);
    add(0);
    add(0);
    m_facts.chunks[1].first_stamp = m_facts.chunks[1].last_stamp = lib::Ticks{7};
    m_facts.chunks[2].first_stamp = m_facts.chunks[2].last_stamp = lib::Ticks{7};
    m_facts.usable_events = 2;
    EXPECT_THAT(lines_of(check_clock), ElementsAre("f:0x10 W-CLOCK all 2 events have the stamp 7: the clock did not "
                                                   "advance, their order is that of the input"));
    m_facts.usable_events = 1;
    EXPECT_THAT(lines_of(check_clock), IsEmpty());
    m_facts.usable_events = 2;
    m_facts.chunks[2].last_stamp = lib::Ticks{8};
    EXPECT_THAT(lines_of(check_clock), IsEmpty());
    m_facts.chunks[2].first_stamp = lib::Ticks{8};
    EXPECT_THAT(lines_of(check_clock), IsEmpty());
    m_facts.chunks.resize(1);
    EXPECT_THAT(lines_of(check_clock), IsEmpty());
}

TEST_F(ChunkCounters, AClockWhoseFallWasReportedIsNotReportedAgain) {
    trace::ChunkReport& chunk = add(0);
    chunk.first_stamp = chunk.last_stamp = lib::Ticks{7};
    m_facts.usable_events = 3;
    trace::Diagnostics diagnostics([](std::string_view) {});
    diagnostics.report("W-TIME", {}, "");
    check_clock(m_facts, diagnostics);
    EXPECT_EQ(diagnostics.count("W-CLOCK"), 0U);
}

} // namespace

} // namespace host::formats::dat::chunk_counters_test
