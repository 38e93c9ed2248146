// SPDX-License-Identifier: MIT
// Declares the hypervisor's start information at a PVH entry, and copies the part of it that the kernel's BootInfo
// takes. There is no instruction and no object here. Source: Xen public header arch-x86/hvm/start_info.h (layout of
// hvm_start_info, version 1). Context: any.
#pragma once

#include "arch/boot_info.hpp"

#include <algorithm>
#include <cstdint>

namespace arch::x86_64 {

struct PvhStartInfo {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint32_t flags;
    std::uint32_t module_count;
    std::uint64_t module_list;
    std::uint64_t command_line;
    std::uint64_t rsdp;
    std::uint64_t memory_map;
    std::uint32_t memory_map_entries;
    std::uint32_t reserved;
};

struct PvhMemoryRange {
    std::uint64_t base;
    std::uint64_t size_bytes;
    std::uint32_t type; // as in an E820 map
    std::uint32_t reserved;
};

static_assert(sizeof(PvhStartInfo) == 56 && sizeof(PvhMemoryRange) == 24);

inline constexpr std::uint32_t kPvhMagic = 0x336E'C578;

// Fills `info`. Without the hypervisor's magic the result has none either, and kernel_main refuses it. The addresses in
// `start` are read.
inline void take_start_info(const PvhStartInfo& start, BootInfo& info) {
    info.version = BootInfo::kVersion;
    info.path = BootPath::pvh;
    if (start.magic != kPvhMagic) {
        return;
    }
    info.magic = BootInfo::kMagic;
    info.rsdp_address = start.rsdp;
    info.command_line_address = start.command_line;
    if (start.version >= 1) {
        const auto* const map = reinterpret_cast<const PvhMemoryRange*>(start.memory_map);
        const std::uint32_t entries = start.memory_map_entries;
        info.range_count = std::min<std::uint32_t>(entries, BootInfo::kRangesMax);
        info.ranges_lost = entries - info.range_count;
        for (std::uint32_t i = 0; i < info.range_count; ++i) {
            info.ranges[i] = {map[i].base, map[i].size_bytes, memory_kind(map[i].type), 0};
        }
    }
}

} // namespace arch::x86_64
