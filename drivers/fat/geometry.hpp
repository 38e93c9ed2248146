// SPDX-License-Identifier: MIT
// Reads the sectors that describe a FAT volume: its boot sector, FAT32's FSInfo, and the partition table before it.
#pragma once

#include "drivers/block_device.hpp"

#include <string_view>

namespace drivers::fat {

// The layout of a FAT volume is computed from its boot sector alone: nothing is read from the device, and no field is
// used before it has been checked against the others and against the device. Source: Microsoft FAT32 File System
// Specification 1.03 (fatgen103), "BPB" and "FAT Type Determination": only the number of clusters determines the type
// of FAT. Host-safe. Context: any.
//
//   0            reserved       + fats x fat_sectors      + root_sectors                       total
//   | boot, FSInfo... | FAT 0 | FAT 1 | root directory (FAT16) | cluster 2 | cluster 3 | ... |
//                     ^ first_fat     ^ first_root             ^ first_data

enum class FatType : std::uint8_t {
    fat16,
    fat32,
};

// Names the defect of a boot sector. All except those marked otherwise map to Error::corrupt.
enum class Defect : std::uint8_t {
    none,
    no_volume,          // not_found: neither a boot sector nor a partition with one
    fat12,              // unsupported: fewer than 4085 clusters
    sector_size,        // unsupported: a legal size other than 512 bytes
    mirroring_off,      // unsupported: only one FAT copy is kept up to date
    version,            // unsupported: FAT32 version other than 0.0
    partition_bounds,   // a partition extends past the device
    jump,               // the three bytes of the jump instruction
    bytes_per_sector,   // not a power of two from 512 to 4096
    cluster_size,       // not a power of two from 1 to 128 sectors
    reserved_sectors,   // none
    fat_count,          // none
    media,              // neither F0 nor F8..FF, or the FAT has another one
    root_entries,       // not whole sectors; none on FAT16; some on FAT32
    total_sectors,      // zero, contradictory, or more than the device has
    fat_size,           // too small for the clusters, or the 16-bit field used on FAT32
    layout,             // no space for data after reserved sectors, FATs and root directory
    cluster_count,      // more than FAT32 can number
    root_cluster,       // outside the volume
    info_sector,        // outside the reserved sectors
    backup_boot_sector, // outside the reserved sectors
};

[[nodiscard]] std::string_view defect_text(Defect defect);

using Cluster = std::uint32_t;

inline constexpr Cluster kFirstCluster = 2;
inline constexpr std::size_t kDirectoryEntryBytes = 32;
inline constexpr std::uint32_t kFat16ClustersMin = 4085;
inline constexpr std::uint32_t kFat32ClustersMin = 65525;
inline constexpr std::uint32_t kFat32ClustersMax = 0x0FFF'FFF5;

// All sector numbers of a geometry count from the boot sector of the volume.
struct Geometry {
    FatType type = FatType::fat16;
    std::uint8_t media = 0;
    std::uint8_t fat_count = 0;
    std::uint32_t sectors_per_cluster = 0;
    std::uint32_t total_sectors = 0;
    std::uint32_t first_fat = 0;
    std::uint32_t fat_sectors = 0; // of one copy
    std::uint32_t first_root = 0;
    std::uint32_t root_sectors = 0; // 0 on FAT32
    std::uint32_t first_data = 0;
    std::uint32_t cluster_count = 0;
    Cluster root_cluster = 0;      // FAT32
    std::uint32_t info_sector = 0; // FAT32; 0: the volume has none

    [[nodiscard]] constexpr std::uint32_t cluster_bytes() const {
        return sectors_per_cluster * static_cast<std::uint32_t>(kSectorBytes);
    }

    [[nodiscard]] constexpr bool holds(Cluster cluster) const {
        return cluster >= kFirstCluster && cluster - kFirstCluster < cluster_count;
    }

    // Returns the first sector of a cluster. Precondition: holds(cluster).
    [[nodiscard]] constexpr std::uint32_t first_sector(Cluster cluster) const {
        return first_data + (cluster - kFirstCluster) * sectors_per_cluster;
    }
};

struct BootSectorReading {
    Defect defect = Defect::none;
    Geometry geometry; // valid only if there is no defect
};

// Returns whether the sector ends with 55 AA, as boot sectors and partition tables do.
[[nodiscard]] bool has_boot_signature(std::span<const std::byte> sector);

// Reads a boot sector of kSectorBytes bytes; `sectors_available` is the size of the device or the partition.
[[nodiscard]] BootSectorReading read_boot_sector(std::span<const std::byte> sector, std::uint64_t sectors_available);

// FSInfo is FAT32's record of how many clusters are free and where to search for one. It is only a hint, which we never
// use, but which a checker compares: it is set to "unknown" before a file is begun and to the correct values after it
// is complete, so it is never wrong, even if writing is interrupted. Source: Microsoft FAT32 File System Specification
// 1.03, "FAT32 FSInfo Sector Structure". Context: task or irq-off.

struct SpaceHint {
    static constexpr std::uint32_t kUnknown = 0xFFFF'FFFF;
    std::uint32_t free_clusters = kUnknown;
    std::uint32_t next_candidate = kUnknown;
};

void encode_info_sector(const SpaceHint& hint, std::span<std::byte> sector);

// Rewrites the hint at a device sector. A sector without the three signatures is not an FSInfo and is not changed.
// `sector` is working space of kSectorBytes. Errors: io.
[[nodiscard]] lib::Result<void> update_info_sector(BlockDevice& device, std::uint64_t device_sector,
                                                   const SpaceHint& hint, std::span<std::byte> sector);

// The FAT volume of a device starts at its first sector ("superfloppy") or is the first FAT partition of a master boot
// record. Source: Microsoft FAT32 File System Specification 1.03; UEFI Specification 2.10, section 5.2.1 (partition
// table). Context: task or irq-off.
//
//   MBR: 446 four entries of 16 bytes { status u8, CHS[3], type u8, CHS[3], first sector u32, sectors u32 } | 510 55 AA

struct Location {
    Defect defect = Defect::none;
    std::uint64_t start = 0; // device sector of the boot sector
    Geometry geometry;       // valid only if there is no defect
};

// Locates the volume; `sector` is working space of kSectorBytes. Finding no volume is a result, not a failure. Error:
// io.
[[nodiscard]] lib::Result<Location> locate_volume(BlockDevice& device, std::span<std::byte> sector);

// Returns the error of a defect. Precondition: the defect is not none.
[[nodiscard]] lib::Error defect_error(Defect defect);

} // namespace drivers::fat
