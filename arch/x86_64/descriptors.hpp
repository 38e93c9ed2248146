// SPDX-License-Identifier: MIT
// Encodes the words of the processor's descriptor tables: segments, the task state segment, gates, and the operand that
// loads a table. There is no table and no instruction here. Source: Intel SDM volume 3 sections 3.4.5, 3.5.1, 6.11,
// 6.14.1, 7.2.3, 7.7. Context: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint16_t kSelectorCode = 0x08;
inline constexpr std::uint16_t kSelectorData = 0x10;
inline constexpr std::uint16_t kSelectorTss = 0x18;

// Numbers the slots of the interrupt stack table from 1; 0 means the interrupted stack.
enum class InterruptStack : std::uint8_t {
    none = 0,
    nmi = 1,
    double_fault = 2,
    machine_check = 3,
    page_fault = 4,
    debug = 5,     // a step of a task that has no stack left must not fault; no #DB occurs within another
    exception = 6, // the others: the interrupted stack may be damaged, and a report needs space
};

inline constexpr std::size_t kInterruptStacks = 6;

// It is packed, because the specification has unaligned 64-bit fields.
struct [[gnu::packed]] TaskStateSegment {
    std::uint32_t reserved0;
    std::array<std::uint64_t, 3> privilege_stacks;
    std::uint64_t reserved1;
    std::array<std::uint64_t, 7> interrupt_stacks;
    std::uint64_t reserved2;
    std::uint16_t reserved3;
    std::uint16_t io_map_offset;
};

static_assert(sizeof(TaskStateSegment) == 104);

// Is the operand of LGDT, LIDT and SIDT; the limit is the offset of the table's last byte.
struct [[gnu::packed]] TablePointer {
    std::uint16_t limit;
    std::uint64_t base;
};

static_assert(sizeof(TablePointer) == 10);

inline constexpr std::uint64_t kDescriptorCode = 0x00AF'9B00'0000'FFFF; // present, ring 0, 64-bit
inline constexpr std::uint64_t kDescriptorData = 0x00CF'9300'0000'FFFF;

// Holds a descriptor of two words: a gate's or a system segment's.
struct WideDescriptor {
    std::uint64_t low;
    std::uint64_t high;
};

// Returns the descriptor of an available 64-bit TSS that is present.
[[nodiscard]] constexpr WideDescriptor tss_descriptor(std::uint64_t base) {
    constexpr std::uint64_t kAvailableTss = 0x0000'8900'0000'0000;
    constexpr std::uint64_t kLimit = sizeof(TaskStateSegment) - 1;
    return {kAvailableTss | kLimit | ((base & 0xFF'FFFF) << 16) | (((base >> 24) & 0xFF) << 56), base >> 32};
}

// Returns an interrupt gate that is present, for ring 0. It clears the interrupt flag on entry.
[[nodiscard]] constexpr WideDescriptor interrupt_gate(std::uint64_t target, InterruptStack stack) {
    constexpr std::uint64_t kPresentInterruptGate = 0x8E;
    return {(target & 0xFFFF) | (std::uint64_t{kSelectorCode} << 16) | (static_cast<std::uint64_t>(stack) << 32) |
                (kPresentInterruptGate << 40) | (((target >> 16) & 0xFFFF) << 48),
            target >> 32};
}

} // namespace arch::x86_64
