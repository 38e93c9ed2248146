// SPDX-License-Identifier: MIT
// Tests names in the entries of a FAT directory: short ones with their dot, long ones in their pieces, which belong to
// the short entry after them or are ignored.
#include "host/formats/fat/volume.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace host::formats::fat::entry_test {

namespace {

using Entry = std::array<std::byte, kEntryBytes>;

// name: eleven characters.
Entry short_entry(std::string_view name, unsigned attributes = 0x20) {
    Entry entry{};
    std::ranges::transform(name, entry.begin(), [](char character) { return static_cast<std::byte>(character); });
    entry[11] = static_cast<std::byte>(attributes);
    return entry;
}

// As the specification calculates it.
unsigned checksum_of(std::string_view name) {
    unsigned sum = 0;
    for (const char character : name) {
        sum = ((sum & 1) * 0x80 + sum / 2 + static_cast<unsigned char>(character)) % 0x100;
    }
    return sum;
}

// The pieces of a long name as they are in the directory, the last one first. number 0x40 is in the first of them.
std::vector<Entry> pieces_of(std::string_view text, unsigned checksum) {
    constexpr std::array<std::size_t, 13> kPlaces = {1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30};
    const std::size_t count = (text.size() + 12) / 13;
    std::vector<Entry> pieces;
    for (std::size_t piece = count; piece-- > 0;) {
        Entry entry{};
        entry[0] = static_cast<std::byte>((piece + 1) | (piece + 1 == count ? 0x40U : 0U));
        entry[11] = std::byte{0x0F};
        entry[13] = static_cast<std::byte>(checksum);
        for (std::size_t i = 0; i < kPlaces.size(); ++i) {
            const std::size_t at = piece * 13 + i;
            entry[kPlaces[i]] = at < text.size() ? static_cast<std::byte>(text[at])
                                                 : std::byte{at == text.size() ? std::uint8_t{0} : std::uint8_t{0xFF}};
            entry[kPlaces[i] + 1] = at > text.size() ? std::byte{0xFF} : std::byte{0};
        }
        pieces.push_back(entry);
    }
    return pieces;
}

constexpr std::string_view kShort = "LONGNA~1DAT";

// What the short entry is called after these.
std::string name_after(const std::vector<Entry>& pieces) {
    LongName name;
    for (const Entry& piece : pieces) {
        EXPECT_TRUE(name.take(piece));
    }
    return name.name_of(short_entry(kShort));
}

TEST(FatEntry, AShortNameHasADotIfSomethingFollowsIt) {
    const LongName none;
    EXPECT_EQ(none.name_of(short_entry("0TRACE  DAT")), "0TRACE.DAT");
    EXPECT_EQ(none.name_of(short_entry("NAMEFULLEXT")), "NAMEFULL.EXT");
    EXPECT_EQ(none.name_of(short_entry("A       B  ")), "A.B");
    EXPECT_EQ(none.name_of(short_entry("NOEXT      ")), "NOEXT");
    EXPECT_EQ(none.name_of(short_entry("A B C   D E")), "A B C.D E");
    EXPECT_EQ(none.name_of(short_entry("        DAT")), ".DAT");
    EXPECT_EQ(none.name_of(short_entry("~\x7F\x1F\x80\xFF   DAT")), "~????.DAT");
}

TEST(FatEntry, IsAFileIfItIsNeitherDeletedNorALabelNorADirectory) {
    EXPECT_TRUE(is_file(short_entry(kShort)));
    EXPECT_TRUE(is_file(short_entry(kShort, 0x27))) << "read-only, hidden, of the system";
    EXPECT_TRUE(is_file(short_entry(kShort, 0xC0))) << "bits that mean nothing";
    EXPECT_FALSE(is_file(short_entry(kShort, 0x08)));
    EXPECT_FALSE(is_file(short_entry(kShort, 0x10)));
    EXPECT_FALSE(is_file(short_entry("\xE5ONGNA~1DAT")));
}

TEST(FatEntry, ALongNameIsPutTogetherFromItsPieces) {
    const unsigned checksum = checksum_of(kShort);
    for (const std::string_view text :
         {"a", "twelve chars", "thirteen char", "fourteen chars", "1234567890 and more than two pieces.dat"}) {
        EXPECT_EQ(name_after(pieces_of(text, checksum)), text);
    }
    const std::string greatest(260, 'x');
    EXPECT_EQ(name_after(pieces_of(greatest, checksum)), greatest);
    EXPECT_EQ(name_after(pieces_of("\x1F\x7F ~", checksum)), "?? ~");
    std::vector<Entry> wide = pieces_of("abc", checksum);
    wide[0][4] = std::byte{1}; // U+0162
    EXPECT_EQ(name_after(wide), "a?c");
}

TEST(FatEntry, ALongNameThatIsNotWholeOrOfAnotherEntryIsIgnored) {
    const unsigned checksum = checksum_of(kShort);
    constexpr std::string_view kLong = "fourteen chars and more";
    const std::vector<Entry> pieces = pieces_of(kLong, checksum);
    ASSERT_EQ(name_after(pieces), kLong);
    constexpr std::string_view kShown = "LONGNA~1.DAT";
    EXPECT_EQ(name_after({}), kShown);
    EXPECT_EQ(name_after({pieces[0]}), kShown) << "the first piece is missing";
    EXPECT_EQ(name_after({pieces[1]}), kShown) << "the last piece is missing";
    EXPECT_EQ(name_after({pieces[1], pieces[0]}), kShown) << "in the wrong order";
    EXPECT_EQ(name_after({pieces[0], pieces[1], pieces[1]}), kShown) << "one piece twice";
    EXPECT_EQ(name_after(pieces_of(kLong, checksum ^ 1)), kShown) << "of another entry";
    std::vector<Entry> mixed = pieces;
    mixed[1][13] ^= std::byte{1};
    EXPECT_EQ(name_after(mixed), kShown) << "pieces of two names";
    std::vector<Entry> none = pieces;
    none[1][0] = std::byte{0};
    EXPECT_EQ(name_after(none), kShown) << "a piece of number 0";
    EXPECT_EQ(name_after({pieces[0], pieces[0], pieces[1]}), kLong) << "begun anew";
    EXPECT_EQ(name_after(pieces_of(std::string(261, 'x'), checksum)), kShown) << "more pieces than there may be";
}

TEST(FatEntry, OnlyAPieceIsTakenForOne) {
    LongName name;
    EXPECT_FALSE(name.take(short_entry(kShort)));
    EXPECT_FALSE(name.take(short_entry(kShort, 0x08)));
    Entry deleted = pieces_of("abc", 0).front();
    deleted[0] = std::byte{0xE5};
    EXPECT_FALSE(name.take(deleted));
}

} // namespace

} // namespace host::formats::fat::entry_test
