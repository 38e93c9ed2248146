// SPDX-License-Identifier: MIT
// Rows D1 to D16 and D21 to D26: files, records, stamps, and what surrounds them.
#include "tests/support/malformed_row.hpp"

#include "host/formats/trace.hpp"
#include "host/text/escape.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

namespace support {

namespace {

using enum host::trace::ExitStatus;
using host::trace::InputKind;
using testing::HasSubstr;
using testing::Not;

Bytes with(const std::function<void(tracer::ChunkBegin&)>& change, const ChunkBuilder& chunk = three_events()) {
    tracer::ChunkBegin description = chunk.description();
    change(description);
    return chunk.with(description);
}

// A header with a field that this version does not know, at its end.
Bytes with_longer_header() {
    tracer::ChunkBegin description = three_events().description();
    std::array<std::byte, tracer::kCombinePayloadMax + 2> payload{};
    const std::size_t known = tracer::encode_payload(description, payload).value();
    const std::size_t slots_before = tracer::combine_slots(known);
    const std::size_t longer = known + 8;
    description.preamble_slots += static_cast<std::uint32_t>(tracer::combine_slots(longer) - slots_before);
    static_cast<void>(tracer::encode_payload(description, payload).value());
    lib::store_le(std::span(payload), static_cast<std::uint16_t>(longer));
    const Bytes whole = three_events().bytes();
    const std::uint64_t stamp = tracer::decode_record(whole).stamp().value;
    const Bytes head = to_bytes(combined(0x0C, std::span(payload).first(longer), {stamp}));
    return head + Bytes(whole.begin() + static_cast<std::ptrdiff_t>(slots_before * 16), whole.end());
}

Bytes swapped(Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 16) {
        for (const auto& [begin, size] :
             std::initializer_list<std::pair<int, int>>{{0, 2}, {2, 2}, {4, 4}, {8, 4}, {12, 4}}) {
            const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at) + begin;
            std::reverse(first, first + size);
        }
    }
    return bytes;
}

ChunkBuilder stamped(std::initializer_list<std::uint64_t> stamps) {
    ChunkBuilder chunk;
    for (const std::uint64_t stamp : stamps) {
        chunk.unordered(stamp, "ipoint", 1);
    }
    return chunk;
}

Bytes flipped(Bytes bytes, std::size_t at, unsigned bit) {
    bytes[at] ^= static_cast<std::byte>(1U << bit);
    return bytes;
}

Bytes without_end(Bytes bytes, std::size_t size) {
    bytes.resize(bytes.size() - size);
    return bytes;
}

const std::size_t kSize = three_events().bytes().size();
const std::size_t kMain = main_area(three_events());

// The rate is not believed, and what is written from it does not claim one.
Outcome write_unknown_rate(MalformedInput& at) {
    ChunkBuilder chunk = three_events();
    for (unsigned i = 0; i < 50; ++i) {
        chunk.event(3000 + i, "ipoint", 1);
    }
    chunk.begin.tsc_khz = 0;
    const std::string path = at.store("input", chunk.bytes());
    Outcome outcome;
    for (const char* const format : {"dat", "compact"}) {
        EXPECT_EQ(at.run({"convert", path, "--to", format, "-o", at.path_of("out")}).status, damaged);
        outcome = at.read_path(at.path_of("out"));
        EXPECT_EQ(outcome.status, clean) << format << outcome.lines;
    }
    return outcome;
}

