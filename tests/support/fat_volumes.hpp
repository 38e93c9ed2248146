// SPDX-License-Identifier: MIT
// The tests of the FAT writer share these initial volumes, contents to write, and the check for "clean".
#pragma once

#include "drivers/fat/format.hpp"
#include "drivers/fat/volume.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fat_checker.hpp"

#include <gtest/gtest.h>

#include <random>

namespace test {

using Bytes = std::vector<std::byte>;

struct Flavour {
    drivers::fat::FormatType type;
    std::uint64_t sectors;
};

inline constexpr Flavour kFat16{drivers::fat::FormatType::fat16, 4'200}; // clusters of 1 sector: the smallest volume
inline constexpr Flavour kFat16Wide{drivers::fat::FormatType::fat16, 16'384}; // clusters of 2 sectors
inline constexpr Flavour kFat32{drivers::fat::FormatType::fat32, 67'000};

inline Bytes pattern(std::size_t size, unsigned seed) {
    std::mt19937 random(seed); // NOLINT: reproducible on purpose
    Bytes bytes(size);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

inline Bytes formatted(const Flavour& flavour) {
    FakeDisk disk(flavour.sectors);
    EXPECT_TRUE(drivers::fat::format(disk, {.type = flavour.type}));
    return disk.image();
}

// Writes a whole file in pieces. An append that fails must leave nothing open.
inline lib::Result<void> add_file(drivers::fat::Volume& volume, std::string_view name, const Bytes& bytes,
                                  std::size_t piece = 1000) {
    drivers::fat::FileWriter writer(volume);
    if (const auto done = writer.create({.name = name}); !done) {
        return done;
    }
    for (std::size_t offset = 0; offset < bytes.size(); offset += piece) {
        if (const auto done = writer.append(std::span(bytes).subspan(offset, std::min(piece, bytes.size() - offset)));
            !done) {
            EXPECT_FALSE(writer.is_open());
            return done;
        }
    }
    return writer.close();
}

inline void expect_clean(const FatReport& report) {
    EXPECT_TRUE(report.damage.empty()) << report.text();
    EXPECT_EQ(report.lost_clusters, 0U);
    EXPECT_TRUE(report.copies_equal);
    EXPECT_TRUE(report.hint_right);
}

} // namespace test
