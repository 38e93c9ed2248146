// SPDX-License-Identifier: MIT
// An I/O APIC routes external lines to vectors of the boot processor. The ACPI MADT states which one serves which
// global line, and how ISA lines are re-routed (machine.hpp). Source: Intel 82093AA data sheet, section 3.2. The memory
// is a policy: the machine's own, or a test's.
#pragma once

#include "arch/x86_64/interrupt_words.hpp"
#include "arch/x86_64/mmio.hpp"
#include "lib/result.hpp"

#include <cstdint>

namespace arch::x86_64 {

template <typename Memory>
class IoApicIn {
  public:
    constexpr IoApicIn() = default;

    // Masks every line. Context: irq-off.
    void start(std::uint64_t base, std::uint32_t line_base) {
        m_base = base;
        m_line_base = line_base;
        m_lines = lines_of(read(kIndexVersion));
        for (std::uint32_t line = 0; line < m_lines; ++line) {
            write(kIndexTable + 2 * line, kRedirectionMasked);
            write(kIndexTable + 2 * line + 1, 0); // destination: processor 0
        }
    }

    [[nodiscard]] bool serves(std::uint32_t global_line) const {
        return m_lines != 0 && global_line >= m_line_base && global_line < m_line_base + m_lines;
    }

    // Route a line, masked, and open or mask it. Precondition: serves(global_line). Context: irq-off.
    void route(std::uint32_t global_line, std::uint8_t vector, LineMode mode) const {
        write(index_of(global_line), redirection(vector, mode));
    }

    void enable(std::uint32_t global_line, bool enabled) const {
        const std::uint32_t low = read(index_of(global_line));
        write(index_of(global_line), enabled ? low & ~kRedirectionMasked : low | kRedirectionMasked);
    }

    // Routes a line as an NMI, unmasked and edge-triggered. Context: irq-off.
    void route_nmi(std::uint32_t global_line) const { write(index_of(global_line), kRedirectionNmi); }

  private:
    static constexpr std::uint64_t kRegSelect = 0x00;
    static constexpr std::uint64_t kRegWindow = 0x10;
    static constexpr std::uint32_t kIndexVersion = 0x01;
    static constexpr std::uint32_t kIndexTable = 0x10; // two words per line

    [[nodiscard]] std::uint32_t index_of(std::uint32_t global_line) const {
        ASSERT(serves(global_line));
        return kIndexTable + 2 * (global_line - m_line_base);
    }

    [[nodiscard]] std::uint32_t read(std::uint32_t index) const {
        Memory::write(m_base + kRegSelect, index);
        return Memory::read(m_base + kRegWindow);
    }

    void write(std::uint32_t index, std::uint32_t value) const {
        Memory::write(m_base + kRegSelect, index);
        Memory::write(m_base + kRegWindow, value);
    }

    std::uint64_t m_base = 0;
    std::uint32_t m_line_base = 0;
    std::uint32_t m_lines = 0;
};

using IoApic = IoApicIn<MmioWords>;

} // namespace arch::x86_64