// Text as only an enemy would name a task.
Outcome print_hostile_name(MalformedInput& at) {
    ChunkBuilder chunk;
    chunk.name("task", 12, std::string_view("a\x1b[2J\0\xFF\n", 8)).event(1000, "task_dispatch", 12);
    Outcome outcome = at.run({"print", at.store("input", chunk.bytes())});
    EXPECT_THAT(outcome.shown, HasSubstr("a\\x1b[2J\\x00\\xff\\x0a"));
    const std::string longest = host::text::escaped(std::string(65'536, 'x'));
    EXPECT_LE(longest.size(), 260U);
    EXPECT_TRUE(longest.ends_with("..."));
    return outcome;
}

Outcome summarise_leaves(MalformedInput& at) {
    ChunkBuilder chunk;
    chunk.event(1000, "interrupt_end", 32).event(1100, "interrupt_end", 32).event(1200, "context_switch", 12);
    const std::string path = at.store("input", chunk.bytes());
    EXPECT_EQ(at.run({"convert", path, "--to", "chrome-json", "-o", at.path_of("out.json")}).status, clean);
    return at.run({"summary", path});
}

Outcome read_every_thread(MalformedInput& at) {
    ChunkBuilder chunk;
    for (unsigned id = 0; id < 65'536; ++id) {
        chunk.event(1000 + id, "task_dispatch", static_cast<std::uint16_t>(id));
    }
    return at.run({"summary", at.store("input", chunk.bytes())});
}

// 16 MiB of zeros, through a pipe.
Outcome read_zeros(MalformedInput& at) {
    const std::string path = at.store("zeros", {});
    std::filesystem::resize_file(path, 16 << 20);
    const StandardInput input(path);
    return at.read_path("-");
}

Outcome read_fifo(MalformedInput& at) {
    const std::string path = at.path_of("fifo");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        const Bytes bytes = three_events().bytes();
        EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
        std::fclose(file);
    });
    Outcome outcome = at.read_path(path);
    writer.join();
    return outcome;
}

// 5000 records, of which the file keeps those that the reader's first buffer does not hold for a moment only.
Outcome read_shrinking(MalformedInput& at) {
    using namespace host::trace;
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 5000; ++i) {
        chunk.event(1000 + i, "ipoint", 1);
    }
    const std::string path = at.store("input", chunk.bytes());
    Outcome outcome;
    Diagnostics diagnostics([&](std::string_view line) { outcome.lines += std::string(line) + '\n'; });
    const auto trace = host::formats::Trace::open(path, {}, diagnostics);
    trace.value()->for_each([&](const Event& event) {
        if (outcome.events++ == 0) {
            std::filesystem::resize_file(path, 70'000);
        }
    });
    outcome.status = diagnostics.exit_status(true);
    return outcome;
}

// Its second slot lost its code, and the count at the end of its preamble is wrong; another chunk follows.
Bytes header_before_what() {
    return flipped(flipped(three_events().bytes(), 16, 1), kMain - 4, 1) + one_event().bytes();
}

} // namespace

