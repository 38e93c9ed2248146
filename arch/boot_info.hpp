// SPDX-License-Identifier: MIT
// Declares the data that a boot path passes to the kernel: the contract between the UEFI loader, the PVH entry and
// kernel/root/main.cpp. The layout is fixed and has no pointers into structures of a firmware; every address is
// physical and identity-mapped.
//
// Entry state (both paths): 64-bit long mode, interrupts off, RDI = address of a BootInfo below 4 GiB that does not
// overlap the kernel image. The UEFI loader jumps to the ELF entry point e_entry; the PVH stub ends there, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace arch {

enum class MemoryKind : std::uint32_t {
    usable = 1,   // free for the kernel after boot services
    reserved = 2, // never touch
    acpi = 3,     // ACPI tables: readable, to be kept
    nvs = 4,      // owned by the firmware: never touch
    persistent = 7,
};

// Returns the kind of a type in a BIOS's map (E820): ACPI 6.4, table 15.1. Unknown types are reserved.
[[nodiscard]] constexpr MemoryKind memory_kind(std::uint32_t e820_type) {
    switch (e820_type) {
    case 1:
        return MemoryKind::usable;
    case 3:
        return MemoryKind::acpi;
    case 4:
        return MemoryKind::nvs;
    case 7:
        return MemoryKind::persistent;
    default:
        return MemoryKind::reserved;
    }
}

struct MemoryRange {
    std::uint64_t base;
    std::uint64_t size_bytes;
    MemoryKind kind;
    std::uint32_t reserved;
};

enum class BootPath : std::uint32_t {
    pvh = 1,
    uefi = 2,
};

struct BootInfo {
    static constexpr std::uint64_t kMagic = 0x544F'4F42'4152'4D52; // "RMRABOOT"
    static constexpr std::uint32_t kVersion = 2;
    static constexpr std::size_t kRangesMax = 128;
    static constexpr std::size_t kKeyFileMax = 40; // more than the text of a key

    std::uint64_t magic;
    std::uint32_t version;
    BootPath path;
    std::uint64_t rsdp_address;         // 0 if the firmware has none
    std::uint64_t command_line_address; // NUL-terminated ASCII, at most kCommandLineMax bytes; 0 if none
    std::uint32_t has_key;              // 1: the loader found a file \remora.key; PVH has none
    std::uint32_t key_bytes;            // length of its text; 0: it is empty, or longer than kKeyFileMax
    std::array<char, kKeyFileMax> key;
    std::uint32_t range_count;
    std::uint32_t ranges_lost; // ranges that did not fit
    std::array<MemoryRange, kRangesMax> ranges;
};

inline constexpr std::size_t kCommandLineMax = 1024; // with the NUL

static_assert(sizeof(MemoryRange) == 24);
static_assert(sizeof(BootInfo) == 48 + BootInfo::kKeyFileMax + BootInfo::kRangesMax * sizeof(MemoryRange));

} // namespace arch
