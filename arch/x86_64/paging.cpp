// SPDX-License-Identifier: MIT
#include "arch/x86_64/paging.hpp"

#include "arch/x86_64/guarded_stack.hpp"
#include "arch/x86_64/msr.hpp"
#include "arch/x86_64/segments.hpp"

#include <array>
#include <cstddef>

extern "C" {
// Placed by linker.ld and boot.S.
extern const std::byte text_begin[];
extern const std::byte text_end[];
extern const std::byte rodata_begin[];
extern const std::byte rodata_end[];
extern const std::byte boot_stack_guard[];
}

namespace arch::x86_64 {

namespace {

constexpr std::uint64_t kPresent = 1U << 0;
constexpr std::uint64_t kWritable = 1U << 1;
constexpr std::uint64_t kWriteThrough = 1U << 3;
constexpr std::uint64_t kCacheDisable = 1U << 4;
constexpr std::uint64_t kLarge = 1U << 7;
constexpr std::uint64_t kNoExecute = std::uint64_t{1} << 63;
constexpr std::uint64_t kAddressMask = 0x000F'FFFF'FFFF'F000;

constexpr std::uint64_t kLargePageBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kFineBytes = std::uint64_t{8} << 20; // kernel image: 4 KiB pages
constexpr std::uint64_t kConventionalEnd = std::uint64_t{1} << 20;
constexpr std::uint64_t kDeviceBegin = std::uint64_t{3} << 30; // devices of a PC are in the last GiB below 4
constexpr std::uint64_t kLowBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 47;

struct alignas(kPageBytes) Table {
    std::array<std::uint64_t, 512> entries;
};

constexpr std::size_t kSpareTables = 24;

constinit Table g_root{};
constinit Table g_low_pointers{};
constinit std::array<Table, 4> g_low_directories{};
constinit std::array<Table, kFineBytes / kLargePageBytes> g_fine{};
constinit std::array<Table, kSpareTables> g_spare{};
constinit std::size_t g_spare_used = 0;

template <typename T>
std::uint64_t address_of(const T& object) {
    return reinterpret_cast<std::uint64_t>(&object);
}

bool within(std::uint64_t address, const std::byte* begin, const std::byte* end) {
    return address >= reinterpret_cast<std::uint64_t>(begin) && address < reinterpret_cast<std::uint64_t>(end);
}

std::uint64_t entry_for(std::uint64_t address, PageUse use) {
    switch (use) {
    case PageUse::absent:
        return 0;
    case PageUse::constants:
        return address | kPresent | kNoExecute;
    case PageUse::data:
        return address | kPresent | kWritable | kNoExecute;
    case PageUse::code:
        return address | kPresent;
    }
    return 0;
}

std::uint64_t fine_entry(std::uint64_t address) {
    if (address == 0) {
        return entry_for(address, PageUse::absent); // null pointers fault
    }
    if (within(address, text_begin, text_end)) {
        return entry_for(address, PageUse::code);
    }
    if (within(address, rodata_begin, rodata_end)) {
        return entry_for(address, PageUse::constants);
    }
    return entry_for(address, PageUse::data);
}

std::uint64_t large_entry(std::uint64_t address) {
    const std::uint64_t cache = address >= kDeviceBegin ? kCacheDisable | kWriteThrough : 0;
    return address | kPresent | kWritable | kLarge | kNoExecute | cache;
}

void flush_page(std::uint64_t address) {
    asm volatile("invlpg (%0)" : : "r"(address) : "memory");
}

// The table that an entry points to, created on demand; null when the static tables are used up.
Table* child(std::uint64_t& entry) {
    if ((entry & kPresent) == 0) {
        if (g_spare_used == kSpareTables) {
            return nullptr;
        }
        entry = address_of(g_spare[g_spare_used++]) | kPresent | kWritable;
    }
    return reinterpret_cast<Table*>(entry & kAddressMask);
}

// One page of 2 MiB becomes 512 of 4 KiB with the same rights.
void split(std::uint64_t& entry, std::uint64_t base) {
    ASSERT(g_spare_used < kSpareTables);
    Table& pages = g_spare[g_spare_used++];
    for (std::size_t i = 0; i < pages.entries.size(); ++i) {
        pages.entries[i] = (entry & ~(kAddressMask | kLarge)) | (base + i * kPageBytes);
    }
    entry = address_of(pages) | kPresent | kWritable;
}

} // namespace

void load_page_tables() {
    for (std::uint64_t address = 0; address < kFineBytes; address += kPageBytes) {
        g_fine[address / kLargePageBytes].entries[(address / kPageBytes) % 512] = fine_entry(address);
    }
    for (std::uint64_t address = 0; address < kLowBytes; address += kLargePageBytes) {
        std::uint64_t& entry = g_low_directories[address >> 30].entries[(address / kLargePageBytes) % 512];
        entry = address < kFineBytes ? address_of(g_fine[address / kLargePageBytes]) | kPresent | kWritable
                                     : large_entry(address);
    }
    for (std::size_t i = 0; i < g_low_directories.size(); ++i) {
        g_low_pointers.entries[i] = address_of(g_low_directories[i]) | kPresent | kWritable;
    }
    g_root.entries[0] = address_of(g_low_pointers) | kPresent | kWritable;

    write_msr(kMsrEfer, read_msr(kMsrEfer) | kEferNoExecute);
    std::uint64_t control = 0;
    asm volatile("movq %%cr0, %0" : "=r"(control));
    control |= std::uint64_t{1} << 16; // WP: read-only pages apply to ring 0 as well
    asm volatile("movq %0, %%cr0" : : "r"(control) : "memory");
    asm volatile("movq %0, %%cr3" : : "r"(address_of(g_root)) : "memory");

    unmap_page(reinterpret_cast<std::uint64_t>(boot_stack_guard));
    for (const std::uint64_t guard : interrupt_stack_guards()) {
        unmap_page(guard);
    }
}

void unmap_page(std::uint64_t address) {
    ASSERT(address % kPageBytes == 0 && address < kLowBytes);
    std::uint64_t& entry = g_low_directories[address >> 30].entries[(address / kLargePageBytes) % 512];
    if ((entry & kLarge) != 0) {
        split(entry, address & ~(kLargePageBytes - 1));
    }
    reinterpret_cast<Table*>(entry & kAddressMask)->entries[(address / kPageBytes) % 512] = 0;
    flush_page(address);
}

void set_page(std::uint64_t address, PageUse use) {
    ASSERT(address % kPageBytes == 0 && address < kConventionalEnd);
    g_fine[address / kLargePageBytes].entries[(address / kPageBytes) % 512] = entry_for(address, use);
    flush_page(address);
}

lib::Result<void> map_physical(std::uint64_t address, std::uint64_t size_bytes) {
    const std::uint64_t begin = address & ~(kLargePageBytes - 1);
    if (address >= kAddressLimit || size_bytes > kAddressLimit - address) {
        return lib::Error::invalid_argument;
    }
    for (std::uint64_t page = begin; page < address + size_bytes; page += kLargePageBytes) {
        if (page < kLowBytes) {
            continue;
        }
        Table* const pointers = child(g_root.entries[(page >> 39) % 512]);
        Table* const directory = pointers != nullptr ? child(pointers->entries[(page >> 30) % 512]) : nullptr;
        if (directory == nullptr) {
            return lib::Error::no_space;
        }
        directory->entries[(page >> 21) % 512] = page | kPresent | kWritable | kLarge | kNoExecute;
        flush_page(page);
    }
    return {};
}

bool is_mapped(std::uint64_t address) {
    const Table* table = &g_root;
    for (const unsigned shift : {39U, 30U, 21U, 12U}) {
        const std::uint64_t entry = table->entries[(address >> shift) % 512];
        if ((entry & kPresent) == 0) {
            return false;
        }
        if (shift == 12 || (shift < 39 && (entry & kLarge) != 0)) {
            return address < kAddressLimit;
        }
        table = reinterpret_cast<const Table*>(entry & kAddressMask);
    }
    return false;
}

} // namespace arch::x86_64
