// SPDX-License-Identifier: MIT
// Has rows D17 to D20 and D58: what chunks say about each other.
#include "tests/support/malformed_row.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;

// Three events in a chunk with a checksum.
Bytes summed() {
    return sealed(three_events().bytes());
}

// One bit of its last record.
Bytes with_flipped_bit() {
    return flipped(summed(), summed().size() - 3, 0);
}

Outcome read_pipe(MalformedInput& at, const Bytes& bytes) {
    const StandardInput input(at.store("input", bytes));
    return at.read_path("-");
}

} // namespace

std::vector<MalformedRow> malformed_chunks() {
    const auto dropping = [](std::uint64_t first, std::uint64_t second) {
        ChunkBuilder a = three_events();
        ChunkBuilder b = one_event();
        a.begin.dropped = first;
        b.begin.dropped = second;
        return a.bytes() + b.bytes();
    };
    return {
        row("D17", "repeated_chunk", "a chunk twice in a file", says("W-DUP", kSize, ":0x0"), clean, 3,
            three_events().bytes() + three_events().bytes()),
        row("D17", "chunk_that_contradicts", "two chunks of one number with different records",
            says("E-CONFLICT", kSize, ":0x0"), damaged, 3, three_events().bytes() + one_event(3).bytes()),
        row("D17", "repeated_chunk_in_a_pipe", "a chunk twice in a pipe", says("W-DUP", kSize), clean, 3,
            [](MalformedInput& at) { return read_pipe(at, three_events().bytes() + three_events().bytes()); }),
        row("D8", "sealed_chunk", "a chunk with a checksum", says(), clean, 3, summed()),
        row("D8", "flipped_bit",
            "one bit of a record of a chunk with a checksum: it is read, and nothing concluded from it",
            says("W-CRC", one_event().bytes().size(), "nothing is concluded"), damaged, 4,
            one_event().bytes() + with_flipped_bit()),
        row("D8", "flipped_bit_in_a_pipe", "the same through a pipe", says("W-CRC", 0), damaged, 4,
            [](MalformedInput& at) {
                return read_pipe(at, with_flipped_bit() + support::sealed(one_event().bytes()));
            }),
        row("D8", "flipped_bit_of_the_checksum", "one bit of the checksum itself", says("W-CRC", 0), damaged, 3,
            flipped(summed(), 13 * 16 + 14, 2)),
        row("D8", "flipped_kind_of_the_checksum", "the header says that it has no checksum, and has one",
            says("W-CRC", 0), damaged, 3, flipped(summed(), 4 * 16 + 13, 0)), // byte 27 of the payload
        row("D8", "flipped_bit_without_meaning", "a bit of the header's code that means nothing", says("W-CRC", 0),
            damaged, 3, flipped(summed(), 5 * 16 + 1, 7)),
        row("D8", "empty_slots", "zeros in the place of a record that was lost on its way",
            says("W-SHORT", kMain + 16, "1 slots from here on are empty"), damaged, 2,
            zeroed(summed(), kMain + 16, 16)),
        row("D8", "empty_slots_of_the_preamble",
            "zeros in the place of two slots of a preamble: the records after it are read",
            says("W-SHORT", kMain - 32, "2 slots from here on are empty"), damaged, 3,
            zeroed(summed(), kMain - 32, 32)),
        row("D18", "missing_chunk", "the counter of dropped records rose by 7 without a blackout",
            says("W-GAP", kSize, "7 records were dropped after chunk 3"), damaged, 4, dropping(2, 9)),
        row("D18", "gap_with_a_blackout", "the same, with a blackout", says(), clean, 6,
            [] {
                ChunkBuilder b(4);
                b.begin.dropped = 7;
                b.event(4000, "blackout_start").event(4500, "blackout_end", 0, 7).event(5000, "ipoint", 1);
                return three_events().bytes() + b.bytes();
            }()),
        row("D19", "chunks_out_of_order", "the later chunk before the earlier one: put in order", says(), clean, 4,
            [](MalformedInput& at) {
                Outcome outcome = at.read(one_event().bytes() + three_events().bytes());
                EXPECT_TRUE(std::ranges::is_sorted(outcome.ticks));
                return outcome;
            }),
        row("D19", "chunks_out_of_order_in_a_pipe", "the same through a pipe: shown in the order received",
            says("W-ORDER", one_event().bytes().size() + kMain), clean, 4,
            [](MalformedInput& at) { return read_pipe(at, one_event().bytes() + three_events().bytes()); }),
        row("D20", "two_runs", "a chunk of another boot after the first: left out",
            says("E-BOOT", kSize, "another run"), damaged, 3,
            [] {
                ChunkBuilder other = one_event();
                other.begin.boot_id = 1;
                return three_events().bytes() + other.bytes();
            }()),
        row("D58", "counter_that_decreases", "the counter of dropped records decreases from 9 to 2",
            says("W-COUNTER", kSize, "from 9 to 2"), clean, 4, dropping(9, 2)),
        row("D58", "counter_beyond_the_total", "a chunk counts more dropped records than the whole export",
            says("W-COUNTER", 0, "9 dropped records are more than the 3"), clean, 3,
            [] {
                ChunkBuilder chunk = three_events();
                chunk.begin.dropped = 9;
                return chunk.bytes() + export_end({.chunks = 1, .records = 3, .dropped = 3});
            }()),
    };
}

} // namespace support
