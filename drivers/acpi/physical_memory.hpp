// SPDX-License-Identifier: MIT
// Access of the ACPI parser to physical memory: the kernel uses its identity mapping, a test a vector.
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

    // Returns exactly size_bytes bytes at a physical address, which are readable until the end of the program.
    // not_found: a part of the range is not readable memory (the range may also wrap, because callers pass unchecked
    // values of the tables).
    [[nodiscard]] virtual lib::Result<std::span<const std::byte>> map(std::uint64_t address,
                                                                      std::size_t size_bytes) const = 0;

  protected:
    constexpr PhysicalMemory() = default;
    ~PhysicalMemory() = default;
};

} // namespace drivers::acpi
