// SPDX-License-Identifier: MIT
// Tests one directory entry: its 32 bytes in both directions, its kinds, and what a name, a label and a date may be.
#include "drivers/fat/directory.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace drivers::fat {
namespace directory_entry_test {

EntryBytes bytes_of(std::string_view name, std::initializer_list<unsigned> rest) {
    EntryBytes bytes{};
    std::size_t at = 0;
    for (const char character : name) {
        bytes[at++] = static_cast<std::byte>(character);
    }
    for (const unsigned byte : rest) {
        bytes[at++] = static_cast<std::byte>(byte);
    }
    EXPECT_EQ(at, kDirectoryEntryBytes);
    return bytes;
}

std::string text_of(const ShortName& name) {
    return {name.text.data(), name.text.size()};
}

TEST(FatEntry, EveryFieldOfAForeignEntryIsReadFromItsPlace) {
    // Created and accessed at other times than modified: 2024-05-17 13:45:30. The second byte after the name has bits
    // that mean nothing here.
    const DirectoryEntry entry =
        decode_entry(bytes_of("README  TXT", {0x21, 0xFF, 0x63, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x23, 0x01, //
                                              0xAF, 0x6D, 0xB1, 0x58, 0x67, 0x45, 0xEF, 0xCD, 0xAB, 0x89}));
    EXPECT_EQ(entry.kind, EntryKind::file);
    EXPECT_EQ(text_of(entry.name), "README  TXT");
    EXPECT_EQ(entry.name.lower_case, 0x18);
    EXPECT_EQ(entry.first_cluster, 0x0123'4567U);
    EXPECT_EQ(entry.size_bytes, 0x89AB'CDEFU);
    EXPECT_EQ(entry.modified.year, 2024);
    EXPECT_EQ(entry.modified.month, 5);
    EXPECT_EQ(entry.modified.day, 17);
    EXPECT_EQ(entry.modified.hour, 13);
    EXPECT_EQ(entry.modified.minute, 45);
    EXPECT_EQ(entry.modified.second, 30);
}

TEST(FatEntry, AFileIsWrittenWithOneTimeForAllThree) {
    DirectoryEntry entry;
    entry.kind = EntryKind::file;
    entry.name = make_short_name("0trace.DAT").value();
    entry.first_cluster = 0x0123'4567;
    entry.size_bytes = 0x89AB'CDEF;
    entry.modified = {.year = 2024, .month = 5, .day = 17, .hour = 13, .minute = 45, .second = 31};
    EXPECT_EQ(encode_entry(entry),
              bytes_of("0TRACE  DAT", {0x20, 0x08, 0x00, 0xAF, 0x6D, 0xB1, 0x58, 0xB1, 0x58, 0x23, 0x01, //
                                       0xAF, 0x6D, 0xB1, 0x58, 0x67, 0x45, 0xEF, 0xCD, 0xAB, 0x89}));
}

TEST(FatEntry, FirstByteAndAttributesDecideTheKind) {
    const auto kind_of = [](unsigned first, unsigned attributes) {
        EntryBytes bytes{};
        bytes[0] = static_cast<std::byte>(first);
        bytes[11] = static_cast<std::byte>(attributes);
        return decode_entry(bytes).kind;
    };
    EXPECT_EQ(kind_of(0, 0x0F), EntryKind::end);
    EXPECT_EQ(kind_of(0xE5, 0x0F), EntryKind::free);
    EXPECT_EQ(kind_of('A', 0x00), EntryKind::file);
    EXPECT_EQ(kind_of('A', 0x27), EntryKind::file); // read-only, hidden, system, archive
    EXPECT_EQ(kind_of('A', 0x10), EntryKind::directory);
    EXPECT_EQ(kind_of('A', 0x08), EntryKind::label);
    EXPECT_EQ(kind_of('A', 0x28), EntryKind::label);
    EXPECT_EQ(kind_of('A', 0x0F), EntryKind::long_name);
    EXPECT_EQ(kind_of('A', 0xCF), EntryKind::long_name); // the two highest bits are reserved
    EXPECT_EQ(kind_of('A', 0x2F), EntryKind::label);
}

TEST(FatEntry, AFirstCharacterE5IsStoredAs05) {
    EntryBytes bytes{};
    bytes[0] = std::byte{0x05};
    const DirectoryEntry entry = decode_entry(bytes);
    EXPECT_EQ(entry.kind, EntryKind::file);
    EXPECT_EQ(entry.name.text[0], static_cast<char>(0xE5));
}

TEST(FatNames, TheseCharactersAreAllowedInANameAndNoOthers) {
    const std::string_view allowed = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$%'-_@~`!(){}^#&";
    for (unsigned code = 0; code < 256; ++code) {
        const auto character = static_cast<char>(code);
        const bool expected = allowed.find(character) != std::string_view::npos;
        const std::string name{'A', character, 'A'};
        EXPECT_EQ(make_label(name).ok(), expected || character == ' ') << code;
        if (character != '.') { // it separates
            EXPECT_EQ(make_short_name(name).ok(), expected) << code;
        }
    }
}

TEST(FatNames, ANameIsPaddedAndInUpperCase) {
    EXPECT_EQ(text_of(make_short_name("azAZ09").value()), "AZAZ09     ");
    EXPECT_EQ(text_of(make_short_name("@`{}~").value()), "@`{}~      ") << "the neighbours of the letters";
    EXPECT_EQ(text_of(make_short_name("a.b").value()), "A       B  ");
    EXPECT_EQ(text_of(make_short_name("abcdefgh.ijk").value()), "ABCDEFGHIJK");
    for (const auto& [name, flags] :
         {std::pair{"A.B", 0x00}, std::pair{"a.B", 0x08}, std::pair{"A.b", 0x10}, std::pair{"a.b", 0x18},
          std::pair{"aA.bB", 0x00}, std::pair{"zZ", 0x00}, std::pair{"1.2", 0x00}}) {
        EXPECT_EQ(make_short_name(name).value().lower_case, flags) << name;
    }
}

TEST(FatNames, ALabelHasOneToElevenCharacters) {
    EXPECT_EQ(text_of(make_label("x").value()), "X          ");
    EXPECT_EQ(text_of(make_label("a label xyz").value()), "A LABEL XYZ");
    for (const std::string_view bad : {"", " A", "ABCDEFGHIJKL", "A.B"}) {
        EXPECT_EQ(make_label(bad).error(), lib::Error::invalid_argument) << bad;
    }
}

TEST(FatEntry, ADateIsValidUpToTheLastValueOfEachField) {
    const DateTime first{.year = 1980, .month = 1, .day = 1, .hour = 0, .minute = 0, .second = 0};
    const DateTime last{.year = 2107, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 59};
    EXPECT_TRUE(first.valid());
    EXPECT_TRUE(last.valid());
    const auto changed = [](DateTime time, auto DateTime::*field, int change) {
        time.*field = static_cast<std::remove_reference_t<decltype(time.*field)>>(time.*field + change);
        return time;
    };
    EXPECT_FALSE(changed(first, &DateTime::year, -1).valid());
    EXPECT_FALSE(changed(last, &DateTime::year, 1).valid());
    for (const auto field : {&DateTime::month, &DateTime::day}) {
        EXPECT_FALSE(changed(first, field, -1).valid());
    }
    for (const auto field : {&DateTime::month, &DateTime::day, &DateTime::hour, &DateTime::minute, &DateTime::second}) {
        EXPECT_FALSE(changed(last, field, 1).valid());
    }
}

} // namespace directory_entry_test
} // namespace drivers::fat
