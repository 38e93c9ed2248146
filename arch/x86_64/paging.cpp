// SPDX-License-Identifier: MIT
#include "arch/x86_64/paging.hpp"

#include "arch/x86_64/msr.hpp"
#include "arch/x86_64/page_tables.hpp"
#include "arch/x86_64/segments.hpp"

extern "C" {
// linker.ld and boot.S define these symbols.
extern const std::byte text_begin[];
extern const std::byte text_end[];
extern const std::byte rodata_begin[];
extern const std::byte rodata_end[];
extern const std::byte boot_stack_guard[];
}

namespace arch::x86_64 {

namespace {

constexpr std::uint64_t kConventionalEnd = std::uint64_t{1} << 20;

constinit PageTables g_tables{};

std::uint64_t address_of(const std::byte* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

void flush_page(std::uint64_t address) {
    asm volatile("invlpg (%0)" : : "r"(address) : "memory");
}

} // namespace

void load_page_tables() {
    g_tables.fill({address_of(text_begin), address_of(text_end), address_of(rodata_begin), address_of(rodata_end)});
    write_msr(kMsrEfer, read_msr(kMsrEfer) | kEferNoExecute);
    std::uint64_t control = 0;
    asm volatile("movq %%cr0, %0" : "=r"(control));
    control |= std::uint64_t{1} << 16; // WP: read-only pages apply to ring 0 as well
    asm volatile("movq %0, %%cr0" : : "r"(control) : "memory");
    asm volatile("movq %0, %%cr3" : : "r"(g_tables.root()) : "memory");

    unmap_page(address_of(boot_stack_guard));
    for (const std::uint64_t guard : interrupt_stack_guards()) {
        unmap_page(guard);
    }
}

void unmap_page(std::uint64_t address) {
    g_tables.unmap(address);
    flush_page(address);
}

void set_page(std::uint64_t address, PageUse use) {
    ASSERT(address < kConventionalEnd);
    g_tables.set(address, use);
    flush_page(address);
}

lib::Result<void> map_physical(std::uint64_t address, std::uint64_t size_bytes) {
    const auto range = PageTables::large_pages_around(address, size_bytes);
    if (!range.ok()) {
        return range.error();
    }
    for (std::uint64_t page = range.value().begin; page < range.value().end; page += kLargePageBytes) {
        if (const auto mapped = g_tables.map_large(page); !mapped.ok()) {
            return mapped;
        }
        flush_page(page);
    }
    return {};
}

bool is_mapped(std::uint64_t address) {
    return g_tables.maps(address);
}

} // namespace arch::x86_64
