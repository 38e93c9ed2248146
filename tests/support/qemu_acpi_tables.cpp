// SPDX-License-Identifier: MIT
// Reads the texts of QEMU's ACPI tables.
#include "tests/support/qemu_acpi_tables.hpp"

#include <charconv>

namespace test {

std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        unsigned value = 0;
        std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

} // namespace test
