// SPDX-License-Identifier: MIT
// Fakes PCI configuration mechanism #1 over a map of functions: absent functions read as ones. It fails the test on an
// access without the enable bit and on writes to absent functions.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

namespace test {

class FakePci {
  public:
    using Registers = std::array<std::uint8_t, 256>;

    // Adds a function and returns its registers; the id is set.
    Registers& add(std::uint8_t bus, std::uint8_t device, std::uint8_t function, std::uint16_t vendor,
                   std::uint16_t device_id) {
        Registers& registers = m_functions[key(bus, device, function)];
        set(registers, 0x00, vendor | std::uint32_t{device_id} << 16);
        return registers;
    }

    static void set(Registers& registers, std::size_t offset, std::uint32_t value) {
        std::memcpy(registers.data() + offset, &value, sizeof value);
    }

    [[nodiscard]] int accesses() const { return m_accesses; }

    std::uint32_t in32(std::uint16_t port) { return read<std::uint32_t>(port); }

    std::uint16_t in16(std::uint16_t port) { return read<std::uint16_t>(port); }

    std::uint8_t in8(std::uint16_t port) { return read<std::uint8_t>(port); }

    void out32(std::uint16_t port, std::uint32_t value) {
        if (port == 0xCF8) {
            EXPECT_NE(value & 0x8000'0000U, 0U) << "configuration address without the enable bit";
            EXPECT_EQ(value & 0x7F00'0003U, 0U) << "reserved bits set in the configuration address";
            m_address = value;
            return;
        }
        write(port, value);
    }

    void out16(std::uint16_t port, std::uint16_t value) { write(port, value); }

    void out8(std::uint16_t port, std::uint8_t value) { write(port, value); }

    void in_block8(std::uint16_t, std::span<std::byte>) { ADD_FAILURE() << "block transfer from PCI"; }

    void in_block16(std::uint16_t, std::span<std::byte>) { ADD_FAILURE() << "block transfer from PCI"; }

    void in_block32(std::uint16_t, std::span<std::byte>) { ADD_FAILURE() << "block transfer from PCI"; }

    void out_block8(std::uint16_t, std::span<const std::byte>) { ADD_FAILURE() << "block transfer to PCI"; }

    void out_block16(std::uint16_t, std::span<const std::byte>) { ADD_FAILURE() << "block transfer to PCI"; }

    void out_block32(std::uint16_t, std::span<const std::byte>) { ADD_FAILURE() << "block transfer to PCI"; }

  private:
    static std::uint32_t key(std::uint8_t bus, std::uint8_t device, std::uint8_t function) {
        return std::uint32_t{bus} << 16 | std::uint32_t{device} << 11 | std::uint32_t{function} << 8;
    }

    [[nodiscard]] std::size_t offset(std::uint16_t port) const { return (m_address & 0xFCU) + (port - 0xCFCU); }

    template <typename T>
    T read(std::uint16_t port) {
        ++m_accesses;
        EXPECT_GE(port, 0xCFC);
        EXPECT_LE(port + sizeof(T), 0xD00U);
        const auto found = m_functions.find(m_address & 0x00FF'FF00U);
        if (found == m_functions.end()) {
            return static_cast<T>(~T{0});
        }
        T value{};
        std::memcpy(&value, found->second.data() + offset(port), sizeof value);
        return value;
    }

    template <typename T>
    void write(std::uint16_t port, T value) {
        ++m_accesses;
        const auto found = m_functions.find(m_address & 0x00FF'FF00U);
        if (found == m_functions.end()) {
            ADD_FAILURE() << "write to an absent function";
            return;
        }
        std::memcpy(found->second.data() + offset(port), &value, sizeof value);
    }

    std::map<std::uint32_t, Registers> m_functions;
    std::uint32_t m_address = 0;
    int m_accesses = 0;
};

} // namespace test
