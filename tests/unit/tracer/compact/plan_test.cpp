// SPDX-License-Identifier: MIT
// Tests which layout follows from what was measured: the published numbers, and the choice on both sides of each bound.
#include "tracer/compact/layout.hpp"

#include "tracer/compact/stream_header.hpp"

#include <gtest/gtest.h>

namespace plan_test {

using namespace tracer::compact;

TEST(CompactPlan, HasThePublishedNumbers) {
    EXPECT_EQ(cut_bits_max(800), 9U); // 200 ns at 4 GHz
    EXPECT_EQ(cut_bits_max(200), 7U);
    EXPECT_EQ(cut_bits_max(1), 0U);
    EXPECT_EQ(cut_bits_max(0), 0U);
    EXPECT_EQ(cut_bits_max(~std::uint64_t{0}), 63U);
    EXPECT_EQ(32 - turn_bits_min((15 + 10) * 4'000'000), 4U); // milliseconds at 4 GHz
    EXPECT_EQ(turn_bits_min(0), 0U);
    EXPECT_EQ(turn_bits_min(~std::uint64_t{0}), 64U);
}

TEST(CompactPlan, CountsTheIdsOfALiveStream) {
    for (const LayoutRow& row : kLayoutRows) {
        EXPECT_EQ(live_ids(row), row.has_compact_headers() ? live_map(row.layout).size() : 0) << row.name;
    }
}

TEST(CompactPlan, ChoosesTheMostIdsThatCutNoBitOfUseInATurnThatIsLongEnough) {
    struct Row {
        std::uint64_t probe_ticks;
        std::uint64_t timer_ticks;
        Layout layout;
    };

    constexpr std::uint64_t kTurn27 = std::uint64_t{1} << 26; // twice this is a turn of A
    constexpr std::uint64_t kTurn28 = std::uint64_t{1} << 27;
    constexpr std::uint64_t kTurn32 = std::uint64_t{1} << 31;
    constexpr auto kRows = std::to_array<Row>({
        {0, 0, Layout::a},
        {19, 200, Layout::a}, // instructions
        {63, 5'000, Layout::a},
        {64, 5'000, Layout::c},
        {127, 5'000, Layout::c},
        {128, 5'000, Layout::d},
        {511, 5'000, Layout::d},
        {512, 5'000, Layout::plan12},
        {800, (15 + 10) * 4'000'000, Layout::plan12}, // as published
        {800, kTurn28 - 1, Layout::plan12},
        {800, kTurn28, Layout::d},
        {31, kTurn27 - 1, Layout::a},
        {31, kTurn27, Layout::large64}, // no header that is compact and exact turns so slowly
        {32, kTurn27, Layout::b},
        {800, kTurn32 - 1, Layout::d},
        {800, kTurn32, Layout::large96},
        {800, ~std::uint64_t{0}, Layout::large96},
    });
    for (const Row& row : kRows) {
        EXPECT_EQ(row_of(choose_layout({row.probe_ticks, row.timer_ticks})).name, row_of(row.layout).name)
            << row.probe_ticks << " ticks a record, " << row.timer_ticks << " a setting of the timer";
    }
}

} // namespace plan_test
