// SPDX-License-Identifier: MIT
// Tests the address of a store: what it may be, and what a refusal says.
#include "fleet/clickhouse/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet::clickhouse {

namespace url_test {

using testing::HasSubstr;
using testing::Not;

TEST(ClickHouseUrl, HasHostsUserDatabaseAndCluster) {
    const auto url =
        parse_url("clickhouse://loader@ch1.example.org:9001,[fe80::1]:9002,10.0.0.3/fleet?cluster=all-shards");
    ASSERT_TRUE(url) << url.error().text;
    EXPECT_FALSE(url->tls);
    EXPECT_EQ(url->user, "loader");
    EXPECT_EQ(url->hosts, (std::vector<Endpoint>{{"ch1.example.org", 9001}, {"fe80::1", 9002}, {"10.0.0.3", 8123}}));
    EXPECT_EQ(url->database, "fleet");
    EXPECT_EQ(url->cluster, "all-shards");
    EXPECT_EQ(text_of(url->hosts[1]), "[fe80::1]:9002");
    EXPECT_EQ(text_of(url->hosts[2]), "10.0.0.3:8123");
}

TEST(ClickHouseUrl, IsEncryptedWithAnotherPort) {
    const auto url = parse_url("clickhouses://store/fleet");
    ASSERT_TRUE(url);
    EXPECT_TRUE(url->tls);
    EXPECT_EQ(url->hosts, (std::vector<Endpoint>{{"store", 8443}}));
}

TEST(ClickHouseUrl, IsRefusedWithThePartThatIsWrong) {
    const std::pair<const char*, const char*> kCases[] = {
        {"http://store/fleet", "clickhouse://"},
        {"clickhouse:///fleet", "'' is no name of a host"},
        {"clickhouse://store:0/fleet", "'0' is no port"},
        {"clickhouse://store:65536/fleet", "'65536' is no port"},
        {"clickhouse://store:/fleet", "'' is no port"},
        {"clickhouse://[fe80::1/fleet", "host"},
        {"clickhouse://[fe80::1]x/fleet", "is no address"},
        {"clickhouse://store", "'' is no name of a database"},
        {"clickhouse://store/", "'' is no name of a database"},
        {"clickhouse://store/a`b", "'a`b' is no name of a database"},
        {"clickhouse://store/fleet?clutter=a", "no parameter 'clutter'"},
        {"clickhouse://store/fleet?cluster=a'b", "is no name of a cluster"},
        {"clickhouse://a,b/fleet", "?cluster="},
        {"clickhouse://a,b,a/fleet?cluster=c", "a:8123 is named twice"},
        {"clickhouse://us er@a/fleet", "'us er' is no name of a user"},
    };
    for (const auto& [text, expected] : kCases) {
        const auto url = parse_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_THAT(url.error().text, HasSubstr(expected)) << text;
    }
}

TEST(ClickHouseUrl, DoesNotRepeatAPassword) {
    const auto url = parse_url("clickhouse://loader:secret@store/fleet");
    ASSERT_FALSE(url);
    EXPECT_THAT(url.error().text, Not(HasSubstr("secret")));
    EXPECT_THAT(url.error().text, HasSubstr("password"));
}

} // namespace url_test

} // namespace host::fleet::clickhouse
