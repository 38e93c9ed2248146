// SPDX-License-Identifier: MIT
// How the ACPI parser sees physical memory: the kernel answers from its identity mapping, a test from a vector.
#pragma once

#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::acpi {

class PhysicalMemory {
  public:
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;

    // Exactly size_bytes bytes at a physical address, readable until the end of the program.
    // Errors: not_found if any part of the range is not readable memory (the range may also wrap: callers pass what
    // the tables say).
    [[nodiscard]] virtual lib::Result<std::span<const std::byte>> map(std::uint64_t address,
                                                                      std::size_t size_bytes) const = 0;

  protected:
    constexpr PhysicalMemory() = default;
    ~PhysicalMemory() = default;
};

} // namespace drivers::acpi
