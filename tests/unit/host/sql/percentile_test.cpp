// SPDX-License-Identifier: MIT
// Tests percentile() as a query uses it, without a trace: its numbers, their type, and what has none.
#include "host/sql/database.hpp"

#include <gtest/gtest.h>

#include <string>

namespace host::sql {

namespace {

class Percentile : public testing::Test {
  protected:
    Percentile() {
        EXPECT_EQ(sqlite3_open(":memory:", &m_database), SQLITE_OK);
        EXPECT_EQ(register_percentile(m_database), SQLITE_OK);
    }

    ~Percentile() override { sqlite3_close(m_database); }

    // Type and text of percentile(value, percent) over these rows: "(7), (8)".
    std::string of(const std::string& rows, const std::string& percent, const std::string& condition = "1") {
        const std::string query =
            "select percentile(column1, " + percent + ") from (values " + rows + ") where " + condition;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(m_database, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << query;
        std::string text = sqlite3_errmsg(m_database);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            const int type = sqlite3_column_type(statement, 0);
            const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
            text = type == SQLITE_NULL ? "null" : std::string(type == SQLITE_FLOAT ? "real " : "integer ") + value;
        } else {
            text = sqlite3_errmsg(m_database);
        }
        sqlite3_finalize(statement);
        return text;
    }

    sqlite3* m_database = nullptr;
};

constexpr const char* kRefused = "percentile(value, percent): numbers, percent from 0 to 100";

TEST_F(Percentile, IsOneOfTheNumbersInItsType) {
    EXPECT_EQ(of("(50), (15), (40), (20), (35)", "30"), "integer 20");
    EXPECT_EQ(of("(50), (15), (40), (20), (35)", "100"), "integer 50");
    EXPECT_EQ(of("(50), (15), (40), (20), (35)", "0"), "integer 15");
    EXPECT_EQ(of("(2.5), (1), (2)", "100"), "real 2.5");
    EXPECT_EQ(of("(2.5), (1), (2)", "50"), "integer 2");
    EXPECT_EQ(of("(7), (6.5), (8.5)", "34"), "integer 7");
    EXPECT_EQ(of("(-2.5), (-2)", "50"), "real -2.5");
    EXPECT_EQ(of("(-2), (-2.5)", "50"), "real -2.5");
    EXPECT_EQ(of("(-2), (-2.5)", "51"), "integer -2");
}

// A double has 53 bits.
TEST_F(Percentile, ComparesWholeNumbersExactly) {
    EXPECT_EQ(of("(9007199254740993), (9007199254740992)", "100"), "integer 9007199254740993");
    EXPECT_EQ(of("(9007199254740993), (9007199254740992)", "50"), "integer 9007199254740992");
}

TEST_F(Percentile, TakesNumbersThatTextsHold) {
    EXPECT_EQ(of("('12'), ('9')", "100"), "integer 12");
    EXPECT_EQ(of("(12), (9)", "'50'"), "integer 9");
}

TEST_F(Percentile, LeavesNullsOutAndIsNullOfNone) {
    EXPECT_EQ(of("(null), (3), (null)", "100"), "integer 3");
    EXPECT_EQ(of("(null)", "50"), "null");
    EXPECT_EQ(of("(1)", "50", "0"), "null");
    EXPECT_EQ(of("(1), (2)", "null"), "null");
    EXPECT_EQ(of("(1), (2)", "nullif(column1, 1)"), "null") << "one percent is null";
}

TEST_F(Percentile, RefusesWhatIsNoNumberAndNoPercent) {
    EXPECT_EQ(of("('word')", "50"), kRefused);
    EXPECT_EQ(of("(1)", "'word'"), kRefused);
    EXPECT_EQ(of("(1)", "-0.1"), kRefused);
    EXPECT_EQ(of("(1)", "100.1"), kRefused);
    EXPECT_EQ(of("(null)", "101"), "null") << "a row that is left out has no percent";
}

} // namespace

} // namespace host::sql
