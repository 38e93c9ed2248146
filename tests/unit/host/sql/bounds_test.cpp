// SPDX-License-Identifier: MIT
// What the conditions of a query leave of a trace: the bounds of its columns, by values as SQLite hands them over.
#include "host/sql/bounds.hpp"
#include "host/sql/constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Values of SQL expressions.
class Values {
  public:
    explicit Values(std::initializer_list<std::string_view> expressions) {
        sqlite3* database = nullptr;
        EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
        for (const std::string_view expression : expressions) {
            sqlite3_stmt* statement = nullptr;
            const std::string query = "select " + std::string(expression);
            EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << query;
            EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
            m_values.push_back(sqlite3_value_dup(sqlite3_column_value(statement, 0)));
            sqlite3_finalize(statement);
        }
        sqlite3_close(database);
    }

    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    ~Values() {
        for (sqlite3_value* const value : m_values) {
            sqlite3_value_free(value);
        }
    }

    [[nodiscard]] std::span<sqlite3_value*> all() { return m_values; }

  private:
    std::vector<sqlite3_value*> m_values;
};

Bounds after(char comparison, std::string_view expression) {
    Values values{expression};
    Bounds bounds;
    bounds.narrow(comparison, values.all()[0]);
    return bounds;
}

WalkRequest request(std::string_view plan, std::initializer_list<std::string_view> expressions) {
    Values values(expressions);
    return request_of(plan, values.all());
}

TEST(SqlBounds, OfAWholeNumberIncludeIt) {
    EXPECT_EQ(after('=', "7").first, 7);
    EXPECT_EQ(after('=', "7").last, 7);
    for (const char least : {'>', 'g'}) {
        EXPECT_EQ(after(least, "7").first, 7) << "SQLite checks the row itself";
        EXPECT_EQ(after(least, "7").last, Bounds::kMax);
    }
    for (const char most : {'<', 'l'}) {
        EXPECT_EQ(after(most, "7").first, Bounds::kMin);
        EXPECT_EQ(after(most, "7").last, 7);
    }
}

TEST(SqlBounds, OfAFractionAreTheWholeNumbersAroundIt) {
    EXPECT_EQ(after('g', "-1.5").first, -2);
    EXPECT_EQ(after('l', "-1.5").last, -1);
    EXPECT_EQ(after('=', "1.5").first, 1);
    EXPECT_EQ(after('=', "1.5").last, 2);
    EXPECT_EQ(after('=', "2.0").last, 2);
    EXPECT_EQ(after('g', "1e300").first, Bounds::kMax);
    EXPECT_EQ(after('l', "1e300").last, Bounds::kMax);
    EXPECT_EQ(after('g', "-1e300").first, Bounds::kMin);
    EXPECT_EQ(after('l', "-1e300").last, Bounds::kMin);
    EXPECT_EQ(after('l', "9.2e18").last, Bounds::kMax);
    EXPECT_EQ(after('g', "-9.2e18").first, Bounds::kMin);
    EXPECT_EQ(after('l', "9.1e18").last, 9'100'000'000'000'000'000);
}

TEST(SqlBounds, OfNullAreEmptyAndOfTextsAndBlobsAll) {
    EXPECT_TRUE(after('=', "null").empty());
    EXPECT_FALSE(after('=', "null").whole());
    EXPECT_TRUE(after('=', "'7'").whole());
    EXPECT_TRUE(Bounds{}.whole());
    EXPECT_FALSE(after('l', "7").whole());
    EXPECT_FALSE(after('g', "7").whole());
    EXPECT_TRUE(after('>', "x'07'").whole());
    EXPECT_FALSE(after('>', "x'07'").empty());
}

TEST(SqlBounds, OfSeveralConditionsAreTheNarrowest) {
    Values values{"5", "3", "9", "20"};
    Bounds bounds;
    for (const auto& [comparison, index] : {std::pair('g', 0U), {'g', 1U}, {'l', 2U}, {'l', 3U}}) {
        bounds.narrow(comparison, values.all()[index]);
    }
    EXPECT_EQ(bounds.first, 5);
    EXPECT_EQ(bounds.last, 9);
    EXPECT_FALSE(bounds.empty());
    EXPECT_FALSE(bounds.whole());
    bounds.narrow('=', values.all()[0]);
    EXPECT_FALSE(bounds.empty());
    bounds.narrow('=', values.all()[2]);
    EXPECT_TRUE(bounds.empty());
}

