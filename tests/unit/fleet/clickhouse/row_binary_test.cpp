// SPDX-License-Identifier: MIT
// Tests the bytes of rows, as the documentation of ClickHouse's format RowBinary describes them.
#include "fleet/clickhouse/row_binary.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace host::fleet::clickhouse {

namespace row_binary_test {

using namespace std::string_literals;

std::string encoded(ColumnType type, const sql::Cell& cell) {
    std::string rows;
    append_cell(rows, type, cell);
    return rows;
}

const Message& message() {
    static const Message kMessage{.from = {.site = "s", .node = "node"},
                                  .kind = MessageKind::chunk,
                                  .id = {},
                                  .started_s = 0x0102,
                                  .body = "bytes",
                                  .sequence = 77};
    return kMessage;
}

ReadChunk chunk() {
    ReadChunk chunk;
    chunk.message = &message();
    chunk.run = {.from = message().from, .boot_id = 0xB007, .started_s = message().started_s};
    chunk.key = {.boot_id = 0xB007, .cpu = 3, .chunk = 4, .generation = 5};
    chunk.description.records = 9;
    chunk.events = 8;
    chunk.crc32c = 0xDEAD'BEEF;
    chunk.first_ticks = 10;
    return chunk;
}

trace::Event event(std::uint64_t ticks, std::uint8_t code = 0x22, std::span<const std::byte> payload = {}) {
    trace::Event event;
    event.ticks = {ticks};
    event.code = code;
    event.par1 = 0x1234;
    event.par2 = 0x5678'9ABC;
    event.payload = payload;
    return event;
}

// The row that the slow encoder makes.
std::string row_of(std::uint64_t ticks, std::uint16_t turn, std::uint8_t code, std::string_view payload) {
    const std::array cells{sql::Cell(std::string_view("s")),
                           sql::Cell(std::string_view("node")),
                           sql::Cell(std::string_view("000000000000b007")),
                           sql::Cell(0x0102),
                           sql::Cell(3),
                           sql::Cell(4),
                           sql::Cell(5),
                           sql::Cell(ticks),
                           sql::Cell(turn),
                           sql::Cell(code),
                           sql::Cell(0x1234),
                           sql::Cell(0x5678'9ABC),
                           sql::Cell(payload)};
    const auto columns = columns_of(Table::events);
    std::string row;
    EXPECT_EQ(cells.size(), columns.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (columns[i].name == "ticks") {
            append_cell(row, ColumnType::u64, sql::Cell(ticks >> 16));
            append_cell(row, ColumnType::u16, sql::Cell(ticks & 0xFFFF));
        } else {
            append_cell(row, columns[i].type, cells[i]);
        }
    }
    return row;
}

TEST(RowBinary, HasNumbersInTheirWidth) {
    EXPECT_EQ(encoded(ColumnType::u8, sql::Cell(0x12)), "\x12");
    EXPECT_EQ(encoded(ColumnType::event, sql::Cell(0xFE)), "\xfe");
    EXPECT_EQ(encoded(ColumnType::u16, sql::Cell(0x1234)), "\x34\x12");
    EXPECT_EQ(encoded(ColumnType::u32, sql::Cell(0x12345678)), "\x78\x56\x34\x12");
    EXPECT_EQ(encoded(ColumnType::u64, sql::Cell(0x0102030405060708)), "\x08\x07\x06\x05\x04\x03\x02\x01");
}

TEST(RowBinary, HasAByteBeforeWhatCanBeNull) {
    EXPECT_EQ(encoded(ColumnType::optional_u8, sql::Cell()), "\1");
    EXPECT_EQ(encoded(ColumnType::optional_u8, sql::Cell(7)), "\0\7"s);
    EXPECT_EQ(encoded(ColumnType::optional_u16, sql::Cell(0x1234)), "\0\x34\x12"s);
    EXPECT_EQ(encoded(ColumnType::optional_i64, sql::Cell(-2)), "\0\xfe\xff\xff\xff\xff\xff\xff\xff"s);
    EXPECT_EQ(encoded(ColumnType::optional_i64, sql::Cell()), "\1");
}

TEST(RowBinary, HasTheLengthBeforeAText) {
    EXPECT_EQ(encoded(ColumnType::text, sql::Cell()), "\0"s);
    EXPECT_EQ(encoded(ColumnType::text, sql::Cell(std::string_view("ab"))), "\2ab");
    const std::string longer(300, 'x');
    EXPECT_EQ(encoded(ColumnType::text, sql::Cell(std::string_view(longer))), "\xac\x02" + longer);
}

TEST(RowBinary, HoldsTheNearestOfWhatDoesNotFit) {
    EXPECT_EQ(encoded(ColumnType::optional_u8, sql::Cell(300)), "\0\xff"s);
    EXPECT_EQ(encoded(ColumnType::u16, sql::Cell(-1)), "\0\0"s);
    EXPECT_EQ(encoded(ColumnType::u8, sql::Cell()), "\0"s);
}

TEST(RowBinaryEvents, AreAsTheirColumnsSay) {
    const std::array<std::byte, 3> payload{std::byte{1}, std::byte{0}, std::byte{0xFF}};
    EventRows rows(chunk());
    std::string bytes;
    rows.append(bytes, std::array{event(0x1'2345), event(0x2'0000'0000'0007, 0xE9, payload)});
    EXPECT_EQ(rows.events(), 2U);
    // A text of SQLite ends at a zero byte, so the slow encoder is not asked for the payload.
    std::string second = row_of(0x2'0000'0000'0007, 0, 0xE9, "");
    second.pop_back();
    EXPECT_EQ(bytes, row_of(0x1'2345, 0, 0x22, "") + second + "\3\1\0\xff"s);
}

// Otherwise the store would take one for the other.
TEST(RowBinaryEvents, OfOneInstantAreNumbered) {
    EventRows rows(chunk());
    std::string bytes;
    rows.append(bytes, std::array{event(0), event(0)});
    rows.append(bytes, std::array{event(0), event(7), event(3), event(7), event(3), event(8)});
    EXPECT_EQ(bytes, row_of(0, 0, 0x22, "") + row_of(0, 1, 0x22, "") + row_of(0, 2, 0x22, "") + row_of(7, 0, 0x22, "") +
                         row_of(3, 0x8000, 0x22, "") + row_of(7, 1, 0x22, "") + row_of(3, 0x8001, 0x22, "") +
                         row_of(8, 0, 0x22, ""));
}

} // namespace row_binary_test

} // namespace host::fleet::clickhouse
