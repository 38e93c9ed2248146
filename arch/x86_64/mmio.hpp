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

} // namespace arch::x86_64
