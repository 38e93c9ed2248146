// SPDX-License-Identifier: MIT
// Sets and reads the registers of the local APIC (local_apic.hpp). The machine is a policy: the real one
// (local_apic.cpp), or a test's. Context: irq-off.
#pragma once

#include "arch/x86_64/clock_arithmetic.hpp"
#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/local_apic.hpp"

#include <concepts>
#include <cstdint>
#include <optional>

namespace arch::x86_64 {

// enable() switches the controller on in the processor; now() is the clock; spin() waits for about a microsecond.
template <typename Machine>
concept LocalApicMachine = requires(std::uint64_t address, std::uint32_t value) {
    { Machine::read(address) } -> std::same_as<std::uint32_t>;
    Machine::write(address, value);
    Machine::enable();
    { Machine::now() } -> std::same_as<lib::Ticks>;
    Machine::spin();
};

template <LocalApicMachine Machine>
class LocalApic {
  public:
    constexpr LocalApic() = default;

    void start(std::uint64_t base, ExternalLines lines) {
        m_base = base;
        Machine::enable();
        write(kRegTaskPriority, 0);
        write(kRegDivide, kDivideBy1);
        write(kRegLvtTimer, kLvtMasked | kVectorTimer);
        write(kRegLvtLint0, lines == ExternalLines::pic ? kLvtExternal : kLvtMasked);
        write(kRegLvtError, kVectorApicError);
        write(kRegSpurious, kSpuriousEnable | kVectorSpurious);
        end_of_interrupt(); // in case the firmware left an interrupt in service
    }

    void end_of_interrupt() const { write(kRegEndOfInterrupt, 0); }

    void interrupt_self(std::uint8_t vector) const { write(kRegCommand, kCommandSelf | kCommandAssert | vector); }

    [[nodiscard]] std::optional<std::uint8_t> in_service() const {
        return highest_vector([this](std::uint32_t word) { return read(kRegInService + std::uint64_t{16} * word); });
    }

    [[nodiscard]] LocalApicHold hold() const {
        const LocalApicHold hold{read(kRegLvtLint1)};
        write(kRegLvtLint1, hold.lint1 | kLvtMasked);
        write(kRegTaskPriority, kPriorityAll);
        return hold;
    }

    void resume(LocalApicHold hold) const {
        write(kRegTaskPriority, 0);
        write(kRegLvtLint1, hold.lint1);
    }

    std::uint32_t calibrate(lib::TickRate clock) {
        for (int i = 0; i < kCalibrationWindows || (m_timer_khz == 0 && i < 100); ++i) {
            m_timer_khz = better_timer_khz(m_timer_khz, timer_khz_once(clock));
        }
        ASSERT(m_timer_khz != 0);
        m_counts_per_tick = {m_timer_khz, clock.khz};
        write(kRegLvtTimer, kVectorTimer);
        return m_timer_khz;
    }

    void arm(lib::Ticks at) const {
        ASSERT(!lib::kChecked || m_timer_khz != 0);
        const lib::Ticks now = Machine::now();
        const lib::Ticks delta = at > now ? at - now : lib::Ticks{};
        write(kRegInitialCount, timer_count(delta, m_counts_per_tick));
    }

    [[nodiscard]] lib::Ticks left(lib::TickRate clock) const {
        ASSERT(m_timer_khz != 0);
        return timer_left(read(kRegCurrentCount), m_timer_khz, clock);
    }

    void disarm() const { write(kRegInitialCount, 0); }

  private:
    static constexpr std::uint64_t kRegTaskPriority = 0x080;
    static constexpr std::uint32_t kPriorityAll = 0xFF; // no vector has a higher priority
    static constexpr std::uint64_t kRegEndOfInterrupt = 0x0B0;
    static constexpr std::uint64_t kRegSpurious = 0x0F0;
    static constexpr std::uint32_t kSpuriousEnable = 1U << 8;
    static constexpr std::uint64_t kRegInService = 0x100; // eight words, 16 bytes apart
    static constexpr std::uint64_t kRegCommand = 0x300;
    static constexpr std::uint32_t kCommandSelf = 1U << 18; // fixed delivery, edge
    static constexpr std::uint32_t kCommandAssert = 1U << 14;
    static constexpr std::uint64_t kRegLvtTimer = 0x320;
    static constexpr std::uint64_t kRegLvtLint0 = 0x350;
    static constexpr std::uint64_t kRegLvtLint1 = 0x360;
    static constexpr std::uint64_t kRegLvtError = 0x370;
    static constexpr std::uint32_t kLvtMasked = 1U << 16;
    static constexpr std::uint32_t kLvtExternal = 0x7U << 8; // the vector comes from the 8259
    static constexpr std::uint64_t kRegInitialCount = 0x380;
    static constexpr std::uint64_t kRegCurrentCount = 0x390;
    static constexpr std::uint64_t kRegDivide = 0x3E0;
    static constexpr std::uint32_t kDivideBy1 = 0xB;
    static constexpr lib::Nanoseconds kCalibrationWindow = lib::milliseconds(1);
    static constexpr int kCalibrationWindows = 3;

    [[nodiscard]] std::uint32_t read(std::uint64_t reg) const { return Machine::read(m_base + reg); }

    void write(std::uint64_t reg, std::uint32_t value) const { Machine::write(m_base + reg, value); }

    // Measures the timer's rate in kHz over one window of the clock.
    [[nodiscard]] std::uint32_t timer_khz_once(lib::TickRate clock) const {
        const lib::Ticks span = clock.to_ticks(kCalibrationWindow);
        write(kRegInitialCount, kTimerCountMax);
        const lib::Ticks begin = Machine::now();
        const std::uint32_t count_begin = read(kRegCurrentCount);
        while (Machine::now() - begin < span) {
            Machine::spin();
        }
        const std::uint32_t count_end = read(kRegCurrentCount);
        const lib::Ticks elapsed = Machine::now() - begin;
        write(kRegInitialCount, 0);
        return timer_khz(count_begin - count_end, clock, elapsed);
    }

    std::uint64_t m_base = kLocalApicDefaultBase;
    std::uint32_t m_timer_khz = 0;
    lib::Ratio m_counts_per_tick{}; // counts of the timer for one tick of the clock
};

} // namespace arch::x86_64
