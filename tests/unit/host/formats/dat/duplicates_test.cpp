// SPDX-License-Identifier: MIT
// Tests chunks that are in the input twice: the first counts, and whether the other is the same is decided by all of
// its bytes.
#include "tests/support/reading_text.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gmock/gmock.h>

namespace host::formats::dat::duplicates_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::Lines;
using testing::ElementsAre;

// Of so many events, each with this value but for the last.
Bytes chunk_of(std::uint16_t number, std::size_t events, std::uint32_t value = 1, std::uint32_t last = 1) {
    ChunkBuilder chunk(number);
    for (std::size_t i = 1; i < events; ++i) {
        chunk.event(1000 + i, "ipoint", 2, value);
    }
    return chunk.event(1000 + events, "ipoint", 2, last).bytes();
}

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

// What is reported, and the exit status.
Lines reports(const Bytes& bytes, bool is_stream = false) {
    Lines lines = support::reading_of(is_stream ? support::memory_stream(bytes) : support::memory_source(bytes), {});
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("f:") && !line.starts_with("exit"); });
    return lines;
}

std::size_t events(const Bytes& bytes) {
    const Lines lines = support::reading_of(support::memory_source(bytes), {});
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [](const std::string& line) { return line.ends_with(" ok ipoint"); }));
}

TEST(Duplicates, OfTheSameBytesAreLeftOut) {
    const Bytes twice = chunk_of(4, 5) + chunk_of(4, 5);
    EXPECT_THAT(reports(twice),
                ElementsAre("f:0x160 chunk 4 cpu 0 W-DUP the same chunk is at f:0x0: this one is dropped", "exit 0"));
    EXPECT_EQ(events(twice), 5U);
}

TEST(Duplicates, OfOtherBytesAreLeftOutAndReported) {
    const Lines conflict{"f:0x160 chunk 4 cpu 0 E-CONFLICT a chunk of this number, with other contents, is at f:0x0: "
                         "this one is dropped",
                         "exit 2"};
    EXPECT_EQ(reports(chunk_of(4, 5) + chunk_of(4, 5, 9)), conflict);
    EXPECT_EQ(reports(chunk_of(4, 5) + chunk_of(4, 5, 1, 9)), conflict) << "the last one";
    EXPECT_EQ(reports(chunk_of(4, 5) + chunk_of(4, 6)), conflict) << "one more";
    EXPECT_EQ(events(chunk_of(4, 5) + chunk_of(4, 6)), 5U);
}

// Longer than the pieces that are compared at once.
TEST(Duplicates, OfManyBytesAreComparedToTheirEnd) {
    const std::size_t events = trace::ByteSource::kBufferBytes / tracer::kRecordBytes + 3;
    EXPECT_EQ(reports(chunk_of(4, events) + chunk_of(4, events)).back(), "exit 0");
    EXPECT_EQ(reports(chunk_of(4, events) + chunk_of(4, events, 1, 9)).back(), "exit 2");
    EXPECT_EQ(reports(chunk_of(4, events) + chunk_of(4, events, 9)).back(), "exit 2");
}

TEST(Duplicates, OfAnotherNumberAreNone) {
    ChunkBuilder number(5);
    ChunkBuilder generation(4);
    generation.begin.generation = 1;
    ChunkBuilder processor(4);
    processor.begin.cpu = 1;
    for (const Bytes& other : {number.event(2000, "ipoint").bytes(), generation.event(2000, "ipoint").bytes(),
                               processor.event(2000, "ipoint").bytes()}) {
        for (const bool is_stream : {false, true}) {
            EXPECT_THAT(reports(chunk_of(4, 5) + other, is_stream), ElementsAre("exit 0"));
        }
    }
}

// A pipe is not read twice: only the numbers are known.
TEST(Duplicates, OfAPipeAreLeftOutByTheirNumber) {
    EXPECT_THAT(reports(chunk_of(4, 5) + chunk_of(4, 5, 9), true),
                ElementsAre("f:0x160 W-DUP chunk 4 of generation 0 came before: chunk skipped", "exit 0"));
}

} // namespace

} // namespace host::formats::dat::duplicates_test
