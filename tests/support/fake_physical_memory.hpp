// SPDX-License-Identifier: MIT
// Fakes physical memory with tables at chosen addresses. All other addresses are not mapped, so a parser that follows a
// wild pointer or reads past a table gets an error, and one that reads past its mapping triggers the address sanitizer.
#pragma once

#include "drivers/acpi/tables.hpp"

#include <cstring>
#include <map>
#include <string_view>
#include <vector>

namespace test {

class FakePhysicalMemory final : public drivers::acpi::PhysicalMemory {
  public:
    void put(std::uint64_t address, std::vector<std::byte> bytes) { m_regions[address] = std::move(bytes); }

    [[nodiscard]] std::vector<std::byte>& at(std::uint64_t address) { return m_regions.at(address); }

    [[nodiscard]] lib::Result<std::span<const std::byte>> map(std::uint64_t address,
                                                              std::size_t size_bytes) const override {
        auto region = m_regions.upper_bound(address);
        if (region == m_regions.begin()) {
            return lib::Error::not_found;
        }
        --region;
        const std::uint64_t offset = address - region->first;
        if (offset > region->second.size() || size_bytes > region->second.size() - offset) {
            return lib::Error::not_found;
        }
        return std::span<const std::byte>(region->second).subspan(offset, size_bytes);
    }

  private:
    std::map<std::uint64_t, std::vector<std::byte>> m_regions;
};

// Makes bytes [0, count) sum up to 0 by setting the one at `position`.
inline void fix_checksum(std::vector<std::byte>& bytes, std::size_t position, std::size_t count) {
    bytes[position] = std::byte{0};
    unsigned sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        sum += static_cast<unsigned>(bytes[i]);
    }
    bytes[position] = static_cast<std::byte>(0x100U - (sum & 0xFFU));
}

// Returns a table with a correct header and these contents.
inline std::vector<std::byte> make_table(std::string_view signature, const std::vector<std::byte>& contents) {
    std::vector<std::byte> bytes(36);
    std::memcpy(bytes.data(), signature.data(), 4);
    const auto length = static_cast<std::uint32_t>(36 + contents.size());
    std::memcpy(&bytes[4], &length, 4);
    bytes[8] = std::byte{1};
    bytes.insert(bytes.end(), contents.begin(), contents.end());
    fix_checksum(bytes, 9, bytes.size());
    return bytes;
}

} // namespace test
