// SPDX-License-Identifier: MIT
// Rows in memory and their indices: values come back as they went in, groups are in SQLite's order, and bounds of a
// group have both ends.
#include "host/sql/stored_rows.hpp"

#include "host/text/format.hpp"
#include "tests/support/sql_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

namespace {

using testing::ElementsAre;

using Number = std::optional<std::int64_t>;

// Of `holds`: mutex, mutex_id, task, context, begin_ns, end_ns, duration_ns, reason.
constexpr std::uint8_t kMutex = 0;
constexpr std::uint8_t kMutexId = 1;
constexpr std::uint8_t kTask = 2;

class RowIndexTest : public testing::Test {
  protected:
    void add(std::string_view mutex, Number id, std::string_view task, Number begin, Number end) {
        m_rows.add(std::array{Cell::named(mutex), Cell::of(id), Cell::named(task), Cell(), Cell::of(begin),
                              Cell::of(end), Cell(), Cell()});
    }

    // Rows of each group, and of a group those within the bounds.
    std::vector<std::string> groups(const std::vector<std::uint8_t>& columns, const std::vector<Cell>& keys = {},
                                    const Bounds& begin = {}, const Bounds& end = {}) {
        const RowIndex& index = m_rows.index(columns);
        std::vector<std::string> texts;
        for (const RowRange& group : index.find(keys)) {
            const RowRange range = index.narrowed(group, begin, end);
            std::string& text = texts.emplace_back();
            for (std::uint32_t position = range.begin; position < range.end; ++position) {
                text += std::to_string(index.row(position)) + ' ';
            }
        }
        return texts;
    }

