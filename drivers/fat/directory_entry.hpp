// SPDX-License-Identifier: MIT
// The 32-byte directory entry: short names, times, sizes. No long names: a name that does not fit 8.3 is refused, never
// cut. Names are stored in upper case, as the format requires; a part in lower case is marked in the byte that Windows
// NT and Linux use for it, so it is read back as written. Source: Microsoft FAT32 File System Specification 1.03, "FAT
// Directory Structure". Host-safe. Context: any.
//
//   0 name[8] ext[3] | 11 attributes | 12 case | 13 created (tenths, time, date) | 18 accessed | 20 cluster high
//   22 written time, date | 26 cluster low | 28 size u32
#pragma once

#include "drivers/fat/geometry.hpp"

#include <array>
#include <string_view>

namespace drivers::fat {

struct ShortName {
    std::array<char, 11> text{}; // base in 0..7, extension in 8..10, padded with spaces
    std::uint8_t lower_case = 0; // bit 3: base, bit 4: extension

    // Two names are equal if they differ only in case.
    [[nodiscard]] constexpr bool same_as(const ShortName& other) const { return text == other.text; }
};

// Makes a short name, such as "0trace.dat". invalid_argument: the base is empty, it has more than 8 + 3 characters, or
// a character that FAT forbids.
[[nodiscard]] lib::Result<ShortName> make_short_name(std::string_view name);

// Makes a volume label of at most 11 characters, in which spaces are allowed. Error: invalid_argument.
[[nodiscard]] lib::Result<ShortName> make_label(std::string_view label);

// Local time, in the format's steps of two seconds. The default is the beginning of FAT's calendar, so that the same
// files produce the same image.
struct DateTime {
    std::uint16_t year = 1980; // 1980..2107
    std::uint8_t month = 1;    // 1..12
    std::uint8_t day = 1;      // 1..31
    std::uint8_t hour = 0;     // 0..23
    std::uint8_t minute = 0;   // 0..59
    std::uint8_t second = 0;   // 0..59

    [[nodiscard]] constexpr bool valid() const {
        return year >= 1980 && year <= 2107 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 &&
               minute <= 59 && second <= 59;
    }
};

enum class EntryKind : std::uint8_t {
    end,       // free, as are all entries after it
    free,      // deleted
    file,      // also read-only, hidden and system files
    directory, // its name counts as taken
    label,
    long_name, // part of one; belongs to the following short name
};

struct DirectoryEntry {
    EntryKind kind = EntryKind::end;
    ShortName name;
    Cluster first_cluster = 0; // 0: no cluster (an empty file)
    std::uint32_t size_bytes = 0;
    DateTime modified;
};

using EntryBytes = std::array<std::byte, kDirectoryEntryBytes>;

// Decodes an entry of kDirectoryEntryBytes bytes.
[[nodiscard]] DirectoryEntry decode_entry(std::span<const std::byte> bytes);

// Encodes an entry of the kind file or label. Precondition: the time is valid.
[[nodiscard]] EntryBytes encode_entry(const DirectoryEntry& entry);

} // namespace drivers::fat
