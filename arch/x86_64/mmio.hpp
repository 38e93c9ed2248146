// SPDX-License-Identifier: MIT
// Accesses memory-mapped registers: volatile, with a stated width, at a physical address that is identity-mapped and
// uncached. Context: any.
#pragma once

#include <cstdint>

namespace arch::x86_64 {

template <typename T>
[[nodiscard]] inline T mmio_read(std::uint64_t address) {
    return *reinterpret_cast<const volatile T*>(address);
}

template <typename T>
inline void mmio_write(std::uint64_t address, T value) {
    *reinterpret_cast<volatile T*>(address) = value;
}

// The registers of a device with words of 32 bits, as the policy of its driver.
struct MmioWords {
    [[nodiscard]] static std::uint32_t read(std::uint64_t address) { return mmio_read<std::uint32_t>(address); }

    static void write(std::uint64_t address, std::uint32_t value) { mmio_write(address, value); }
};

} // namespace arch::x86_64
