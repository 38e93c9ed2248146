// SPDX-License-Identifier: MIT
// The root directory: a fixed region on FAT16, a chain of clusters on FAT32. Finds names, finds space for one more
// entry, and writes it; never changes an entry that is in use. Source: Microsoft FAT32 File System Specification 1.03,
// "FAT Directory Structure". Context: task or irq-off, one user at a time.
#pragma once

#include "drivers/fat/allocation_table.hpp"
#include "drivers/fat/directory_entry.hpp"

#include <optional>

namespace drivers::fat {

// Space for one entry.
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

    // The result of one pass over the directory for a name.
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
