// SPDX-License-Identifier: MIT
// The logging call. Inline it is one test of the processor's family mask and one branch; behind that stands the record
// path (record_path.S), which any context may enter: task, interrupt, NMI, exception, interrupts on or off. It never
// blocks, never allocates, never calls back. The sequence is interruptible: entry stubs rewind it (record_path.hpp).
//
// Usage:   tracer::log<"task_dispatch">(context, level);
// Good:    a name that is not in the event table, or that only the tracer itself may write, does not compile.
// Bad:     a code typed from memory, a parameter that has to be computed at length: it is computed even when the family
//          is filtered.
//
// Needs GS to point at this processor's CpuTrace, and code compiled without a red zone (the call is hidden from the
// compiler). With REMORA_TRACER=0 the calls vanish.
#pragma once

#include "tracer/cpu_trace.hpp"
#include "tracer/event_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

inline constexpr bool kTracerBuilt = REMORA_TRACER != 0;

// An event's name as a template argument.
template <std::size_t Size>
struct FixedString {
    char characters[Size]{}; // NOLINT(modernize-avoid-c-arrays): a template argument must be structural

    consteval FixedString(const char (&text)[Size]) { // NOLINT: implicit, so that log<"name"> reads as it does
        for (std::size_t i = 0; i < Size; ++i) {
            characters[i] = text[i];
        }
    }

    [[nodiscard]] constexpr std::string_view view() const { return {characters, Size - 1}; }
};

// What a caller may log: a single record of the table, but not the empty slot, nor combined or consumed events.
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

// The bit of CpuTrace::mask that must be set for this code to be recorded. Filter records (0xF0..0xFF) carry the number
// of the family they are about in their low bits; they themselves are never filtered.
[[nodiscard]] constexpr std::uint32_t mask_bit(std::uint16_t code) {
    const unsigned family = (code & 0xF0U) == 0xF0U ? static_cast<unsigned>(Family::filter) : code & 0x0FU;
    return 1U << family;
}

// Families that stay recorded whatever the filters say.
inline constexpr std::uint32_t kUnfilteredMask = mask_bit(0x0C) | mask_bit(0xF0);

// Of this processor: where GS points. Context: any that stays on it, as irq-off does.
[[nodiscard]] inline CpuTrace& this_cpu() {
    CpuTrace* cpu = nullptr;
    asm volatile("movq %%gs:%c[self], %[cpu]" : [cpu] "=r"(cpu) : [self] "i"(TRACER_CPU_SELF));
    return *cpu;
}

namespace detail {

// Two instructions: a jump inside the assembler keeps the compiler from turning the flag into a byte and back.
[[nodiscard, gnu::always_inline]] inline bool family_enabled(std::uint32_t bit) {
    asm goto("testl %[bit], %%gs:%c[mask]\n\tjz %l[disabled]"
             :
             : [bit] "ri"(bit), [mask] "i"(TRACER_CPU_MASK)
             : "cc"
             : disabled);
    return true;
disabled:
    return false;
}

// The record path, unconditionally; it clobbers exactly these registers.
[[gnu::always_inline]] inline void record(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
    asm volatile("call tracer_record"
                 :
                 : "D"(std::uint64_t{code | std::uint32_t{par1} << 16}), "S"(std::uint64_t{par2} << 32)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
}

// Likewise for an event of `count` slots, 1..64, which are committed together. The slots hold code (the combine flag
// included), par1 and par2; their stamps are 0.
[[gnu::always_inline]] inline void record_long(const Record* slots, std::uint32_t count) {
    const std::uint64_t first = slots->code | std::uint32_t{slots->par1} << 16;
    asm volatile("call tracer_record_long"
                 :
                 : "D"(first | std::uint64_t{count * kRecordBytes} << 32), "S"(slots)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
}

// Recording goes on in this chunk, which is open, empty and not active; with it go the trigger and the losses that were
// not told. While enabled.
[[gnu::always_inline]] inline void switch_to(ChunkControl& entered) {
    asm volatile("call tracer_switch"
                 :
                 : "D"(std::uint64_t{1} << 63), "S"(&entered)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
}

} // namespace detail

// Records the event if its family is enabled. Context: any.
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

// Records the event whatever the filters say (while disabled it is counted as refused); bit 15 of the code tells so.
// Context: any.
template <FixedString Name>
requires LoggableEvent<Name>

[[gnu::always_inline]] inline void log_fast(std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
    if constexpr (kTracerBuilt) {
        constexpr std::uint16_t kCode = event_code(Name.view()) | kFastPathBit;
        detail::record(kCode, par1, par2);
    }
}

} // namespace tracer
