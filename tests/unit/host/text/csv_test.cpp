// SPDX-License-Identifier: MIT
// Tests fields of CSV.
#include "host/text/escape.hpp"

#include <gtest/gtest.h>

namespace host::text {

TEST(CsvField, QuotesWhatWouldEndIt) {
    EXPECT_EQ(csv_field(""), "");
    EXPECT_EQ(csv_field("plain text"), "plain text");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("line\r\n"), "\"line\r\n\"");
    EXPECT_EQ(csv_field("\""), "\"\"\"\"");
}

} // namespace host::text
