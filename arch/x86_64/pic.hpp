// SPDX-License-Identifier: MIT
// The pair of 8259A interrupt controllers is remapped above the exception vectors. It is masked if an I/O APIC serves
// the lines, and else serves them. Its spurious interrupts (7 and 15) keep vectors of their own.
// Source: Intel 8259A data sheet (ICW1 to ICW4, OCW1 to OCW3). The ports are a policy: the machine's own, or a test's.
// Context of all functions: irq-off.
#pragma once

#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/port_io.hpp"

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint8_t kPicVectorBase = 0x20; // lines 0..15 -> 0x20..0x2F
inline constexpr std::uint8_t kPicLines = 16;

namespace pic {

struct Controller {
    std::uint16_t command;
    std::uint16_t data;
};

inline constexpr Controller kFirst{0x20, 0x21};
inline constexpr Controller kSecond{0xA0, 0xA1};
inline constexpr std::uint8_t kIcw1 = 0x11; // edge, cascade, ICW4 follows
inline constexpr std::uint8_t kIcw4 = 0x01; // 8086 mode
inline constexpr std::uint8_t kCascadeLine = 2;
inline constexpr std::uint8_t kReadInService = 0x0B;
inline constexpr std::uint8_t kEndOfInterrupt = 0x20;
inline constexpr std::uint8_t kSpuriousLine = 7; // of either controller

} // namespace pic

// Remaps both controllers and masks every line.
template <typename Ports = PortIo>
void pic_start() {
    Ports::out8(pic::kFirst.command, pic::kIcw1);
    Ports::out8(pic::kSecond.command, pic::kIcw1);
    Ports::out8(pic::kFirst.data, kPicVectorBase);
    Ports::out8(pic::kSecond.data, kPicVectorBase + 8);
    Ports::out8(pic::kFirst.data, 1U << pic::kCascadeLine);
    Ports::out8(pic::kSecond.data, pic::kCascadeLine);
    Ports::out8(pic::kFirst.data, pic::kIcw4);
    Ports::out8(pic::kSecond.data, pic::kIcw4);
    Ports::out8(pic::kFirst.data, 0xFF);
    Ports::out8(pic::kSecond.data, 0xFF);
}

// Opens or masks a line.
template <typename Ports = PortIo>
void pic_enable(std::uint8_t line, bool enabled) {
    const pic::Controller& controller = line < 8 ? pic::kFirst : pic::kSecond;
    Ports::out8(controller.data, pic_mask(Ports::in8(controller.data), line % 8, enabled));
    if (line >= 8 && enabled) {
        pic_enable<Ports>(pic::kCascadeLine, true);
    }
}

// Holds the state that pic_mask_all() replaced.
struct PicMasks {
    std::uint8_t first;
    std::uint8_t second;
};

template <typename Ports = PortIo>
void pic_restore(PicMasks masks) {
    Ports::out8(pic::kFirst.data, masks.first);
    Ports::out8(pic::kSecond.data, masks.second);
}

// Masks every line temporarily; requests are kept.
template <typename Ports = PortIo>
[[nodiscard]] PicMasks pic_mask_all() {
    const PicMasks masks{Ports::in8(pic::kFirst.data), Ports::in8(pic::kSecond.data)};
    pic_restore<Ports>({0xFF, 0xFF});
    return masks;
}

// Returns false for line 7 or 15 while the controller has nothing in service there: the interrupt is spurious. Few
// machines get here in an interrupt, so it is a function of its own, for which the others save no register.
template <typename Ports = PortIo>
[[nodiscard, gnu::noinline]] bool pic_is_real(std::uint8_t line) {
    if (line % 8 != pic::kSpuriousLine) {
        return true;
    }
    const std::uint16_t command = (line < 8 ? pic::kFirst : pic::kSecond).command;
    Ports::out8(command, pic::kReadInService);
    return (Ports::in8(command) & (1U << pic::kSpuriousLine)) != 0;
}

// Acknowledges an interrupt. A spurious interrupt of the second controller is acknowledged only at the first, one of
// the first not at all.
template <typename Ports = PortIo>
[[gnu::noinline]] void pic_end_of_interrupt(std::uint8_t line) {
    if (pic_is_real<Ports>(line)) {
        Ports::out8((line < 8 ? pic::kFirst : pic::kSecond).command, pic::kEndOfInterrupt);
    }
    if (line >= 8) {
        Ports::out8(pic::kFirst.command, pic::kEndOfInterrupt);
    }
}

} // namespace arch::x86_64
