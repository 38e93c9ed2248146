// SPDX-License-Identifier: MIT
#include "arch/x86_64/hpet.hpp"

#include "arch/x86_64/hpet_words.hpp"

namespace arch::x86_64 {

constinit std::uint64_t g_hpet_base = kHpetDefaultBase;

namespace {

constexpr std::uint64_t kEnable = 1;

} // namespace

lib::Result<std::uint32_t> hpet_start(std::uint64_t base) {
    const auto khz = hpet_khz(mmio_read<std::uint64_t>(base + kHpetRegCapabilities));
    if (!khz.ok()) {
        return khz;
    }
    g_hpet_base = base;
    mmio_write(base + kHpetRegConfiguration, mmio_read<std::uint64_t>(base + kHpetRegConfiguration) | kEnable);
    return khz;
}

} // namespace arch::x86_64
