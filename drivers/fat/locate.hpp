// SPDX-License-Identifier: MIT
// The start of the FAT volume on a device: at its first sector ("superfloppy"), or in the first FAT partition of a
// master boot record. Source: Microsoft FAT32 File System Specification 1.03; partition table as in the UEFI
// Specification 2.10, section 5.2.1. Context: task or irq-off.
//
//   MBR: 446 four entries of 16 bytes { status u8, CHS[3], type u8, CHS[3], first sector u32, sectors u32 } | 510 55 AA
#pragma once

#include "drivers/fat/geometry.hpp"

namespace drivers::fat {

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
