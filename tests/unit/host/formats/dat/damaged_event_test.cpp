// SPDX-License-Identifier: MIT
// Tests what is read of a long event whose slots were damaged, and of a chunk whose header was.
#include "tests/support/reading_text.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gmock/gmock.h>

namespace host::formats::dat::damaged_event_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::Lines;
using testing::ElementsAre;

tracer::Record slot(std::uint16_t code, std::uint64_t stamp, std::uint32_t par2 = 2) {
    return tracer::make_record(code, 1, par2, {stamp});
}

// Each event by its stamp, its state and its name; what is reported.
Lines read(const Bytes& bytes) {
    Lines lines = support::reading_by([&](trace::Diagnostics& diagnostics) {
        return Trace::open({.name = "f", .bytes = support::memory_source(bytes), .keep_open = true},
                           {.kind = trace::InputKind::records}, diagnostics);
    });
    Lines found;
    for (const std::string& line : lines) {
        if (line.find(" untimed cpu ") != std::string::npos) {
            const std::size_t state = line.find(' ', line.find(" par ") + 5);
            found.push_back(line.substr(0, line.find(' ')) + line.substr(line.find(' ', state + 1)));
        } else if (line.starts_with("f:")) {
            found.push_back(line);
        }
    }
    return found;
}

TEST(DamagedEvent, AnErasedSlotInsideIsOfAnother) {
    ChunkBuilder chunk;
    chunk.raw(slot(0x101C, 1000)).raw({0xFFFF, 0xFFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}).raw(slot(1, 1100));
    EXPECT_THAT(read(chunk.plain()),
                ElementsAre("18446744073709551615 malformed next_chunk", "1100 ok ipoint",
                            "f:0x10 E-MIX a slot of another long event is inside this one: both given up",
                            "f:0x10 W-RESERVED reserved bits of code 0xffff ignored"));
}

TEST(DamagedEvent, ErasedSlotsBetweenEventsAreCounted) {
    ChunkBuilder chunk;
    chunk.raw(slot(1, 1000));
    for (unsigned i = 0; i < 2; ++i) {
        chunk.raw({0xFFFF, 0xFFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF});
    }
    EXPECT_THAT(
        read(chunk.raw(slot(1, 1100)).plain()),
        ElementsAre("1000 ok ipoint", "1100 ok ipoint", "f:0x10 E-MAGIC 2 slots are all ones: erased, no records"));
}

TEST(DamagedEvent, ThatAnotherCutsOffIsIncomplete) {
    ChunkBuilder chunk;
    chunk.raw(slot(0x101C, 1000))
        .raw(slot(0x201C, 1000))
        .raw(slot(1, 1100))
        .raw(slot(0x301C, 1000))
        .raw(slot(0x101C, 1200));
    EXPECT_THAT(read(chunk.plain()),
                ElementsAre("1000 incomplete metadata task_name", "1100 ok ipoint", "1000 orphan metadata task_name",
                            "1200 incomplete metadata task_name",
                            "f:0x0 E-INCOMPLETE a long event is cut off by another one",
                            "f:0x30 W-ORPHAN a later slot of a long event whose first slot is missing",
                            "f:0x40 E-INCOMPLETE a long event is cut off by the end"));
}

// From a pipe as from a file: the slot that ends the event too early is the first one of the next chunk.
TEST(DamagedEvent, AtTheEndOfAChunkCostsNothingOfTheNextOne) {
    ChunkBuilder first(1);
    first.name("task", 1, "a name of several slots").raw(slot(0x101C, 1000)).raw(slot(0x201C, 1000));
    const Bytes cut = first.bytes();
    ChunkBuilder second(2);
    const Bytes whole = second.event(2000, "ipoint").event(2001, "ipoint").bytes();
    for (const std::size_t kept : {cut.size(), std::size_t{18 * 16}, std::size_t{5 * 16}, std::size_t{16}}) {
        Bytes bytes(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(kept));
        bytes.insert(bytes.end(), whole.begin(), whole.end());
        for (const bool is_pipe : {false, true}) {
            const Lines lines = support::reading_by([&](trace::Diagnostics& diagnostics) {
                return Trace::open({.name = "f",
                                    .bytes = is_pipe ? support::memory_stream(bytes) : support::memory_source(bytes),
                                    .keep_open = true},
                                   {.kind = trace::InputKind::records}, diagnostics);
            });
            EXPECT_THAT(
                lines,
                testing::Contains(testing::AllOf(testing::StartsWith("200"), testing::HasSubstr(" ok "))).Times(2))
                << kept << is_pipe;
            EXPECT_THAT(lines, testing::Contains(testing::AllOf(testing::StartsWith("chunk of f"),
                                                                testing::HasSubstr("described 1 2 0 0 2 0 17 2"))))
                << kept << is_pipe << testing::PrintToString(lines);
        }
    }
}

// Of a chunk's header only its second slot is left; the end of the preamble states how many records follow.
TEST(DamagedEvent, ThatIsTheHeaderOfAChunkCostsTheHeaderIfTheEndOfThePreambleIsThere) {
    ChunkBuilder chunk;
    chunk.raw(slot(0x70, 9000, 2)).raw(slot(0x200C, 9000)).raw(slot(1, 1100));
    const Lines lines = read(chunk.plain());
    EXPECT_THAT(lines, testing::Contains("1100 ok ipoint"));
    EXPECT_THAT(lines,
                testing::Contains("f:0x0 E-MAGIC the first slot of the chunk's header is damaged: its records are "
                                  "read all the same"));
}

} // namespace

} // namespace host::formats::dat::damaged_event_test
