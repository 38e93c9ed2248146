// SPDX-License-Identifier: MIT
#include "arch/x86_64/pic.hpp"

#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/port_io.hpp"

namespace arch::x86_64 {

namespace {

struct Controller {
    std::uint16_t command;
    std::uint16_t data;
};

constexpr Controller kFirst{0x20, 0x21};
constexpr Controller kSecond{0xA0, 0xA1};
constexpr std::uint8_t kIcw1 = 0x11; // edge, cascade, ICW4 follows
constexpr std::uint8_t kIcw4 = 0x01; // 8086 mode
constexpr std::uint8_t kCascadeLine = 2;
constexpr std::uint8_t kReadInService = 0x0B;
constexpr std::uint8_t kEndOfInterrupt = 0x20;
constexpr std::uint8_t kSpuriousLine = 7; // of either controller

bool in_service(const Controller& controller, std::uint8_t line) {
    PortIo::out8(controller.command, kReadInService);
    return (PortIo::in8(controller.command) & (1U << line)) != 0;
}

} // namespace

void pic_start() {
    PortIo::out8(kFirst.command, kIcw1);
    PortIo::out8(kSecond.command, kIcw1);
    PortIo::out8(kFirst.data, kPicVectorBase);
    PortIo::out8(kSecond.data, kPicVectorBase + 8);
    PortIo::out8(kFirst.data, 1U << kCascadeLine);
    PortIo::out8(kSecond.data, kCascadeLine);
    PortIo::out8(kFirst.data, kIcw4);
    PortIo::out8(kSecond.data, kIcw4);
    PortIo::out8(kFirst.data, 0xFF);
    PortIo::out8(kSecond.data, 0xFF);
}

void pic_enable(std::uint8_t line, bool enabled) {
    const Controller& controller = line < 8 ? kFirst : kSecond;
    PortIo::out8(controller.data, pic_mask(PortIo::in8(controller.data), line % 8, enabled));
    if (line >= 8 && enabled) {
        pic_enable(kCascadeLine, true);
    }
}

PicMasks pic_mask_all() {
    const PicMasks masks{PortIo::in8(kFirst.data), PortIo::in8(kSecond.data)};
    pic_restore({0xFF, 0xFF});
    return masks;
}

void pic_restore(PicMasks masks) {
    PortIo::out8(kFirst.data, masks.first);
    PortIo::out8(kSecond.data, masks.second);
}

bool pic_is_real(std::uint8_t line) {
    return line % 8 != kSpuriousLine || in_service(line < 8 ? kFirst : kSecond, kSpuriousLine);
}

void pic_end_of_interrupt(std::uint8_t line) {
    if (pic_is_real(line)) {
        PortIo::out8((line < 8 ? kFirst : kSecond).command, kEndOfInterrupt);
    }
    if (line >= 8) {
        PortIo::out8(kFirst.command, kEndOfInterrupt);
    }
}

} // namespace arch::x86_64
