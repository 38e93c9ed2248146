// SPDX-License-Identifier: MIT
// Adds files to the root directory of a volume, one at a time, sequentially. Existing files are never changed; a file
// that does not fit is removed again and the volume remains clean. Context: task or irq-off, one user at a time.
//
//   FileWriter writer(volume);
//   create({.name = "0trace.dat", .size_hint_bytes = image.size()})  ->  append(...) ...  ->  close()
//
// The state after an interruption at any sector write. Sectors reach the device in this order:
//   1. data of the file      into clusters that are free in the table: not visible
//   2. table, every copy     a chain without an owner: lost clusters, which any checker frees
//   3. directory entry       one sector write: the file exists, and its whole chain is in every copy of the table
//   4. FSInfo (FAT32)        a hint; "unknown" since before step 1, so never wrong
// Table sectors are written in the order in which the window moves over them, so a chain without an owner may be in
// pieces, and a sector of step 2 may precede data of step 1: neither matters before step 3. A cluster is allocated only
// if it is free in the table, and no cluster is freed that a directory entry points to, so chains cannot cross. Removal
// (abandon) happens before step 3 and frees a chain without an owner from its head: the remainder is again a lost
// chain.
#pragma once

#include "drivers/fat/volume.hpp"

namespace drivers::fat {

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
    // asks for. busy: a file is open. corrupt: the root directory's chain is. io: the device failed.
    [[nodiscard]] lib::Result<void> create(const NewFile& file);

    // Adds bytes at the end. On an error the file is removed and nothing is open. no_space: the volume is full, or the
    // file would have more than 4 GiB - 1. io: the device failed. Precondition: is_open().
    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes);

    // Makes the file visible. On an error nothing is open; the file is removed, or, if it was the directory entry that
    // could not be written, its clusters are lost; or only FSInfo is not up to date. Errors: io.
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
