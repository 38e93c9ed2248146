// SPDX-License-Identifier: MIT
// A row as SQLite stores it: the size of its head, a number for the type of each column, then their values. Columns at
// the end that are NULL are left out; SQLite takes the default for them. Source: sqlite.org, "Database File Format",
// section 2.1, "Record Format".
#pragma once

#include "host/sql/cell.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace host::convert::table {

// Big-endian, seven bits a byte. Precondition: value below 2^56.
[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) {
    std::size_t bytes = 1;
    for (; value > 0x7F; value >>= 7) {
        ++bytes;
    }
    return bytes;
}

// Returns the end.
constexpr std::byte* put_varint(std::byte* at, std::uint64_t value) {
    const std::size_t bytes = varint_bytes(value);
    for (std::size_t left = bytes; left-- > 0; value >>= 7) {
        at[left] = static_cast<std::byte>((value & 0x7F) | (left + 1 == bytes ? 0 : 0x80));
    }
    return at + bytes;
}

// Returns how many bytes it has.
constexpr std::size_t get_varint(std::span<const std::byte> bytes, std::uint64_t& value) {
    std::size_t count = 0;
    value = 0;
    do {
        value = value << 7 | (std::to_integer<std::uint64_t>(bytes[count]) & 0x7F);
    } while ((bytes[count++] & std::byte{0x80}) != std::byte{0});
    return count;
}

class SqliteRow {
  public:
    // Numbers (no fractions), texts and NULL. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> encode(std::span<const sql::Cell> cells);

  private:
    std::vector<std::byte> m_bytes;
};

} // namespace host::convert::table
