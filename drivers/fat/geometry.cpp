// SPDX-License-Identifier: MIT
// Checks the boot sector field by field, updates FSInfo, and finds the volume on its device.
#include "drivers/fat/geometry.hpp"

#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <optional>

namespace drivers::fat {

namespace {

constexpr std::size_t kSignatureOffset = 510;
constexpr std::uint16_t kBootSignature = 0xAA55;
constexpr std::uint32_t kSectorsPerClusterMax = 128;
constexpr std::uint16_t kNoSector = 0xFFFF;
constexpr std::uint16_t kFlagMirroringOff = 1U << 7;

// This replaces std::has_single_bit, which would call a library routine that the kernel does not have.
constexpr bool is_power_of_two(std::uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

struct BootSector { // as on the disk, unchecked
    std::uint8_t jump[3]{};
    std::uint16_t bytes_per_sector = 0;
    std::uint8_t sectors_per_cluster = 0;
    std::uint16_t reserved_sectors = 0;
    std::uint8_t fat_count = 0;
    std::uint16_t root_entries = 0;
    std::uint16_t total_sectors_16 = 0;
    std::uint8_t media = 0;
    std::uint16_t fat_sectors_16 = 0;
    std::uint32_t total_sectors_32 = 0;
    std::uint32_t fat_sectors_32 = 0;
    std::uint16_t flags = 0;
    std::uint16_t version = 0;
    std::uint32_t root_cluster = 0;
    std::uint16_t info_sector = 0;
    std::uint16_t backup_boot_sector = 0;
};

BootSector unpack(std::span<const std::byte> sector) {
    lib::ByteReader reader(sector);
    BootSector boot;
    for (std::uint8_t& byte : boot.jump) {
        byte = reader.le<std::uint8_t>();
    }
    reader.take(8); // OEM name: not used
    boot.bytes_per_sector = reader.le<std::uint16_t>();
    boot.sectors_per_cluster = reader.le<std::uint8_t>();
    boot.reserved_sectors = reader.le<std::uint16_t>();
    boot.fat_count = reader.le<std::uint8_t>();
    boot.root_entries = reader.le<std::uint16_t>();
    boot.total_sectors_16 = reader.le<std::uint16_t>();
    boot.media = reader.le<std::uint8_t>();
    boot.fat_sectors_16 = reader.le<std::uint16_t>();
    reader.take(2 + 2 + 4); // sectors per track, heads, hidden sectors: for the BIOS only
    boot.total_sectors_32 = reader.le<std::uint32_t>();
    // The fields of FAT32 begin here; FAT16 has other fields at these offsets.
    boot.fat_sectors_32 = reader.le<std::uint32_t>();
    boot.flags = reader.le<std::uint16_t>();
    boot.version = reader.le<std::uint16_t>();
    boot.root_cluster = reader.le<std::uint32_t>();
    boot.info_sector = reader.le<std::uint16_t>();
    boot.backup_boot_sector = reader.le<std::uint16_t>();
    return boot;
}

Defect check_fields(const BootSector& boot) {
    const bool short_jump = boot.jump[0] == 0xEB && boot.jump[2] == 0x90;
    if (!short_jump && boot.jump[0] != 0xE9) {
        return Defect::jump;
    }
    if (boot.bytes_per_sector != kSectorBytes) {
        const bool legal = boot.bytes_per_sector == 1024 || boot.bytes_per_sector == 2048 || //
                           boot.bytes_per_sector == 4096;
        return legal ? Defect::sector_size : Defect::bytes_per_sector;
    }
    if (!is_power_of_two(boot.sectors_per_cluster) || boot.sectors_per_cluster > kSectorsPerClusterMax) {
        return Defect::cluster_size;
    }
    if (boot.reserved_sectors == 0) {
        return Defect::reserved_sectors;
    }
    if (boot.fat_count == 0) {
        return Defect::fat_count;
    }
    if (boot.media != 0xF0 && boot.media < 0xF8) {
        return Defect::media;
    }
    if (boot.root_entries * kDirectoryEntryBytes % kSectorBytes != 0) {
        return Defect::root_entries;
    }
    const bool both_totals = boot.total_sectors_16 != 0 && boot.total_sectors_32 != 0;
    if (both_totals && boot.total_sectors_16 != boot.total_sectors_32) {
        return Defect::total_sectors;
    }
    return Defect::none;
}

Defect check_fat16(const BootSector& boot) {
    if (boot.root_entries == 0) {
        return Defect::root_entries;
    }
    return boot.fat_sectors_16 == 0 ? Defect::fat_size : Defect::none;
}

Defect check_fat32(const BootSector& boot, const Geometry& geometry) {
    if (geometry.cluster_count > kFat32ClustersMax) {
        return Defect::cluster_count;
    }
    if (boot.root_entries != 0) {
        return Defect::root_entries;
    }
    if (boot.fat_sectors_16 != 0) {
        return Defect::fat_size;
    }
    if (boot.version != 0) {
        return Defect::version;
    }
    if ((boot.flags & kFlagMirroringOff) != 0) {
        return Defect::mirroring_off;
    }
    if (!geometry.holds(boot.root_cluster)) {
        return Defect::root_cluster;
    }
    if (boot.info_sector != 0 && boot.info_sector != kNoSector && boot.info_sector >= boot.reserved_sectors) {
        return Defect::info_sector;
    }
    if (boot.backup_boot_sector != kNoSector && boot.backup_boot_sector >= boot.reserved_sectors) {
        return Defect::backup_boot_sector;
    }
    return Defect::none;
}

} // namespace

std::string_view defect_text(Defect defect) {
    static constexpr auto kTexts = std::to_array<std::string_view>({
        "none",
        "no FAT volume",
        "FAT12 (fewer than 4085 clusters)",
        "sectors of more than 512 bytes",
        "FAT mirroring is switched off",
        "unknown FAT32 version",
        "partition extends past the device",
        "jump instruction",
        "bytes per sector",
        "sectors per cluster",
        "reserved sectors",
        "number of FATs",
        "media byte",
        "root directory entries",
        "total sectors",
        "sectors per FAT",
        "no space for data",
        "too many clusters",
        "root directory cluster",
        "FSInfo sector",
        "backup boot sector",
    });
    static_assert(kTexts.size() == static_cast<std::size_t>(Defect::backup_boot_sector) + 1);
    return kTexts[static_cast<std::size_t>(defect)];
}

bool has_boot_signature(std::span<const std::byte> sector) {
    return sector.size() >= kSectorBytes &&
           lib::load_le<std::uint16_t>(sector.subspan(kSignatureOffset)) == kBootSignature;
}

BootSectorReading read_boot_sector(std::span<const std::byte> sector, std::uint64_t sectors_available) {
    if (!has_boot_signature(sector)) {
        return {.defect = Defect::no_volume, .geometry = {}};
    }
    const BootSector boot = unpack(sector);
    BootSectorReading reading;
    reading.defect = check_fields(boot);
    if (reading.defect != Defect::none) {
        return reading;
    }

    Geometry& geometry = reading.geometry;
    geometry.media = boot.media;
    geometry.fat_count = boot.fat_count;
    geometry.sectors_per_cluster = boot.sectors_per_cluster;
    geometry.total_sectors = boot.total_sectors_16 != 0 ? boot.total_sectors_16 : boot.total_sectors_32;
    geometry.first_fat = boot.reserved_sectors;
    geometry.fat_sectors = boot.fat_sectors_16 != 0 ? boot.fat_sectors_16 : boot.fat_sectors_32;
    geometry.root_sectors = static_cast<std::uint32_t>(boot.root_entries * kDirectoryEntryBytes / kSectorBytes);
    if (geometry.total_sectors == 0 || geometry.total_sectors > sectors_available) {
        reading.defect = Defect::total_sectors;
        return reading;
    }
    // The sum is at most 2^16 + 255 * 2^32 + 2^12, which 64 bits hold.
    const std::uint64_t first_root = geometry.first_fat + std::uint64_t{geometry.fat_count} * geometry.fat_sectors;
    const std::uint64_t first_data = first_root + geometry.root_sectors;
    if (first_data >= geometry.total_sectors) {
        reading.defect = Defect::layout;
        return reading;
    }
    geometry.first_root = static_cast<std::uint32_t>(first_root);
    geometry.first_data = static_cast<std::uint32_t>(first_data);
    geometry.cluster_count = (geometry.total_sectors - geometry.first_data) / geometry.sectors_per_cluster;

    if (geometry.cluster_count < kFat16ClustersMin) {
        reading.defect = Defect::fat12;
        return reading;
    }
    geometry.type = geometry.cluster_count < kFat32ClustersMin ? FatType::fat16 : FatType::fat32;
    if (geometry.type == FatType::fat16) {
        reading.defect = check_fat16(boot);
    } else {
        reading.defect = check_fat32(boot, geometry);
        geometry.root_cluster = boot.root_cluster;
        geometry.info_sector = boot.info_sector == kNoSector ? 0U : boot.info_sector;
    }
    const std::uint64_t entry_bytes = geometry.type == FatType::fat16 ? 2 : 4;
    const std::uint64_t fat_bytes = (std::uint64_t{geometry.cluster_count} + kFirstCluster) * entry_bytes;
    if (reading.defect == Defect::none && fat_bytes > std::uint64_t{geometry.fat_sectors} * kSectorBytes) {
        reading.defect = Defect::fat_size;
    }
    return reading;
}

namespace {

constexpr std::size_t kOffsetLead = 0;
constexpr std::size_t kOffsetStructure = 484;
constexpr std::size_t kOffsetFreeClusters = 488;
constexpr std::size_t kOffsetNextCandidate = 492;
constexpr std::size_t kOffsetTrail = 508;
constexpr std::uint32_t kLeadSignature = 0x4161'5252;      // "RRaA"
constexpr std::uint32_t kStructureSignature = 0x6141'7272; // "rrAa"
constexpr std::uint32_t kTrailSignature = 0xAA55'0000;

bool is_info_sector(std::span<const std::byte> sector) {
    const auto word = [sector](std::size_t offset) { return lib::load_le<std::uint32_t>(sector.subspan(offset)); };
    return word(kOffsetLead) == kLeadSignature && word(kOffsetStructure) == kStructureSignature &&
           word(kOffsetTrail) == kTrailSignature;
}

void put_hint(const SpaceHint& hint, std::span<std::byte> sector) {
    lib::store_le(sector.subspan(kOffsetFreeClusters), hint.free_clusters);
    lib::store_le(sector.subspan(kOffsetNextCandidate), hint.next_candidate);
}

} // namespace

void encode_info_sector(const SpaceHint& hint, std::span<std::byte> sector) {
    ASSERT(sector.size() == kSectorBytes);
    std::ranges::fill(sector, std::byte{0});
    lib::store_le(sector.subspan(kOffsetLead), kLeadSignature);
    lib::store_le(sector.subspan(kOffsetStructure), kStructureSignature);
    lib::store_le(sector.subspan(kOffsetTrail), kTrailSignature);
    put_hint(hint, sector);
}

lib::Result<void> update_info_sector(BlockDevice& device, std::uint64_t device_sector, const SpaceHint& hint,
                                     std::span<std::byte> sector) {
    ASSERT(sector.size() == kSectorBytes);
    if (!device.read(device_sector, sector)) {
        return lib::Error::io;
    }
    if (!is_info_sector(sector)) {
        return {};
    }
    put_hint(hint, sector);
    if (!device.write(device_sector, sector)) {
        return lib::Error::io;
    }
    return {};
}

// --- superfloppy or partition ---

namespace {

constexpr std::size_t kOffsetPartitions = 446;
constexpr std::size_t kPartitionCount = 4;

struct Partition {
    std::uint32_t first_sector = 0;
    std::uint32_t sectors = 0;
};

bool is_fat_type(std::uint8_t type) {
    constexpr std::uint8_t kFatTypes[] = {0x01, 0x04, 0x06, 0x0B, 0x0C, 0x0E};
    for (const std::uint8_t fat : kFatTypes) {
        if (type == fat) {
            return true;
        }
    }
    return false;
}

// Returns nothing if the four entries are not a valid partition table: they are then the end of a boot loader.
std::optional<Partition> first_fat_partition(std::span<const std::byte> sector) {
    lib::ByteReader reader(sector.subspan(kOffsetPartitions));
    std::optional<Partition> found;
    for (std::size_t i = 0; i < kPartitionCount; ++i) {
        const auto status = reader.le<std::uint8_t>();
        reader.take(3);
        const auto type = reader.le<std::uint8_t>();
        reader.take(3);
        Partition partition;
        partition.first_sector = reader.le<std::uint32_t>();
        partition.sectors = reader.le<std::uint32_t>();
        if ((status & 0x7F) != 0) {
            return std::nullopt;
        }
        if (!found.has_value() && is_fat_type(type) && partition.first_sector != 0 && partition.sectors != 0) {
            found = partition;
        }
    }
    return found;
}

} // namespace

lib::Result<Location> locate_volume(BlockDevice& device, std::span<std::byte> sector) {
    ASSERT(sector.size() == kSectorBytes);
    Location location;
    if (device.sector_count() == 0) {
        location.defect = Defect::no_volume;
        return location;
    }
    if (!device.read(0, sector)) {
        return lib::Error::io;
    }
    BootSectorReading reading = read_boot_sector(sector, device.sector_count());
    if (reading.defect != Defect::none && has_boot_signature(sector)) {
        if (const auto partition = first_fat_partition(sector)) {
            location.start = partition->first_sector;
            if (std::uint64_t{partition->first_sector} + partition->sectors > device.sector_count()) {
                location.defect = Defect::partition_bounds;
                return location;
            }
            if (!device.read(location.start, sector)) {
                return lib::Error::io;
            }
            reading = read_boot_sector(sector, partition->sectors);
        }
    }
    location.defect = reading.defect;
    location.geometry = reading.geometry;
    return location;
}

lib::Error defect_error(Defect defect) {
    ASSERT(defect != Defect::none);
    if (defect == Defect::no_volume) {
        return lib::Error::not_found;
    }
    const bool foreign = defect == Defect::fat12 || defect == Defect::sector_size || defect == Defect::mirroring_off ||
                         defect == Defect::version;
    return foreign ? lib::Error::unsupported : lib::Error::corrupt;
}

} // namespace drivers::fat
