// SPDX-License-Identifier: MIT
// A disk is numbered sectors of 512 bytes: the interface between file systems and the storage. It is no queue: every
// call completes before it returns. It has one user at a time; the implementation states its context.
#pragma once

#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers {

inline constexpr std::size_t kSectorBytes = 512;

class BlockDevice {
  public:
    BlockDevice(const BlockDevice&) = delete;
    BlockDevice& operator=(const BlockDevice&) = delete;

    [[nodiscard]] virtual std::uint64_t sector_count() const = 0;

    // Fills `out`, whose size is a positive multiple of kSectorBytes.
    // Errors: invalid_argument (size, or a sector past the end: nothing is read); io (the medium failed).
    [[nodiscard]] virtual lib::Result<void> read(std::uint64_t first_sector, std::span<std::byte> out) = 0;

    // Writes `bytes` in ascending sector order. A single sector is written whole or not at all; a failure may leave the
    // sectors before it written. Size and errors are those of read(): nothing is written if the range does not fit.
    [[nodiscard]] virtual lib::Result<void> write(std::uint64_t first_sector, std::span<const std::byte> bytes) = 0;

    // Returns once everything written so far survives a loss of power, as far as the medium guarantees it.
    // Errors: io.
    [[nodiscard]] virtual lib::Result<void> flush() = 0;

  protected:
    constexpr BlockDevice() = default;
    ~BlockDevice() = default; // never deleted through this interface: devices are static
};

} // namespace drivers
