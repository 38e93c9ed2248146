// SPDX-License-Identifier: MIT
// Tests numbers in columns, decoded as the page decodes them.
#include "host/report/columns.hpp"

#include <array>
#include <gmock/gmock.h>
#include <limits>

namespace host::report {

namespace {

using testing::ElementsAre;

// As page/common.js does it.
std::vector<std::uint64_t> decoded(const Column& column) {
    std::vector<std::uint64_t> values;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : column.bytes()) {
        value |= (std::to_integer<std::uint64_t>(byte) & 0x7F) << shift;
        shift += 7;
        if (std::to_integer<unsigned>(byte) < 0x80) {
            values.push_back(value);
            value = 0;
            shift = 0;
        }
    }
    return values;
}

TEST(Column, DecodesToWhatWasAdded) {
    Column column("x");
    std::vector<std::uint64_t> values = {0, 1, 127, 128, 16'383, 16'384, ~std::uint64_t{0}};
    for (unsigned bit = 0; bit < 64; ++bit) {
        values.push_back(std::uint64_t{1} << bit);
    }
    for (const std::uint64_t value : values) {
        column.add(value);
    }
    EXPECT_EQ(decoded(column), values);
}

TEST(Column, TakesAByteForASmallNumber) {
    Column column("x");
    column.add(127);
    EXPECT_EQ(column.bytes().size(), 1U);
    column.add(128);
    EXPECT_EQ(column.bytes().size(), 3U);
}

TEST(Zigzag, OrdersNumbersByTheirSize) {
    EXPECT_THAT((std::vector{zigzag(0), zigzag(-1), zigzag(1), zigzag(-2)}), ElementsAre(0U, 1U, 2U, 3U));
    EXPECT_EQ(zigzag(std::numeric_limits<std::int64_t>::min()), ~std::uint64_t{0});
    EXPECT_EQ(zigzag(std::numeric_limits<std::int64_t>::max()), ~std::uint64_t{1});
}

TEST(Table, PutsEachNumberIntoItsColumn) {
    Table table("t", 7, {}, {"a", "b"});
    table.add({}, {1, 2});
    table.add({}, {3, 4});
    EXPECT_EQ(table.rows(), 2U);
    EXPECT_EQ(table.subject(), 7U);
    EXPECT_THAT(decoded(table.numbers()[0]), ElementsAre(1U, 3U));
    EXPECT_THAT(decoded(table.numbers()[1]), ElementsAre(2U, 4U));
}

TEST(Table, RefersToEachTimeByItsPlace) {
    Table one("one", 0, {"begin", "end"}, {"n"});
    one.add({100, 300}, {1});
    one.add({300, kNoTime}, {2});
    one.add({200, 400}, {3});
    Table other("other", 0, {"at"}, {});
    other.add({300}, {});
    const std::array<std::span<const std::uint64_t>, 2> lists = {one.times(), other.times()};
    const Times times = times_of(lists);
    EXPECT_THAT(times, ElementsAre(100U, 200U, 300U, 400U));
    const auto columns = one.references(times);
    ASSERT_EQ(columns.size(), 2U);
    EXPECT_THAT(decoded(columns[0]), ElementsAre(1 + zigzag(0), 1 + zigzag(0), 1 + zigzag(-1)));
    EXPECT_THAT(decoded(columns[1]), ElementsAre(1 + zigzag(2), 0U, 1 + zigzag(2)));
    EXPECT_THAT(decoded(other.references(times)[0]), ElementsAre(1 + zigzag(2)));
}

TEST(Table, ContinuesAfterAMark) {
    Table table("t", 0, {"begin", "end"}, {"n", "m"});
    EXPECT_EQ(table.mark().rows, 0U);
    table.add({100, 200}, {1, 1000});
    const Table::Mark mark = table.mark();
    table.add({200, kNoTime}, {2, 2000});
    table.add({250, 300}, {3, 3000});
    EXPECT_EQ(mark.rows, 1U);
    EXPECT_THAT(mark.bytes, ElementsAre(1U, 2U));
    EXPECT_THAT(table.times(mark.rows), ElementsAre(200U, kNoTime, 250U, 300U));
    const std::array<std::span<const std::uint64_t>, 1> lists = {table.times(mark.rows)};
    const auto columns = table.references(times_of(lists), mark.rows);
    EXPECT_THAT(decoded(columns[0]), ElementsAre(1 + zigzag(0), 1 + zigzag(1)));
    EXPECT_THAT(decoded(columns[1]), ElementsAre(0U, 1 + zigzag(1)));
}

} // namespace

} // namespace host::report
