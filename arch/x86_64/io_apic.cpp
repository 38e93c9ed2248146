// SPDX-License-Identifier: MIT
#include "arch/x86_64/io_apic.hpp"

#include "arch/x86_64/mmio.hpp"

namespace arch::x86_64 {

namespace {

constexpr std::uint64_t kRegSelect = 0x00;
constexpr std::uint64_t kRegWindow = 0x10;
constexpr std::uint32_t kIndexVersion = 0x01;
constexpr std::uint32_t kIndexTable = 0x10; // two words per line

} // namespace

std::uint32_t IoApic::read(std::uint32_t index) const {
    mmio_write(m_base + kRegSelect, index);
    return mmio_read<std::uint32_t>(m_base + kRegWindow);
}

void IoApic::write(std::uint32_t index, std::uint32_t value) const {
    mmio_write(m_base + kRegSelect, index);
    mmio_write(m_base + kRegWindow, value);
}

void IoApic::start(std::uint64_t base, std::uint32_t line_base) {
    m_base = base;
    m_line_base = line_base;
    m_lines = lines_of(read(kIndexVersion));
    for (std::uint32_t line = 0; line < m_lines; ++line) {
        write(kIndexTable + 2 * line, kRedirectionMasked);
        write(kIndexTable + 2 * line + 1, 0); // destination: processor 0
    }
}

void IoApic::route(std::uint32_t global_line, std::uint8_t vector, LineMode mode) const {
    ASSERT(serves(global_line));
    write(kIndexTable + 2 * (global_line - m_line_base), redirection(vector, mode));
}

void IoApic::enable(std::uint32_t global_line, bool enabled) const {
    ASSERT(serves(global_line));
    const std::uint32_t index = kIndexTable + 2 * (global_line - m_line_base);
    const std::uint32_t low = read(index);
    write(index, enabled ? low & ~kRedirectionMasked : low | kRedirectionMasked);
}

void IoApic::route_nmi(std::uint32_t global_line) const {
    ASSERT(serves(global_line));
    write(kIndexTable + 2 * (global_line - m_line_base), kRedirectionNmi);
}

} // namespace arch::x86_64
