// SPDX-License-Identifier: MIT
// Says what is wrong with a FAT16 or FAT32 image, sharing no code with the driver: a second reading of the
// specification. Understands a superfloppy whose files all lie in the root directory, which is what the driver makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace test {

struct FatReport {
    std::vector<std::string> damage; // what would make a checker cut, truncate or guess
    std::uint32_t lost_clusters = 0; // in use, but in no file: harmless
    bool copies_equal = true;        // of the table
    bool hint_right = true;          // FSInfo says "unknown" or the truth
    std::uint32_t free_clusters = 0;
    std::map<std::string, std::vector<std::byte>> files; // by 11-character name, as stored

    [[nodiscard]] std::string text() const;
};

// `table_copy` chooses which copy of the table is believed.
[[nodiscard]] FatReport check_fat(const std::vector<std::byte>& image, std::uint32_t table_copy = 0);

} // namespace test
