// SPDX-License-Identifier: MIT
// Measures the rate of the time stamp counter against a clock of the machine, for kernels that do not know it.
// Sources: Intel 8254 data sheet (counter 2, port 0x61); ACPI specification, 4.8.2.1 (power management timer, 3.579545
// MHz); IA-PC HPET specification 1.0a, 2.3; Intel SDM, CPUID leaf 15h; the hypervisor leaf 40000010h.
#include "port/remora_tracer.h"

#include <cpuid.h>
#include <cstdint>

namespace {

constexpr std::uint32_t kMeasuredMs = 20;
// A clock that does not move ends a measurement after so many looks at it. A look takes a microsecond or more on a
// machine, and a few nanoseconds of the time of an emulator that counts instructions.
constexpr std::uint32_t kLooksMax = 20'000'000;

void out(std::uint16_t port, std::uint8_t value) {
    asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

std::uint8_t in(std::uint16_t port) {
    std::uint8_t value = 0;
    asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

// Returns the ticks of the time stamp counter until the clock says that the time is over; 0 if it never does.
template <typename Over>
std::uint64_t ticks_until(Over over) {
    const std::uint64_t begin = __builtin_ia32_rdtsc();
    for (std::uint32_t look = 0; look < kLooksMax; ++look) {
        if (over()) {
            return __builtin_ia32_rdtsc() - begin;
        }
    }
    return 0;
}

} // namespace

extern "C" {

std::uint32_t remora_calibrate_pit(void) {
    constexpr std::uint32_t kHz = 1'193'182;
    constexpr std::uint32_t kCount = kHz * kMeasuredMs / 1000;
    constexpr std::uint16_t kGatePort = 0x61;
    constexpr std::uint8_t kOutput = 0x20;
    out(kGatePort, static_cast<std::uint8_t>((in(kGatePort) & ~2U) | 1U)); // counts, without the speaker
    out(0x43, 0xB0);                                                       // counter 2: mode 0, both bytes
    out(0x42, kCount & 0xFF);
    out(0x42, kCount >> 8);
    return static_cast<std::uint32_t>(ticks_until([] { return (in(kGatePort)&kOutput) != 0; }) / kMeasuredMs);
}

std::uint32_t remora_calibrate_pm_timer(std::uint16_t port) {
    constexpr std::uint32_t kHz = 3'579'545;
    constexpr std::uint32_t kCounterMask = 0xFF'FFFF; // a counter of 24 bits is right, too
    const auto counter = [port] {
        std::uint32_t value = 0;
        asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
        return value;
    };
    const std::uint32_t begin = counter();
    const auto passed = [&] { return ((counter() - begin) & kCounterMask) >= kHz * kMeasuredMs / 1000; };
    return static_cast<std::uint32_t>(ticks_until(passed) / kMeasuredMs);
}

std::uint32_t remora_calibrate_hpet(const volatile void* registers) {
    constexpr std::size_t kPeriod = 4; // in fs, upper half of the capabilities
    constexpr std::size_t kCounter = 0xF0;
    constexpr std::uint64_t kFemtosecondsPerMs = 1'000'000'000'000;
    constexpr std::uint32_t kPeriodMax = 100'000'000;
    const auto* const words = static_cast<const volatile std::uint32_t*>(registers);
    const auto word = [words](std::size_t at) { return words[at / sizeof(std::uint32_t)]; };
    const std::uint32_t period = word(kPeriod);
    if (period == 0 || period > kPeriodMax) {
        return 0;
    }
    const auto count = static_cast<std::uint32_t>(kFemtosecondsPerMs * kMeasuredMs / period);
    const std::uint32_t begin = word(kCounter);
    const std::uint64_t ticks = ticks_until([&] { return word(kCounter) - begin >= count; });
    return static_cast<std::uint32_t>(ticks / kMeasuredMs);
}

std::uint32_t remora_calibrate_cpuid(void) {
    constexpr std::uint32_t kHypervisor = 0x4000'0000;
    constexpr std::uint32_t kTimes = 0x4000'0010;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::uint32_t d = 0;
    __cpuid(1, a, b, c, d);
    if ((c >> 31 & 1) != 0) {
        __cpuid(kHypervisor, a, b, c, d);
        if (a >= kTimes) {
            __cpuid(kTimes, a, b, c, d);
            return a;
        }
    }
    __cpuid(0, a, b, c, d);
    if (a < 0x15) {
        return 0;
    }
    __cpuid_count(0x15, 0, a, b, c, d);
    return a != 0 ? static_cast<std::uint32_t>(std::uint64_t{c} * b / a / 1000) : 0;
}

} // extern "C"