TEST(SqlBounds, ComparisonsHaveLetters) {
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_EQ), '=');
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_GT), '>');
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_GE), 'g');
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_LT), '<');
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_LE), 'l');
    EXPECT_EQ(comparison_letter(SQLITE_INDEX_CONSTRAINT_LIKE), 0);
}

TEST(SqlRequest, WithoutConditionsIsForEverything) {
    const WalkRequest all = request("", {});
    EXPECT_EQ(all.scan.ticks.first, 0U);
    EXPECT_EQ(all.scan.ticks.last, ~std::uint64_t{0});
    EXPECT_EQ(all.scan.first_ns, std::nullopt);
    EXPECT_EQ(all.scan.last_ns, std::nullopt);
    EXPECT_EQ(all.scan.cpu, std::nullopt);
    EXPECT_EQ(all.event, std::nullopt);
    EXPECT_EQ(all.code, std::nullopt);
    EXPECT_FALSE(all.nothing);
    EXPECT_THAT(all.counted, IsEmpty());
}

TEST(SqlRequest, HasTheBoundsOfEachColumn) {
    const WalkRequest some = request("kgklt>t<p=e=c=", {"100", "200", "-5", "7", "3", "'ipoint'", "21"});
    EXPECT_EQ(some.scan.ticks.first, 100U);
    EXPECT_EQ(some.scan.ticks.last, 200U);
    EXPECT_EQ(some.scan.first_ns, -5);
    EXPECT_EQ(some.scan.last_ns, 7);
    EXPECT_EQ(some.scan.cpu, 3);
    EXPECT_EQ(some.event, "ipoint");
    EXPECT_EQ(some.code, 21);
    EXPECT_FALSE(some.nothing);
    EXPECT_EQ(request("kg", {"-1"}).scan.ticks.first, 0U);
    EXPECT_EQ(request("kl", {"9223372036854775807"}).scan.ticks.last, ~std::uint64_t{0})
        << "later stamps have no greater number";
    EXPECT_EQ(request("kl", {"9223372036854775806"}).scan.ticks.last, 9'223'372'036'854'775'806U);
    EXPECT_EQ(request("p=", {"1.5"}).scan.cpu, std::nullopt);
    EXPECT_EQ(request("p=", {"65535"}).scan.cpu, 65535);
    EXPECT_EQ(request("p=", {"65536"}).scan.cpu, std::nullopt);
    EXPECT_EQ(request("c=", {"1.5"}).code, std::nullopt);
    EXPECT_EQ(request("e=", {"7"}).event, std::nullopt);
}

TEST(SqlRequest, ThatNoEventFulfilsIsForNothing) {
    EXPECT_TRUE(request("kgkl", {"200", "100"}).nothing);
    EXPECT_FALSE(request("kgkl", {"200", "200"}).nothing);
    EXPECT_TRUE(request("kl", {"-1"}).nothing) << "no stamp is less than 0";
    EXPECT_FALSE(request("kl", {"0"}).nothing);
    EXPECT_TRUE(request("t=", {"null"}).nothing);
    EXPECT_TRUE(request("p=p=", {"1", "2"}).nothing);
    EXPECT_TRUE(request("c=c=", {"1", "2"}).nothing);
    EXPECT_TRUE(request("e=e=", {"'a'", "'b'"}).nothing);
    EXPECT_FALSE(request("e=e=", {"'a'", "'a'"}).nothing);
}

TEST(SqlRequest, NamesTheColumnsOfAGrouping) {
    const auto letter = [](EventColumn column) { return static_cast<char>('A' + static_cast<int>(column)); };
    const std::string plan = std::string("k=") + letter(EventColumn::event) + letter(EventColumn::cpu);
    EXPECT_THAT(request(plan, {"7"}).counted, ElementsAre(EventColumn::event, EventColumn::cpu));
}

} // namespace

} // namespace host::sql
