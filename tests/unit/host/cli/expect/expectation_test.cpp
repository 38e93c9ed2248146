// SPDX-License-Identifier: MIT
// Tests what a file of expectations can say, and what is wrong with one that says something else.
#include "host/cli/expect/expectation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::cli {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Expectation only(std::string_view line) {
    const Expectations parsed = parse_expectations(line);
    EXPECT_THAT(parsed.errors, ElementsAre());
    EXPECT_EQ(parsed.list.size(), 1U) << line;
    return parsed.list.empty() ? Expectation{} : parsed.list.front();
}

std::string error_of(std::string_view line) {
    const Expectations parsed = parse_expectations(line);
    EXPECT_TRUE(parsed.list.empty()) << line;
    return parsed.errors.empty() ? "no error" : parsed.errors.front();
}

TEST(Expectation, HasAFigureNamesAComparisonAndAValue) {
    const Expectation time = only("  worst \"phase over\" response <=1.5ms # comment");
    EXPECT_EQ(time.text, "worst \"phase over\" response <=1.5ms");
    EXPECT_EQ(time.figure->words, "worst TASK response");
    EXPECT_THAT(time.names, ElementsAre("phase over"));
    EXPECT_EQ(time.comparison, Comparison::less_equal);
    EXPECT_EQ(time.value, 1'500'000);
    EXPECT_TRUE(time.holds_for(1'500'000));
    EXPECT_FALSE(time.holds_for(1'500'001));
    EXPECT_THAT(only("holds state telemetry 6").names, ElementsAre("state", "telemetry"));
    EXPECT_EQ(only("share idle > 12.5 %").value, 12.5);
    EXPECT_EQ(only("sql \"select '#'\" != 3").names.front(), "select '#'");
    EXPECT_EQ(only("no violation of edf-order").figure->words, "no violation of RULE");
    EXPECT_EQ(only("missed control 0").comparison, Comparison::equal);
}

TEST(Expectation, ComparesAsItsSignSays) {
    for (const auto& [sign, less, equal, greater] :
         {std::tuple{"=", false, true, false}, std::tuple{"!=", true, false, true}, std::tuple{"<", true, false, false},
          std::tuple{"<=", true, true, false}, std::tuple{">", false, false, true},
          std::tuple{">=", false, true, true}}) {
        const Expectation expectation = only(std::string("jobs a ") + sign + " 2");
        EXPECT_EQ(expectation.holds_for(1), less) << sign;
        EXPECT_EQ(expectation.holds_for(2), equal) << sign;
        EXPECT_EQ(expectation.holds_for(3), greater) << sign;
    }
}

TEST(Expectation, NamesThePlaceAndTheRemedyOfAnError) {
    EXPECT_EQ(error_of("mised control 0"),
              "1:1: mised is none of aborted, best, decided, events, holds, jobs, mean, missed, no, preempted, ran, "
              "share, sql, waits, worst; did you mean missed?");
    EXPECT_EQ(error_of("worst sensor respons <= 3ms"), "1:14: respons is none of blocking, hold, response; did you "
                                                       "mean response?");
    EXPECT_EQ(error_of("worst sensor"), "1:7: after sensor follows blocking or hold or response");
    EXPECT_EQ(error_of("missed control"), "1:15: a number must follow");
    EXPECT_EQ(error_of("missed control zero"), "1:16: zero is not a number");
    EXPECT_EQ(error_of("missed control == 0"), "1:16: == is none of = != < <= > >=");
    EXPECT_THAT(error_of("worst sensor response <= 3 hours"), HasSubstr("1:26: 3hours is not a time, like"));
    EXPECT_THAT(error_of("share idle 30"), HasSubstr("1:12: 30 is not a percentage"));
    EXPECT_EQ(error_of("no loss 0"), "1:9: nothing may follow: it holds or not");
    EXPECT_EQ(error_of("jobs sensor 6 1"), "1:15: nothing may follow 6: it is compared with one value");
    EXPECT_EQ(error_of("worst sensor response <= 3 ms 4"),
              "1:31: nothing may follow 3ms: it is compared with one value");
    EXPECT_EQ(error_of("share idle > 1 2%"), "1:16: nothing may follow 1: it is compared with one value");
    EXPECT_EQ(error_of("ran idle 1 e3"), "1:12: nothing may follow 1: it is compared with one value");
    EXPECT_EQ(error_of("no violation of edf-odrer"), "1:17: edf-odrer is no RULE; did you mean edf-order?");
    EXPECT_EQ(error_of("events context_swich 0"), "1:8: context_swich is no EVENT; did you mean context_switch?");
    EXPECT_THAT(error_of("missed \"control 0"), HasSubstr("1:8: no second quote"));
    EXPECT_EQ(error_of("missed \x1B[2J 0\x1B"), "1:13: 0\\x1b is not a number");
    EXPECT_EQ(error_of("missed control nan"), "1:16: nan is not a number");
}

TEST(Expectation, FileIsReadToItsEnd) {
    const Expectations parsed = parse_expectations("# a comment\r\n\r\njobs a 1\r\nwrong\njobs b 2\nalso wrong");
    ASSERT_EQ(parsed.list.size(), 2U);
    EXPECT_EQ(parsed.list.front().line, 3U);
    EXPECT_EQ(parsed.list.front().text, "jobs a 1");
    EXPECT_EQ(parsed.list.back().line, 5U);
    EXPECT_THAT(parsed.errors, ElementsAre(HasSubstr("4:1: wrong is none"), HasSubstr("6:1: also is none")));
    EXPECT_EQ(only("\xEF\xBB\xBFjobs a 1").text, "jobs a 1"); // a byte order mark
    for (const char* const empty : {"", "\n\n", "# nothing", "\xEF\xBB\xBF"}) {
        EXPECT_THAT(parse_expectations(empty).errors, ElementsAre("1:1: no expectation in it")) << empty;
    }
}

TEST(Expectation, WritesAValueInItsUnit) {
    EXPECT_EQ(value_text(FigureUnit::time, 999), "999ns");
    EXPECT_EQ(value_text(FigureUnit::time, 20'500), "20.500us");
    EXPECT_EQ(value_text(FigureUnit::time, 4'271'034), "4.271034ms");
    EXPECT_EQ(value_text(FigureUnit::percent, 12.5L), "12.5%");
    EXPECT_EQ(value_text(FigureUnit::count, 61), "61");
}

} // namespace

} // namespace host::cli
