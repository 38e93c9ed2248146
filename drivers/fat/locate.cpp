// SPDX-License-Identifier: MIT
// Superfloppy or partition. See locate.hpp.
#include "drivers/fat/locate.hpp"

#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <optional>

namespace drivers::fat {

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
