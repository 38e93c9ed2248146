// SPDX-License-Identifier: MIT
// The inline part of a logging call is one test of the processor's family mask and one branch; the record path
// (record_path.S) follows, which any context may enter: task, interrupt, NMI, exception, interrupts on or off. It never
// blocks, allocates or calls back. The sequence is interruptible: entry stubs rewind it (record_path.hpp).
//
//   tracer::log<"task_dispatch">(context, level);
//
// A name that is not in the event table, or that only the tracer itself may write, does not compile. Parameters should
// be cheap to compute, because they are computed even when the family is filtered.
//
// GS must point remora_gs bytes before this processor's CpuTrace. remora_gs is a symbol whose value the linker sets, 0
// in our kernel: a kernel that uses GS itself has the CpuTrace somewhere in its own area. The code must be compiled
// without a red zone (the call is hidden from the compiler). With REMORA_TRACER=0 the calls are empty.
#pragma once

#include "lib/fixed_string.hpp"
#include "tracer/record/cpu_trace.hpp"
#include "tracer/record/event_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

inline constexpr bool kTracerBuilt = REMORA_TRACER != 0;

using lib::FixedString; // an event's name as a template argument

// Returns whether an event is loggable: it is a single record, and not the empty slot.
[[nodiscard]] constexpr bool is_loggable(const EventRow& row) {
    return row.shape == Shape::simple && row.code != 0;
}

namespace detail {

[[nodiscard]] consteval bool is_loggable_name(std::string_view name) {
    const std::size_t index = event_index(name);
    return index < kEvents.size() && is_loggable(kEvents[index]);
}

} // namespace detail

template <FixedString Name>
concept LoggableEvent = detail::is_loggable_name(Name.view());

// Returns the bit of CpuTrace::mask that must be set for this code to be recorded. Filter records (0xF0..0xFF) hold the
// number of the family that they apply to in their low bits; they are never filtered themselves.
[[nodiscard]] constexpr std::uint32_t mask_bit(std::uint16_t code) {
    const unsigned family = (code & 0xF0U) == 0xF0U ? static_cast<unsigned>(Family::filter) : code & 0x0FU;
    return 1U << family;
}

// These families are recorded regardless of the filters.
inline constexpr std::uint32_t kUnfilteredMask = mask_bit(0x0C) | mask_bit(0xF0);

// Returns this processor's CpuTrace, to which GS leads. Context: any that stays on this processor, such as irq-off.
[[nodiscard]] inline CpuTrace& this_cpu() {
    CpuTrace* cpu = nullptr;
    asm volatile("movq %%gs:remora_gs+%c[self], %[cpu]" : [cpu] "=r"(cpu) : [self] "i"(TRACER_CPU_SELF));
    return *cpu;
}

namespace detail {

// Takes two instructions: a jump inside the assembler keeps the compiler from turning the flag into a byte and back.
[[nodiscard, gnu::always_inline]] inline bool family_enabled(std::uint32_t bit) {
    asm goto("testl %[bit], %%gs:remora_gs+%c[mask]\n\tjz %l[disabled]"
             :
             : [bit] "ri"(bit), [mask] "i"(TRACER_CPU_MASK)
             : "cc"
             : disabled);
    return true;
disabled:
    return false;
}

// Calls the record path unconditionally; it clobbers exactly these registers.
[[gnu::always_inline]] inline void record(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
    asm volatile("call tracer_record"
                 :
                 : "D"(std::uint64_t{code | std::uint32_t{par1} << 16}), "S"(par2)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
}

// Records an event of `count` slots, 1..64, which are committed together. The slots hold code (the combine flag
// included), par1 and par2; their stamps are 0.
[[gnu::always_inline]] inline void record_long(const Record* slots, std::uint32_t count) {
    const std::uint64_t first = slots->code | std::uint32_t{slots->par1} << 16;
    asm volatile("call tracer_record_long"
                 :
                 : "D"(first | std::uint64_t{count * kRecordBytes} << 32), "S"(slots)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
}

// Continues recording in this chunk, which is open, empty and not active. The trigger and the losses that are not yet
// reported move with it. Precondition: recording is enabled.
[[gnu::always_inline]] inline void switch_to(ChunkControl& entered) {
    asm volatile("call tracer_switch"
                 :
                 : "D"(std::uint64_t{1} << 63), "S"(&entered)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
}

} // namespace detail

// Records the event if its family is enabled.
// par1: any 16 bits, as the event's row in docs/events.md has them.
// par2: any 32 bits, as the event's row in docs/events.md has them.
// Context: any, NMI included.
template <FixedString Name>
requires LoggableEvent<Name>

[[gnu::always_inline]] inline void log(std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
    if constexpr (kTracerBuilt) {
        constexpr std::uint16_t kCode = event_code(Name.view());
        if (detail::family_enabled(mask_bit(kCode))) {
            detail::record(kCode, par1, par2);
        }
    }
}

// Records the event regardless of the filters. While recording is disabled the record is counted as refused. Bit 15 of
// the code is set.
// par1: any 16 bits, as the event's row in docs/events.md has them.
// par2: any 32 bits, as the event's row in docs/events.md has them.
// Context: any, NMI included.
template <FixedString Name>
requires LoggableEvent<Name>

[[gnu::always_inline]] inline void log_fast(std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
    if constexpr (kTracerBuilt) {
        constexpr std::uint16_t kCode = event_code(Name.view()) | kFastPathBit;
        detail::record(kCode, par1, par2);
    }
}

} // namespace tracer
