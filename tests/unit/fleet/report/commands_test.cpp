// SPDX-License-Identifier: MIT
// Tests the commands that a page of a fleet shows to be copied.
#include "fleet/report/gathered.hpp"

#include <gtest/gtest.h>

namespace host::fleet::report {

namespace {

TEST(FleetCommand, HasTheSelectionOfThePage) {
    questions::Asked asked;
    asked.place = "out/fleet";
    asked.only = {.site = "north", .task = "it's", .since_s = 1'795'600'800};
    EXPECT_EQ(fleet_command("misses", asked, "--by minute"),
              "remora fleet misses out/fleet --site north --task 'it'\\''s' --since 2026-11-25T10:00:00 --by minute");
}

TEST(FleetCommand, HasNoPassword) {
    questions::Asked asked;
    asked.place = "clickhouse://reader:secret@store/remora";
    EXPECT_EQ(fleet_command("worst", asked, "").find("secret"), std::string::npos);
}

TEST(ReportCommand, IsOfASpanAroundTheJob) {
    const Span span = span_around(5000, 7000);
    EXPECT_EQ(span, (Span{.from_ns = 3000, .to_ns = 9000}));
    EXPECT_EQ(report_command("out/a b.rpk", span), "remora report 'out/a b.rpk' --from-time 3000 --to 9000 -o "
                                                   "worst.html");
}

TEST(ReportCommand, BeginsWithTheTraceAtTheEarliest) {
    EXPECT_EQ(span_around(10, 1010).from_ns, 0);
    EXPECT_EQ(span_around(5000, 5000), (Span{.from_ns = 4000, .to_ns = 6000})) << "a job without any time";
}

} // namespace

} // namespace host::fleet::report
