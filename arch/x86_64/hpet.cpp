// SPDX-License-Identifier: MIT
#include "arch/x86_64/hpet.hpp"

namespace arch::x86_64 {

constinit std::uint64_t g_hpet_base = kHpetDefaultBase;

namespace {

constexpr std::uint64_t kEnable = 1;
constexpr std::uint64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;
constexpr std::uint64_t kPeriodMin = 100'000;
constexpr std::uint64_t kPeriodMax = 100'000'000; // the specification's upper bound

} // namespace

lib::Result<std::uint32_t> hpet_start(std::uint64_t base) {
    const std::uint64_t period = mmio_read<std::uint64_t>(base + kHpetRegCapabilities) >> 32;
    if (period < kPeriodMin || period > kPeriodMax) {
        return lib::Error::not_found;
    }
    g_hpet_base = base;
    mmio_write(base + kHpetRegConfiguration, mmio_read<std::uint64_t>(base + kHpetRegConfiguration) | kEnable);
    return static_cast<std::uint32_t>(kFemtosecondsPerMillisecond / period);
}

} // namespace arch::x86_64
