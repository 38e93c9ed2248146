// SPDX-License-Identifier: MIT
// Rows D1 to D16 and D21 to D26: files, records, stamps, and what stands around them.
#include "tests/support/malformed_row.hpp"

#include "host/trace/escape.hpp"
#include "host/trace/trace.hpp"

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
    const std::string longest = host::trace::escaped(std::string(65'536, 'x'));
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
    const auto trace = Trace::open(path, {}, diagnostics);
    for (Event event; trace.value()->next(event);) {
        if (outcome.events++ == 0) {
            std::filesystem::resize_file(path, 70'000);
        }
    }
    outcome.status = diagnostics.exit_status(true);
    return outcome;
}

} // namespace

std::vector<MalformedRow> malformed_records() {
    return {
        {"D1", "empty_file", "a file without a byte", "E-EMPTY", nothing, 0, "", 0, {}, [] { return Bytes(); }},
        {"D2", "shorter_than_a_record", "15 bytes", "E-TRUNC", nothing, 15, "", 0, {}, [] { return Bytes(15); }},
        {"D3",
         "damaged_first_slot",
         "the first slot of a chunk's header lost its code; another chunk follows",
         "E-MAGIC",
         damaged,
         0,
         "header",
         1,
         {},
         [] { return flipped(three_events().bytes(), 1, 4) + one_event().bytes(); }},
        {"D3",
         "damaged_second_slot",
         "the second slot of the header lost its code; another chunk follows",
         "E-MAGIC",
         damaged,
         0,
         "header",
         1,
         {},
         [] { return flipped(three_events().bytes(), 16, 1) + one_event().bytes(); }},
        {"D3",
         "damaged_header_salvaged",
         "the same, with --salvage",
         "E-MAGIC",
         damaged,
         0,
         "",
         6,
         {.salvage = true},
         [] { return flipped(three_events().bytes(), 16, 1) + one_event().bytes(); }},
        {"D3",
         "swapped_bytes",
         "a chunk of a big-endian machine in front of one of ours",
         "E-MAGIC",
         damaged,
         0,
         "big-endian?",
         1,
         {},
         [] { return swapped(three_events().bytes()) + one_event().bytes(); }},
        {"D4",
         "newer_major_version",
         "a chunk of a format that comes after ours",
         "E-VERSION",
         nothing,
         0,
         "",
         0,
         {},
         [] { return with([](auto& begin) { begin.format_version = 2; }); }},
        {"D4",
         "newer_minor_version",
         "a chunk's header with fields behind those that are known",
         "W-MINOR",
         clean,
         0,
         "8 bytes",
         3,
         {},
         with_longer_header},
        {"D5",
         "odd_tail",
         "5 bytes behind the last record",
         "W-TAIL",
         damaged,
         kSize,
         "5 odd bytes",
         3,
         {},
         [] { return three_events().bytes() + Bytes(5); }},
        {"D6",
         "last_chunk_cut",
         "the last record of a file is missing",
         "W-SHORT",
         damaged,
         kSize - 16,
         "1 of the 3 records",
         2,
         {},
         [] { return without_end(three_events().bytes(), 16); }},
        {"D6",
         "cut_inside_the_preamble",
         "a file that ends inside its preamble",
         "E-TRUNC",
         nothing,
         kSize - 80,
         "",
         0,
         {},
         [] { return without_end(three_events().bytes(), 80); }},
        {"D7",
         "count_of_2_to_32",
         "a header that announces 2^32-1 records",
         "E-COUNT",
         nothing,
         0,
         "4294967295",
         0,
         {},
         [] { return with([](auto& begin) { begin.records = 0xFFFF'FFFF; }); }},
        {"D7",
         "counts_that_differ",
         "the header announces more records than the end of the preamble",
         "E-COUNT",
         nothing,
         kMain - 16,
         "announces 4 records",
         0,
         {},
         [] {
             Bytes bytes = with([](auto& begin) { begin.records = 4; });
             bytes[kMain - 16 + 12] = std::byte{3};
             return bytes;
         }},
        {"D7",
         "counts_that_differ_salvaged",
         "the same, with --salvage",
         "E-COUNT",
         damaged,
         kMain - 16,
         "all the same",
         3,
         {.salvage = true},
         [] {
             Bytes bytes = with([](auto& begin) { begin.records = 4; });
             bytes[kMain - 16 + 12] = std::byte{3};
             return bytes;
         }},
        {"D7",
         "count_too_small",
         "a header that announces 1 of 3 records, twice",
         "W-EXTRA",
         damaged,
         kSize,
         "2 records more",
         3,
         {},
         [] { return with([](auto& begin) { begin.records = 1; }); }},
        {"D7",
         "preamble_shorter_than_the_header",
         "a header that is longer than its preamble",
         "E-COUNT",
         nothing,
         0,
         "",
         0,
         {},
         [] { return with([](auto& begin) { begin.preamble_slots = 1; }); }},
        {"D7",
         "preamble_longer_than_it_is",
         "a preamble that would swallow a record",
         "E-COUNT",
         nothing,
         kMain - 16,
         "",
         0,
         {},
         [] { return with([](auto& begin) { ++begin.preamble_slots; }); }},
        {"D9",
         "all_zero",
         "160 zero bytes",
         "W-UNUSED",
         nothing,
         0,
         "10 empty slots",
         0,
         {},
         [] { return Bytes(160); }},
        {"D9",
         "all_ones",
         "160 bytes of all ones, as erased memory has them",
         "E-MAGIC",
         nothing,
         0,
         "10 slots",
         0,
         {},
         [] { return Bytes(160, std::byte{0xFF}); }},
        {"D9",
         "ones_behind_a_chunk",
         "a chunk, and 2 slots of all ones",
         "E-MAGIC",
         damaged,
         kSize,
         "2 slots",
         3,
         {},
         [] { return three_events().bytes() + Bytes(32, std::byte{0xFF}); }},
        {"D10",
         "unknown_event",
         "two records of a code that no row of the table has",
         "W-UNKNOWN",
         clean,
         kSize,
         "2 records",
         5,
         {},
         [] {
             const auto record = tracer::make_record(0x00D3, 1, 2, {3000});
             return three_events().raw(record).raw(record).bytes();
         }},
        {"D11",
         "one_slot_event_in_two",
         "an event of one record in two slots",
         "E-LEN",
         damaged,
         kSize,
         "takes one slot",
         3,
         {},
         [] {
             return three_events()
                 .raw(tracer::make_record(0x1001, 2, 0, {5000}))
                 .raw(tracer::make_record(0x3001, 0, 0, {5000}))
                 .bytes();
         }},
        {"D11",
         "long_event_in_one_slot",
         "a long event that says it has no byte",
         "E-LEN",
         damaged,
         kSize,
         "",
         3,
         {},
         [] { return three_events().raw(tracer::make_record(0x001C, 0, 0, {5000})).bytes(); }},
        {"D12",
         "falling_stamp",
         "a stamp below the one in front of it: kept in its place, and late",
         "W-TIME",
         clean,
         kSize,
         "from 2000 to 700",
         5,
         {},
         {},
         [](MalformedInput& at) {
             Outcome outcome = at.read(three_events().unordered(700, "ipoint", 1).unordered(1999, "ipoint", 2).bytes());
             EXPECT_EQ(outcome.late, 2U);
             EXPECT_EQ(outcome.ticks.at(3), 700U);
             EXPECT_EQ(outcome.ticks.at(4), 1999U);
             return outcome;
         }},
        {"D13",
         "equal_stamps",
         "all records have one stamp",
         "W-CLOCK",
         clean,
         0,
         "stamp 7",
         3,
         {},
         [] {
             return stamped({7, 7, 7}).bytes();
         }},
        {"D13",
         "zero_stamps",
         "no record has a stamp",
         "W-CLOCK",
         clean,
         0,
         "stamp 0",
         3,
         {},
         [] {
             return stamped({0, 0, 0}).bytes();
         }},
        {"D14",
         "rate_of_zero",
         "a measured rate of 0 kHz",
         "E-FREQ",
         damaged,
         0,
         "stay ticks",
         3,
         {},
         [] { return with([](auto& begin) { begin.tsc_khz = 0; }); }},
        {"D14",
         "absurd_rate",
         "a rate above 10 GHz",
         "E-FREQ",
         damaged,
         0,
         "10000001",
         3,
         {},
         [] { return with([](auto& begin) { begin.tsc_khz = 10'000'001; }); }},
        {"D14",
         "rate_that_nobody_knows",
         "a rate of 0 kHz that nobody measured",
         "W-NORATE",
         clean,
         0,
         "",
         3,
         {},
         [] {
             return with([](auto& begin) {
                 begin.tsc_khz = 0;
                 begin.tsc_source = tracer::TscSource::unknown;
             });
         }},
        {"D14",
         "unknown_rate_written_again",
         "what dat and compact make of the rate of 0 kHz",
         "W-NORATE",
         clean,
         0,
         "",
         53,
         {},
         {},
         write_unknown_rate},
        {"D15",
         "time_beyond_63_bits",
         "a distance of 2^64-1 ticks at 1 MHz",
         "W-RANGE",
         clean,
         main_area(stamped({0, ~std::uint64_t{0}})) + 16,
         "exceed 2^63 ns",
         2,
         {},
         [] {
             ChunkBuilder chunk = stamped({0, ~std::uint64_t{0}});
             chunk.begin.tsc_khz = 1000;
             return chunk.bytes();
         }},
        {"D16",
         "absurd_processor",
         "a chunk of processor 65535 in front of another chunk",
         "E-CPU",
         damaged,
         0,
         "65535",
         1,
         {},
         [] { return with([](auto& begin) { begin.cpu = 65535; }) + one_event().bytes(); }},
        {"D16",
         "processor_beyond_the_last",
         "a chunk of processor 256",
         "E-CPU",
         nothing,
         0,
         "256",
         0,
         {},
         [] { return with([](auto& begin) { begin.cpu = 256; }); }},
        {"D21",
         "reserved_bits",
         "a record with bit 14 of its code set",
         "W-RESERVED",
         clean,
         kSize,
         "0x4001",
         4,
         {},
         [] { return three_events().raw(tracer::make_record(0x4001, 0, 0, {3000})).bytes(); }},
        {"D22",
         "hostile_name",
         "a task whose name holds ESC, NUL, a newline and no UTF-8; a text of 64 KiB",
         "",
         clean,
         {},
         "",
         {},
         {},
         {},
         print_hostile_name},
        {"D23",
         "leave_without_enter",
         "interrupts that end and never began",
         "",
         clean,
         {},
         "",
         {},
         {},
         {},
         summarise_leaves},
        {"D24",
         "every_thread_id",
         "events of all 65,536 tasks that can be told apart",
         "",
         clean,
         {},
         "",
         {},
         {},
         {},
         read_every_thread},
        {"D25",
         "directory_that_is_no_session",
         "a directory without a manifest",
         "E-DIR",
         usage,
         {},
         "remora adopt",
         0,
         {},
         {},
         [](MalformedInput& at) { return at.read_path(at.directory()); }},
        {"D25",
         "absent_file",
         "a path that names nothing",
         "E-IO",
         usage,
         {},
         "not found",
         0,
         {},
         {},
         [](MalformedInput& at) { return at.read_path(at.path_of("absent")); }},
        {"D25", "fifo", "a FIFO", "", clean, {}, "", 3, {}, {}, read_fifo},
        {"D25", "endless_zeros", "16 MiB of zeros through a pipe", "W-UNUSED", nothing, 0, "", 0, {}, {}, read_zeros},
        {"D26",
         "file_that_shrinks",
         "a file that is cut while it is read",
         "E-IO",
         damaged,
         {},
         "became shorter",
         {},
         {},
         {},
         read_shrinking},
    };
}

} // namespace support
