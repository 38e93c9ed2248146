// SPDX-License-Identifier: MIT
// The file allocation table has for each cluster the next one of its chain. One sector of it is held in memory; a
// changed sector is written to every copy of the table when another one is loaded or on flush(). Source: Microsoft
// FAT32 File System Specification 1.03, "FAT Data Structure". Context: task or irq-off, one user at a time.
//
//   entry value   FAT16       FAT32 (28 bits; the upper 4 are kept as found)
//   free          0           0
//   next cluster  2..FFEF     2..0FFFFFEF
//   bad           FFF7        0FFFFFF7
//   end of chain  FFF8..FFFF  0FFFFFF8..0FFFFFFF
#pragma once

#include "drivers/fat/geometry.hpp"

#include <array>
#include <optional>

namespace drivers::fat {

inline constexpr Cluster kFree = 0;
inline constexpr Cluster kEndOfChain = 0x0FFF'FFFF; // as written and as reported, for both types

// A run is one or more clusters that follow each other on the volume and in their chain.
struct Run {
    Cluster first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] constexpr Cluster last() const { return first + count - 1; }
};

class AllocationTable {
  public:
    constexpr AllocationTable() = default;
    AllocationTable(const AllocationTable&) = delete;
    AllocationTable& operator=(const AllocationTable&) = delete;

    // `volume_start` is the device sector of the boot sector. All earlier state is discarded.
    void attach(BlockDevice& device, std::uint64_t volume_start, const Geometry& geometry);

    // All functions below fail only with io, after which nothing in memory has changed.

    // Returns kFree, a cluster inside the volume, kEndOfChain, or an invalid value (bad, reserved, outside).
    // Precondition of both functions: the volume has the cluster.
    [[nodiscard]] lib::Result<Cluster> get(Cluster cluster);
    [[nodiscard]] lib::Result<void> set(Cluster cluster, Cluster value);

    // Takes the first free cluster, after the last one taken if possible, and the free ones that follow it, up to
    // `wanted` in all, and links them to a chain of their own. A run ends where its sector of the table ends, so that
    // one pass over one sector takes it. Errors: no_space; corrupt (the table has changed since it was counted).
    // Precondition: wanted > 0.
    [[nodiscard]] lib::Result<Run> allocate(std::uint32_t wanted);

    // Returns the number of free clusters, which is counted once by reading the whole table, then kept up to date.
    // FSInfo is not used.
    [[nodiscard]] lib::Result<std::uint32_t> free_count();

    // Returns where allocate() starts its search.
    [[nodiscard]] Cluster next_candidate() const { return m_candidate; }

    // Returns the low byte of entry 0, which repeats the media byte.
    [[nodiscard]] lib::Result<std::uint8_t> media();

    // Writes all copies, so that they hold what get() returns.
    [[nodiscard]] lib::Result<void> flush();

    // Discards unwritten changes after a failure that could not be undone, and counts again.
    void discard();

  private:
    static constexpr std::uint32_t kNothing = 0xFFFF'FFFF;

    // Makes m_sector the one that holds this entry; returns its offset in it.
    [[nodiscard]] lib::Result<std::size_t> load(Cluster cluster);

    [[nodiscard]] std::size_t entry_bytes() const { return m_geometry.type == FatType::fat16 ? 2 : 4; }

    [[nodiscard]] std::span<std::byte> entry(std::size_t offset) { return std::span(m_bytes).subspan(offset); }

    // Read and write an entry of the sector in memory. encode() leaves the count of free clusters to its caller.
    [[nodiscard]] Cluster decode(std::size_t offset);
    void encode(std::size_t offset, Cluster value);

    // Takes free clusters from this one on, whose entry is at `offset` of the sector in memory.
    [[nodiscard]] Run take(Cluster first, std::size_t offset, std::uint32_t count_max);

    BlockDevice* m_device = nullptr; // null only before attach()
    std::uint64_t m_volume_start = 0;
    Geometry m_geometry{};
    std::uint32_t m_sector = kNothing; // the sector of the table in m_bytes
    bool m_changed = false;
    Cluster m_candidate = kFirstCluster;
    std::optional<std::uint32_t> m_free_count; // empty: not counted yet
    alignas(8) std::array<std::byte, kSectorBytes> m_bytes{};
};

} // namespace drivers::fat
