// SPDX-License-Identifier: MIT
// PortIo is port input and output on the real machine: the policy that drivers are instantiated with. Tests use a fake
// with the same interface. A block transfer is one `rep` instruction, which can be interrupted. Context: any.
// Source: Intel SDM volume 2 (IN, OUT, INS, OUTS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace arch::x86_64 {

struct PortIo {
    [[nodiscard]] static std::uint8_t in8(std::uint16_t port) {
        std::uint8_t value = 0;
        asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
        return value;
    }

    [[nodiscard]] static std::uint16_t in16(std::uint16_t port) {
        std::uint16_t value = 0;
        asm volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
        return value;
    }

    [[nodiscard]] static std::uint32_t in32(std::uint16_t port) {
        std::uint32_t value = 0;
        asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
        return value;
    }

    static void out8(std::uint16_t port, std::uint8_t value) { asm volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

    static void out16(std::uint16_t port, std::uint16_t value) {
        asm volatile("outw %0, %1" : : "a"(value), "Nd"(port));
    }

    static void out32(std::uint16_t port, std::uint32_t value) {
        asm volatile("outl %0, %1" : : "a"(value), "Nd"(port));
    }

    // The sizes must be whole units; the caller pads.
    static void in_block8(std::uint16_t port, std::span<std::byte> into) {
        void* target = into.data();
        std::size_t units = into.size();
        asm volatile("rep insb" : "+D"(target), "+c"(units) : "d"(port) : "memory");
    }

    static void in_block16(std::uint16_t port, std::span<std::byte> into) {
        void* target = into.data();
        std::size_t units = into.size() / 2;
        asm volatile("rep insw" : "+D"(target), "+c"(units) : "d"(port) : "memory");
    }

    static void in_block32(std::uint16_t port, std::span<std::byte> into) {
        void* target = into.data();
        std::size_t units = into.size() / 4;
        asm volatile("rep insl" : "+D"(target), "+c"(units) : "d"(port) : "memory");
    }

    static void out_block8(std::uint16_t port, std::span<const std::byte> from) {
        const void* source = from.data();
        std::size_t units = from.size();
        asm volatile("rep outsb" : "+S"(source), "+c"(units) : "d"(port) : "memory");
    }

    static void out_block16(std::uint16_t port, std::span<const std::byte> from) {
        const void* source = from.data();
        std::size_t units = from.size() / 2;
        asm volatile("rep outsw" : "+S"(source), "+c"(units) : "d"(port) : "memory");
    }

    static void out_block32(std::uint16_t port, std::span<const std::byte> from) {
        const void* source = from.data();
        std::size_t units = from.size() / 4;
        asm volatile("rep outsl" : "+S"(source), "+c"(units) : "d"(port) : "memory");
    }

    // Hints at a busy-wait loop; under emulation this also lets the device run.
    static void pause() { asm volatile("pause"); }
};

} // namespace arch::x86_64
