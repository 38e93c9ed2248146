// SPDX-License-Identifier: MIT
// FSInfo, FAT32's record of how many clusters are free and where to search for one. It is only a hint, which we never
// use, but which a checker compares: it is set to "unknown" before a file is begun and to the correct values after it
// is complete, so it is never wrong, even if writing is interrupted. Source: Microsoft FAT32 File System Specification
// 1.03, "FAT32 FSInfo Sector Structure". Context: task or irq-off.
#pragma once

#include "drivers/fat/geometry.hpp"

namespace drivers::fat {

struct SpaceHint {
    static constexpr std::uint32_t kUnknown = 0xFFFF'FFFF;
    std::uint32_t free_clusters = kUnknown;
    std::uint32_t next_candidate = kUnknown;
};

// Fills a sector.
void encode_info_sector(const SpaceHint& hint, std::span<std::byte> sector);

// Rewrites the hint at a device sector. A sector without the three signatures is not an FSInfo and is not changed.
// `sector` is working space of kSectorBytes. Errors: io.
[[nodiscard]] lib::Result<void> update_info_sector(BlockDevice& device, std::uint64_t device_sector,
                                                   const SpaceHint& hint, std::span<std::byte> sector);

} // namespace drivers::fat
