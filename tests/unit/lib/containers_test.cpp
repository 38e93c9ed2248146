// SPDX-License-Identifier: MIT
// Tests intrusive list, static pool, fixed text, Result.
#include "lib/intrusive_list.hpp"
#include "lib/result.hpp"
#include "lib/static_pool.hpp"
#include "lib/text.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace lib {

namespace {

struct FirstTag;
struct SecondTag;

struct Item : ListLink<FirstTag>, ListLink<SecondTag> {};

} // namespace

TEST(IntrusiveList, HoldsOneObjectInTwoListsAtOnce) {
    IntrusiveList<Item, FirstTag> first;
    IntrusiveList<Item, SecondTag> second;
    Item item;
    first.push_back(item);
    second.push_back(item);
    first.remove(item);
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.front(), &item);
    second.remove(item);
}

TEST(IntrusiveList, AgreesWithADequeUnderRandomOperations) {
    std::mt19937 random(7);
    IntrusiveList<Item, FirstTag> list;
    std::deque<Item> items(16);
    std::deque<Item*> model;
    for (int step = 0; step < 5'000; ++step) {
        Item& item = items[random() % items.size()];
        auto& link = static_cast<ListLink<FirstTag>&>(item);
        if (link.linked()) {
            list.remove(item);
            std::erase(model, &item);
        } else {
            list.push_back(item);
            model.push_back(&item);
        }
        const Item* walk = list.front();
        for (const Item* expected : model) {
            ASSERT_EQ(walk, expected);
            walk = list.next(*walk);
        }
        ASSERT_EQ(walk, nullptr);
    }
}

TEST(IntrusiveList, ALinkThatWasRemovedPointsAtNothingWhenItIsAppendedAgain) {
    IntrusiveList<Item, FirstTag> list;
    std::deque<Item> items(3);
    for (Item& item : items) {
        list.push_back(item);
    }
    list.remove(items[0]);
    list.remove(items[2]);
    list.push_back(items[0]);
    EXPECT_EQ(list.front(), &items[1]);
    EXPECT_EQ(list.next(items[1]), &items[0]);
    EXPECT_EQ(list.next(items[0]), nullptr);
}

TEST(StaticPool, HandsOutEachSlotOnceAndTakesItBack) {
    StaticPool<int, 3> pool;
    int* const a = pool.take();
    int* const b = pool.take();
    int* const c = pool.take();
    ASSERT_TRUE(a != nullptr && b != nullptr && c != nullptr);
    EXPECT_EQ(pool.take(), nullptr);
    pool.release(*b);
    EXPECT_EQ(pool.at(1), nullptr);
    EXPECT_EQ(pool.take(), b);
    EXPECT_EQ(pool.in_use(), 3U);
    EXPECT_EQ(pool.at(3), nullptr);
}

TEST(Text, FormatsTheLimitsOfItsNumbers) {
    Text<80> text;
    text.decimal(std::numeric_limits<std::int64_t>::min()).add(' ').decimal(~std::uint64_t{0}).add(' ').decimal(0);
    EXPECT_EQ(text.view(), "-9223372036854775808 18446744073709551615 0");
    text.clear();
    text.decimal(42, 6).add('|').decimal(7, 3, '0').add('|').hex(0xBEEF, 8).add('|').hex(0);
    EXPECT_EQ(text.view(), "    42|007|0000beef|0");
}

TEST(Text, CutsAndSaysSo) {
    Text<4> text("abcd");
    EXPECT_FALSE(text.truncated());
    text.add('e');
    EXPECT_TRUE(text.truncated());
    EXPECT_EQ(text.view(), "abcd");
}

TEST(Text, TakesNumbersFromTheFront) {
    std::string_view text = "12.007x";
    EXPECT_EQ(take_number(text), 12U);
    EXPECT_EQ(text, ".007x");
    EXPECT_EQ(take_number(text), std::nullopt);
    EXPECT_EQ(text, ".007x");
    text.remove_prefix(1);
    EXPECT_EQ(take_number(text), 7U);
    EXPECT_EQ(text, "x");
}

TEST(Text, IsANumberIfAllOfItAreDigitsUpToTheMaximum) {
    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(number_of("0", kMax), 0U);
    EXPECT_EQ(number_of("18446744073709551615", kMax), kMax);
    EXPECT_EQ(number_of("00018446744073709551615", kMax), kMax);
    EXPECT_EQ(number_of("65535", 65535), 65535U);
    EXPECT_EQ(number_of("65536", 65535), std::nullopt);
    for (const std::string_view text :
         {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "18446744073709551616", "99999999999999999999"}) {
        EXPECT_EQ(number_of(text, kMax), std::nullopt) << text;
    }
}

TEST(Result, CarriesEitherSide) {
    const Result<int> good = 5;
    const Result<int> bad = Error::timeout;
    EXPECT_TRUE(good.ok());
    EXPECT_EQ(good.value(), 5);
    EXPECT_FALSE(bad.ok());
    EXPECT_EQ(error_name(bad.error()), "timeout");
}

TEST(Result, WithoutAValueCarriesTheFirstErrorAndErrorsThatAreNoEnumeration) {
    const Result<void> good;
    const Result<void> bad = Error{};
    EXPECT_TRUE(good.ok() && static_cast<bool>(good));
    EXPECT_FALSE(bad.ok() || static_cast<bool>(bad));
    EXPECT_EQ(bad.error(), Error{});
    const Result<void, std::string> fine;
    const Result<void, std::string> text = std::string("why");
    EXPECT_TRUE(fine.ok());
    EXPECT_EQ(text.error(), "why");
}

TEST(ResultDeathTest, ReadingTheWrongSideAsserts) {
    const Result<int> bad = Error::busy;
    EXPECT_DEATH(static_cast<void>(bad.value()), "assertion failed");
}

} // namespace lib
