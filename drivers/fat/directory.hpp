// SPDX-License-Identifier: MIT
// Declares the root directory of a FAT volume and the entries in it. There are no subdirectories and no long names.
#pragma once

#include "drivers/fat/allocation_table.hpp"
#include "drivers/fat/geometry.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace drivers::fat {

// A 32-byte directory entry has a short name, times and a size. A name that does not fit 8.3 is refused, never cut.
// Names are stored in upper case, as the format requires; a part in lower case is marked in the byte that Windows NT
// and Linux use for it, so it is read back as written. Source: Microsoft FAT32 File System Specification 1.03, "FAT
// Directory Structure". Host-safe. Context: any.
//
//   0 name[8] ext[3] | 11 attributes | 12 case | 13 created (tenths, time, date) | 18 accessed | 20 cluster high
//   22 written time, date | 26 cluster low | 28 size u32

struct ShortName {
    std::array<char, 11> text{}; // base in 0..7, extension in 8..10, padded with spaces
    std::uint8_t lower_case = 0; // bit 3: base, bit 4: extension

    // Two names are equal if they differ only in case.
    [[nodiscard]] constexpr bool same_as(const ShortName& other) const { return text == other.text; }
};

// Makes a short name, such as "0trace.dat". invalid_argument: the base is empty, or the name has more than 8 + 3
// characters or one that FAT forbids.
[[nodiscard]] lib::Result<ShortName> make_short_name(std::string_view name);

// Makes a volume label of at most 11 characters, in which spaces are allowed. Error: invalid_argument.
[[nodiscard]] lib::Result<ShortName> make_label(std::string_view label);

// Holds local time, in the format's steps of two seconds. The default is the beginning of FAT's calendar, so that the
// same files produce the same image.
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

// The root directory is a fixed region on FAT16 and a chain of clusters on FAT32. The class finds names, finds space
// for one more entry and writes it; it never changes an entry in use. Source: Microsoft FAT32 File System Specification
// 1.03, "FAT Directory Structure". Context: task or irq-off, one user at a time.

struct Slot {
    std::uint32_t sector = 0;  // of the volume
    std::uint32_t offset = 0;  // in that sector
    bool was_end_mark = false; // the entry marked the end, which must move after it
};

class RootDirectory {
  public:
    constexpr RootDirectory() = default;
    RootDirectory(const RootDirectory&) = delete;
    RootDirectory& operator=(const RootDirectory&) = delete;

    void attach(BlockDevice& device, std::uint64_t volume_start, const Geometry& geometry, AllocationTable& table);

    // Holds the result of one pass over the directory for a name.
    struct Search {
        std::optional<DirectoryEntry> found; // a file or a directory of this name
        std::optional<Slot> free;            // the first free slot, if there is one
        Cluster last_cluster = 0;            // FAT32: the last cluster of the chain, if the whole chain was read
        std::uint32_t sectors = 0;           // number of sectors read
    };

    // Searches the directory for a name. Errors: io; corrupt (the chain leaves the volume or exceeds 65536 entries).
    [[nodiscard]] lib::Result<Search> search(const ShortName& name);

    // Returns whether a search without a free slot may be followed by grow().
    [[nodiscard]] bool can_grow(const Search& search) const;

    // Appends one empty cluster to the directory and returns its first slot. The cluster is cleared and marked used, in
    // all copies, before it is linked: an interruption at any write can at most lose it.
    // Precondition: can_grow(search). Errors: no_space; io.
    [[nodiscard]] lib::Result<Slot> grow(const Search& search);

    // Ensures that the directory still ends after this slot once it is filled. Errors: io; corrupt.
    [[nodiscard]] lib::Result<void> prepare(const Slot& slot);

    // Fills a prepared slot with one sector write. Errors: io.
    [[nodiscard]] lib::Result<void> write(const Slot& slot, const EntryBytes& entry);

  private:
    struct Position {
        std::uint32_t sector = 0; // of the volume
        Cluster cluster = 0;      // FAT32
        std::uint32_t walked = 0; // sectors before this one
    };

    [[nodiscard]] Position first() const;

    // Moves on by one sector, and returns false at the end of the directory.
    [[nodiscard]] lib::Result<bool> advance(Position& position);

    [[nodiscard]] lib::Result<void> read_sector(std::uint32_t sector);
    [[nodiscard]] lib::Result<void> write_sector(std::uint32_t sector);

    BlockDevice* m_device = nullptr; // null only before attach()
    AllocationTable* m_table = nullptr;
    std::uint64_t m_volume_start = 0;
    Geometry m_geometry{};
    alignas(8) std::array<std::byte, kSectorBytes> m_bytes{};
};

} // namespace drivers::fat