std::vector<MalformedRow> malformed_records() {
    return {
        {.row = "D1",
         .name = "empty_file",
         .input = "an empty file",
         .code = "E-EMPTY",
         .status = nothing,
         .offset_bytes = 0,
         .events = 0,
         .bytes = [] { return Bytes(); }},
        {.row = "D2",
         .name = "shorter_than_a_record",
         .input = "15 bytes",
         .code = "E-TRUNC",
         .status = nothing,
         .offset_bytes = 15,
         .events = 0,
         .bytes = [] { return Bytes(15); }},
        {.row = "D3",
         .name = "damaged_first_slot",
         .input = "the first slot of a chunk's header lost its code; another chunk follows",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = 0,
         .text = "header",
         .events = 4,
         .bytes = [] { return flipped(three_events().bytes(), 1, 4) + one_event().bytes(); }},
        {.row = "D3",
         .name = "damaged_second_slot",
         .input = "the second slot of the header lost its code; another chunk follows",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = 0,
         .text = "header",
         .events = 4,
         .bytes = [] { return flipped(three_events().bytes(), 16, 1) + one_event().bytes(); }},
        {.row = "D3",
         .name = "damaged_header_before_what",
         .input = "the same, and the end of its preamble announces something else than follows",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = 0,
         .text = "--salvage reads it",
         .events = 1,
         .bytes = header_before_what},
        {.row = "D3",
         .name = "damaged_header_salvaged",
         .input = "the same, with --salvage",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = 0,
         .text = "all the same",
         .events = 6,
         .options = {.salvage = true},
         .bytes = header_before_what},
        {.row = "D3",
         .name = "swapped_bytes",
         .input = "a chunk of a big-endian machine before one of ours",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = 0,
         .text = "big-endian?",
         .events = 1,
         .bytes = [] { return swapped(three_events().bytes()) + one_event().bytes(); }},
        {.row = "D4",
         .name = "newer_major_version",
         .input = "a chunk of a later format version",
         .code = "E-VERSION",
         .status = nothing,
         .offset_bytes = 0,
         .events = 0,
         .bytes = [] { return with([](auto& begin) { begin.format_version = 2; }); }},
        {.row = "D4",
         .name = "newer_minor_version",
         .input = "a chunk's header with fields after the known ones",
         .code = "W-MINOR",
         .offset_bytes = 0,
         .text = "8 bytes",
         .events = 3,
         .bytes = with_longer_header},
        {.row = "D5",
         .name = "trailing_bytes",
         .input = "5 bytes after the last record",
         .code = "W-TAIL",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "5 trailing bytes",
         .events = 3,
         .bytes = [] { return three_events().bytes() + Bytes(5); }},
        {.row = "D5",
         .name = "lost_byte",
         .input = "a byte of the header is lost: the records after it are found by the end of the file",
         .code = "W-TAIL",
         .status = damaged,
         .text = "lost or added",
         .events = 10,
         .bytes =
             [] {
                 ChunkBuilder chunk;
                 for (std::uint16_t i = 0; i < 10; ++i) {
                     chunk.event(10'000'000 + i, "ipoint", i);
                 }
                 Bytes bytes = chunk.bytes();
                 bytes.erase(bytes.begin() + 5);
                 return bytes;
             }},
        {.row = "D6",
         .name = "last_chunk_cut",
         .input = "the last record of a file is missing",
         .code = "W-SHORT",
         .status = damaged,
         .offset_bytes = kSize - 16,
         .text = "1 of the 3 records",
         .events = 2,
         .bytes = [] { return without_end(three_events().bytes(), 16); }},
        {.row = "D6",
         .name = "cut_inside_the_preamble",
         .input = "a file that ends inside its preamble",
         .code = "E-TRUNC",
         .status = nothing,
         .offset_bytes = kSize - 80,
         .events = 0,
         .bytes = [] { return without_end(three_events().bytes(), 80); }},
        {.row = "D7",
         .name = "count_of_2_to_32",
         .input = "a header that states 2^32-1 records",
         .code = "E-COUNT",
         .status = damaged,
         .offset_bytes = 0,
         .text = "4294967295",
         .events = 3,
         .bytes = [] { return with([](auto& begin) { begin.records = 0xFFFF'FFFF; }); }},
        {.row = "D7",
         .name = "counts_that_differ",
         .input = "the header states more records than the end of the preamble",
         .code = "E-COUNT",
         .status = damaged,
         .offset_bytes = kMain - 16,
         .text = "announces 4 records",
         .events = 3,
         .bytes =
             [] {
                 Bytes bytes = with([](auto& begin) { begin.records = 4; });
                 bytes[kMain - 16 + 12] = std::byte{3};
                 return bytes;
             }},
        {.row = "D7",
         .name = "count_too_small",
         .input = "a header that states 1 of 3 records, twice",
         .code = "W-EXTRA",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "2 records more",
         .events = 3,
         .bytes = [] { return with([](auto& begin) { begin.records = 1; }); }},
        {.row = "D7",
         .name = "preamble_shorter_than_the_header",
         .input = "a header that is longer than its preamble",
         .code = "E-COUNT",
         .status = nothing,
         .offset_bytes = 0,
         .events = 0,
         .bytes = [] { return with([](auto& begin) { begin.preamble_slots = 1; }); }},
        {.row = "D7",
         .name = "preamble_longer_than_stated",
         .input = "a preamble that includes a record",
         .code = "E-COUNT",
         .status = damaged,
         .offset_bytes = kMain - 16,
         .events = 3,
         .bytes = [] { return with([](auto& begin) { ++begin.preamble_slots; }); }},
        {.row = "D9",
         .name = "all_zero",
         .input = "160 zero bytes",
         .code = "W-UNUSED",
         .status = nothing,
         .offset_bytes = 0,
         .text = "10 empty slots",
         .events = 0,
         .bytes = [] { return Bytes(160); }},
        {.row = "D9",
         .name = "all_ones",
         .input = "160 bytes of all ones, like erased memory",
         .code = "E-MAGIC",
         .status = nothing,
         .offset_bytes = 0,
         .text = "10 slots",
         .events = 0,
         .bytes = [] { return Bytes(160, std::byte{0xFF}); }},
        {.row = "D9",
         .name = "ones_after_a_chunk",
         .input = "a chunk, and 2 slots of all ones",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "2 slots",
         .events = 3,
         .bytes = [] { return three_events().bytes() + Bytes(32, std::byte{0xFF}); }},
        {.row = "D10",
         .name = "unknown_event",
         .input = "two records of a code that is not in the table",
         .code = "W-UNKNOWN",
         .offset_bytes = kSize,
         .text = "2 records",
         .events = 5,
         .bytes =
             [] {
                 const auto record = tracer::make_record(0x00D3, 1, 2, {3000});
                 return three_events().raw(record).raw(record).bytes();
             }},
        {.row = "D11",
         .name = "one_slot_event_in_two",
         .input = "an event of one record in two slots",
         .code = "E-LEN",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "takes one slot",
         .events = 3,
         .bytes =
             [] {
                 return three_events()
                     .raw(tracer::make_record(0x1001, 2, 0, {5000}))
                     .raw(tracer::make_record(0x3001, 0, 0, {5000}))
                     .bytes();
             }},
        {.row = "D11",
         .name = "long_event_in_one_slot",
         .input = "a long event that states a length of 0",
         .code = "E-LEN",
         .status = damaged,
         .offset_bytes = kSize,
         .events = 3,
         .bytes = [] { return three_events().raw(tracer::make_record(0x001C, 0, 0, {5000})).bytes(); }},
        {.row = "D12",
         .name = "stray_stamp",
         .input = "one bit of a stamp makes it 36 years: it is not used, and no other time moves",
         .code = "W-TIME",
         .offset_bytes = kSize,
         .text = "damaged, and not used",
         .events = 5,
         .act =
             [](MalformedInput& at) {
                 ChunkBuilder chunk = three_events();
                 chunk.raw(tracer::make_record(0x0001, 1, 0, {2100 + (std::uint64_t{1} << 60)}));
                 chunk.unordered(2200, "ipoint", 2).unordered(2300, "ipoint", 3);
                 Outcome outcome = at.read(chunk.bytes());
                 EXPECT_EQ(outcome.late, 0U);
                 EXPECT_EQ(outcome.unsound, 1U);
                 EXPECT_THAT(outcome.ticks, testing::ElementsAre(1000U, 1500U, 2000U, 2000U, 2200U, 2300U));
                 return outcome;
             }},
        {.row = "D12",
         .name = "falling_stamp",
         .input = "a stamp below the previous one: kept in its position, and late",
         .code = "W-TIME",
         .offset_bytes = kSize,
         .text = "from 2000 to 700",
         .events = 5,
         .act =
             [](MalformedInput& at) {
                 Outcome outcome =
                     at.read(three_events().unordered(700, "ipoint", 1).unordered(1999, "ipoint", 2).bytes());
                 EXPECT_EQ(outcome.late, 2U);
                 EXPECT_EQ(outcome.ticks.at(3), 700U);
                 EXPECT_EQ(outcome.ticks.at(4), 1999U);
                 return outcome;
             }},
        {.row = "D13",
         .name = "equal_stamps",
         .input = "all records have one stamp",
         .code = "W-CLOCK",
         .offset_bytes = 0,
         .text = "stamp 7",
         .events = 3,
         .bytes =
             [] {
                 return stamped({7, 7, 7}).bytes();
             }},
        {.row = "D13",
         .name = "zero_stamps",
         .input = "no record has a stamp",
         .code = "W-CLOCK",
         .offset_bytes = 0,
         .text = "stamp 0",
         .events = 3,
         .bytes =
             [] {
                 return stamped({0, 0, 0}).bytes();
             }},
        {.row = "D14",
         .name = "rate_of_zero",
         .input = "a measured rate of 0 kHz",
         .code = "E-FREQ",
         .status = damaged,
         .offset_bytes = 0,
         .text = "stay ticks",
         .events = 3,
         .bytes = [] { return with([](auto& begin) { begin.tsc_khz = 0; }); }},
        {.row = "D14",
         .name = "absurd_rate",
         .input = "a rate above 10 GHz",
         .code = "E-FREQ",
         .status = damaged,
         .offset_bytes = 0,
         .text = "10000001",
         .events = 3,
         .bytes = [] { return with([](auto& begin) { begin.tsc_khz = 10'000'001; }); }},
        {.row = "D14",
         .name = "unknown_rate",
         .input = "a rate of 0 kHz that was not measured",
         .code = "W-NORATE",
         .offset_bytes = 0,
         .events = 3,
         .bytes =
             [] {
                 return with([](auto& begin) {
                     begin.tsc_khz = 0;
                     begin.tsc_source = tracer::TscSource::unknown;
                 });
             }},
        {.row = "D14",
         .name = "unknown_rate_written_again",
         .input = "the rate of 0 kHz, written as dat and compact",
         .code = "W-NORATE",
         .offset_bytes = 0,
         .events = 53,
         .act = write_unknown_rate},
        {.row = "D15",
         .name = "time_beyond_63_bits",
         .input = "a distance of 2^64-1 ticks at 1 MHz",
         .code = "W-RANGE",
         .offset_bytes = main_area(stamped({0, ~std::uint64_t{1}, ~std::uint64_t{0}})) + 16,
         .text = "exceed 2^63 ns",
         .events = 3,
         .bytes =
             [] {
                 ChunkBuilder chunk = stamped({0, ~std::uint64_t{1}, ~std::uint64_t{0}});
                 chunk.begin.tsc_khz = 1000;
                 return chunk.bytes();
             }},
        {.row = "D16",
         .name = "absurd_processor",
         .input = "a chunk of processor 65535 before another chunk",
         .code = "E-CPU",
         .status = damaged,
         .offset_bytes = 0,
         .text = "65535",
         .events = 1,
         .bytes = [] { return with([](auto& begin) { begin.cpu = 65535; }) + one_event().bytes(); }},
        {.row = "D16",
         .name = "processor_beyond_the_last",
         .input = "a chunk of processor 256",
         .code = "E-CPU",
         .status = nothing,
         .offset_bytes = 0,
         .text = "256",
         .events = 0,
         .bytes = [] { return with([](auto& begin) { begin.cpu = 256; }); }},
        {.row = "D21",
         .name = "reserved_bits",
         .input = "a record with bit 14 of its code set",
         .code = "W-RESERVED",
         .offset_bytes = kSize,
         .text = "0x4001",
         .events = 4,
         .bytes = [] { return three_events().raw(tracer::make_record(0x4001, 0, 0, {3000})).bytes(); }},
        {.row = "D22",
         .name = "hostile_name",
         .input = "a task whose name contains ESC, NUL, a newline and invalid UTF-8; a text of 64 KiB",
         .act = print_hostile_name},
        {.row = "D23",
         .name = "leave_without_enter",
         .input = "interrupts that end but never began",
         .act = summarise_leaves},
        {.row = "D24",
         .name = "every_thread_id",
         .input = "events of all 65,536 distinguishable tasks",
         .act = read_every_thread},
        {.row = "D25",
         .name = "directory_without_a_session",
         .input = "a directory without a manifest",
         .code = "E-DIR",
         .status = usage,
         .text = "remora adopt",
         .events = 0,
         .act = [](MalformedInput& at) { return at.read_path(at.directory()); }},
        {.row = "D25",
         .name = "absent_file",
         .input = "a path that does not exist",
         .code = "E-IO",
         .status = usage,
         .text = "not found",
         .events = 0,
         .act = [](MalformedInput& at) { return at.read_path(at.path_of("absent")); }},
        {.row = "D25", .name = "fifo", .input = "a FIFO", .events = 3, .act = read_fifo},
        {.row = "D25",
         .name = "endless_zeros",
         .input = "16 MiB of zeros through a pipe",
         .code = "W-UNUSED",
         .status = nothing,
         .offset_bytes = 0,
         .events = 0,
         .act = read_zeros},
        {.row = "D26",
         .name = "file_that_shrinks",
         .input = "a file that is cut while it is read",
         .code = "E-IO",
         .status = damaged,
         .text = "became shorter",
         .act = read_shrinking},
    };
}

} // namespace support
