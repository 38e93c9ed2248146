// SPDX-License-Identifier: MIT
// Has rows and exceptions as ClickHouse sends them.
#include "fleet/clickhouse/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace host::fleet::clickhouse {

namespace answer_test {

using testing::ElementsAre;
using testing::HasSubstr;

const Endpoint kHost{"store", 8123};

TEST(ClickHouseAnswer, HasNullIntegersAndTexts) {
    const auto answer = read_rows("a\tb\tc\tx\\ty\n"
                                  "UInt64\tNullable(Int32)\tLowCardinality(Nullable(String))\tEnum8('a\\'' = 1)\n"
                                  "18446744073709551615\t-5\t\\N\ta'\n"
                                  "7\t\\N\t\tb\n");
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_THAT(answer->columns, ElementsAre("a", "b", "c", "x\ty"));
    ASSERT_EQ(answer->rows.size(), 2U);
    EXPECT_THAT(answer->rows[0], ElementsAre(Value(std::numeric_limits<std::int64_t>::max()), Value(std::int64_t{-5}),
                                             Value(), Value("a'")));
    EXPECT_THAT(answer->rows[1], ElementsAre(Value(std::int64_t{7}), Value(), Value(""), Value("b")));
}

TEST(ClickHouseAnswer, KeepsEveryByteOfATextExactly) {
    const auto answer = read_rows("t\nString\n\\\\N \\t\\n\\r\\0\\b\\f\\'\" \xff\xc3\n");
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<std::string>(answer->rows[0][0]), std::string("\\N \t\n\r\0\b\f'\" \xff\xc3", 14));
}

TEST(ClickHouseAnswer, HasFractionsAsIntegersOnlyIfTheyAre) {
    const auto answer = read_rows("a\tb\tc\tn\nFloat64\tFloat64\tFloat64\tFloat64\n12\t0.5\t1e300\tnan\n");
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->rows[0], ElementsAre(Value(std::int64_t{12}), Value("0.5"), Value("1e300"), Value("nan")));
}

TEST(ClickHouseAnswer, OfAStatementWithoutRowsIsEmpty) {
    const auto answer = read_rows("");
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->columns.empty());
}

TEST(ClickHouseAnswer, IsCorruptIfItIsNotWhole) {
    for (const char* body : {"a\tb\nString\tString\nx\ty", "a\tb\nString\tString\nx\n", "a\tb\nString\n",
                             "a\nUInt8\nx\n", "a\n", "<html>\n"}) {
        const auto answer = read_rows(body);
        ASSERT_FALSE(answer) << body;
        EXPECT_EQ(answer.error().cause, lib::Error::corrupt) << body;
    }
}

TEST(ClickHouseAnswer, ThatEndsWithAnExceptionIsAFailure) {
    const auto answer =
        read_rows("a\nUInt8\n1\nCode: 241, e.displayText() = DB::Exception: Memory limit, e.what() = x\n");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().cause, lib::Error::no_space);
    EXPECT_THAT(answer.error().text, HasSubstr("code 241: Memory limit"));
}

TEST(ClickHouseAnswer, ThatIsAnExceptionIsAFailureWhateverTheStatusWas) {
    const auto failed = read_rows("Code: 60. DB::Exception: Table a.b does not exist.\n");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().cause, lib::Error::refused);
}

TEST(ClickHouseException, IsReadInBothForms) {
    const auto old_form =
        server_error_of("Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist., e.what() = "
                        "DB::Exception\n");
    ASSERT_TRUE(old_form);
    EXPECT_EQ(old_form->code, 60U);
    EXPECT_EQ(old_form->text, "Table a.b doesn't exist.");
    const auto new_form =
        server_error_of("Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE) (version 23.8)\nmore\n");
    ASSERT_TRUE(new_form);
    EXPECT_EQ(new_form->code, 60U);
    EXPECT_EQ(new_form->text, "Table a.b does not exist. (UNKNOWN_TABLE) (version 23.8)");
    EXPECT_FALSE(server_error_of("Code: x"));
    EXPECT_FALSE(server_error_of("502 Bad Gateway"));
}

TEST(ClickHouseException, SaysWhetherTryingAgainHelps) {
    const auto cause = [](const char* body) { return failure_of({.status = 500, .body = body}, kHost, "u").cause; };
    EXPECT_EQ(cause("Code: 252. DB::Exception: Too many parts"), lib::Error::unreachable);
    EXPECT_EQ(cause("Code: 243. DB::Exception: Cannot reserve 1.00 MiB"), lib::Error::no_space);
    EXPECT_EQ(cause("Code: 62. DB::Exception: Syntax error"), lib::Error::refused);
    EXPECT_EQ(failure_of({.status = 503, .body = "busy"}, kHost, "").cause, lib::Error::unreachable);
    EXPECT_EQ(failure_of({.status = 404, .body = "<html>"}, kHost, "").cause, lib::Error::corrupt);
}

TEST(ClickHouseException, OfAuthenticationNamesTheUser) {
    for (const char* body : {"Code: 193, e.displayText() = DB::Exception: Wrong password for user loader, e.what() = x",
                             "Code: 516. DB::Exception: loader: Authentication failed"}) {
        const StoreFailure failure = failure_of({.status = 403, .body = body}, kHost, "loader");
        EXPECT_EQ(failure.cause, lib::Error::refused);
        EXPECT_THAT(failure.text, HasSubstr("store:8123"));
        EXPECT_THAT(failure.text, HasSubstr("'loader'"));
    }
}

TEST(ClickHouseLiteral, EscapesQuotesAndBackslashes) {
    EXPECT_EQ(quoted_text("a'b\\c\n"), "'a\\'b\\\\c\n'");
    EXPECT_EQ(quoted_text(std::string_view("\0", 1)), "'\\0'");
}

} // namespace answer_test

} // namespace host::fleet::clickhouse
