// SPDX-License-Identifier: MIT
// Has rows D1 to D16 and D21 to D26: files, records, stamps, and what surrounds them.
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
    return at.read_path("/dev/zero");
}

Outcome read_sparse(MalformedInput& at) {
    const std::string path = at.store("sparse", three_events().bytes());
    std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
    return at.read_path(path);
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
    trace.value()->for_each([&](const Event&) {
        if (outcome.events++ == 0) {
            std::filesystem::resize_file(path, 70'000);
        }
    });
    outcome.status = diagnostics.exit_status(true);
    return outcome;
}

Bytes without_byte() {
    ChunkBuilder chunk;
    for (std::uint16_t i = 0; i < 10; ++i) {
        chunk.event(10'000'000 + i, "ipoint", i);
    }
    Bytes bytes = chunk.bytes();
    bytes.erase(bytes.begin() + 5);
    return bytes;
}

// Its second slot lost its code, and the count at the end of its preamble is wrong; another chunk follows.
Bytes header_before_what() {
    return flipped(flipped(three_events().bytes(), 16, 1), kMain - 4, 1) + one_event().bytes();
}

} // namespace

std::vector<MalformedRow> malformed_records() {
    constexpr tracer::Record kUnknown = tracer::make_record(0x00D3, 1, 2, {3000});
    const ChunkBuilder far_apart = stamped({0, ~std::uint64_t{1}, ~std::uint64_t{0}});
    return {
        row("D1", "empty_file", "an empty file", says("E-EMPTY", 0), nothing, 0, Bytes()),
        row("D2", "shorter_than_a_record", "15 bytes", says("E-TRUNC", 15), nothing, 0, Bytes(15)),
        row("D3", "damaged_first_slot", "the first slot of a chunk's header lost its code; another chunk follows",
            says("E-MAGIC", 0, "header"), damaged, 4, flipped(three_events().bytes(), 1, 4) + one_event().bytes()),
        row("D3", "damaged_second_slot", "the second slot of the header lost its code; another chunk follows",
            says("E-MAGIC", 0, "header"), damaged, 4, flipped(three_events().bytes(), 16, 1) + one_event().bytes()),
        row("D3", "damaged_header_before_what",
            "the same, and the end of its preamble announces something else than follows",
            says("E-MAGIC", 0, "--salvage reads it"), damaged, 1, header_before_what()),
        row("D3", "damaged_header_salvaged", "the same, with --salvage", says("E-MAGIC", 0, "all the same"), damaged, 6,
            header_before_what(), {.salvage = true}),
        row("D3", "swapped_bytes", "a chunk of a big-endian machine before one of ours",
            says("E-MAGIC", 0, "big-endian?"), damaged, 1, swapped(three_events().bytes()) + one_event().bytes()),
        row("D4", "newer_major_version", "a chunk of a later format version", says("E-VERSION", 0), nothing, 0,
            with([](auto& begin) { begin.format_version = 2; })),
        row("D4", "newer_minor_version", "a chunk's header with fields after the known ones",
            says("W-MINOR", 0, "8 bytes"), clean, 3, with_longer_header()),
        row("D5", "trailing_bytes", "5 bytes after the last record", says("W-TAIL", kSize, "5 trailing bytes"), damaged,
            3, three_events().bytes() + Bytes(5)),
        row("D5", "lost_byte", "a byte of the header is lost: the records after it are found by the end of the file",
            says("W-TAIL", {}, "lost or added"), damaged, 10, without_byte()),
        row("D6", "last_chunk_cut", "the last record of a file is missing",
            says("W-SHORT", kSize - 16, "1 of the 3 records"), damaged, 2, without_end(three_events().bytes(), 16)),
        row("D6", "cut_inside_the_preamble", "a file that ends inside its preamble", says("E-TRUNC", kSize - 80),
            nothing, 0, without_end(three_events().bytes(), 80)),
        row("D7", "count_of_2_to_32", "a header that states 2^32-1 records", says("E-COUNT", 0, "4294967295"), damaged,
            3, with([](auto& begin) { begin.records = 0xFFFF'FFFF; })),
        row("D7", "counts_that_differ", "the header states more records than the end of the preamble",
            says("E-COUNT", kMain - 16, "announces 4 records"), damaged, 3,
            with_byte(with([](auto& begin) { begin.records = 4; }), kMain - 16 + 12, 3)),
        row("D7", "count_too_small", "a header that states 1 of 3 records, twice",
            says("W-EXTRA", kSize, "2 records more"), damaged, 3, with([](auto& begin) { begin.records = 1; })),
        row("D7", "preamble_shorter_than_the_header", "a header that is longer than its preamble", says("E-COUNT", 0),
            nothing, 0, with([](auto& begin) { begin.preamble_slots = 1; })),
        row("D7", "preamble_longer_than_stated", "a preamble that includes a record", says("E-COUNT", kMain - 16),
            damaged, 3, with([](auto& begin) { ++begin.preamble_slots; })),
        row("D9", "all_zero", "160 zero bytes", says("W-UNUSED", 0, "10 empty slots"), nothing, 0, Bytes(160)),
        row("D9", "all_ones", "160 bytes of all ones, like erased memory", says("E-MAGIC", 0, "10 slots"), nothing, 0,
            Bytes(160, std::byte{0xFF})),
        row("D9", "ones_after_a_chunk", "a chunk, and 2 slots of all ones", says("E-MAGIC", kSize, "2 slots"), damaged,
            3, three_events().bytes() + Bytes(32, std::byte{0xFF})),
        row("D10", "unknown_event", "two records of a code that is not in the table",
            says("W-UNKNOWN", kSize, "2 records"), clean, 5, three_events().raw(kUnknown).raw(kUnknown).bytes()),
        row("D11", "one_slot_event_in_two", "an event of one record in two slots",
            says("E-LEN", kSize, "takes one slot"), damaged, 3,
            three_events()
                .raw(tracer::make_record(0x1001, 2, 0, {5000}))
                .raw(tracer::make_record(0x3001, 0, 0, {5000}))
                .bytes()),
        row("D11", "long_event_in_one_slot", "a long event that states a length of 0", says("E-LEN", kSize), damaged, 3,
            three_events().raw(tracer::make_record(0x001C, 0, 0, {5000})).bytes()),
        row("D12", "stray_stamp", "one bit of a stamp makes it 36 years: it is not used, and no other time moves",
            says("W-TIME", kSize, "damaged, and not used"), clean, 5,
            [](MalformedInput& at) {
                ChunkBuilder chunk = three_events();
                chunk.raw(tracer::make_record(0x0001, 1, 0, {2100 + (std::uint64_t{1} << 60)}));
                chunk.unordered(2200, "ipoint", 2).unordered(2300, "ipoint", 3);
                Outcome outcome = at.read(chunk.bytes());
                EXPECT_EQ(outcome.late, 0U);
                EXPECT_EQ(outcome.unsound, 1U);
                EXPECT_THAT(outcome.ticks, testing::ElementsAre(1000U, 1500U, 2000U, 2000U, 2200U, 2300U));
                return outcome;
            }),
        row("D12", "falling_stamp", "a stamp below the previous one: kept in its position, and late",
            says("W-TIME", kSize, "from 2000 to 700"), clean, 5,
            [](MalformedInput& at) {
                Outcome outcome =
                    at.read(three_events().unordered(700, "ipoint", 1).unordered(1999, "ipoint", 2).bytes());
                EXPECT_EQ(outcome.late, 2U);
                EXPECT_EQ(outcome.ticks.at(3), 700U);
                EXPECT_EQ(outcome.ticks.at(4), 1999U);
                return outcome;
            }),
        row("D13", "equal_stamps", "all records have one stamp", says("W-CLOCK", 0, "stamp 7"), clean, 3,
            stamped({7, 7, 7}).bytes()),
        row("D13", "zero_stamps", "no record has a stamp", says("W-CLOCK", 0, "stamp 0"), clean, 3,
            stamped({0, 0, 0}).bytes()),
        row("D14", "rate_of_zero", "a measured rate of 0 kHz", says("E-FREQ", 0, "stay ticks"), damaged, 3,
            with([](auto& begin) { begin.tsc_khz = 0; })),
        row("D14", "absurd_rate", "a rate above 10 GHz", says("E-FREQ", 0, "10000001"), damaged, 3,
            with([](auto& begin) { begin.tsc_khz = 10'000'001; })),
        row("D14", "unknown_rate", "a rate of 0 kHz that was not measured", says("W-NORATE", 0), clean, 3,
            with([](auto& begin) {
                begin.tsc_khz = 0;
                begin.tsc_source = tracer::TscSource::unknown;
            })),
        row("D14", "unknown_rate_written_again", "the rate of 0 kHz, written as dat and compact", says("W-NORATE", 0),
            clean, 53, write_unknown_rate),
        row("D15", "time_beyond_63_bits", "a distance of 2^64-1 ticks at 1 MHz",
            says("W-RANGE", main_area(far_apart) + 16, "exceed 2^63 ns"), clean, 3,
            with([](auto& begin) { begin.tsc_khz = 1000; }, far_apart)),
        row("D16", "absurd_processor", "a chunk of processor 65535 before another chunk", says("E-CPU", 0, "65535"),
            damaged, 1, with([](auto& begin) { begin.cpu = 65535; }) + one_event().bytes()),
        row("D16", "processor_beyond_the_last", "a chunk of processor 256", says("E-CPU", 0, "256"), nothing, 0,
            with([](auto& begin) { begin.cpu = 256; })),
        row("D21", "reserved_bits", "a record with bit 14 of its code set", says("W-RESERVED", kSize, "0x4001"), clean,
            4, three_events().raw(tracer::make_record(0x4001, 0, 0, {3000})).bytes()),
        row("D22", "hostile_name", "a task whose name contains ESC, NUL, a newline and invalid UTF-8; a text of 64 KiB",
            says(), clean, {}, print_hostile_name),
        row("D23", "leave_without_enter", "interrupts that end but never began", says(), clean, {}, summarise_leaves),
        row("D24", "every_thread_id", "events of all 65,536 distinguishable tasks", says(), clean, {},
            read_every_thread),
        row("D25", "directory_without_a_session", "a directory without a manifest", says("E-DIR", {}, "remora adopt"),
            usage, 0, [](MalformedInput& at) { return at.read_path(at.directory()); }),
        row("D25", "absent_file", "a path that does not exist", says("E-IO", {}, "not found"), usage, 0,
            [](MalformedInput& at) { return at.read_path(at.path_of("absent")); }),
        row("D25", "fifo", "a FIFO", says(), clean, 3, read_fifo),
        row("D25", "endless_zeros", "zeros without end (/dev/zero)", says("E-TRUNC", 16 << 20, "not read"), nothing, 0,
            read_zeros),
        row("D25", "sparse_file", "a chunk, then a terabyte that the file does not store",
            says("E-TRUNC", {}, "not read"), damaged, 3, read_sparse),
        row("D26", "file_that_shrinks", "a file that is cut while it is read", says("E-IO", {}, "became shorter"),
            damaged, {}, read_shrinking),
    };
}

} // namespace support
