// SPDX-License-Identifier: MIT
#include "arch/x86_64/local_apic.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/clock_arithmetic.hpp"
#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/mmio.hpp"
#include "arch/x86_64/msr.hpp"
#include "arch/x86_64/spin.hpp"

namespace arch::x86_64 {

namespace {

constexpr std::uint64_t kRegTaskPriority = 0x080;
constexpr std::uint32_t kPriorityAll = 0xFF; // no vector has a higher priority
constexpr std::uint64_t kRegEndOfInterrupt = 0x0B0;
constexpr std::uint64_t kRegSpurious = 0x0F0;
constexpr std::uint32_t kSpuriousEnable = 1U << 8;
constexpr std::uint64_t kRegInService = 0x100; // eight words, 16 bytes apart
constexpr std::uint64_t kRegCommand = 0x300;
constexpr std::uint32_t kCommandSelf = 1U << 18; // fixed delivery, edge
constexpr std::uint32_t kCommandAssert = 1U << 14;
constexpr std::uint64_t kRegLvtTimer = 0x320;
constexpr std::uint64_t kRegLvtLint0 = 0x350;
constexpr std::uint64_t kRegLvtLint1 = 0x360;
constexpr std::uint64_t kRegLvtError = 0x370;
constexpr std::uint32_t kLvtMasked = 1U << 16;
constexpr std::uint32_t kLvtExternal = 0x7U << 8; // the vector comes from the 8259
constexpr std::uint64_t kRegInitialCount = 0x380;
constexpr std::uint64_t kRegCurrentCount = 0x390;
constexpr std::uint64_t kRegDivide = 0x3E0;
constexpr std::uint32_t kDivideBy1 = 0xB;
constexpr std::uint64_t kApicBaseEnable = 1U << 11;
constexpr lib::Nanoseconds kCalibrationWindow = lib::milliseconds(1);
constexpr int kCalibrationWindows = 3;

constinit std::uint64_t g_base = kLocalApicDefaultBase;
constinit std::uint32_t g_timer_khz = 0;
constinit lib::Ratio g_counts_per_tick; // counts of the timer for one tick of the clock

std::uint32_t read(std::uint64_t reg) {
    return mmio_read<std::uint32_t>(g_base + reg);
}

void write(std::uint64_t reg, std::uint32_t value) {
    mmio_write(g_base + reg, value);
}

// Measures the timer's rate in kHz over one window of the clock.
std::uint32_t timer_khz_once(lib::TickRate clock) {
    const lib::Ticks span = clock.to_ticks(kCalibrationWindow);
    write(kRegInitialCount, kTimerCountMax);
    const lib::Ticks begin = timestamp();
    const std::uint32_t count_begin = read(kRegCurrentCount);
    while (timestamp() - begin < span) {
        spin_briefly();
    }
    const std::uint32_t count_end = read(kRegCurrentCount);
    const lib::Ticks elapsed = timestamp() - begin;
    write(kRegInitialCount, 0);
    return timer_khz(count_begin - count_end, clock, elapsed);
}

} // namespace

void local_apic_start(std::uint64_t base, ExternalLines lines) {
    g_base = base;
    write_msr(kMsrApicBase, read_msr(kMsrApicBase) | kApicBaseEnable);
    write(kRegTaskPriority, 0);
    write(kRegDivide, kDivideBy1);
    write(kRegLvtTimer, kLvtMasked | kVectorTimer);
    write(kRegLvtLint0, lines == ExternalLines::pic ? kLvtExternal : kLvtMasked);
    write(kRegLvtError, kVectorApicError);
    write(kRegSpurious, kSpuriousEnable | kVectorSpurious);
    local_apic_end_of_interrupt(); // in case the firmware left an interrupt in service
}

void local_apic_end_of_interrupt() {
    write(kRegEndOfInterrupt, 0);
}

void local_apic_interrupt_self(std::uint8_t vector) {
    write(kRegCommand, kCommandSelf | kCommandAssert | vector);
}

std::optional<std::uint8_t> local_apic_in_service() {
    return highest_vector([](std::uint32_t word) { return read(kRegInService + std::uint64_t{16} * word); });
}

LocalApicHold local_apic_hold() {
    const LocalApicHold hold{read(kRegLvtLint1)};
    write(kRegLvtLint1, hold.lint1 | kLvtMasked);
    write(kRegTaskPriority, kPriorityAll);
    return hold;
}

void local_apic_resume(LocalApicHold hold) {
    write(kRegTaskPriority, 0);
    write(kRegLvtLint1, hold.lint1);
}

std::uint32_t local_apic_calibrate(lib::TickRate clock) {
    for (int i = 0; i < kCalibrationWindows || (g_timer_khz == 0 && i < 100); ++i) {
        g_timer_khz = better_timer_khz(g_timer_khz, timer_khz_once(clock));
    }
    ASSERT(g_timer_khz != 0);
    g_counts_per_tick = {g_timer_khz, clock.khz};
    write(kRegLvtTimer, kVectorTimer);
    return g_timer_khz;
}

void local_apic_timer_arm(lib::Ticks at) {
    ASSERT(!lib::kChecked || g_timer_khz != 0);
    const lib::Ticks now = timestamp();
    const lib::Ticks delta = at > now ? at - now : lib::Ticks{};
    write(kRegInitialCount, timer_count(delta, g_counts_per_tick));
}

lib::Ticks local_apic_timer_left(lib::TickRate clock) {
    ASSERT(g_timer_khz != 0);
    return timer_left(read(kRegCurrentCount), g_timer_khz, clock);
}

void local_apic_timer_disarm() {
    write(kRegInitialCount, 0);
}

} // namespace arch::x86_64
