// SPDX-License-Identifier: MIT
// Tests what the kernel takes of a hypervisor's start information: of each version, of any number of memory ranges.
#include "arch/x86_64/pvh_start_info.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace arch::x86_64 {
namespace {

class PvhStart : public testing::Test {
  protected:
    [[nodiscard]] const BootInfo& taken() {
        m_start.memory_map = reinterpret_cast<std::uint64_t>(m_map.data());
        m_start.memory_map_entries = static_cast<std::uint32_t>(m_map.size());
        *m_info = {};
        take_start_info(m_start, *m_info);
        return *m_info;
    }

    PvhStartInfo m_start{0x336E'C578, 1, 0, 0, 0, 0x1234, 0xF'0000, 0, 0, 0};
    std::vector<PvhMemoryRange> m_map{{0, 0x9'FC00, 1, 0}};

  private:
    std::unique_ptr<BootInfo> m_info = std::make_unique<BootInfo>();
};

TEST_F(PvhStart, GivesAddressesAndRanges) {
    m_map = {{0, 0x9'FC00, 1, 0}, {0xF'0000, 0x1'0000, 2, 0}, {0x7FE'0000, 0x2'0000, 3, 0}, {1ULL << 32, 4096, 7, 0}};
    const BootInfo& info = taken();
    EXPECT_EQ(info.magic, BootInfo::kMagic);
    EXPECT_EQ(info.version, BootInfo::kVersion);
    EXPECT_EQ(info.path, BootPath::pvh);
    EXPECT_EQ(info.rsdp_address, 0xF'0000U);
    EXPECT_EQ(info.command_line_address, 0x1234U);
    EXPECT_EQ(info.ranges_lost, 0U);
    ASSERT_EQ(info.range_count, m_map.size());
    constexpr MemoryKind kKinds[] = {MemoryKind::usable, MemoryKind::reserved, MemoryKind::acpi,
                                     MemoryKind::persistent};
    for (std::size_t i = 0; i < m_map.size(); ++i) {
        EXPECT_EQ(info.ranges[i].base, m_map[i].base);
        EXPECT_EQ(info.ranges[i].size_bytes, m_map[i].size_bytes);
        EXPECT_EQ(info.ranges[i].kind, kKinds[i]);
        EXPECT_EQ(info.ranges[i].reserved, 0U);
    }
}

TEST_F(PvhStart, OfAnotherMagicIsNotOurs) {
    m_start.magic ^= 1;
    EXPECT_NE(taken().magic, BootInfo::kMagic);
    EXPECT_EQ(taken().range_count, 0U);
}

TEST_F(PvhStart, OfTheFirstVersionHasNoRanges) {
    m_start.version = 0;
    EXPECT_EQ(taken().magic, BootInfo::kMagic);
    EXPECT_EQ(taken().range_count, 0U);
    EXPECT_EQ(taken().rsdp_address, 0xF'0000U);
}

TEST_F(PvhStart, CountsRangesThatDoNotFit) {
    for (const std::size_t number : {BootInfo::kRangesMax, BootInfo::kRangesMax + 2}) {
        m_map.assign(number, {0x1000, 0x1000, 1, 0});
        EXPECT_EQ(taken().range_count, BootInfo::kRangesMax);
        EXPECT_EQ(taken().ranges_lost, number - BootInfo::kRangesMax);
    }
}

} // namespace
} // namespace arch::x86_64