    StoredRows m_rows{Table::holds};
};

TEST_F(RowIndexTest, ValuesComeBack) {
    add("bus", 7, "", std::nullopt, -5);
    add("", std::nullopt, "bus", 0, 5);
    EXPECT_EQ(m_rows.size(), 2U);
    const auto row = [&](std::uint32_t number) {
        std::vector<Cell> cells;
        for (std::size_t column = 0; column < 8; ++column) {
            cells.push_back(m_rows.cell(number, column));
        }
        return support::row_text(Table::holds, cells);
    };
    EXPECT_EQ(row(0), "mutex='bus' mutex_id=7 end_ns=-5");
    EXPECT_EQ(row(1), "task='bus' begin_ns=0 end_ns=5");
    EXPECT_EQ(m_rows.code(0, kMutex), m_rows.code(1, kTask));
    EXPECT_NE(m_rows.code(0, kMutex), m_rows.code(1, kMutex));
    EXPECT_EQ(m_rows.code(0, kMutexId), 7);
}

TEST_F(RowIndexTest, FractionsComeBack) {
    StoredRows rows(Table::utilisation);
    std::vector<Cell> cells(10);
    cells.back() = Cell::real(0.625);
    rows.add(cells);
    EXPECT_EQ(rows.cell(0, 9), Cell::real(0.625));
    EXPECT_NE(rows.cell(0, 9), Cell(0));
    EXPECT_TRUE(rows.cell(0, 8).is_null());
}

TEST_F(RowIndexTest, GroupsAreInTheOrderOfTheirValues) {
    add("b", 2, "x", 1, 2);
    add("a", 3, "y", 3, 4);
    add("", 1, "x", 5, 6);
    add("b", std::nullopt, "y", 7, 8);
    add("a", 3, "x", 9, 10);
    add("ab", 2, "x", 11, 12);
    EXPECT_THAT(groups({}), ElementsAre("0 1 2 3 4 5 "));
    EXPECT_THAT(groups({kMutex}), ElementsAre("2 ", "1 4 ", "5 ", "0 3 "));
    EXPECT_THAT(groups({kMutexId}), ElementsAre("3 ", "2 ", "0 5 ", "1 4 "));
    EXPECT_THAT(groups({kMutexId, kTask}), ElementsAre("3 ", "2 ", "0 5 ", "4 ", "1 "));
    EXPECT_THAT(groups({kTask, kMutexId}), ElementsAre("2 ", "0 5 ", "4 ", "3 ", "1 "));
    EXPECT_THAT(groups({kMutex}, {Cell(std::string_view("b"))}), ElementsAre("0 3 "));
    EXPECT_THAT(groups({kMutex}, {Cell()}), ElementsAre("2 "));
    EXPECT_THAT(groups({kMutex}, {Cell(std::string_view("aa"))}), ElementsAre());
    EXPECT_THAT(groups({kMutex}, {Cell(std::string_view("c"))}), ElementsAre());
    EXPECT_THAT(groups({kTask, kMutexId}, {Cell(std::string_view("x"))}), ElementsAre("2 ", "0 5 ", "4 "));
    EXPECT_THAT(groups({kTask, kMutexId}, {Cell(std::string_view("x")), Cell(2)}), ElementsAre("0 5 "));
}

TEST_F(RowIndexTest, RowsOfAGroupAreInTheOrderOfTheirBegin) {
    add("a", 1, "x", 30, 31);
    add("a", 1, "x", 10, 40);
    add("a", 1, "x", std::nullopt, 5);
    add("a", 1, "x", 10, 20);
    EXPECT_THAT(groups({}), ElementsAre("2 1 3 0 "));
}

TEST_F(RowIndexTest, BoundsHaveBothEnds) {
    for (std::int64_t i = 0; i < 5; ++i) {
        add("a", 1, i % 2 == 0 ? "x" : "y", 10 * i, 10 * i + 5);
    }
    const auto begun = [&](std::int64_t first, std::int64_t last) {
        return groups({}, {}, {.first = first, .last = last}).front();
    };
    EXPECT_EQ(begun(10, 30), "1 2 3 ");
    EXPECT_EQ(begun(9, 31), "1 2 3 ");
    EXPECT_EQ(begun(11, 29), "2 ");
    EXPECT_EQ(begun(20, 20), "2 ");
    EXPECT_EQ(begun(21, 29), "");
    EXPECT_EQ(begun(30, 10), "");
    EXPECT_EQ(begun(41, Bounds::kMax), "");
    EXPECT_EQ(begun(40, Bounds::kMax), "4 ");
    const auto ended = [&](std::int64_t first) { return groups({}, {}, {}, {.first = first}).front(); };
    EXPECT_EQ(ended(15), "1 2 3 4 ");
    EXPECT_EQ(ended(16), "2 3 4 ");
    EXPECT_EQ(ended(45), "4 ");
    EXPECT_EQ(ended(46), "");
    EXPECT_THAT(groups({kTask}, {}, {.last = 25}, {.first = 15}), ElementsAre("2 ", "1 "));
    EXPECT_THAT(groups({kTask}, {}, {.last = 19}, {.first = 25}), ElementsAre("", ""));
}

TEST_F(RowIndexTest, ALongRowIsFoundAfterItsInnerOnes) {
    add("a", 1, "x", 0, 100);
    add("a", 1, "x", 10, 20);
    add("a", 1, "x", 30, 40);
    add("a", 1, "x", 110, 120);
    const auto at = [&](std::int64_t time) { return groups({}, {}, {.last = time}, {.first = time}).front(); };
    EXPECT_EQ(at(15), "0 1 ");
    EXPECT_EQ(at(50), "0 1 2 ") << "SQLite leaves the others out";
    EXPECT_EQ(at(100), "0 1 2 ");
    EXPECT_EQ(at(101), "");
    EXPECT_EQ(at(110), "3 ");
}

TEST_F(RowIndexTest, ATableWithoutTimesHasWholeGroups) {
    StoredRows names(Table::names);
    for (const std::string_view kind : {"mutex", "task", "mutex"}) {
        names.add(std::array{Cell(kind), Cell(1), Cell(kind)});
    }
    const RowIndex& index = names.index({0});
    ASSERT_EQ(index.find({}).size(), 2U);
    const RowRange range = index.narrowed(index.find({})[0], {.first = 5, .last = 4}, {.first = 9});
    EXPECT_EQ(range.begin, 0U);
    EXPECT_EQ(range.end, 2U);
    EXPECT_EQ(index.row(0), 0U);
    EXPECT_EQ(index.row(1), 2U);
    EXPECT_EQ(&names.index({0}), &index) << "it is kept";
    EXPECT_NE(&names.index({1}), &index);
}

TEST_F(RowIndexTest, OfNoRowsThereAreNoGroups) {
    EXPECT_THAT(groups({}), ElementsAre());
}

} // namespace

} // namespace host::sql
