// SPDX-License-Identifier: MIT
// Tests senders whose packets belong to no session yet: what could be a trace without metadata, how long it is held,
// and how much of it.
#include "host/collector/session_table.hpp"

#include "tracer/record/event_table.hpp"
#include "tracer/record/record.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace host::collector {

namespace strangers_test {

using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kCode = tracer::event_code("ipoint");

Bytes records(std::initializer_list<std::uint64_t> stamps, std::uint16_t code = kCode) {
    Bytes bytes(stamps.size() * tracer::kRecordBytes);
    std::size_t at = 0;
    for (const std::uint64_t stamp : stamps) {
        tracer::encode_record(tracer::make_record(code, 1, 1, {stamp}), std::span(bytes).subspan(at));
        at += tracer::kRecordBytes;
    }
    return bytes;
}

Address sender(std::uint16_t port) {
    return {.ipv4 = 0x7F00'0001, .port = port};
}

std::vector<std::uint32_t> numbers(const std::optional<Strangers::Packets>& packets) {
    std::vector<std::uint32_t> found;
    for (const auto& [number, contents] : packets.value()) {
        found.push_back(number);
    }
    return found;
}

TEST(PlausibleRecords, HaveKnownCodesAndStampsThatFallOnceAtMost) {
    EXPECT_TRUE(plausible_records(records({1})));
    EXPECT_TRUE(plausible_records(records({5, 5, 7, 2, 3})));
    EXPECT_FALSE(plausible_records(records({5, 7, 2, 3, 1})));
    EXPECT_FALSE(plausible_records(records({1, 0}))) << "no time";
    EXPECT_FALSE(plausible_records(records({1}, kCode | 0x0100))) << "a reserved bit";
    EXPECT_FALSE(plausible_records(records({1}, tracer::event_code("build")))) << "metadata";
    EXPECT_FALSE(plausible_records(Bytes(16))) << "an empty slot";
    EXPECT_FALSE(plausible_records({}));
    EXPECT_FALSE(plausible_records(Bytes(15))) << "less than a record";
}

TEST(Strangers, AreHeldUntilTwoPacketsArePlausible) {
    Strangers strangers;
    EXPECT_FALSE(strangers.take(sender(1), 7, records({1}), false).has_value());
    EXPECT_FALSE(strangers.take(sender(1), 8, Bytes(16), false).has_value());
    EXPECT_FALSE(strangers.take(sender(1), 7, records({2}), false).has_value()) << "the same number";
    EXPECT_FALSE(strangers.take(sender(2), 9, records({3}), false).has_value()) << "another machine";
    const auto packets = strangers.take(sender(1), 6, records({4}), false);
    EXPECT_EQ(numbers(packets), (std::vector<std::uint32_t>{6, 7, 8}));
    EXPECT_EQ(packets->at(7), records({1})) << "the first of its number";
    EXPECT_FALSE(strangers.take(sender(1), 10, records({5}), false).has_value()) << "it begins anew";
}

TEST(Strangers, AreTakenAtOnceWithTheBeginningOfAChunk) {
    Strangers strangers;
    EXPECT_FALSE(strangers.take(sender(1), 1, records({1}), false).has_value());
    const auto packets = strangers.take(sender(1), 1, records({2}), true);
    EXPECT_EQ(numbers(packets), (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(packets->at(1), records({2})) << "in the place of what was held";
    EXPECT_EQ(numbers(strangers.take(sender(2), 5, Bytes(16), true)), (std::vector<std::uint32_t>{5}));
}

TEST(Strangers, LoseTheirOldestPacketsBeyondSixtyFour) {
    Strangers strangers;
    for (std::uint32_t number = 1; number <= 70; ++number) {
        EXPECT_FALSE(strangers.take(sender(1), number, Bytes(16), false).has_value());
    }
    const auto packets = strangers.take(sender(1), 71, Bytes(16), true);
    EXPECT_EQ(packets->size(), Strangers::kHeldMax + 1);
    EXPECT_EQ(packets->begin()->first, 7U);
}

TEST(Strangers, AreForgottenWhenSixtyFourOthersHaveSentSince) {
    Strangers strangers;
    for (std::uint16_t port = 1; port <= Strangers::kSendersMax; ++port) {
        EXPECT_FALSE(strangers.take(sender(port), 1, records({1}), false).has_value());
    }
    EXPECT_FALSE(strangers.take(sender(1), 2, Bytes(16), false).has_value()); // again: 2 is the oldest now
    EXPECT_FALSE(strangers.take(sender(100), 1, records({1}), false).has_value());
    EXPECT_TRUE(strangers.take(sender(1), 3, records({2}), false).has_value());
    EXPECT_FALSE(strangers.take(sender(2), 3, records({2}), false).has_value()) << "its first one is gone";
}

TEST(Strangers, OfOnePlausiblePacketAreTakenWhenThereIsNoMore) {
    Strangers strangers;
    EXPECT_FALSE(strangers.take_plausible().has_value());
    EXPECT_FALSE(strangers.take(sender(1), 1, Bytes(16), false).has_value());
    EXPECT_FALSE(strangers.take_plausible().has_value()) << "this could be anything";
    EXPECT_FALSE(strangers.take(sender(2), 4, records({1}), false).has_value());
    const auto stranger = strangers.take_plausible();
    ASSERT_TRUE(stranger.has_value());
    EXPECT_EQ(stranger->sender, sender(2));
    EXPECT_EQ(stranger->packets, (Strangers::Packets{{4, records({1})}}));
    EXPECT_EQ(stranger->plausible, 1U);
    EXPECT_FALSE(strangers.take_plausible().has_value()) << "once";
}

} // namespace strangers_test

} // namespace host::collector
