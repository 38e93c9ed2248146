// SPDX-License-Identifier: MIT
// Tests times and selections in the words of a user, and the conditions that they become.
#include "fleet/questions/selection.hpp"

#include "fleet/questions/response_classes.hpp"

#include <gtest/gtest.h>

namespace host::fleet::questions {

namespace {

class Quoting final : public Database {
  public:
    lib::Result<Answer, StoreFailure> query(const std::string& /*statement*/) override { return Answer(); }

    std::string quoted(std::string_view text) const override { return '\'' + std::string(text) + '\''; }
};

TEST(Selection, ReadsTimesInUtcAndBeforeNow) {
    constexpr std::int64_t kNow = 2'000'000'000;
    EXPECT_EQ(moment_of("1970-01-02", kNow), 86'400);
    EXPECT_EQ(moment_of("2026-11-24T10:00", kNow), 1'795'514'400);
    EXPECT_EQ(moment_of("2026-11-24T10:00:30", kNow), 1'795'514'430);
    EXPECT_EQ(moment_of("2026-11-24T10:00:30Z", kNow), 1'795'514'430);
    EXPECT_EQ(moment_of("90s", kNow), kNow - 90);
    EXPECT_EQ(moment_of("45m", kNow), kNow - 45 * 60);
    EXPECT_EQ(moment_of("2h", kNow), kNow - 7'200);
    EXPECT_EQ(moment_of("7d", kNow), kNow - 7 * 86'400);
    for (const std::string_view wrong :
         {"", "now", "7", "7w", "-7d", "2026", "2026-11", "2026-13-01", "2026-02-30", "2026-11-24T", "2026-11-24T10",
          "2026-11-24T24:00", "2026-11-24 10:00", "2026-11-24T10:00+01", "2026-11-24T10:00:00:00", "99999999999d"}) {
        EXPECT_EQ(moment_of(wrong, kNow), std::nullopt) << wrong;
    }
    EXPECT_EQ(moment_text(1'795'514'430), "2026-11-24T10:00:30");
}

TEST(Selection, ReadsKeysAndValues) {
    const auto selection = selection_of("site=lab,node=pi-1,task=control,since=1h,until=1970-01-02", 10'000);
    ASSERT_TRUE(selection);
    EXPECT_EQ(selection->site, "lab");
    EXPECT_EQ(selection->node, "pi-1");
    EXPECT_EQ(selection->task, "control");
    EXPECT_EQ(selection->since_s, 6'400);
    EXPECT_EQ(selection->until_s, 86'400);
    for (const std::string_view wrong : {"pi-1", "host=pi-1", "node=", "since=soon", "site=lab,,node=a"}) {
        EXPECT_FALSE(selection_of(wrong, 0)) << wrong;
    }
    EXPECT_EQ(selection_of("host=pi-1", 0).error().text,
              "host=pi-1: say which runs as in node=pi-1,since=7d; the keys are site, node, boot, application, task, "
              "since and until");
}

TEST(Selection, BecomesConditions) {
    const Selection all{.site = "lab",
                        .node = "pi-1",
                        .boot = "0a",
                        .application = "control",
                        .task = "late",
                        .since_s = 5,
                        .until_s = 9};
    const Quoting database;
    EXPECT_EQ(where({}, database, {}), "");
    EXPECT_EQ(where({}, database, {.more = "described = 1"}), " WHERE described = 1");
    EXPECT_EQ(
        where(all, database, {.has_application = true}),
        " WHERE site = 'lab' AND node = 'pi-1' AND boot = '0a' AND application = 'control' AND started_s >= 5 AND "
        "started_s < 9");
    EXPECT_EQ(
        where(all, database, {.time = "minute_s", .has_task = true}),
        " WHERE site = 'lab' AND node = 'pi-1' AND boot = '0a' AND (site, node, boot) IN (SELECT site, node, boot "
        "FROM nodes WHERE application = 'control') AND task = 'late' AND minute_s >= 5 AND minute_s < 9");
    EXPECT_EQ(limit_text(0), "");
    EXPECT_EQ(limit_text(20), " LIMIT 21");
}

TEST(ResponseClasses, GiveTheClassOfTheNearestRank) {
    ResponseClasses classes;
    EXPECT_EQ(classes.percentile(500), std::nullopt);
    classes.add(100, 50);
    classes.add(200, 49);
    classes.add(400, 1);
    EXPECT_EQ(classes.percentile(500), 100U) << "the 50th of 100";
    EXPECT_EQ(classes.percentile(510), 200U);
    EXPECT_EQ(classes.percentile(990), 200U) << "the 99th";
    EXPECT_EQ(classes.percentile(999), 400U);
    EXPECT_EQ(classes.percentile(0), 100U);
    classes.limit_to(390);
    EXPECT_EQ(classes.percentile(999), 390U) << "never more than the longest";
}

} // namespace

} // namespace host::fleet::questions
