// SPDX-License-Identifier: MIT
// A mounted FAT16 or FAT32 volume: finds the files of its root directory, reads them, and reports the free space. Files
// are added by a FileWriter. No subdirectories, no long names, no deletion. Static storage, about 2 KiB. Source:
// Microsoft FAT32 File System Specification 1.03. Context: task or irq-off, one user at a time.
#pragma once

#include "drivers/fat/info_sector.hpp"
#include "drivers/fat/locate.hpp"
#include "drivers/fat/root_directory.hpp"

namespace drivers::fat {

struct FileInfo {
    Cluster first_cluster = 0; // 0: empty
    std::uint32_t size_bytes = 0;
    DateTime modified;
};

class Volume {
  public:
    constexpr Volume() = default;
    Volume(const Volume&) = delete;
    Volume& operator=(const Volume&) = delete;

    // Uses the first FAT volume of the device, at sector 0 or in a partition; replaces the one mounted before. Writes
    // nothing. Errors: not_found (no volume: the device may be blank); unsupported (FAT12, ...) and corrupt, see
    // defect(); io.
    [[nodiscard]] lib::Result<void> mount(BlockDevice& device);

    [[nodiscard]] bool mounted() const { return m_device != nullptr; }

    // Returns why the last mount() failed.
    [[nodiscard]] Defect defect() const { return m_defect; }

    // Precondition of all functions below: mounted().

    [[nodiscard]] const Geometry& geometry() const { return m_geometry; }

    // Returns the free space, in whole clusters. The first call reads the whole table. Error: io.
    [[nodiscard]] lib::Result<std::uint64_t> free_bytes();

    // Finds a file by its 8.3 name, without regard to case. Errors: not_found; invalid_argument (not an 8.3 name, or a
    // directory's); corrupt (its first cluster is outside the volume); io.
    [[nodiscard]] lib::Result<FileInfo> find(std::string_view name);

    // Copies from `offset` on; returns the number of bytes copied, at most out.size(). Follows the chain from its
    // start, so read in large pieces. Errors: corrupt (the chain is shorter than the size, or leaves the volume); io.
    [[nodiscard]] lib::Result<std::size_t> read(const FileInfo& file, std::uint32_t offset, std::span<std::byte> out);

    // --- for the FileWriter ---

    [[nodiscard]] AllocationTable& table() { return m_table; }

    [[nodiscard]] RootDirectory& root() { return m_root; }

    // Writes whole sectors of the volume. Error: io.
    [[nodiscard]] lib::Result<void> write(std::uint32_t sector, std::span<const std::byte> bytes);

    // Makes everything written so far persistent. Errors: io.
    [[nodiscard]] lib::Result<void> flush();

    // Writes FAT32's FSInfo; nothing on FAT16. Errors: io.
    [[nodiscard]] lib::Result<void> mark_space_unknown();
    [[nodiscard]] lib::Result<void> mark_space_known();

  private:
    [[nodiscard]] lib::Result<void> update_hint(const SpaceHint& hint);

    // Reads the part of a file in one cluster, from `offset` in it; `out` ends at the cluster's end or before.
    [[nodiscard]] lib::Result<void> read_cluster(Cluster cluster, std::uint32_t offset, std::span<std::byte> out);

    BlockDevice* m_device = nullptr; // null: not mounted
    std::uint64_t m_start = 0;
    Geometry m_geometry{};
    Defect m_defect = Defect::no_volume;
    AllocationTable m_table;
    RootDirectory m_root;
    alignas(8) std::array<std::byte, kSectorBytes> m_sector{}; // working space of single calls
};

} // namespace drivers::fat
