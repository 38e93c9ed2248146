// SPDX-License-Identifier: MIT
#include "arch/x86_64/tsc.hpp"

#include "arch/x86_64/clock_arithmetic.hpp"
#include "arch/x86_64/hpet.hpp"
#include "arch/x86_64/port_io.hpp"
#include "arch/x86_64/spin.hpp"

namespace arch::x86_64 {

namespace {

constexpr int kWindows = 5;
constexpr int kBrackets = 4;
constexpr std::uint64_t kWindowsPerSecond = 500;      // windows of 2 ms
constexpr std::uint64_t kWindowReadsMax = 10'000'000; // bounds the wait for a reference that does not count
constexpr std::uint64_t kPmTimerHz = 3'579'545;
constexpr std::uint64_t kPitHz = 1'193'182;

std::uint64_t read_tsc() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

// A reference clock: an up-counter of a known rate that wraps at mask + 1.
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

struct Sample {
    std::uint64_t tsc = 0;
    std::uint64_t reference = 0;
};

template <typename Reference>
Sample tightest_sample(const Reference& reference) {
    Sample best;
    std::uint64_t width_min = ~std::uint64_t{0};
    for (int i = 0; i < kBrackets; ++i) {
        const std::uint64_t before = read_tsc();
        const std::uint64_t value = reference.read();
        const std::uint64_t after = read_tsc();
        if (after - before < width_min) {
            width_min = after - before;
            best = {before + (after - before) / 2, value};
        }
    }
    return best;
}

// The TSC's rate in kHz by this reference; 0 if the reference does not count.
template <typename Reference>
std::uint32_t measure_khz(const Reference& reference) {
    const std::uint64_t span = reference.hz / kWindowsPerSecond;
    std::uint64_t khz_min = 0;
    for (int window = 0; window < kWindows; ++window) {
        reference.start();
        const Sample begin = tightest_sample(reference);
        std::uint64_t reads = 0;
        while (counted(begin.reference, reference.read(), reference.mask()) < span) {
            if (++reads == kWindowReadsMax) {
                return 0;
            }
            spin_briefly();
        }
        const Sample end = tightest_sample(reference);
        const std::uint64_t elapsed = counted(begin.reference, end.reference, reference.mask());
        khz_min = better_tsc_khz(khz_min, rate_khz(end.tsc - begin.tsc, reference.hz, elapsed));
    }
    return static_cast<std::uint32_t>(khz_min);
}

struct Measurement {
    std::uint32_t khz = 0;
    ReferenceClock clock = ReferenceClock::none;
};

std::uint32_t disagreement_ppm(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t difference = a > b ? a - b : b - a;
    return static_cast<std::uint32_t>(lib::multiply_divide(difference, 1'000'000, a));
}

} // namespace

lib::Result<TscCalibration> calibrate_tsc(const ReferenceClocks& clocks) {
    // In the order of resolution; the first two that count are used.
    Measurement first;
    Measurement second;
    const auto consider = [&](std::uint32_t khz, ReferenceClock clock) {
        if (khz != 0) {
            (first.khz == 0 ? first : second) = {khz, clock};
        }
    };
    if (clocks.hpet_khz != 0) {
        consider(measure_khz(HpetReference{std::uint64_t{clocks.hpet_khz} * 1000}), ReferenceClock::hpet);
    }
    if (clocks.pm_timer_port != 0) {
        consider(measure_khz(PmTimerReference{clocks.pm_timer_port, clocks.pm_timer_32bit}), ReferenceClock::pm_timer);
    }
    if (second.khz == 0) {
        consider(measure_khz(PitReference{}), ReferenceClock::pit);
    }
    if (first.khz == 0) {
        return lib::Error::not_found;
    }
    return TscCalibration{.rate = {first.khz},
                          .source = first.clock,
                          .checked_by = second.clock,
                          .error_ppm = second.khz != 0 ? disagreement_ppm(first.khz, second.khz) : 0};
}

} // namespace arch::x86_64
