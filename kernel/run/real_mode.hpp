// SPDX-License-Identifier: MIT
// Calls the BIOS (arch/real_mode.hpp). In the trace to_real_mode and to_protected_mode bracket each call, because
// nothing else happens on the machine in between. On a machine that no BIOS has started the calls are refused, and the
// console states the reason and the remedy.
#pragma once

#include "arch/boot_info.hpp"
#include "arch/real_mode.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernel {

// Executes one software interrupt in real mode. Interrupts are off for its whole length.
// vector: 0x10 to 0xff; its handler must be in the ROM.
// unsupported: the machine has no BIOS that could be called (arch::real_mode() returns the reason).
// invalid_argument: the vector is below 0x10, or its handler is not in the ROM.
// Context: any but NMI.
[[nodiscard]] lib::Result<void> real_mode_call(std::uint8_t vector, arch::BiosRegisters& registers);

// Reads the BIOS's map of the memory in its order, and returns how many ranges it has.
// unsupported: there is no BIOS that could be called, or it does not know the question.
// invalid_argument: the handler of the system services is not in the ROM.
// corrupt: the answer is no such map, or the map does not end.
// no_space: the map has more ranges than `into` takes; those that fit are in it.
// Context: any but NMI.
[[nodiscard]] lib::Result<std::size_t> bios_memory_map(std::span<arch::MemoryRange> into);

} // namespace kernel
