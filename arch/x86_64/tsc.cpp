// SPDX-License-Identifier: MIT
#include "arch/x86_64/tsc.hpp"

#include "arch/x86_64/hpet.hpp"
#include "arch/x86_64/port_io.hpp"
#include "arch/x86_64/reference_clock.hpp"
#include "arch/x86_64/spin.hpp"

namespace arch::x86_64 {

namespace {

constexpr std::uint64_t kPmTimerHz = 3'579'545;
constexpr std::uint64_t kPitHz = 1'193'182;

struct Tsc {
    [[nodiscard]] static std::uint64_t read() {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        asm volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
        return (static_cast<std::uint64_t>(high) << 32) | low;
    }

    static void wait() { spin_briefly(); }
};

struct HpetReference {
    std::uint64_t hz;
    static constexpr std::uint64_t kMask = 0xFFFF'FFFF; // the low half: correct also for 32-bit counters

    void start() const {}

    [[nodiscard]] std::uint64_t read() const { return hpet_counter() & kMask; }

    [[nodiscard]] static std::uint64_t mask() { return kMask; }
};

struct PmTimerReference {
    std::uint16_t port;
    bool wide;
    static constexpr std::uint64_t hz = kPmTimerHz;

    void start() const {}

    [[nodiscard]] std::uint64_t read() const { return PortIo::in32(port) & mask(); }

    [[nodiscard]] std::uint64_t mask() const { return pm_timer_mask(wide); }
};

// Channel 2 counts down from 65536 with the speaker off: 54 ms, longer than a window.
struct PitReference {
    static constexpr std::uint64_t hz = kPitHz;
    static constexpr std::uint16_t kChannel2 = 0x42;
    static constexpr std::uint16_t kControl = 0x43;
    static constexpr std::uint16_t kGate = 0x61;

    static void start() {
        PortIo::out8(kGate, static_cast<std::uint8_t>((PortIo::in8(kGate) & ~2U) | 1U));
        PortIo::out8(kControl, 0xB0); // channel 2, low then high byte, mode 0
        PortIo::out8(kChannel2, 0xFF);
        PortIo::out8(kChannel2, 0xFF);
    }

    [[nodiscard]] static std::uint64_t read() {
        PortIo::out8(kControl, 0x80); // latch channel 2
        const std::uint32_t low = PortIo::in8(kChannel2);
        const std::uint32_t high = PortIo::in8(kChannel2);
        return 0xFFFF - (low | (high << 8));
    }

    [[nodiscard]] static std::uint64_t mask() { return 0xFFFF; }
};

} // namespace

lib::Result<TscCalibration> calibrate_tsc(const ReferenceClocks& clocks) {
    ChosenClocks chosen; // in the order of resolution
    if (clocks.hpet_khz != 0) {
        chosen.consider(measure_khz(Tsc{}, HpetReference{std::uint64_t{clocks.hpet_khz} * 1000}), ReferenceClock::hpet);
    }
    if (clocks.pm_timer_port != 0) {
        chosen.consider(measure_khz(Tsc{}, PmTimerReference{clocks.pm_timer_port, clocks.pm_timer_32bit}),
                        ReferenceClock::pm_timer);
    }
    if (chosen.needs_more()) {
        chosen.consider(measure_khz(Tsc{}, PitReference{}), ReferenceClock::pit);
    }
    return chosen.result();
}

} // namespace arch::x86_64
