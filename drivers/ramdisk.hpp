// SPDX-License-Identifier: MIT
// A RamDisk is a block of memory as a disk: an NVDIMM found through the ACPI NFIT, or plain RAM. On persistent memory
// each written cache line is flushed with CLFLUSH before the next sector is written (Intel SDM volume 2: CLFLUSH is
// ordered with respect to stores and to other CLFLUSH), so sectors reach the medium in the order in which they were
// written. The line is then read back, because memory that is read-only or absent ignores writes without an error.
// Context: any, serialised by the caller.
#pragma once

#include "drivers/block_device.hpp"

namespace drivers {

enum class Medium : std::uint8_t {
    volatile_memory,
    persistent_memory,
};

// Writes the cache lines of this memory back and discards them. The bytes are not changed, unless the medium has not
// taken them.
void flush_cache_lines(std::span<std::byte> written);

class RamDisk final : public BlockDevice {
  public:
    // A disk has no sectors in its initial state, until the memory is known.
    constexpr RamDisk() = default;

    // The memory must outlive the disk. A tail shorter than a sector is not used.
    constexpr RamDisk(std::span<std::byte> memory, Medium medium,
                      void (*flush_lines)(std::span<std::byte>) = &flush_cache_lines)
        : m_memory(memory)
        , m_medium(medium)
        , m_flush_lines(flush_lines) {}

    // Replaces the memory of the disk; it must not be in use.
    constexpr void attach(std::span<std::byte> memory, Medium medium) {
        m_memory = memory;
        m_medium = medium;
    }

    [[nodiscard]] std::uint64_t sector_count() const override { return m_memory.size() / kSectorBytes; }

    [[nodiscard]] lib::Result<void> read(std::uint64_t first_sector, std::span<std::byte> out) override;
    // Writes sectors. io: persistent memory does not keep what was written.
    [[nodiscard]] lib::Result<void> write(std::uint64_t first_sector, std::span<const std::byte> bytes) override;
    [[nodiscard]] lib::Result<void> flush() override;

  private:
    [[nodiscard]] bool fits(std::uint64_t first_sector, std::size_t size_bytes) const;

    std::span<std::byte> m_memory;
    Medium m_medium = Medium::volatile_memory;
    void (*m_flush_lines)(std::span<std::byte>) = &flush_cache_lines;
};

} // namespace drivers
