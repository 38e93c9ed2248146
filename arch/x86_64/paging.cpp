// SPDX-License-Identifier: MIT
#include "arch/x86_64/paging.hpp"

#include "arch/x86_64/address_space.hpp"
#include "arch/x86_64/msr.hpp"
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

struct TheProcessor {
    static void enable_no_execute() { write_msr(kMsrEfer, read_msr(kMsrEfer) | kEferNoExecute); }

    static void enable_write_protection() {
        std::uint64_t control = 0;
        asm volatile("movq %%cr0, %0" : "=r"(control));
        control |= std::uint64_t{1} << 16; // WP: read-only pages apply to ring 0 as well
        asm volatile("movq %0, %%cr0" : : "r"(control) : "memory");
    }

    static void use_root(std::uint64_t root) { asm volatile("movq %0, %%cr3" : : "r"(root) : "memory"); }

    static void flush(std::uint64_t address) { asm volatile("invlpg (%0)" : : "r"(address) : "memory"); }
};

constinit AddressSpace<TheProcessor> g_space{};

std::uint64_t address_of(const std::byte* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

} // namespace

void load_page_tables() {
    g_space.load({address_of(text_begin), address_of(text_end), address_of(rodata_begin), address_of(rodata_end)});
    unmap_page(address_of(boot_stack_guard));
    for (const std::uint64_t guard : interrupt_stack_guards()) {
        unmap_page(guard);
    }
}

void unmap_page(std::uint64_t address) {
    g_space.unmap(address);
}

void set_page(std::uint64_t address, PageUse use) {
    ASSERT(address < kConventionalEnd);
    g_space.set(address, use);
}

lib::Result<void> map_physical(std::uint64_t address, std::uint64_t size_bytes) {
    return g_space.map(address, size_bytes);
}

bool is_mapped(std::uint64_t address) {
    return g_space.maps(address);
}

} // namespace arch::x86_64
