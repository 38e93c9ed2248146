// SPDX-License-Identifier: MIT
// FSInfo, FAT32's note of how many clusters are free and where to look for one. Only a hint, which we never believe,
// but which a checker compares: it is set to "unknown" before a file is begun and to the truth after it is complete, so
// it is never wrong, wherever the writing is cut off. Source: Microsoft FAT32 File System Specification 1.03, "FAT32
// FSInfo Sector Structure". Context: task or irq-off.
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

// Rewrites the hint at a device sector. A sector without the three signatures is left alone: it is not an FSInfo.
// `sector` is working space of kSectorBytes. Errors: io.
[[nodiscard]] lib::Result<void> update_info_sector(BlockDevice& device, std::uint64_t device_sector,
                                                   const SpaceHint& hint, std::span<std::byte> sector);

} // namespace drivers::fat
