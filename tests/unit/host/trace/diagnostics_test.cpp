// SPDX-License-Identifier: MIT
// Tests the lines in which a reader says what is wrong with its input, and the exit status that follows from them.
#include "host/trace/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace host::trace {

namespace {

using testing::ElementsAre;

class DiagnosticsTest : public testing::Test {
  protected:
    std::vector<std::string> m_lines;
    Diagnostics m_diagnostics{[this](std::string_view line) { m_lines.emplace_back(line); }};
};

TEST_F(DiagnosticsTest, SaysWhereSomethingIsAsFarAsItIsKnown) {
    m_diagnostics.report("W-GAP", {.file = "a\x1b", .offset_bytes = 0x1F}, "packets 3 to 4");
    m_diagnostics.report("W-GAP", {.file = "b", .offset_bytes = 0, .chunk = 0}, "x");
    m_diagnostics.report("W-GAP", {.file = "b", .offset_bytes = 16, .chunk = 2, .cpu = 0}, "y");
    EXPECT_THAT(m_lines, ElementsAre("a\\x1b:0x1f W-GAP packets 3 to 4", "b:0x0 chunk 0 W-GAP x",
                                     "b:0x10 chunk 2 cpu 0 W-GAP y"));
    EXPECT_EQ(m_diagnostics.count("W-GAP"), 3U);
    EXPECT_EQ(m_diagnostics.count("E-IO"), 0U);
}

TEST_F(DiagnosticsTest, ShowsAHundredLinesOfEachCodeAndTheirNumber) {
    for (int i = 0; i < 101; ++i) {
        m_diagnostics.report("W-MINOR", {.file = "a"}, "newer");
    }
    for (int i = 0; i < 100; ++i) {
        m_diagnostics.report("W-DUP", {.file = "a"}, "again");
    }
    EXPECT_EQ(m_lines.size(), 200U);
    m_diagnostics.finish();
    ASSERT_EQ(m_lines.size(), 201U);
    EXPECT_EQ(m_lines.back(), "W-MINOR 101 in all, 1 not shown");
    EXPECT_FALSE(m_diagnostics.damaged());
}

TEST_F(DiagnosticsTest, ReportsEachUnknownCodeOnceWithThePlaceOfItsFirstRecord) {
    m_diagnostics.count_unknown(0xFF, {.file = "last", .offset_bytes = 48});
    m_diagnostics.count_unknown(0x0A, {.file = "first", .offset_bytes = 16});
    m_diagnostics.count_unknown(0x0A, {.file = "later", .offset_bytes = 32});
    EXPECT_TRUE(m_lines.empty());
    m_diagnostics.finish();
    EXPECT_THAT(m_lines,
                ElementsAre("first:0x10 W-UNKNOWN code 0x0a is in no row of the event table: 2 records, kept as raw "
                            "words",
                            "last:0x30 W-UNKNOWN code 0xff is in no row of the event table: 1 record, kept as raw "
                            "words"));
}

TEST_F(DiagnosticsTest, DamageIsWhatWasLostOrCannotBeTrusted) {
    EXPECT_EQ(m_diagnostics.exit_status(true), ExitStatus::clean);
    EXPECT_EQ(m_diagnostics.exit_status(false), ExitStatus::nothing);
    m_diagnostics.report("W-TIME", {}, "");
    EXPECT_EQ(m_diagnostics.damages(), 0U);
    EXPECT_EQ(m_diagnostics.exit_status(true), ExitStatus::clean);
    m_diagnostics.report("E-CPU", {}, "");
    m_diagnostics.report("W-GAP", {}, "");
    EXPECT_EQ(m_diagnostics.damages(), 2U);
    EXPECT_EQ(m_diagnostics.exit_status(true), ExitStatus::damaged);
    EXPECT_EQ(m_diagnostics.exit_status(false), ExitStatus::nothing);
    m_diagnostics.unusable_input(lib::Error::no_space);
    EXPECT_EQ(m_diagnostics.exit_status(true), ExitStatus::no_space);
    m_diagnostics.unusable_input();
    EXPECT_EQ(m_diagnostics.exit_status(true), ExitStatus::usage);
    EXPECT_EQ(m_diagnostics.exit_status(false), ExitStatus::usage);
}

} // namespace

} // namespace host::trace
