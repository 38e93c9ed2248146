// SPDX-License-Identifier: MIT
// Reads a FAT12, FAT16 or FAT32 volume in an image: its geometry, its chains of clusters, its root directory. Every
// sector and cluster number is checked before it is used, and every walk is bounded, because the image is input.
// Source: the Microsoft FAT specification, version 1.03.
#pragma once

#include "host/formats/dat/record_stream.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace host::formats::fat {

// Directory entries have short names; long names are distributed over entries of their own ("Long directory entries").
inline constexpr std::size_t kEntryBytes = 32;
inline constexpr std::byte kEndOfDirectory{0x00};

// Returns whether the entry is an existing file: not a directory, label or deleted entry. Precondition: entry.size() ==
// kEntryBytes.
[[nodiscard]] bool is_file(std::span<const std::byte> entry);

// Collects the pieces of a long name, which precede their short entry, the last piece first.
class LongName {
  public:
    // Takes a piece of a long name. Returns false if the entry is not one.
    [[nodiscard]] bool take(std::span<const std::byte> entry);

    // Returns the name of a short entry: the long name that was collected, if it is complete and belongs to the entry.
    // Characters outside ASCII become '?'.
    [[nodiscard]] std::string name_of(std::span<const std::byte> entry) const;

  private:
    static constexpr std::size_t kPieceChars = 13;
    static constexpr std::size_t kPiecesMax = 20;

    std::array<char, kPieceChars * kPiecesMax> m_text{};
    unsigned m_pieces = 0;
    unsigned m_expected = 0; // number of the next piece; 0: all pieces were collected, or none
    std::byte m_checksum{};
};

struct File {
    std::string name; // the long one, if it has one
    std::uint32_t first_cluster = 0;
    std::uint32_t size_bytes = 0;
    std::uint64_t entry_bytes = 0; // where its directory entry is
};

// Is an error and its place in the image.
struct Fault {
    std::uint64_t offset_bytes = 0;
    std::string text;
};

// Returns whether the type, from an entry of a partition table, is that of a FAT volume.
[[nodiscard]] bool is_fat_partition(std::byte type);

class Volume {
  public:
    // Opens the volume in the image, or the first FAT partition of its partition table. Errors: corrupt, io; `fault`
    // says why. Precondition: image->seekable().
    [[nodiscard]] static lib::Result<Volume> open(std::shared_ptr<trace::ByteSource> image, Fault& fault);

    Volume() = default; // no volume

    // Passes each file of the root directory to `use`; directories, labels and deleted entries are left out. Errors:
    // corrupt, io.
    [[nodiscard]] lib::Result<void> for_each_file(const std::function<void(const File&)>& use, Fault& fault);

    // Passes the bytes of the file to `use`, piece after piece, up to the end of the image. The fault is set if a chain
    // ends early, leaves the volume or returns to itself, and if the image ends. Errors: corrupt, io, or what `use`
    // returns.
    [[nodiscard]] lib::Result<void>
    read(const File& file, const std::function<lib::Result<void>(std::span<const std::byte>)>& use, Fault& fault);

  private:
    [[nodiscard]] lib::Result<void> read_geometry(std::uint64_t begin_bytes, Fault& fault);
    [[nodiscard]] lib::Result<void> read_exactly(std::uint64_t offset_bytes, std::span<std::byte> out, Fault& fault);
    [[nodiscard]] lib::Result<std::uint32_t> next_cluster(std::uint32_t cluster, Fault& fault);
    [[nodiscard]] bool is_data(std::uint32_t cluster) const;
    [[nodiscard]] std::uint64_t place_of(std::uint32_t cluster) const;
    [[nodiscard]] std::uint64_t entry_place(std::uint32_t cluster) const;
    [[nodiscard]] lib::Result<void> read_root(const std::function<bool(std::span<const std::byte>, std::uint64_t)>& use,
                                              Fault& fault);

    std::shared_ptr<trace::ByteSource> m_image;
    unsigned m_bits = 0;
    std::uint32_t m_cluster_bytes = 0;
    std::uint32_t m_clusters = 0;
    std::uint64_t m_fat_bytes = 0; // offset of the first table
    std::uint64_t m_root_bytes = 0;
    std::uint32_t m_root_entries = 0; // FAT12, FAT16
    std::uint32_t m_root_cluster = 0; // FAT32
    std::uint64_t m_data_bytes = 0;
    std::vector<std::byte> m_buffer;
};

// If a volume has more files, the rest is reported and left out.
inline constexpr std::size_t kFilesMax = 512;

// Reads the image of a FAT volume as a trace: the files Ntrace.dat of its root directory, in order of N, which are
// copied to files without names, and the totals of the run in endtrace.dat. Memory is constant; the copies are on disk.
// Any error is reported to diagnostics. Errors: corrupt (no FAT volume, or none of our files on it), io, no_space.
// Reports E-FAT (a contradiction, with its place), W-CAP.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

} // namespace host::formats::fat
