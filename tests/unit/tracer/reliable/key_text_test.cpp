// SPDX-License-Identifier: MIT
// Tests the text of a key: the bytes in their order, and nothing but a key is one.
#include "tracer/reliable/siphash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace key_text_test {

using tracer::reliable::agreed_key;
using tracer::reliable::key_of_text;
using tracer::reliable::SipKey;

TEST(KeyText, IsTheBytesInTheirOrder) {
    const SipKey key{.first = 0x0706'0504'0302'0100, .second = 0xFFEE'DDCC'BBAA'9988};
    const std::string text = "00010203040506078899aabbCCDDEEFF";
    EXPECT_EQ(key_of_text(text).value(), key);
    EXPECT_EQ(key_of_text(text + "\n").value(), key);
    EXPECT_EQ(key_of_text(text + "\r\n").value(), key);
}

TEST(KeyText, IsNothingElse) {
    const std::string text(32, 'a');
    for (const std::string& wrong :
         {std::string(), std::string(31, 'a'), std::string(33, 'a'), text + " ", " " + text, std::string("\n"),
          std::string(32, 'g'), std::string(32, '\0'), std::string(31, 'a') + "\n", std::string(32, '\n')}) {
        EXPECT_EQ(key_of_text(wrong).error(), lib::Error::corrupt) << wrong;
    }
}

// Each character, in some of the places.
TEST(KeyText, HasHexadecimalDigitsAlone) {
    for (int code = 0; code < 256; ++code) {
        const char character = static_cast<char>(code);
        const bool digit = std::string_view("0123456789abcdefABCDEF").find(character) != std::string_view::npos;
        for (const std::size_t place : {0U, 17U, 30U}) {
            std::string text(32, '0');
            text[place] = character;
            EXPECT_EQ(key_of_text(text).ok(), digit) << code << " at " << place;
        }
    }
    for (unsigned value = 0; value < 16; ++value) {
        const char lower = "0123456789abcdef"[value];
        const char upper = "0123456789ABCDEF"[value];
        EXPECT_EQ(key_of_text(std::string("0") + lower + std::string(30, '0')).value(), (SipKey{value, 0}));
        EXPECT_EQ(key_of_text(std::string(30, '0') + upper + '0').value(), (SipKey{0, std::uint64_t{value} << 60U}));
    }
}

// A key that is none is refused whatever the other source has: nothing is sent that it was to authenticate.
TEST(KeyText, OfTwoSourcesAgrees) {
    using Key = lib::Result<SipKey>;
    const Key none = lib::Error::not_found;
    const Key bad = lib::Error::corrupt;
    const Key key = SipKey{.first = 1, .second = 2};
    const Key other = SipKey{.first = 1, .second = 3};
    EXPECT_EQ(agreed_key(none, none).error(), lib::Error::not_found);
    EXPECT_EQ(agreed_key(key, none).value(), key.value());
    EXPECT_EQ(agreed_key(none, key).value(), key.value());
    EXPECT_EQ(agreed_key(key, key).value(), key.value());
    EXPECT_EQ(agreed_key(key, other).error(), lib::Error::refused);
    for (const Key& good : {none, key}) {
        EXPECT_EQ(agreed_key(bad, good).error(), lib::Error::corrupt);
        EXPECT_EQ(agreed_key(good, bad).error(), lib::Error::corrupt);
    }
}

} // namespace key_text_test
