// SPDX-License-Identifier: MIT
// Derives how a processor came from one instruction to the next, from the bytes of the first one and the two addresses.
// Only instructions that can branch are decoded; all others continue with the next. Host-safe.
// Source: Intel SDM volume 2 (opcode maps; CALL, JMP, Jcc, LOOP, RET, IRET), 64-bit mode.
#pragma once

#include "lib/wire_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

using lib::Flow;

inline constexpr std::size_t kInstructionBytesMax = 15;

namespace detail {

[[nodiscard]] constexpr bool is_prefix(std::uint8_t byte) {
    const bool segment = byte == 0x2E || byte == 0x36 || byte == 0x3E || byte == 0x26 || byte == 0x64 || byte == 0x65;
    const bool rex = byte >= 0x40 && byte <= 0x4F;
    return segment || rex || byte == 0x66 || byte == 0x67 || byte == 0xF0 || byte == 0xF2 || byte == 0xF3;
}

} // namespace detail

// Returns whether the instruction repeats for many items (rep movs and the like): the processor reports a step for each
// of them.
[[nodiscard]] constexpr bool is_repeated(std::span<const std::uint8_t> code) {
    for (std::size_t i = 0; i < code.size() && detail::is_prefix(code[i]); ++i) {
        if (code[i] == 0xF2 || code[i] == 0xF3) {
            return i + 1 < code.size();
        }
    }
    return false;
}

// Returns whether the opcode is STI, after which the processor may execute one more instruction before it reports a
// step, just as it delays interrupts. Source: Intel SDM volume 2, STI; QEMU delays both.
[[nodiscard]] constexpr bool delays_step(std::uint8_t opcode) {
    return opcode == 0xFB;
}

// Returns the flow, or `next` if `code`, the readable bytes at `from` up to kInstructionBytesMax, has too few.
[[nodiscard]] constexpr Flow flow_of(std::span<const std::uint8_t> code, std::uint64_t from, std::uint64_t to) {
    std::size_t at = 0;
    while (at < code.size() && detail::is_prefix(code[at])) {
        ++at;
    }
    const auto byte = [&](std::size_t i) { return at + i < code.size() ? code[at + i] : std::uint8_t{0x90}; };
    const auto taken = [&](std::size_t bytes) { return to == from + at + bytes ? Flow::next : Flow::jump; };
    const std::uint8_t opcode = byte(0);
    if ((opcode >= 0x70 && opcode <= 0x7F) || (opcode >= 0xE0 && opcode <= 0xE3)) {
        return taken(2);
    }
    if (opcode == 0x0F && byte(1) >= 0x80 && byte(1) <= 0x8F) {
        return taken(6);
    }
    switch (opcode) {
    case 0xE8:
        return Flow::call;
    case 0xE9:
    case 0xEB:
        return Flow::jump;
    case 0xC2:
    case 0xC3:
        return Flow::ret;
    case 0xCF:
        return Flow::resumed;
    case 0xFF:
        switch (byte(1) >> 3 & 7) {
        case 2:
            return Flow::call;
        case 4:
            return Flow::jump;
        default:
            return Flow::next;
        }
    default:
        return Flow::next;
    }
}

} // namespace tracer
