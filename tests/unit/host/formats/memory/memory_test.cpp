// SPDX-License-Identifier: MIT
// Tests a machine's memory as a trace: found in each kind of file, read chunk by chunk, and never believed further than
// it holds.
#include "host/formats/input_kind.hpp"
#include "host/text/format.hpp"
#include "host/trace/facts.hpp"
#include "tests/support/memory_image.hpp"
#include "tests/support/reading_test.hpp"

#include "tracer/record/record_path_layout.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <thread>

namespace host::formats::memory::memory_test {

namespace {

using support::Bytes;
using support::MemoryImage;
using testing::HasSubstr;

constexpr const tracer::black_box::ChunkFields& kAt = tracer::black_box::kChunkFields;

tracer::Record ipoint(std::uint64_t stamp, std::uint32_t value = 7) {
    return tracer::make_record(trace::kCodeOf<"ipoint">, 1, value, {stamp});
}

// Two chunks with three records and one; the second has an emergency record, too.
MemoryImage two_chunks() {
    MemoryImage image;
    image.add_chunk(0, 8);
    image.add_chunk(1, 8);
    for (const std::uint64_t stamp : {1000U, 1100U, 1200U}) {
        image.write(0, ipoint(stamp));
    }
    image.write(1, ipoint(1300));
    image.write_emergency(1, ipoint(1400));
    image.set_active(1);
    return image;
}

class Memory : public support::ReadingTest {};

TEST_F(Memory, IsReadFromEachKindOfFile) {
    const MemoryImage image = two_chunks();
    EXPECT_EQ(read(image.saved()), 5U) << m_lines;
    EXPECT_EQ(read(image.saved(0)), 5U) << m_lines;
    EXPECT_EQ(read(image.core()), 5U) << m_lines;
    Bytes ram(MemoryImage::kBase); // offset = address
    ram.insert(ram.end(), image.bytes().begin(), image.bytes().end());
    EXPECT_EQ(read(ram), 5U) << m_lines;
    EXPECT_EQ(m_lines, "");
}

// The memory of two processors. That of the second is higher by kShift, mapped at the same virtual addresses as the
// first one's. change: of its descriptor, before it is sealed.
constexpr std::uint64_t kShift = 0x40000;

Bytes two_processors(std::uint64_t next, const std::function<void(tracer::black_box::Descriptor&)>& change = {}) {
    MemoryImage first = two_chunks();
    MemoryImage second = two_chunks();
    auto& descriptor = second.descriptor();
    for (std::uint64_t* const address :
         {&descriptor.address, &descriptor.processors.address, &descriptor.chunks.address, &descriptor.arena.address,
          &descriptor.names.address, &descriptor.names_order.address, &descriptor.declarations.address,
          &descriptor.declarations_order.address, &descriptor.retired}) {
        *address += kShift;
    }
    descriptor.virt_minus_phys = 0 - kShift;
    descriptor.cpu = 1;
    if (change) {
        change(descriptor);
    }
    second.seal();
    first.descriptor().next = next;
    first.seal();
    Bytes file = first.saved();
    file.resize(kShift);
    const Bytes rest = second.saved();
    file.insert(file.end(), rest.begin(), rest.end());
    return file;
}

TEST_F(Memory, HasTheChunksOfEachProcessor) {
    const std::string path = m_directory.write("ram", two_processors(MemoryImage::kBase + kShift));
    trace::Diagnostics diagnostics([](std::string_view line) { FAIL() << line; });
    const auto opened = Trace::open(path, {}, diagnostics);
    ASSERT_TRUE(opened.ok());
    std::array<int, 2> events{};
    opened.value()->for_each([&](const trace::Event& event) { events.at(event.cpu) += event.metadata ? 0 : 1; });
    EXPECT_THAT(events, testing::ElementsAre(5, 5));
}

TEST_F(Memory, AFurtherProcessorIsOfTheSameBootAndComesLater) {
    using tracer::black_box::Descriptor;
    constexpr std::uint64_t kNext = MemoryImage::kBase + kShift;
    EXPECT_EQ(read(two_processors(MemoryImage::kBase)), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-HEADER the descriptor of processor 0 leads to that of processor 0"));
    EXPECT_EQ(read(two_processors(kNext, [](Descriptor& of) { of.boot_id = 1; })), 0U);
    EXPECT_THAT(m_lines, HasSubstr("leads to that of processor 1 of boot 0000000000000001"));
    EXPECT_EQ(read(two_processors(kNext, [](Descriptor& of) { of.next = kNext; })), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-HEADER the descriptor of processor 1 leads to that of processor 1"));
    EXPECT_EQ(read(two_processors(kNext << 20)), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-TRUNC"));
    EXPECT_EQ(read(two_processors(kNext, [](Descriptor& of) { of.arena.bytes = std::uint64_t{1} << 30; })), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-HEADER the arenas of the processors"));
}

// The mark may be anywhere by chance: a page whose address cannot be its own is none.
TEST_F(Memory, IsFoundAfterPagesThatOnlyBeginAsADescriptor) {
    constexpr std::size_t kPage = tracer::black_box::kAlignment;
    const MemoryImage image = two_chunks();
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x12345}}) {
        Bytes file = image.saved(3 * kPage);
        std::ranges::copy(std::as_bytes(std::span(tracer::black_box::kMagic)), file.begin() + kPage);
        lib::store_le(std::span(file).subspan(kPage + offsetof(tracer::black_box::Descriptor, address)), address);
        EXPECT_EQ(read(file), 5U) << address << '\n' << m_lines;
    }
}

// A core that was cut: a segment after its end has no bytes.
TEST_F(Memory, ASegmentBeyondTheFileHidesNoOther) {
    Bytes core = two_chunks().core();
    lib::store_le(std::span(core).subspan(64), std::uint32_t{1}); // instead of the note
    lib::store_le(std::span(core).subspan(64 + 8), std::uint64_t{core.size() + 1});
    lib::store_le(std::span(core).subspan(64 + 24), MemoryImage::kBase);
    lib::store_le(std::span(core).subspan(64 + 32), std::uint64_t{0x1000});
    EXPECT_EQ(read(core), 5U) << m_lines;
    EXPECT_EQ(m_lines, "");
}

TEST_F(Memory, NamesItsTasks) {
    MemoryImage image = two_chunks();
    image.add_task(12, "control");
    image.write(0, tracer::make_record(trace::kCodeOf<"task_dispatch">, 12, 0, {1250}));
    const std::string path = m_directory.write("ram", image.saved());
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = Trace::open(path, {}, diagnostics);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened.value()->kind(), trace::InputKind::memory);
    opened.value()->for_each([&](const trace::Event&) {});
    EXPECT_EQ(opened.value()->facts().names.find(tracer::Unit::context, 12), "control");
    EXPECT_EQ(opened.value()->facts().boot_id, 0x1122334455667788U);
    EXPECT_EQ(opened.value()->facts().chunks.size(), 2U);
}

TEST_F(Memory, ACyclicChunkShowsItsPreviousLapFromTheScratchSlotOn) {
    MemoryImage image;
    image.add_chunk(0, 4, 0, tracer::kFlagCyclic);
    for (std::uint64_t stamp = 1000; stamp < 1006; ++stamp) {
        image.write(0, ipoint(stamp)); // 4 of the first lap, 2 of the next
    }
    EXPECT_EQ(read(image.saved()), 3U) << m_lines; // 1003, 1004, 1005: 1002 is in the scratch slot
}

TEST_F(Memory, AnInvalidChunkIsLeftOutAndTheOthersAreRead) {
    struct Row {
        std::string field;
        std::function<void(MemoryImage&)> damage;
        std::string text;
    };

    const auto control = [](std::size_t field, auto value) {
        return [=](MemoryImage& image) { image.put(MemoryImage::control(0, field), value); };
    };
    const auto entry = [](std::size_t field, auto value) {
        return [=](MemoryImage& image) { image.put(MemoryImage::entry(0, field), value); };
    };
    constexpr std::uint64_t kOutside = 0x7FFF'FFFF'FFFF'FFF0;
    const std::vector<Row> rows = {
        {"data", control(TRACER_CHUNK_DATA, kOutside), "data 0x7ffffffffffffff0"},
        {"data_end", control(TRACER_CHUNK_DATA, MemoryImage::kArena + 0x10000 - 16), "outside of the arena"},
        {"data_before", control(TRACER_CHUNK_DATA, MemoryImage::kArena - 16), "outside of the arena"},
        {"size", entry(kAt.size_bytes, std::uint32_t{0xFFFF'FFFF}), "size 4294967295"},
        {"emergency_data", control(TRACER_CHUNK_EMERGENCY_DATA, kOutside), "emergency_data"},
        {"emergency_size", entry(kAt.emergency_bytes, std::uint32_t{0xFFFF'FFF0}), "emergency size 4294967280"},
        {"position", control(TRACER_CHUNK_WORD, std::uint64_t{0x07FF'FFF0}), "position 134217712"},
        {"position_odd", control(TRACER_CHUNK_WORD, std::uint64_t{24}), "position 24"},
        {"emergency_position", control(TRACER_CHUNK_EMERGENCY_WORD, std::uint64_t{80}), "emergency position 80"},
        {"lap_end", control(TRACER_CHUNK_LAP_END, std::uint32_t{4096}), "lap_end 4096"},
        {"number", entry(kAt.number, std::uint8_t{9}), "number 9"},
        {"exists", entry(kAt.exists, std::uint8_t{7}), "exists 7"},
        {"stream_bytes",
         [](MemoryImage& image) {
             image.put(MemoryImage::entry(0, kAt.compressed), std::uint8_t{1});
             image.put(MemoryImage::entry(0, kAt.stream_bytes), std::uint32_t{1 << 30});
         },
         "stream_bytes 1073741824"},
        {"stream",
         [](MemoryImage& image) {
             image.put(MemoryImage::entry(0, kAt.compressed), std::uint8_t{1});
             image.put(MemoryImage::entry(0, kAt.stream_bytes), std::uint32_t{48});
         },
         "this is no compact stream"},
        {"stamp", [](MemoryImage& image) { image.put(MemoryImage::kArena + 16, std::array<std::byte, 16>{}); },
         "main record 1 of 3"},
        {"emergency_stamp",
         [](MemoryImage& image) {
             image.write_emergency(0, ipoint(9000));
             image.write_emergency(0, ipoint(8000));
         },
         "emergency record 1 of 2"},
    };
    for (const Row& row : rows) {
        MemoryImage image = two_chunks();
        row.damage(image);
        EXPECT_EQ(read(image.saved()), 2U) << row.field << '\n' << m_lines;
        EXPECT_THAT(m_lines, HasSubstr("chunk 0 W-GAP the chunk is left out: ")) << row.field;
        EXPECT_THAT(m_lines, HasSubstr(row.text)) << row.field;
    }
}

// Between chunk 0, the oldest, and chunk 2.
TEST_F(Memory, AChunkThatIsLeftOutIsAGapOfItsRecordsInItsPlace) {
    MemoryImage image;
    for (const std::uint32_t number : {0U, 1U, 2U}) {
        image.add_chunk(number, 8);
        for (const std::uint64_t stamp : {1000U, 1100U, 1200U}) {
            image.write(number, ipoint(stamp + 1000 * number));
        }
    }
    image.set_active(2);
    image.put(MemoryImage::kArena + 12 * tracer::kRecordBytes + 16, std::array<std::byte, 16>{}); // of chunk 1
    const std::string path = m_directory.write("ram", image.saved());
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = Trace::open(path, {}, diagnostics);
    ASSERT_TRUE(opened.ok());
    std::vector<std::uint64_t> after;
    opened.value()->for_each([&](const trace::Event& event) {
        if (event.after_hole) {
            after.push_back(event.ticks.value);
        }
    });
    EXPECT_EQ(after, std::vector<std::uint64_t>{3000});
    std::uint64_t missing = 0;
    std::uint64_t announced = 0;
    for (const trace::ChunkReport& chunk : opened.value()->facts().chunks) {
        missing += chunk.missing;
        announced += chunk.description.events;
    }
    EXPECT_EQ(missing, 3U);
    EXPECT_EQ(announced, 9U);
    image.set_active(1); // the one that is left out is the newest: nothing comes after it
    EXPECT_EQ(read(image.saved()), 6U);
    EXPECT_THAT(m_lines, HasSubstr("W-SHORT 3 slots from here on are empty"));
}

// Four chunks of three records; recording went round and ended: 2, 3, 0, 1.
TEST_F(Memory, WithoutAnActiveChunkThoseUsedLessOftenAreOlder) {
    const auto left_out = [this](std::uint32_t damaged, std::array<std::uint32_t, 4> uses) {
        MemoryImage image;
        for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
            image.add_chunk(number, 8, 0);
            image.put(MemoryImage::entry(number, kAt.uses), uses.at(number));
            for (const std::uint64_t stamp : {1000U, 1100U, 1200U}) {
                image.write(number, ipoint(stamp + 1000 * ((number + 2) % 4)));
            }
        }
        image.put(MemoryImage::kArena + (8 * damaged + 1) * tracer::kRecordBytes, std::array<std::byte, 16>{});
        const std::string path = m_directory.write("ram", image.saved());
        m_lines.clear();
        trace::Diagnostics diagnostics([this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        const auto opened = Trace::open(path, {}, diagnostics);
        std::vector<std::uint64_t> after;
        opened.value()->for_each([&](const trace::Event& event) {
            if (event.after_hole) {
                after.push_back(event.ticks.value);
            }
        });
        return after;
    };
    EXPECT_EQ(left_out(3, {2, 2, 1, 1}), std::vector<std::uint64_t>{3000});
    EXPECT_EQ(left_out(1, {2, 2, 1, 1}), std::vector<std::uint64_t>{3000}) << m_lines; // it may have had any place
    EXPECT_THAT(m_lines, HasSubstr("W-SHORT 3 slots from here on are empty"));
    EXPECT_THAT(m_lines, testing::Not(HasSubstr("is not known")));
    EXPECT_EQ(left_out(0, {1, 1, 1, 1}).size(), 1U);
    EXPECT_THAT(m_lines, HasSubstr("W-GAP the chunks were not used in the order of their numbers: where"));
}

// By this process.
bool is_open(const std::string& path) {
    return std::ranges::any_of(std::filesystem::directory_iterator("/proc/self/fd"), [&](const auto& entry) {
        std::error_code closed_meanwhile;
        return std::filesystem::read_symlink(entry.path(), closed_meanwhile) == path;
    });
}

// A file that is not made yet, and has then its size and its contents.
TEST_F(Memory, IsFollowedFromBeforeTheMachineStarts) {
    using namespace std::chrono_literals;
    MemoryImage image = two_chunks();
    image.descriptor().state = tracer::black_box::State::ended;
    image.seal();
    const Bytes bytes = image.saved(0);
    const std::string path = m_directory.write("ram", {});
    std::size_t events = 0;
    std::string lines;
    trace::Diagnostics diagnostics([&](std::string_view line) { lines += std::string(line) + '\n'; });
    std::atomic<bool> ended = false;
    std::thread reader([&] {
        const auto opened = Trace::open(path, {.follow = {.wanted = true, .idle = 60s}}, diagnostics);
        if (opened) {
            opened.value()->for_each([&](const trace::Event& event) { events += event.metadata ? 0 : 1; });
        }
        ended = true;
    });
    while (!ended && !is_open(path)) {
    }
    EXPECT_FALSE(ended) << lines; // it has found the file empty, or will find a part of it: either is no memory yet
    {
        constexpr std::streamoff kMagicBytes = 16;
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(kMagicBytes);
        file.write(reinterpret_cast<const char*>(&bytes[kMagicBytes]), std::ssize(bytes) - kMagicBytes).flush();
        file.seekp(0);
        file.write(reinterpret_cast<const char*>(bytes.data()), kMagicBytes);
    }
    reader.join();
    EXPECT_EQ(events, 5U) << lines;
    EXPECT_EQ(lines, "");
}

TEST_F(Memory, WhatHasNoMarkIsFollowedAsTheMemoryOfAMachineThatWillStart) {
    const auto kind = [this](const Bytes& bytes) {
        const auto source = trace::ByteSource::open_file(m_directory.write("input", bytes));
        return kind_to_follow(*source.value());
    };
    EXPECT_EQ(kind({}), trace::InputKind::memory);
    EXPECT_EQ(kind(Bytes(0x4000)), trace::InputKind::memory);
    EXPECT_EQ(kind(Bytes(0x4000, std::byte{0x53})), trace::InputKind::memory); // interrupt vectors
    Bytes vectors(0x4000); // as the firmware begins them, and zeros after them
    for (std::size_t i = 0; i < 64; i += 4) {
        lib::store_le(std::span(vectors).subspan(i), std::uint32_t{0xF000'FF53});
    }
    EXPECT_EQ(kind(vectors), trace::InputKind::memory);
    EXPECT_EQ(kind(two_chunks().saved()), trace::InputKind::memory);
    support::ChunkBuilder chunk(3);
    EXPECT_EQ(kind(chunk.bytes()), trace::InputKind::records);
}

TEST_F(Memory, ADescriptorThatContradictsItselfIsRefused) {
    using tracer::black_box::Descriptor;

    struct Row {
        std::string field;
        std::function<void(Descriptor&)> damage;
        std::string text;
    };

    const std::vector<Row> rows = {
        {"version", [](Descriptor& of) { of.version = 1; }, "E-VERSION a black box of version 1"},
        {"size_bytes", [](Descriptor& of) { of.size_bytes = 4; },
         fmt::format("E-VERSION a black box of version {0} with 4 bytes; this program reads version {0} with {1}: use",
                     tracer::black_box::kVersion, sizeof(Descriptor))},
        {"chunks", [](Descriptor& of) { of.chunks.entries = 0xFFFF'FFFF; }, "chunks: 4294967295 entries"},
        {"chunk_bytes", [](Descriptor& of) { of.chunks.entry_bytes = 8; }, "chunks: 4 entries of 8 bytes"},
        {"chunk_field", [](Descriptor& of) { of.chunk.overwritten = 0xFFFF; }, "chunks: 4 entries"},
        {"control", [](Descriptor& of) { of.chunk.control = 0xFFF0; }, "chunks: 4 entries"},
        {"processor_bytes", [](Descriptor& of) { of.processors.entry_bytes = 16; }, "processors: 1 entries"},
        {"names", [](Descriptor& of) { of.names.address = ~std::uint64_t{0}; }, "names: 8 entries"},
        {"name_field", [](Descriptor& of) { of.name.times = 4000; }, "names: 8 entries"},
        {"names_order", [](Descriptor& of) { of.names_order.bytes = 1 << 30; }, "names_order: 1073741824 bytes"},
        {"declaration", [](Descriptor& of) { of.declaration.bytes = 200; }, "declarations: 0 entries"},
        {"arena", [](Descriptor& of) { of.arena.bytes = ~std::uint64_t{0}; }, "arena: 18446744073709551615 bytes"},
        {"formats", [](Descriptor& of) { of.formats.bytes = std::uint64_t{1} << 40; }, "formats: 1099511627776 bytes"},
        {"application", [](Descriptor& of) { of.application.size = 200; }, "a name of 200 characters"},
    };
    for (const Row& row : rows) {
        MemoryImage image = two_chunks();
        row.damage(image.descriptor());
        image.seal();
        EXPECT_EQ(read(image.saved(), trace::InputKind::memory), 0U) << row.field;
        EXPECT_THAT(m_lines, HasSubstr(row.text)) << row.field;
    }
}

// The greatest place of each field is where its last byte is the last of the entry.
TEST_F(Memory, AFieldBeyondItsEntryIsRefused) {
    using tracer::black_box::Descriptor;

    struct Row {
        std::string table;
        std::function<std::uint16_t&(Descriptor&)> field;
        std::size_t bytes; // of the field
        std::size_t entry_bytes;
    };

    std::vector<Row> rows;
    const auto add = [&rows](const std::string& table, auto fields, auto field, std::size_t bytes,
                             std::size_t entry_bytes) {
        rows.push_back(
            {table, [=](Descriptor& of) -> std::uint16_t& { return of.*fields.*field; }, bytes, entry_bytes});
    };
    using tracer::black_box::ChunkFields;
    using tracer::black_box::DeclarationFields;
    using tracer::black_box::NameFields;
    for (const auto field :
         {&ChunkFields::number, &ChunkFields::flags, &ChunkFields::exists, &ChunkFields::compressed}) {
        add("chunks", &Descriptor::chunk, field, 1, sizeof(tracer::Chunk));
    }
    for (const auto field :
         {&ChunkFields::size_bytes, &ChunkFields::emergency_bytes, &ChunkFields::uses, &ChunkFields::stream_bytes}) {
        add("chunks", &Descriptor::chunk, field, 4, sizeof(tracer::Chunk));
    }
    add("chunks", &Descriptor::chunk, &ChunkFields::written, 8, sizeof(tracer::Chunk));
    add("chunks", &Descriptor::chunk, &ChunkFields::overwritten, 8, sizeof(tracer::Chunk));
    add("chunks", &Descriptor::chunk, &ChunkFields::control, sizeof(tracer::ChunkControl), sizeof(tracer::Chunk));
    add("names", &Descriptor::name, &NameFields::kind, 1, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::size, 1, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::id, 2, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::level, 2, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::pid, 4, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::characters, tracer::kNameBytesMax, sizeof(tracer::NameEntry));
    add("names", &Descriptor::name, &NameFields::times, 40, sizeof(tracer::NameEntry));
    add("declarations", &Descriptor::declaration, &DeclarationFields::size, 2, sizeof(tracer::EncodedDeclaration));
    for (const Row& row : rows) {
        for (const bool fits : {true, false}) {
            MemoryImage image = two_chunks();
            row.field(image.descriptor()) = static_cast<std::uint16_t>(row.entry_bytes - row.bytes + (fits ? 0 : 1));
            image.seal();
            static_cast<void>(read(image.saved(), trace::InputKind::memory));
            const std::string line = "E-HEADER the descriptor of the black box: " + row.table + ':';
            EXPECT_EQ(m_lines.find(line) == std::string::npos, fits) << row.table << ' ' << row.bytes << '\n'
                                                                     << m_lines;
        }
    }
}

// What the machine knows of a chunk and of its processor is in the chunk's description.
TEST_F(Memory, DescribesItsChunks) {
    MemoryImage image = two_chunks();
    image.descriptor().clock_mode = static_cast<std::uint8_t>(tracer::ClockMode::icount);
    image.descriptor().tsc_source = static_cast<std::uint8_t>(tracer::TscSource::hpet);
    image.descriptor().tsc_error_ppm = 40;
    image.seal();
    image.put(MemoryImage::kProcessor + TRACER_CPU_DROPPED, std::uint64_t{3 * tracer::kRecordBytes});
    image.put(MemoryImage::kProcessor + TRACER_CPU_REFUSED, std::uint64_t{5 * tracer::kRecordBytes});
    image.put(MemoryImage::entry(1, kAt.uses), std::uint32_t{9});
    const std::string path = m_directory.write("ram", image.saved());
    trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
    const auto opened = Trace::open(path, {}, diagnostics);
    ASSERT_TRUE(opened.ok());
    opened.value()->for_each([&](const trace::Event&) {});
    const auto& chunks = opened.value()->facts().chunks;
    ASSERT_EQ(chunks.size(), 2U);
    for (std::size_t number = 0; number < chunks.size(); ++number) {
        const tracer::ChunkBegin& of = chunks[number].description;
        EXPECT_EQ(of.chunk, number);
        EXPECT_EQ(of.generation, number == 0 ? 0U : 8U);
        EXPECT_EQ(of.mode, tracer::kFlagJumpToNext & tracer::kModeMask);
        EXPECT_EQ(of.clock_mode, tracer::ClockMode::icount);
        EXPECT_EQ(of.tsc_source, tracer::TscSource::hpet);
        EXPECT_EQ(of.tsc_error_ppm, 40U);
        EXPECT_EQ(of.tsc_khz, 1'000'000U);
        EXPECT_EQ(of.dropped, 3U);
        EXPECT_EQ(of.refused, 5U);
        EXPECT_EQ(of.overwritten, 0U);
        EXPECT_EQ(of.records, number == 0 ? 3U : 2U);
        EXPECT_EQ(of.events, of.records);
        EXPECT_EQ(of.encoding, tracer::Encoding::records);
    }
}

TEST_F(Memory, ADescriptorWithAnotherChecksumIsRefused) {
    MemoryImage image = two_chunks();
    image.put(MemoryImage::kBase + offsetof(tracer::black_box::Descriptor, boot_id), std::uint64_t{1});
    EXPECT_EQ(read(image.saved()), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-HCRC"));
}

TEST_F(Memory, NamesThatDoNotHoldCostTheNamesAfterThem) {
    MemoryImage image = two_chunks();
    image.add_task(12, "control");
    image.put(MemoryImage::kNameTable + tracer::black_box::kNameFields.kind, std::uint8_t{200});
    EXPECT_EQ(read(image.saved()), 5U);
    EXPECT_THAT(m_lines, HasSubstr("E-META names: entry 0: kind 200"));
    image.put(MemoryImage::kNameOrder, std::uint16_t{0xFFFF});
    EXPECT_EQ(read(image.saved()), 5U);
    EXPECT_THAT(m_lines, HasSubstr("E-META names: entry 0: number 65535 of 8"));
}

TEST_F(Memory, ChunksThatOverlapAreReadOnlyAsFarAsTheArenaHasBytes) {
    MemoryImage image(0x800);
    for (std::uint32_t number = 0; number < 3; ++number) {
        image.add_chunk(number, 8, 0);
        image.put(MemoryImage::control(number, TRACER_CHUNK_DATA), MemoryImage::kArena);
        image.put(MemoryImage::entry(number, image.descriptor().chunk.size_bytes), std::uint32_t{0x500});
        image.put(MemoryImage::control(number, TRACER_CHUNK_LIMIT), std::uint32_t{0x500});
        image.put(MemoryImage::control(number, TRACER_CHUNK_WORD), std::uint64_t{0x500});
    }
    for (std::uint64_t at = 0; at < 0x500; at += 16) {
        std::array<std::byte, 16> bytes{};
        tracer::encode_record(ipoint(1000 + at), bytes);
        image.put(MemoryImage::kArena + at, bytes);
    }
    EXPECT_EQ(read(image.saved()), 0x50U);
    EXPECT_THAT(m_lines, HasSubstr("chunk 2 W-GAP the chunk is left out: the chunks before it fill the arena"));
}

TEST_F(Memory, AnyTruncationIsReadWithoutACrash) {
    const MemoryImage image = two_chunks();
    const Bytes core = image.core();
    const Bytes saved = image.saved(0);
    for (std::size_t size = 0; size < core.size(); size += 97) {
        static_cast<void>(
            read(Bytes(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(size)), trace::InputKind::memory));
        const std::size_t events =
            read(Bytes(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(std::min(size, saved.size()))),
                 trace::InputKind::memory);
        EXPECT_LE(events, 5U);
    }
}

TEST_F(Memory, AFlippedBitNeverMakesMoreOfIt) {
    const Bytes whole = two_chunks().saved(0);
    for (std::size_t at = 0; at < MemoryImage::kArena - MemoryImage::kBase; at += 3) {
        Bytes bytes = whole;
        bytes[at] ^= std::byte{1} << (at % 8);
        EXPECT_LE(read(bytes, trace::InputKind::memory), 9U) << at << '\n' << m_lines; // a position may grow
    }
}

TEST_F(Memory, ACoreThatContradictsItselfIsRefused) {
    const Bytes whole = two_chunks().core();
    const auto with = [&whole](std::size_t offset, std::uint8_t value) {
        Bytes bytes = whole;
        bytes[offset] = static_cast<std::byte>(value);
        return bytes;
    };
    EXPECT_EQ(read(with(16, 2), trace::InputKind::memory), 0U); // e_type: a program
    EXPECT_THAT(m_lines, HasSubstr("E-HEADER an ELF file, but no 64-bit little-endian core"));
    EXPECT_EQ(read(with(54, 12)), 0U); // e_phentsize
    EXPECT_THAT(m_lines, HasSubstr("E-HEADER e_phentsize 12"));
    EXPECT_EQ(read(with(39, 0xFF)), 0U); // the high byte of e_phoff
    EXPECT_THAT(m_lines, HasSubstr("segment 0 is not in the file"));
    EXPECT_EQ(read(with(64 + 56 + 24, 0x10)), 0U); // p_paddr of the segment with the descriptor
    EXPECT_THAT(m_lines, HasSubstr("E-MAGIC the core has no black box"));
}

TEST_F(Memory, OtherFilesAreNoMemory) {
    EXPECT_EQ(read(Bytes(0x4000, std::byte{0xCC})), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-MAGIC no known trace format"));
    EXPECT_EQ(read(Bytes(0x4000, std::byte{0xCC}), trace::InputKind::memory), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-MAGIC no black box"));
    EXPECT_EQ(read(MemoryImage().saved()), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-EMPTY no chunk of the black box holds a record"));
}

} // namespace

} // namespace host::formats::memory::memory_test
