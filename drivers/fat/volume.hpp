// SPDX-License-Identifier: MIT
// A Volume is a mounted FAT16 or FAT32 volume: it finds the files of its root directory, reads them, and reports the
// free space. A FileWriter adds files. There are no subdirectories, no long names and no deletion. Source: Microsoft
// FAT32 File System Specification 1.03. Context: task or irq-off, one user at a time.
#pragma once

#include "drivers/fat/directory.hpp"
#include "drivers/fat/geometry.hpp"

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

    // Uses the first FAT volume of the device, at sector 0 or in a partition; replaces the one mounted before. It
    // writes nothing. Errors: not_found (no volume: the device may be blank); unsupported (FAT12, ...) and corrupt, see
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

    // Copies from `offset` on; returns the number of bytes copied, at most out.size(). As it follows the chain from its
    // start, pieces should be large. Errors: corrupt (the chain is shorter than the size, or leaves the volume); io.
    [[nodiscard]] lib::Result<std::size_t> read(const FileInfo& file, std::uint32_t offset, std::span<std::byte> out);

    // --- for the FileWriter ---

    [[nodiscard]] AllocationTable& table() { return m_table; }

    [[nodiscard]] RootDirectory& root() { return m_root; }

    // Writes whole sectors of the volume. Error: io.
    [[nodiscard]] lib::Result<void> write(std::uint32_t sector, std::span<const std::byte> bytes);

    // Makes everything written so far persistent. Errors: io.
    [[nodiscard]] lib::Result<void> flush();

    // Write FAT32's FSInfo; nothing is written on FAT16. Errors: io.
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

// Adds files to the root directory of a volume, one at a time, sequentially. Existing files are never changed; a file
// that does not fit is removed again and the volume remains clean. Context: task or irq-off, one user at a time.
//
//   FileWriter writer(volume);
//   create({.name = "0trace.dat", .size_hint_bytes = image.size()})  ->  append(...) ...  ->  close()
//
// Sectors reach the device in the following order, each with the state that an interruption after it leaves:
//   1. data of the file      into clusters that are free in the table: not visible
//   2. table, every copy     a chain without an owner: lost clusters, which any checker frees
//   3. directory entry       one sector write: the file exists, and its whole chain is in every copy of the table
//   4. FSInfo (FAT32)        a hint; "unknown" since before step 1, so never wrong
// The table's sectors are written in the order in which the window moves over them, so a chain without an owner may be
// in pieces, and a sector of step 2 may precede data of step 1: neither matters before step 3. A cluster is allocated
// only if it is free in the table, and no cluster is freed that a directory entry points to, so chains cannot cross.
// Removal (abandon) happens before step 3 and frees a chain without an owner from its head: the remainder is again a
// lost chain.

struct NewFile {
    std::string_view name;             // 8.3
    std::uint64_t size_hint_bytes = 0; // refused immediately if this much is not free; 0: unknown
    DateTime modified{};               // fixed by default: same files, same image
};

class FileWriter {
  public:
    // The volume must be mounted before create().
    constexpr explicit FileWriter(Volume& volume)
        : m_volume(volume) {}

    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    // Begins a file. On an error nothing is open and no file has changed. invalid_argument: the name is no 8.3 name, or
    // the time is invalid. exists: the name is taken. no_space: the directory is full, or less is free than the hint
    // asks for. busy: a file is open. corrupt: the root directory's chain is damaged. io: the device failed.
    [[nodiscard]] lib::Result<void> create(const NewFile& file);

    // Adds bytes at the end. On an error the file is removed and nothing is open. no_space: the volume is full, or the
    // file would have more than 4 GiB - 1. io: the device failed. Precondition: is_open().
    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes);

    // Makes the file visible. On an error nothing is open, and the file is removed; but its clusters are lost if the
    // directory entry could not be written, and the file remains if only FSInfo could not. Errors: io.
    // Precondition: is_open().
    [[nodiscard]] lib::Result<void> close();

    // Removes the file and frees its clusters. Errors: io (its clusters may be lost). Precondition: is_open().
    [[nodiscard]] lib::Result<void> abandon();

    [[nodiscard]] bool is_open() const { return m_open; }

    [[nodiscard]] std::uint32_t size_bytes() const { return m_size; }

  private:
    [[nodiscard]] lib::Result<Slot> take_slot(const RootDirectory::Search& search);
    [[nodiscard]] lib::Result<void> add(std::span<const std::byte> bytes);
    [[nodiscard]] lib::Result<void> add_run(std::size_t for_bytes);
    [[nodiscard]] lib::Result<void> write_tail();
    [[nodiscard]] lib::Result<void> free_chain();
    [[nodiscard]] std::uint64_t room() const;
    [[nodiscard]] std::uint32_t sector() const;
    lib::Error give_up(lib::Error reason);
    void forget_unwritten();

    Volume& m_volume;
    bool m_open = false;
    ShortName m_name{};
    DateTime m_modified{};
    Slot m_slot{};
    Cluster m_first = 0; // 0: no cluster yet
    Cluster m_last = 0;
    std::uint32_t m_clusters = 0;
    std::uint32_t m_size = 0;
    alignas(8) std::array<std::byte, kSectorBytes> m_tail{}; // the last m_size % kSectorBytes bytes
};

} // namespace drivers::fat
