// SPDX-License-Identifier: MIT
// Tests what a task did, by buckets that grow.
#include "host/report/schedule_tables.hpp"

#include <gmock/gmock.h>

namespace host::report {

namespace {

using schedule::Activity;

// Of one column of a table whose numbers are below 2^14.
std::uint64_t sum_of(const Table& table, std::size_t column) {
    std::uint64_t sum = 0;
    const auto bytes = table.numbers()[column].bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
        sum += byte < 0x80 ? byte : (byte & 0x7F) + 128 * std::to_integer<std::uint64_t>(bytes[++i]);
    }
    return sum;
}

TEST(Overview, KeepsWhatATaskDidWhenBucketsGrow) {
    Overview overview;
    overview.add(0, Activity::running, 0, 1024);
    EXPECT_EQ(overview.bucket_ticks(), 1U);
    overview.add_miss(0, 5);
    overview.add_miss(0, 700);
    overview.add(1, Activity::ready, 4096 * 8 - 8, 4096 * 8);
    EXPECT_EQ(overview.bucket_ticks(), 32U);
    const auto tables = overview.tables(4096 * 8);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(sum_of(tables[0], 0), 255 * 1024 / 32) << "whole buckets";
    EXPECT_EQ(sum_of(tables[0], 3), 2U) << "misses";
    EXPECT_EQ(sum_of(tables[1], 1), 64U) << "8 of 32 ticks, rounded up";
}

TEST(Overview, CountsNothingBetweenJobs) {
    Overview overview;
    overview.add(0, Activity::resting, 0, 100);
    overview.add(0, Activity::unknown, 0, 100);
    EXPECT_TRUE(overview.tables(100).empty());
}

} // namespace

} // namespace host::report
