// SPDX-License-Identifier: MIT
// Reads files that QEMU provides to its guest (-fw_cfg name=opt/...,file=...) by ports: a selector is written, and the
// item is read byte by byte. Other machines have no such ports. Source: QEMU, docs/specs/fw_cfg.rst.
//
//   selector 0000h "QEMU"      0019h u32 count, then for each file: u32 size, u16 selector, u16 0, 56 bytes of name
//
// Numbers of the directory are big-endian. Context: task or irq-off, one user at a time. All loops are bounded.
#pragma once

#include "drivers/port_io.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace drivers {

template <PortIo Ports>
class FirmwareConfig {
  public:
    static constexpr std::uint32_t kFilesMax = 256; // more files are not searched

    constexpr explicit FirmwareConfig(Ports& ports)
        : m_ports(ports) {}

    FirmwareConfig(const FirmwareConfig&) = delete;
    FirmwareConfig& operator=(const FirmwareConfig&) = delete;

    // Copies a file and returns its size. not_found: there is no QEMU, or no such file. no_space: it is longer than
    // `out`.
    [[nodiscard]] lib::Result<std::size_t> read(std::string_view name, std::span<std::byte> out) {
        select(kSignature);
        for (const char character : std::string_view("QEMU")) {
            if (next() != static_cast<std::uint8_t>(character)) {
                return lib::Error::not_found;
            }
        }
        select(kDirectory);
        const std::uint32_t files = number(4);
        for (std::uint32_t i = 0; i < files && i < kFilesMax; ++i) {
            const std::uint32_t size = number(4);
            const auto selector = static_cast<std::uint16_t>(number(2));
            static_cast<void>(number(2));
            if (!name_is(name)) {
                continue;
            }
            if (size > out.size()) {
                return lib::Error::no_space;
            }
            select(selector);
            for (std::uint32_t at = 0; at < size; ++at) {
                out[at] = static_cast<std::byte>(next());
            }
            return std::size_t{size};
        }
        return lib::Error::not_found;
    }

  private:
    static constexpr std::uint16_t kSelectorPort = 0x510;
    static constexpr std::uint16_t kDataPort = 0x511;
    static constexpr std::uint16_t kSignature = 0x0000;
    static constexpr std::uint16_t kDirectory = 0x0019;
    static constexpr std::size_t kNameBytes = 56;

    void select(std::uint16_t item) { m_ports.out16(kSelectorPort, item); }

    [[nodiscard]] std::uint8_t next() { return m_ports.in8(kDataPort); }

    [[nodiscard]] std::uint32_t number(unsigned bytes) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) {
            value = value << 8 | next();
        }
        return value;
    }

    // Compares a file's name, and reads the whole field in any case.
    [[nodiscard]] bool name_is(std::string_view name) {
        bool same = name.size() < kNameBytes;
        for (std::size_t i = 0; i < kNameBytes; ++i) {
            const std::uint8_t character = next();
            const char expected = i < name.size() ? name[i] : '\0';
            same = same && (i > name.size() || character == static_cast<std::uint8_t>(expected));
        }
        return same;
    }

    Ports& m_ports;
};

} // namespace drivers
