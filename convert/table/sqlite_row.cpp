// SPDX-License-Identifier: MIT
#include "convert/table/sqlite_row.hpp"

#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace host::convert::table {

namespace {

constexpr std::uint64_t kNull = 0;
constexpr std::uint64_t kZero = 8; // the type is the value
constexpr std::uint64_t kText = 13;
constexpr std::size_t kNumberBytesMax = 8;

// Of a number that is neither 0 nor 1, by its bytes.
constexpr std::array<std::uint8_t, 9> kTypeOfBytes = {0, 1, 2, 3, 4, 5, 5, 6, 6};
constexpr std::array<std::uint8_t, 7> kBytesOfType = {0, 1, 2, 3, 4, 6, 8};

// The type takes as few bytes as the value needs with its sign.
std::uint64_t type_of(std::int64_t number) {
    if (number == 0 || number == 1) {
        return kZero + static_cast<std::uint64_t>(number);
    }
    const auto magnitude = static_cast<std::uint64_t>(number < 0 ? ~number : number);
    return kTypeOfBytes[static_cast<unsigned>(std::bit_width(magnitude)) / 8 + 1];
}

std::uint64_t type_of(const sql::Cell& cell) {
    if (const auto number = cell.number()) {
        return type_of(*number);
    }
    const auto text = cell.text();
    return text ? kText + 2 * text->size() : kNull;
}

} // namespace

std::span<const std::byte> SqliteRow::encode(std::span<const sql::Cell> cells) {
    while (!cells.empty() && cells.back().is_null()) {
        cells = cells.first(cells.size() - 1);
    }
    std::size_t head = 1; // its own size, in one byte: no table has so many columns that it needs two
    std::size_t bytes = 0;
    for (const sql::Cell& cell : cells) {
        const auto text = cell.text();
        head += text ? varint_bytes(type_of(cell)) : 1;
        bytes += text ? text->size() : kNumberBytesMax;
    }
    ASSERT(head < 0x80);
    m_bytes.resize(head + bytes);
    std::byte* type_at = put_varint(m_bytes.data(), head);
    std::byte* at = m_bytes.data() + head;
    for (const sql::Cell& cell : cells) {
        const std::uint64_t type = type_of(cell);
        type_at = put_varint(type_at, type);
        if (const auto text = cell.text()) {
            at = std::transform(text->begin(), text->end(), at,
                                [](char character) { return static_cast<std::byte>(character); });
        } else if (type != kNull && type < kZero) {
            const auto number = static_cast<std::uint64_t>(*cell.number());
            for (unsigned left = kBytesOfType[type]; left-- > 0;) {
                *at++ = static_cast<std::byte>(number >> (8 * left));
            }
        }
    }
    return {m_bytes.data(), at};
}

} // namespace host::convert::table
