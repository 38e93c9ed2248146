// SPDX-License-Identifier: MIT
// Tests how many records a trace says it lost that no gap shows, and where.
#include "convert/losses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace host::convert {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMost = ~std::uint64_t{0};

void add_chunk(trace::TraceFacts& facts, std::uint16_t cpu, std::uint64_t records, std::uint64_t dropped,
               std::uint64_t missing) {
    trace::ChunkReport& chunk = facts.chunks.emplace_back();
    chunk.described = true;
    chunk.description.cpu = cpu;
    chunk.description.dropped = dropped;
    chunk.records = records;
    chunk.missing = missing;
}

// "cpu: dropped missing", and a + where that is a lower bound.
std::vector<std::string> unseen(const trace::TraceFacts& facts) {
    std::vector<std::string> texts;
    for (const auto& [cpu, losses] : unseen_losses(facts)) {
        texts.push_back(fmt::format("{}: {} {}{}", cpu, losses.dropped, losses.missing, losses.at_least ? "+" : ""));
    }
    return texts;
}

TEST(Losses, OfAProcessorAreTheLatestCountAndAllThatIsMissing) {
    trace::TraceFacts facts;
    EXPECT_THAT(unseen(facts), IsEmpty());
    add_chunk(facts, 1, 10, 5, 0);
    add_chunk(facts, 0, 10, 0, 0);
    add_chunk(facts, 1, 10, 9, 2);
    add_chunk(facts, 1, 10, 7, 3);
    add_chunk(facts, 2, 10, 0, 4);
    EXPECT_THAT(unseen(facts), ElementsAre("1: 9 5", "2: 0 4"));
    facts.chunks.front().described = false;
    facts.chunks.back().described = false;
    EXPECT_THAT(unseen(facts), ElementsAre("1: 9 5"));
}

TEST(Losses, OfNoProcessorAreWhatTheTotalsPromiseBeyondTheChunks) {
    trace::TraceFacts facts;
    add_chunk(facts, 3, 10, 0, 2);
    facts.export_end = tracer::ExportEnd{.records = 12};
    EXPECT_THAT(unseen(facts), ElementsAre("3: 0 2"));
    facts.export_end->records = 13;
    EXPECT_THAT(unseen(facts), ElementsAre("3: 0 3"));
    facts.export_end->records = 11;
    EXPECT_THAT(unseen(facts), ElementsAre("3: 0 2")) << "a count that is too low is ignored";
    facts.absent = {.parts = 9, .records = 50};
    EXPECT_THAT(unseen(facts), ElementsAre("3: 0 2")) << "the totals are better";
}

TEST(Losses, OfPartsThatNeverArrivedAreALowerBound) {
    trace::TraceFacts facts;
    facts.absent.parts = 2;
    EXPECT_THAT(unseen(facts), ElementsAre("0: 0 2+"));
    facts.absent.records = 5;
    EXPECT_THAT(unseen(facts), ElementsAre("0: 0 7+"));
    add_chunk(facts, 4, 10, 0, 0);
    EXPECT_THAT(unseen(facts), ElementsAre("4: 0 7+"));
    facts.chunks.front().missing = 1;
    EXPECT_THAT(unseen(facts), ElementsAre("4: 0 6")) << "a chunk misses what was in them";
    facts.absent.records = 0;
    EXPECT_THAT(unseen(facts), ElementsAre("4: 0 1"));
}

TEST(Losses, GapsAccountForPartOfThem) {
    const Losses losses{.dropped = 10, .missing = 3};
    EXPECT_EQ(losses.without(0), 13U);
    EXPECT_EQ(losses.without(9), 4U);
    EXPECT_EQ(losses.without(10), 3U);
    EXPECT_EQ(losses.without(11), 3U);
    trace::TraceFacts facts;
    EXPECT_EQ(all_losses(facts, 5), 5U);
    add_chunk(facts, 0, 1, 10, 3);
    add_chunk(facts, 1, 1, 20, 4);
    EXPECT_EQ(all_losses(facts, 0), 37U);
    EXPECT_EQ(all_losses(facts, 12), 37U);
    EXPECT_EQ(all_losses(facts, 31), 38U);
}

TEST(Losses, SumsSaturate) {
    EXPECT_EQ(saturating_sum(1, 2), 3U);
    EXPECT_EQ(saturating_sum(kMost - 1, 1), kMost);
    EXPECT_EQ(saturating_sum(kMost, 1), kMost);
    EXPECT_EQ(saturating_sum(2, kMost), kMost);
}

TEST(Losses, HaveAText) {
    EXPECT_EQ(Losses{}.text(7), "lost 7 records, it is unknown where");
    EXPECT_EQ((Losses{.at_least = true}.text(1)), "lost at least 1 records, it is unknown where");
}

} // namespace

} // namespace host::convert
