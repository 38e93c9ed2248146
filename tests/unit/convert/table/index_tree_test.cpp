// SPDX-License-Identifier: MIT
// Trees that SQLite then reads: all rows, in order, on as many levels as there are, and its own check of the file.
#include "convert/table/index_tree.hpp"

#include "convert/table/sqlite_row.hpp"
#include "host/text/format.hpp"
#include "lib/endian.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::convert::table {

namespace {

using sql::Cell;

// A database with a table and, if there are rows, their tree in it.
class Database {
  public:
    // pages: that the file has before the tree, those of SQLite included.
    explicit Database(std::uint32_t pages = 2)
        : m_pages(pages) {
        open();
        run(fmt::format("PRAGMA page_size = {}; CREATE TABLE rows(a INTEGER, b INTEGER, text TEXT, last TEXT, "
                        "PRIMARY KEY(a, b)) WITHOUT ROWID",
                        IndexTree::kPageBytes));
        sqlite3_close(m_database);
    }

    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    ~Database() { sqlite3_close(m_database); }

    void add(std::int64_t a, std::int64_t b, std::string_view text) {
        m_tree.add(m_row.encode(std::array{Cell(a), Cell(b), Cell::named(text), Cell()}));
    }

    // Returns how many pages the file has then, and opens the database.
    std::uint32_t store() {
        std::filesystem::resize_file(path(), std::uint64_t{m_pages} * IndexTree::kPageBytes);
        const auto opened = OutputFile::continued(path());
        EXPECT_TRUE(opened.ok());
        OutputFile& file = *opened.value();
        constexpr std::uint32_t kRoot = 2;
        const auto pages = m_tree.append_to(file, m_pages, kRoot);
        EXPECT_TRUE(pages.ok());
        std::array<std::byte, 4> bytes{};
        lib::store_be(std::span(bytes), pages.value());
        file.patch(28, bytes);
        EXPECT_TRUE(file.close().ok());
        open();
        return pages.value();
    }

    // One column of each row; NULL is "-".
    [[nodiscard]] std::vector<std::string> ask(const std::string& query) {
        std::vector<std::string> values;
        const auto take = [](void* to, int, char** row, char**) {
            static_cast<std::vector<std::string>*>(to)->emplace_back(row[0] != nullptr ? row[0] : "-");
            return 0;
        };
        EXPECT_EQ(sqlite3_exec(m_database, query.c_str(), take, &values, nullptr), SQLITE_OK)
            << query << ": " << sqlite3_errmsg(m_database);
        return values;
    }

  private:
    [[nodiscard]] std::string path() const { return m_directory / "x.sqlite"; }

    void open() { EXPECT_EQ(sqlite3_open(path().c_str(), &m_database), SQLITE_OK); }

