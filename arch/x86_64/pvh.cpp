// SPDX-License-Identifier: MIT
// The PVH boot path: turns the hypervisor's start information into the kernel's own BootInfo.
// Source: Xen public header arch-x86/hvm/start_info.h (layout of hvm_start_info, version 1).
#include "arch/x86_64/pvh.hpp"

#include "arch/boot_info.hpp"

#include <algorithm>

extern "C" const arch::BootInfo* pvh_boot_info(std::uint64_t start_info_address);

namespace arch::x86_64 {

namespace {

struct StartInfo {
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

struct MemoryMapEntry {
    std::uint64_t base;
    std::uint64_t size_bytes;
    std::uint32_t type; // as in an E820 map
    std::uint32_t reserved;
};

static_assert(sizeof(StartInfo) == 56 && sizeof(MemoryMapEntry) == 24);

constexpr std::uint32_t kStartInfoMagic = 0x336E'C578;

constinit BootInfo g_boot_info{};

} // namespace

const BootInfo& pvh_start_information() {
    return g_boot_info;
}

} // namespace arch::x86_64

const arch::BootInfo* pvh_boot_info(std::uint64_t start_info_address) {
    using namespace arch;
    using namespace arch::x86_64;
    const auto* const start = reinterpret_cast<const StartInfo*>(start_info_address);
    BootInfo& info = g_boot_info;
    info.version = BootInfo::kVersion;
    info.path = BootPath::pvh;
    if (start->magic != kStartInfoMagic) {
        return &info; // without its magic: kernel_main refuses it
    }
    info.magic = BootInfo::kMagic;
    info.rsdp_address = start->rsdp;
    info.command_line_address = start->command_line;
    if (start->version >= 1) {
        const auto* const map = reinterpret_cast<const MemoryMapEntry*>(start->memory_map);
        const std::uint32_t entries = start->memory_map_entries;
        info.range_count = std::min<std::uint32_t>(entries, BootInfo::kRangesMax);
        info.ranges_lost = entries - info.range_count;
        for (std::uint32_t i = 0; i < info.range_count; ++i) {
            info.ranges[i] = {map[i].base, map[i].size_bytes, memory_kind(map[i].type), 0};
        }
    }
    return &info;
}
