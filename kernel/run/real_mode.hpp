// SPDX-License-Identifier: MIT
// Questions to the BIOS, in the kernel's words: each call is bracketed in the trace by to_real_mode and
// to_protected_mode, because nothing else happens on the machine in between. A machine that no BIOS started refuses,
// and the console says why and what helps.
#pragma once

#include "arch/boot_info.hpp"
#include "arch/real_mode.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernel {

// One software interrupt in real mode. Errors as arch::bios_call(). Interrupts are off for its whole length.
// Context: any but NMI.
[[nodiscard]] lib::Result<void> real_mode_call(std::uint8_t vector, arch::BiosRegisters& registers);

// The BIOS's map of the memory, in its order; returns how many ranges it has. unsupported: there is no BIOS, or it does
// not know the question. corrupt: what it answers is no such map, or does not end. no_space: more ranges than `into`
// takes; those that fit are there. Context: any but NMI.
[[nodiscard]] lib::Result<std::size_t> bios_memory_map(std::span<arch::MemoryRange> into);

} // namespace kernel
