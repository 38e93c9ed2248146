// SPDX-License-Identifier: MIT
// Tests what is accepted as a chunk, and the events of it.
#include "fleet/chunk_events.hpp"

#include "tests/support/fleet/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet {
namespace chunk_events_test {

using support::fleet::run_of;
using testing::HasSubstr;

constexpr std::uint64_t kBoot = 0xB007;

Message chunk_message() {
    return run_of(kBoot, 1).chunks.front();
}

std::string refusal_of(const Message& message) {
    const auto read = read_chunk(message);
    EXPECT_TRUE(read || read.error().cause == lib::Error::corrupt);
    return read ? "" : read.error().text;
}

TEST(ReadChunk, StatesWhatIsInIt) {
    const Message message = chunk_message();
    const auto chunk = read_chunk(message);
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->key, (formats::dat::ChunkKey{.boot_id = kBoot, .cpu = 0, .chunk = 0, .generation = 0}));
    EXPECT_EQ(chunk->run.from, message.from);
    EXPECT_EQ(chunk->run.started_s, message.started_s);
    EXPECT_EQ(chunk->events, 4); // without the names
    EXPECT_EQ(chunk->first_ticks, 1'000'000);
    EXPECT_EQ(chunk->last_ticks, 1'005'100);
    EXPECT_EQ(chunk->crc32c, lib::crc32c(std::as_bytes(std::span(message.body))));
}

TEST(ReadChunk, GivesTheEventsThatItCounted) {
    const Message message = chunk_message();
    const auto chunk = read_chunk(message);
    ASSERT_TRUE(chunk);
    std::vector<std::uint64_t> ticks;
    ASSERT_TRUE(for_each_event(chunk.value(), [&ticks](std::span<const trace::Event> events) {
        for (const trace::Event& event : events) {
            EXPECT_FALSE(event.metadata);
            ticks.push_back(event.ticks.value);
        }
    }));
    EXPECT_THAT(ticks, testing::ElementsAre(1'000'000, 1'000'100, 1'005'000, 1'005'100));
}

TEST(ReadChunk, RefusesWhatIsNotTheChunkOfItsId) {
    Message message = chunk_message();
    for (const std::string_view id :
         {"000000000000b007/1/0/0", "000000000000b007/0/1/0", "000000000000b007/0/0/1", "000000000000b008/0/0/0"}) {
        message.id = id;
        EXPECT_THAT(refusal_of(message), HasSubstr("000000000000b007/0/0/0")) << id;
    }
    for (const std::string_view id : {"", "0000000000000000/0/0/0", "000000000000b007/session", "b007/0/0/0"}) {
        message.id = id;
        EXPECT_THAT(refusal_of(message), HasSubstr("does not name a chunk")) << id;
    }
}

// Its session is where damage is examined: a fleet has whole chunks or none.
TEST(ReadChunk, RefusesEachTruncationAndEachFlippedBit) {
    const Message message = chunk_message();
    for (std::size_t size = 0; size < message.body.size(); ++size) {
        Message cut = message;
        cut.body.resize(size);
        EXPECT_NE(refusal_of(cut), "") << size;
    }
    for (std::size_t at = 0; at < message.body.size(); ++at) {
        Message flipped = message;
        flipped.body[at] = static_cast<char>(flipped.body[at] ^ (1 << at % 8));
        EXPECT_NE(refusal_of(flipped), "") << at;
    }
}

TEST(ReadChunk, RefusesTwoChunksInOneMessage) {
    Message message = chunk_message();
    message.body += run_of(kBoot, 2).chunks[1].body;
    EXPECT_NE(refusal_of(message), "");
}

} // namespace chunk_events_test
} // namespace host::fleet
