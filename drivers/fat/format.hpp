// SPDX-License-Identifier: MIT
// Makes an empty FAT16 or FAT32 volume that fills a device, without a partition table. By default it takes only a blank
// device, so that existing contents are not erased. The boot sector is cleared first and written last, so an
// interrupted format leaves no volume rather than half of one. Source: Microsoft FAT32 File System Specification 1.03,
// "FAT Volume Initialization" (cluster sizes and the size of a FAT). Context: task or irq-off.
#pragma once

#include "drivers/fat/directory.hpp"

namespace drivers::fat {

enum class FormatType : std::uint8_t {
    by_size, // FAT16 up to 512 MiB, else FAT32
    fat16,
    fat32, // from about 33 MiB on
};

enum class Overwrite : std::uint8_t {
    blank_only,
    anything,
};

struct FormatOptions {
    std::string_view label = "REMORA"; // 1..11 characters
    std::uint32_t volume_id = 0x4F4D'4552;
    FormatType type = FormatType::by_size;
    Overwrite overwrite = Overwrite::blank_only;
    DateTime created{}; // of the label's directory entry
};

// Returns whether the first 68 KiB have only zeros: every known file system, partition table or disk image begins
// earlier. Error: io.
[[nodiscard]] lib::Result<bool> is_blank(BlockDevice& device);

// Formats the device. invalid_argument: the label or the time is invalid. refused: the device is not blank. no_space:
// it is too small for the type (about 2.1 MiB for FAT16, 33 MiB for FAT32). unsupported: it is larger than FAT16 or
// FAT32 can be. io: the device failed.
[[nodiscard]] lib::Result<void> format(BlockDevice& device, const FormatOptions& options);

} // namespace drivers::fat
