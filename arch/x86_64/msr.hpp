// SPDX-License-Identifier: MIT
// Accesses model-specific and control registers. Source: Intel SDM volumes 4, 2 (RDMSR, WRMSR, CPUID). Context: any.
#pragma once

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint32_t kMsrApicBase = 0x1B;
inline constexpr std::uint32_t kMsrGsBase = 0xC000'0101;
inline constexpr std::uint32_t kMsrEfer = 0xC000'0080;
inline constexpr std::uint64_t kEferNoExecute = 1U << 11;

[[nodiscard]] inline std::uint64_t read_msr(std::uint32_t index) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(index));
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

inline void write_msr(std::uint32_t index, std::uint64_t value) {
    asm volatile("wrmsr"
                 :
                 : "c"(index), "a"(static_cast<std::uint32_t>(value)), "d"(static_cast<std::uint32_t>(value >> 32))
                 : "memory");
}

struct CpuidResult {
    std::uint32_t eax;
    std::uint32_t ebx;
    std::uint32_t ecx;
    std::uint32_t edx;
};

[[nodiscard]] inline CpuidResult cpuid(std::uint32_t leaf) {
    CpuidResult result{};
    asm volatile("cpuid" : "=a"(result.eax), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx) : "a"(leaf), "c"(0));
    return result;
}

// Returns whether the processor runs under KVM, from the hypervisor's signature leaf.
[[nodiscard]] inline bool under_kvm() {
    const CpuidResult signature = cpuid(0x4000'0000);
    return signature.ebx == 0x4B4D'564B && signature.ecx == 0x564B'4D56 && signature.edx == 0x4D; // "KVMKVMKVM"
}

} // namespace arch::x86_64
