// SPDX-License-Identifier: MIT
// Tests the JSON writer, compared with documents written by hand and with the library that reads manifests.
#include "host/text/json_writer.hpp"

#include "host/trace/json.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>

namespace host::text {

namespace {

std::string string_of(const fmt::memory_buffer& buffer) {
    return {buffer.data(), buffer.size()};
}

std::string one_value(const auto& value) {
    fmt::memory_buffer out;
    JsonText(out).value(value);
    return string_of(out);
}

// {"a":1,"list":[true,null],"none":{},"empty":[]} in the writer's layout.
template <typename Writer>
std::string sample() {
    fmt::memory_buffer out;
    Writer json(out);
    json.begin_object();
    json.member("a", 1);
    json.key(std::string_view("list"));
    json.begin_array();
    json.value(true);
    json.value(nullptr);
    json.end_array();
    json.key("none");
    json.begin_object();
    json.end_object();
    json.key("empty");
    json.begin_array();
    json.end_array();
    json.end_object();
    return string_of(out);
}

} // namespace

TEST(JsonWriter, SeparatesMembersAndElementsByCommas) {
    EXPECT_EQ(sample<JsonText>(), R"({"a":1,"list":[true,null],"none":{},"empty":[]})");
    EXPECT_EQ((sample<JsonWriter<MemorySink, JsonLayout::spaced>>()),
              R"({"a": 1, "list": [true, null], "none": {}, "empty": []})");
}

TEST(JsonWriter, IndentsADocumentAsTheLibraryDoes) {
    EXPECT_EQ(sample<JsonDocument>(), trace::Json::parse(sample<JsonText>()).dump(2));
}

TEST(JsonWriter, BeginsALineAfterTheComma) {
    fmt::memory_buffer out;
    JsonText json(out);
    json.begin_array();
    json.line();
    json.value(1);
    json.line();
    json.value(2);
    json.end_lines();
    EXPECT_EQ(string_of(out), "[\n1,\n2\n]");
}

TEST(JsonWriter, EndsAnEmptyArrayOnItsLine) {
    fmt::memory_buffer out;
    JsonText json(out);
    json.begin_array();
    json.end_lines();
    EXPECT_EQ(string_of(out), "[]");
}

TEST(JsonWriter, WritesNumbersOfEveryKind) {
    EXPECT_EQ(one_value(std::uint8_t{7}), "7");
    EXPECT_EQ(one_value(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(one_value(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(one_value(std::optional<int>()), "null");
    EXPECT_EQ(one_value(std::optional(3)), "3");
    for (const double number : {0.0, 1.0, 0.5, 12.25, 0.0001, 0.00001, 123456.789}) {
        EXPECT_EQ(one_value(number), trace::Json(number).dump());
    }
    EXPECT_EQ(one_value(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(one_value(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, EscapesEveryByteAndEveryPairAsTheLibraryDoes) {
    const auto expected = [](const std::string& text) {
        return trace::Json(text).dump(-1, ' ', false, trace::Json::error_handler_t::replace);
    };
    for (unsigned first = 0; first < 256; ++first) {
        for (const unsigned second :
             {0U, 0x22U, 0x41U, 0x5CU, 0x7FU, 0x80U, 0x9FU, 0xA0U, 0xBFU, 0xC3U, 0xEDU, 0xFFU}) {
            const std::string pair{static_cast<char>(first), static_cast<char>(second)};
            // At each offset from the steps of eight characters; alone, cut off by the end, and continued.
            for (const std::string& text : {pair, "1234567" + pair + "\x80\x80 tail", "12345678abc" + pair}) {
                ASSERT_EQ(one_value(text), expected(text)) << first << ' ' << second;
            }
        }
    }
}

TEST(JsonWriter, WritesAnObjectInPlace) {
    fmt::memory_buffer out;
    JsonText json(out);
    json.begin_array();
    for (int i = 0; i < 2; ++i) {
        json.object(64, [i](auto& object) {
            object.member("ph", 'X');
            object.member("s", "t");
            object.member("n", i);
        });
    }
    json.end_array();
    EXPECT_EQ(string_of(out), R"([{"ph":"X","s":"t","n":0},{"ph":"X","s":"t","n":1}])");
}

TEST(JsonWriter, CutsALongTextBetweenTwoCharacters) {
    for (std::size_t length = 4090; length < 4100; ++length) {
        const std::string text = std::string(length, 'x') + "\xE2\x82\xAC\xF0\x9F\x98\x80" + std::string(5000, 'y');
        EXPECT_EQ(one_value(text), '"' + text + '"');
    }
}

TEST(JsonWriter, TakesWhatAnotherWriterMadeOfAMember) {
    fmt::memory_buffer inner;
    JsonDocument list(inner, 1);
    list.begin_array();
    list.value("a");
    list.end_array();
    fmt::memory_buffer out;
    JsonDocument json(out);
    json.begin_object();
    json.key("list");
    json.plain(string_of(inner));
    json.end_object();
    EXPECT_EQ(string_of(out), "{\n  \"list\": [\n    \"a\"\n  ]\n}");
}

} // namespace host::text
