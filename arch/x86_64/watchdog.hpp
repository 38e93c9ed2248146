// SPDX-License-Identifier: MIT
// The watchdog's clock is a comparator of the HPET whose line the I/O APIC delivers as an NMI, so that it interrupts a
// processor that takes no other interrupt. At each such look, a maskable interrupt of the lowest priority (the ping) is
// sent as well: whether it was taken before the next look shows whether interrupts are taken at all. Neither enters the
// kernel's interrupt path, so neither is counted or traced.
// Sources: IA-PC HPET specification 1.0a, section 2.3.8; Intel SDM volume 3 sections 10.5.1 (NMI), 10.6.1 (ICR).
#pragma once

#include "arch/arch.hpp"
#include "arch/x86_64/interrupts.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>

namespace arch::x86_64 {

// The ping's vector has the lowest priority class of the local APIC, so the ping waits for every handler in service.
// Its number is one of the reserved exceptions.
inline constexpr std::uint8_t kVectorPing = 0x1F;

// Is called at each look, in the context of the NMI; `answered` states whether the previous look's ping was taken.
using WatchdogLook = void (*)(const Exception& interrupted, bool answered);

// Looks every `period`, from one period from now on. hpet_base is 0 if the firmware describes none. not_found: there is
// no HPET, none of its comparators has a line, or no I/O APIC serves that line. Context: irq-off, once.
[[nodiscard]] lib::Result<void> watchdog_start(std::uint64_t hpet_base, lib::Nanoseconds period, WatchdogLook look);

// Suspend and resume the looks where no NMI of ours may arrive; a look that became due meanwhile follows. They do
// nothing if there is no watchdog. Context: irq-off.
void watchdog_hold();
void watchdog_resume();

// Returns the state that an NMI interrupted.
[[nodiscard]] Exception interrupted_by_nmi(const InterruptFrame& frame);

// Return whether this was a look, or a ping; otherwise the NMI, or the exception, has another cause. Context: the
// handler's.
[[nodiscard]] bool serve_look(const InterruptFrame& frame);
[[nodiscard]] bool serve_ping(std::uint8_t vector);

// Returns the interrupt that is being served, according to the local APIC. Context: any.
[[nodiscard]] std::optional<Vector> vector_in_service();

// Allows NMIs again. They are blocked from the arrival of one to the next IRET, so this executes one. Those that were
// being served do not continue. Context: irq-off, on a stack that is not theirs and has 64 bytes left.
void allow_nmi();

} // namespace arch::x86_64