    void run(const std::string& text) {
        EXPECT_EQ(sqlite3_exec(m_database, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << text;
    }

    support::TemporaryDirectory m_directory;
    sqlite3* m_database = nullptr;
    std::uint32_t m_pages;
    IndexTree m_tree = std::move(IndexTree::create().value());
    SqliteRow m_row;
};

const std::vector<std::string> kSound = {"ok"};

// Around each limit between two sizes.
std::vector<std::int64_t> numbers() {
    using Limits = std::numeric_limits<std::int64_t>;
    std::vector<std::int64_t> numbers = {Limits::min(), Limits::min() + 1, -2, -1, 0, 1, 2, Limits::max()};
    for (const unsigned bits : {7U, 8U, 15U, 16U, 23U, 24U, 31U, 32U, 39U, 40U, 47U, 48U, 55U, 56U}) {
        for (const std::int64_t step : {-1, 0, 1}) {
            numbers.push_back((std::int64_t{1} << bits) + step);
            numbers.push_back(-(std::int64_t{1} << bits) + step);
        }
    }
    std::ranges::sort(numbers);
    return numbers;
}

} // namespace

TEST(IndexTree, WithoutRowsLeavesTheEmptyTable) {
    Database database;
    EXPECT_EQ(database.store(), 2U);
    EXPECT_EQ(database.ask("SELECT count(*) FROM rows"), std::vector<std::string>{"0"});
    EXPECT_EQ(database.ask("PRAGMA integrity_check"), kSound);
}

TEST(IndexTree, HasNumbersOfEachSizeAndTexts) {
    Database database;
    std::vector<std::string> expected;
    for (const std::int64_t number : numbers()) {
        database.add(number, 1, number % 2 == 0 ? "" : fmt::format("of {}", number));
        expected.push_back(number % 2 == 0 ? "-" : fmt::format("{}: of {}", number, number));
    }
    EXPECT_EQ(database.store(), 2U) << "the root suffices";
    EXPECT_EQ(database.ask("SELECT a || ': ' || text FROM rows"), expected);
    EXPECT_EQ(database.ask("SELECT count(*) FROM rows WHERE last IS NULL AND b = 1"),
              std::vector{std::to_string(expected.size())});
    EXPECT_EQ(database.ask("PRAGMA integrity_check"), kSound);
}

// The longest rows that it takes: four of them fill a page, on each level.
TEST(IndexTree, GrowsByLevels) {
    for (const std::int64_t rows : {1, 3, 4, 5, 19, 20, 21, 24, 25, 26, 124, 125, 600}) {
        Database database;
        constexpr std::size_t kOtherBytes = 16;
        const std::string text(IndexTree::kRowBytesMax - kOtherBytes, 'x');
        for (std::int64_t row = 0; row < rows; ++row) {
            database.add(row / 3, row % 3, text);
        }
        database.store();
        EXPECT_EQ(database.ask("PRAGMA integrity_check"), kSound) << rows;
        const auto found = database.ask("SELECT 3 * a + b FROM rows WHERE length(text) > 4000");
        EXPECT_EQ(found.size(), static_cast<std::size_t>(rows));
        EXPECT_TRUE(std::ranges::is_sorted(found, {}, [](const std::string& row) { return std::stoll(row); }));
        EXPECT_EQ(
            database.ask(fmt::format("SELECT b FROM rows WHERE a = {} AND b = {}", (rows - 1) / 3, (rows - 1) % 3)),
            std::vector{std::to_string((rows - 1) % 3)});
    }
}

TEST(IndexTree, TakesRowsOfSQLiteAfterwards) {
    Database database;
    for (std::int64_t row = 0; row < 10'000; ++row) {
        database.add(2 * row, 0, "even");
    }
    EXPECT_GT(database.store(), 5U);
    EXPECT_TRUE(database.ask("INSERT INTO rows SELECT a + 1, 0, 'odd', NULL FROM rows").empty());
    EXPECT_EQ(database.ask("SELECT count(*) || ' ' || sum(a) FROM rows"), std::vector<std::string>{"20000 199990000"});
    EXPECT_EQ(database.ask("PRAGMA integrity_check"), kSound);
}

// The file has a hole for the pages before.
TEST(IndexTree, LeavesOutThePageOfTheLocks) {
    constexpr std::uint32_t kLockPage = (1U << 30) / IndexTree::kPageBytes + 1;
    for (const std::uint32_t pages : {kLockPage - 8, kLockPage - 1, kLockPage, kLockPage + 5}) {
        Database database(pages);
        for (std::int64_t row = 0; row < 20'000; ++row) {
            database.add(row, 0, "row");
        }
        const std::uint32_t after = database.store();
        EXPECT_EQ(database.ask("SELECT count(*) || ' ' || sum(a) FROM rows"),
                  std::vector<std::string>{"20000 199990000"});
        EXPECT_EQ(database.ask("PRAGMA page_count"), std::vector{std::to_string(after)});
        EXPECT_EQ(
            database.ask(fmt::format("SELECT count(*) FROM dbstat WHERE name = 'rows' AND pageno = {}", kLockPage)),
            std::vector<std::string>{"0"});
    }
}

} // namespace host::convert::table
