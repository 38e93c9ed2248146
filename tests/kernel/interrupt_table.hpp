// SPDX-License-Identifier: MIT
// A case's own interrupt table is the kernel's, with some gates bent to stubs of the test. Those end by jumping to the
// kernel's stub, or return by themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

extern "C" {
extern const std::uint64_t arch_stub_table[256];
}

namespace guest {

class InterruptTable {
  public:
    constexpr InterruptTable() = default;

    // Copies the kernel's table. Context of all functions: irq-off.
    void copy_kernels() {
        asm volatile("sidt %0" : "=m"(m_kernels));
        const auto* const gates = reinterpret_cast<const Gate*>(m_kernels.base);
        for (std::size_t i = 0; i < m_gates.size(); ++i) {
            m_gates[i] = gates[i];
        }
    }

    // Bends a gate; with on_interrupted_stack the stub starts on no stack of the vector's, so it can continue as
    // another.
    void bend(std::uint8_t vector, void (*stub)(), bool on_interrupted_stack = false) {
        constexpr std::uint64_t kStackIndex = std::uint64_t{7} << 32;
        const auto target = reinterpret_cast<std::uint64_t>(stub);
        Gate& gate = m_gates[vector];
        gate.low = (gate.low & 0x0000'FFFF'FFFF'0000 & ~(on_interrupted_stack ? kStackIndex : 0)) | (target & 0xFFFF) |
                   (((target >> 16) & 0xFFFF) << 48);
        gate.high = target >> 32;
    }

    void load() { load({sizeof(m_gates) - 1, reinterpret_cast<std::uint64_t>(m_gates.data())}); }

    void load_kernels() { load(m_kernels); }

  private:
    struct [[gnu::packed]] Pointer {
        std::uint16_t limit = 0;
        std::uint64_t base = 0;
    };

    struct Gate {
        std::uint64_t low = 0;
        std::uint64_t high = 0;
    };

    static void load(const Pointer& pointer) { asm volatile("lidt %0" : : "m"(pointer)); }

    Pointer m_kernels;
    alignas(16) std::array<Gate, 256> m_gates{};
};

} // namespace guest
