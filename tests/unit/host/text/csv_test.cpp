// SPDX-License-Identifier: MIT
// Tests fields of CSV.
#include "host/text/escape.hpp"

#include <gtest/gtest.h>

namespace host::text {

TEST(CsvField, QuotesWhatWouldEndIt) {
    EXPECT_EQ(csv_field(""), "");
    EXPECT_EQ(csv_field("plain text"), "plain text");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("line\nline"), "\"line\nline\"");
    EXPECT_EQ(csv_field("\""), "\"\"\"\"");
}

TEST(CsvField, ActsOnNoTerminalAndIsNoFormula) {
    EXPECT_EQ(csv_field("\x1b[31m\a\r\t\xff\xc3\xa4"), "\\x1b[31m\\x07\\x0d\\x09\\xff\xc3\xa4");
    EXPECT_EQ(csv_field("C:\\"), "C:\\");
    for (const std::string_view text : {"=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2+3", "-", "=1"}) {
        EXPECT_EQ(csv_field(text), "'" + std::string(text));
    }
    EXPECT_EQ(csv_field("=1,2"), "\"'=1,2\"");
    for (const std::string_view text : {"-1", "+2.5", "-1e-9", "-inf", "1-2", "a=b"}) {
        EXPECT_EQ(csv_field(text), text);
    }
}

} // namespace host::text
