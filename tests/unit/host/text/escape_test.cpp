// SPDX-License-Identifier: MIT
// Tests what a terminal shows of text from outside.
#include "host/text/escape.hpp"

#include <gtest/gtest.h>
#include <iterator>

namespace host::text {

namespace {

TEST(Escape, LeavesLettersOfAnyScript) {
    for (const std::string text :
         {"bus", "gr\u00fc\u00dfe", "\u05d0\u05d1", "\u4e2d", "\u00e9\u2013\u20ac", "\U0001f600"}) {
        EXPECT_EQ(escaped(text), text);
    }
}

TEST(Escape, MakesBytesOfControlsVisible) {
    EXPECT_EQ(escaped("a\x1b[2J\n\x7f\\"), R"(a\x1b[2J\x0a\x7f\\)");
    EXPECT_EQ(escaped("\u009b"), R"(\xc2\x9b)");
    EXPECT_EQ(escaped("\x9b\xff"), R"(\x9b\xff)");
}

TEST(Escape, CutsBetweenCharacters) {
    const std::string_view text = "a\u00e9\u20ac\U0001f600z"; // of 1, 2, 3, 4 and 1 bytes
    const std::size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (std::size_t bytes = 0; bytes < std::size(ends); ++bytes) {
        EXPECT_EQ(cut(text, bytes), text.substr(0, ends[bytes])) << bytes;
    }
    EXPECT_EQ(cut("\x80\x80\x80\x80\x80", 3), "\x80\x80\x80") << "bytes without a beginning";
    EXPECT_EQ(cut("a\xc3zz", 2), "a\xc3") << "a character that is cut already";
    std::string many(kEscapedInputMax - 1, 'a');
    EXPECT_EQ(escaped(many + "\u00e9"), many + "...");
}

// What changes the order or the visibility of other characters makes a name look like another one.
TEST(Escape, LetsNoCharacterWithoutAGlyphOfItsOwnPass) {
    EXPECT_EQ(escaped("a\u202Eb"), R"(a\xe2\x80\xaeb)");
    for (const std::string text :
         {"\u00AD", "\u061C", "\u180E", "\u200B", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u2060", "\u2066",
          "\u2069", "\u206F", "\uFEFF", "\uFFF9", "\uFFFB", "\U000E0001", "\U000E007F"}) {
        EXPECT_EQ(escaped(text).find_first_not_of("\\x0123456789abcdef"), std::string::npos) << escaped(text);
        EXPECT_EQ(made_printable(text), escaped(text));
    }
}

} // namespace

} // namespace host::text
