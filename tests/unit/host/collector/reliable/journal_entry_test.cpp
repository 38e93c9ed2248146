// SPDX-License-Identifier: MIT
// Tests the bytes of a journal's entry: another collector reads what this one has written.
#include "host/collector/reliable/file_store.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace host::collector::reliable {

namespace journal_entry_test {

constexpr JournalEntry kEntry{.stream = 0x0021,
                              .mark = {.packets = 0x1112'1314'1516'1718,
                                       .bytes = 0x2122'2324'2526'2728,
                                       .crc32c = 0x3132'3334,
                                       .lost = 0x4142'4344'4546'4748,
                                       .ended = true}};

TEST(JournalEntry, HasItsFieldsInTheirPlaces) {
    std::vector<std::byte> expected;
    const auto add = [&expected](std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) {
            expected.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
    };
    add(0x21, 2);
    add(1, 2);
    add(0x3132'3334, 4);
    add(0x1112'1314'1516'1718, 8);
    add(0x2122'2324'2526'2728, 8);
    add(0x4142'4344'4546'4748, 8);
    add(0, 4);
    add(lib::crc32c(expected), 4);
    const JournalEntry::Bytes bytes = kEntry.encode();
    EXPECT_EQ(std::vector(bytes.begin(), bytes.end()), expected);
}

TEST(JournalEntry, ComesBackAsItWasWritten) {
    for (const bool ended : {true, false}) {
        JournalEntry entry = kEntry;
        entry.mark.ended = ended;
        const auto read = JournalEntry::decode(entry.encode());
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(read->stream, 0x21);
        EXPECT_EQ(read->mark, entry.mark);
    }
}

TEST(JournalEntry, IsOfOneOfSixtyFourStreams) {
    JournalEntry entry = kEntry;
    entry.stream = 63;
    EXPECT_TRUE(JournalEntry::decode(entry.encode()).has_value());
    entry.stream = 64;
    EXPECT_FALSE(JournalEntry::decode(entry.encode()).has_value());
}

TEST(JournalEntry, IsNoneWithAnyBitFlipped) {
    const JournalEntry::Bytes whole = kEntry.encode();
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        JournalEntry::Bytes damaged = whole;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_FALSE(JournalEntry::decode(damaged).has_value()) << bit;
    }
}

} // namespace journal_entry_test

} // namespace host::collector::reliable
