// SPDX-License-Identifier: MIT
// An I/O APIC routes external lines to vectors of the boot processor. The ACPI MADT states which one serves which
// global line, and how ISA lines are re-routed (machine.hpp). Source: Intel 82093AA data sheet, section 3.2.
#pragma once

#include "arch/x86_64/interrupt_words.hpp"
#include "lib/result.hpp"

#include <cstdint>

namespace arch::x86_64 {

class IoApic {
  public:
    constexpr IoApic() = default;

    // Masks every line. Context: irq-off.
    void start(std::uint64_t base, std::uint32_t line_base);

    [[nodiscard]] bool serves(std::uint32_t global_line) const {
        return m_lines != 0 && global_line >= m_line_base && global_line < m_line_base + m_lines;
    }

    // Route a line, masked, and open or mask it. Precondition: serves(global_line). Context: irq-off.
    void route(std::uint32_t global_line, std::uint8_t vector, LineMode mode) const;
    void enable(std::uint32_t global_line, bool enabled) const;

    // Routes a line as an NMI, unmasked and edge-triggered. Context: irq-off.
    void route_nmi(std::uint32_t global_line) const;

  private:
    [[nodiscard]] std::uint32_t read(std::uint32_t index) const;
    void write(std::uint32_t index, std::uint32_t value) const;

    std::uint64_t m_base = 0;
    std::uint32_t m_line_base = 0;
    std::uint32_t m_lines = 0;
};

} // namespace arch::x86_64
