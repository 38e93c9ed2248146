// SPDX-License-Identifier: MIT
// The page tables are an identity map in which no page is both writable and executable, page 0 and every guard page are
// absent, and devices are uncached. They are built once on the boot processor.
//
//   0        4 KiB          1 MiB      text   rodata   data/bss        8 MiB                3 GiB        4 GiB
//   | absent | RW NX        | R X    | R NX | RW NX | guards absent | RW NX, 2 MiB pages | RW NX uncached |
//
// Source: Intel SDM volume 3 chapter 4 (4-level paging).
#pragma once

#include "arch/x86_64/page_entries.hpp"
#include "lib/result.hpp"

#include <cstdint>

namespace arch::x86_64 {

// Switches to our own tables. Context: irq-off, once.
void load_page_tables();

// Makes one 4 KiB page below 4 GiB absent (a guard page). Above 8 MiB the first one in each 2 MiB uses one of the
// static tables; there are enough for all stacks. Precondition: the address is page-aligned. Context: irq-off.
void unmap_page(std::uint64_t address);

// Changes the use of one 4 KiB page below 1 MiB. Precondition: the address is page-aligned. Context: irq-off.
void set_page(std::uint64_t address, PageUse use);

// Maps physical memory above 4 GiB at the same address, readable and writable, in 2 MiB steps around the range.
// no_space: the static tables are used up. invalid_argument: the range wraps or leaves 48 bits.
[[nodiscard]] lib::Result<void> map_physical(std::uint64_t address, std::uint64_t size_bytes);

// Returns whether our tables map this address. Context: any.
[[nodiscard]] bool is_mapped(std::uint64_t address);

} // namespace arch::x86_64
