// SPDX-License-Identifier: MIT
// Addresses of servers are shown without passwords.
#include "fleet/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet {
namespace server_test {

TEST(Server, NeverShowsAPassword) {
    EXPECT_EQ(shown_address("nats://host:4222"), "nats://host:4222");
    EXPECT_EQ(shown_address("nats://user:pass@host:4222"), "nats://host:4222");
    EXPECT_EQ(shown_address("nats://user:p@ss@host"), "nats://host");
    EXPECT_EQ(shown_address("nats://token@host"), "nats://host");
    EXPECT_EQ(shown_address("user:pass@host"), "host");
    EXPECT_EQ(shown_address("nats://user:pa,ss@host"), "nats://host");
    EXPECT_EQ(shown_address("nats://a,b:4222"), "nats://a,b:4222");
    EXPECT_EQ(shown_address("nats://u:p@a,tls://u:p@b:1"), "nats://a,tls://b:1");
}

TEST(Server, SeveralAddressesHaveCommas) {
    EXPECT_THAT(addresses_of("nats://a,,nats://b,"), testing::ElementsAre("nats://a", "nats://b"));
    EXPECT_TRUE(addresses_of("").empty());
}

} // namespace server_test
} // namespace host::fleet
