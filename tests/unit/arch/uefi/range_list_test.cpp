// SPDX-License-Identifier: MIT
// Tests the firmware's memory map in BootInfo: neighbours merge in any order, kinds remain separate, and ranges that do
// not fit are counted.
#include "arch/uefi/range_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

namespace uefi {
namespace {

using arch::BootInfo;
using arch::MemoryKind;

std::unique_ptr<BootInfo> fresh() {
    return std::make_unique<BootInfo>();
}

TEST(RangeList, MergesNeighboursOfOneKindInAnyOrder) {
    std::array<std::uint64_t, 4> bases{0x1000, 0x2000, 0x3000, 0x4000};
    do {
        const auto info = fresh();
        RangeList ranges(*info);
        for (const std::uint64_t base : bases) {
            ranges.add(base, 0x1000, MemoryKind::usable);
        }
        ASSERT_EQ(info->range_count, 1U);
        EXPECT_EQ(info->ranges[0].base, 0x1000U);
        EXPECT_EQ(info->ranges[0].size_bytes, 0x4000U);
    } while (std::ranges::next_permutation(bases).found);
}

TEST(RangeList, KeepsKindsAndGapsApart) {
    const auto info = fresh();
    RangeList ranges(*info);
    ranges.add(0x1000, 0x1000, MemoryKind::usable);
    ranges.add(0x2000, 0x1000, MemoryKind::nvs);
    ranges.add(0x3001, 0x1000, MemoryKind::nvs);
    EXPECT_EQ(info->range_count, 3U);
    EXPECT_EQ(info->ranges[1].size_bytes, 0x1000U);
}

TEST(RangeList, IgnoresAnEmptyRange) {
    const auto info = fresh();
    RangeList(*info).add(0x1000, 0, MemoryKind::usable);
    EXPECT_EQ(info->range_count, 0U);
}

TEST(RangeList, CountsWhatDoesNotFitAndStillMerges) {
    const auto info = fresh();
    RangeList ranges(*info);
    for (std::uint64_t i = 0; i < BootInfo::kRangesMax; ++i) {
        ranges.add(i * 0x2000, 0x1000, MemoryKind::usable);
    }
    EXPECT_EQ(info->range_count, BootInfo::kRangesMax);
    EXPECT_EQ(info->ranges_lost, 0U);
    ranges.add(0x1000'0000, 0x1000, MemoryKind::usable);
    EXPECT_EQ(info->ranges_lost, 1U);
    ranges.add(0x1000, 0x1000, MemoryKind::usable); // fills the gap between the first two
    EXPECT_EQ(info->ranges_lost, 1U);
    EXPECT_EQ(info->range_count, BootInfo::kRangesMax - 1);
}

TEST(MemoryKind, FollowsTheTypeAfterBootServicesAreLeft) {
    for (const std::uint32_t type : {1U, 2U, 3U, 4U, 7U}) {
        EXPECT_EQ(memory_kind(type), MemoryKind::usable) << type;
    }
    for (const std::uint32_t type : {0U, 5U, 6U, 8U, 11U, 12U, 13U, 15U, 0x7000'0000U, 0xFFFF'FFFFU}) {
        EXPECT_EQ(memory_kind(type), MemoryKind::reserved) << type;
    }
    EXPECT_EQ(memory_kind(9), MemoryKind::acpi);
    EXPECT_EQ(memory_kind(10), MemoryKind::nvs);
    EXPECT_EQ(memory_kind(14), MemoryKind::persistent);
}

} // namespace
} // namespace uefi
