// SPDX-License-Identifier: MIT
// States what a driver requires of x86 port input/output. It is a policy type, so that the same driver runs on the
// machine's instructions (kernel) and on a register-level fake (unit tests). There are no virtual calls, because a port
// access is one instruction, and the block transfers are `rep ins`/`rep outs`. Source: Intel SDM volume 1, chapter 19.
//
// Blocks move bytes in memory order, as `rep insb`, `rep insw` and `rep insd` do; the size of the span is a multiple of
// the width; any alignment is allowed. Context: any; the owner of a device serialises the accesses to it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers {

template <typename T>
concept PortIo = requires(T& ports, std::uint16_t port, std::span<std::byte> in, std::span<const std::byte> out) {
    { ports.in8(port) } -> std::same_as<std::uint8_t>;
    { ports.in16(port) } -> std::same_as<std::uint16_t>;
    { ports.in32(port) } -> std::same_as<std::uint32_t>;
    ports.out8(port, std::uint8_t{});
    ports.out16(port, std::uint16_t{});
    ports.out32(port, std::uint32_t{});
    ports.in_block8(port, in);
    ports.in_block16(port, in);
    ports.in_block32(port, in);
    ports.out_block8(port, out);
    ports.out_block16(port, out);
    ports.out_block32(port, out);
};

} // namespace drivers
