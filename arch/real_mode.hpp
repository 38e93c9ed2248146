// SPDX-License-Identifier: MIT
// Calls into a PC's BIOS from the running kernel: the processor goes back to the mode it was switched on in, executes
// one software interrupt, and returns. Only machines that a BIOS started offer it; UEFI firmware leaves none behind.
// For questions that are answered at once. Interrupts stay off all the time (some 50 us at best: a blackout for every
// task), so a service that waits for an interrupt, as disk and keyboard services do, would wait for ever.
#pragma once

#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace arch {

// What the BIOS gets and what it leaves. Of the flags only the carry is passed on; all else goes in clear.
struct BiosRegisters {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;
    std::uint32_t esi = 0;
    std::uint32_t edi = 0;
    std::uint32_t ebp = 0;
    std::uint16_t ds = 0;
    std::uint16_t es = 0;
    bool carry = false;
};

// Why there is no BIOS to call.
enum class RealMode : std::uint8_t {
    available,
    not_started, // the machine's start-up has not come to it
    uefi,        // UEFI firmware started the machine
    no_bios,     // interrupt vector 15h does not point into the ROM
    no_memory,   // the pages of the way there are not free memory
};

[[nodiscard]] RealMode real_mode();

// Memory that both sides can reach, as the BIOS addresses it: segment kBiosBufferSegment, offset 0. What it holds is
// lost with the next call by anybody.
inline constexpr std::uint16_t kBiosBufferSegment = 0x0A00;
inline constexpr std::size_t kBiosBufferBytes = 4096;
[[nodiscard]] std::span<std::byte> bios_buffer();

// unsupported: real_mode() says why. invalid_argument: the vector's handler does not lie in the ROM; vectors below 10h
// belong to the processor. irq-off.
[[nodiscard]] lib::Result<void> bios_offers(std::uint8_t vector);

// Executes `int vector` in real mode. Precondition: bios_offers(vector). irq-off, not in NMI.
void bios_call(std::uint8_t vector, BiosRegisters& registers);

} // namespace arch
