// SPDX-License-Identifier: MIT
// Converts the firmware's many memory descriptors into the few ranges of a BootInfo: neighbours of one kind become one
// range, in whatever order they come; ranges that do not fit are counted. No firmware header is needed here, so the
// unit tests run it hosted. Source: UEFI 2.9 section 7.2 (memory types after ExitBootServices). Context: any.
#pragma once

#include "arch/boot_info.hpp"

#include <cstddef>
#include <cstdint>

namespace uefi {

// Returns the meaning of a memory type (EFI_MEMORY_TYPE) after boot services. Unknown types are reserved.
[[nodiscard]] constexpr arch::MemoryKind memory_kind(std::uint32_t efi_type) {
    constexpr std::uint32_t kLoaderCode = 1;
    constexpr std::uint32_t kLoaderData = 2;
    constexpr std::uint32_t kBootServicesCode = 3;
    constexpr std::uint32_t kBootServicesData = 4;
    constexpr std::uint32_t kConventional = 7;
    constexpr std::uint32_t kAcpiReclaim = 9;
    constexpr std::uint32_t kAcpiNvs = 10;
    constexpr std::uint32_t kPersistent = 14;
    switch (efi_type) {
    case kLoaderCode:
    case kLoaderData:
    case kBootServicesCode:
    case kBootServicesData:
    case kConventional:
        return arch::MemoryKind::usable;
    case kAcpiReclaim:
        return arch::MemoryKind::acpi;
    case kAcpiNvs:
        return arch::MemoryKind::nvs;
    case kPersistent:
        return arch::MemoryKind::persistent;
    default:
        return arch::MemoryKind::reserved;
    }
}

class RangeList {
  public:
    // Fills the ranges of `info`, starting with none.
    constexpr explicit RangeList(arch::BootInfo& info)
        : m_info(info) {
        m_info.range_count = 0;
        m_info.ranges_lost = 0;
    }

    RangeList(const RangeList&) = delete;
    RangeList& operator=(const RangeList&) = delete;

    // Adds [base, base + size_bytes). An empty range is ignored. Precondition: no overlap with earlier ranges.
    constexpr void add(std::uint64_t base, std::uint64_t size_bytes, arch::MemoryKind kind) {
        if (size_bytes == 0) {
            return;
        }
        arch::MemoryRange range{base, size_bytes, kind, 0};
        // At most two neighbours can exist: one that ends at our base, one that starts at our end.
        absorb_neighbour(range);
        absorb_neighbour(range);
        if (m_info.range_count == arch::BootInfo::kRangesMax) {
            ++m_info.ranges_lost;
            return;
        }
        m_info.ranges[m_info.range_count++] = range;
    }

  private:
    constexpr void absorb_neighbour(arch::MemoryRange& range) {
        for (std::uint32_t i = 0; i < m_info.range_count; ++i) {
            const arch::MemoryRange other = m_info.ranges[i];
            const bool before = other.base + other.size_bytes == range.base;
            const bool after = range.base + range.size_bytes == other.base;
            if (other.kind == range.kind && (before || after)) {
                range.base = before ? other.base : range.base;
                range.size_bytes += other.size_bytes;
                m_info.ranges[i] = m_info.ranges[--m_info.range_count];
                return;
            }
        }
    }

    arch::BootInfo& m_info;
};

} // namespace uefi
