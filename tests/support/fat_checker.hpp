// SPDX-License-Identifier: MIT
// Checks a FAT16 or FAT32 image without sharing code with the driver: a second implementation of the specification.
// Supports a superfloppy whose files are all in the root directory, as the driver writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace test {

struct FatReport {
    std::vector<std::string> damage; // damage that a checker could only repair by cutting, truncating or guessing
    std::uint32_t lost_clusters = 0; // in use, but in no file: harmless
    bool copies_equal = true;        // of the table
    bool hint_right = true;          // FSInfo is "unknown" or correct
    std::uint32_t free_clusters = 0;
    std::map<std::string, std::vector<std::byte>> files; // by 11-character name, as stored

    [[nodiscard]] std::string text() const;
};

// Checks an image; `table_copy` selects the copy of the table to use.
[[nodiscard]] FatReport check_fat(const std::vector<std::byte>& image, std::uint32_t table_copy = 0);

} // namespace test
