// SPDX-License-Identifier: MIT
// Calls a PC's BIOS from the running kernel: the processor returns to real mode, executes one software interrupt, and
// comes back. These calls need a machine that was started by a BIOS, not by UEFI firmware, and are meant for services
// that answer immediately. Interrupts stay off all the time (some 50 us at best, during which no task runs), so a
// service that waits for an interrupt, such as disk and keyboard services, would wait forever.
#pragma once

#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace arch {

// Holds the registers before and after the call. Only the carry flag is passed on; all flags are clear on entry.
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

// States whether there is a BIOS to call, and if not, why.
enum class RealMode : std::uint8_t {
    available,
    not_started, // start-up has not reached this point
    uefi,        // UEFI firmware started the machine
    no_bios,     // interrupt vector 15h does not point into the ROM
    no_memory,   // the pages for the switch are not free memory
};

[[nodiscard]] RealMode real_mode();

// Both sides can access this memory; the BIOS addresses it by segment kBiosBufferSegment, offset 0. The next call
// overwrites its contents.
inline constexpr std::uint16_t kBiosBufferSegment = 0x0A00;
inline constexpr std::size_t kBiosBufferBytes = 4096;
[[nodiscard]] std::span<std::byte> bios_buffer();

// Returns whether the BIOS serves this vector. unsupported: there is no BIOS to call; real_mode() returns the reason.
// invalid_argument: the vector's handler is not in the ROM, or the vector is below 10h (reserved for the processor).
// Context: irq-off.
[[nodiscard]] lib::Result<void> bios_offers(std::uint8_t vector);

// Executes `int vector` in real mode. Precondition: bios_offers(vector). Context: irq-off, not an NMI.
void bios_call(std::uint8_t vector, BiosRegisters& registers);

} // namespace arch
