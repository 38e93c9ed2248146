// SPDX-License-Identifier: MIT
// Rows D17 to D20 and D58: what chunks say about each other.
#include "tests/support/malformed_row.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;

const std::size_t kSize = three_events().bytes().size();
const std::size_t kMain = main_area(three_events());

// One bit of the last record.
Bytes with_flipped_bit(Bytes bytes) {
    bytes[bytes.size() - 3] ^= std::byte{1};
    return bytes;
}

Outcome read_pipe(MalformedInput& at, const Bytes& bytes) {
    const StandardInput input(at.store("input", bytes));
    return at.read_path("-");
}

} // namespace

std::vector<MalformedRow> malformed_chunks() {
    const auto dropping = [](std::uint64_t first, std::uint64_t second) {
        return [first, second] {
            ChunkBuilder a = three_events();
            ChunkBuilder b = one_event();
            a.begin.dropped = first;
            b.begin.dropped = second;
            return a.bytes() + b.bytes();
        };
    };
    return {
        {.row = "D17",
         .name = "repeated_chunk",
         .input = "a chunk twice in a file",
         .code = "W-DUP",
         .offset_bytes = kSize,
         .text = ":0x0",
         .events = 3,
         .bytes = [] { return three_events().bytes() + three_events().bytes(); }},
        {.row = "D17",
         .name = "chunk_that_contradicts",
         .input = "two chunks of one number with different records",
         .code = "E-CONFLICT",
         .status = damaged,
         .offset_bytes = kSize,
         .text = ":0x0",
         .events = 3,
         .bytes = [] { return three_events().bytes() + one_event(3).bytes(); }},
        {.row = "D17",
         .name = "repeated_chunk_in_a_pipe",
         .input = "a chunk twice in a pipe",
         .code = "W-DUP",
         .offset_bytes = kSize,
         .events = 3,
         .act = [](MalformedInput& at) { return read_pipe(at, three_events().bytes() + three_events().bytes()); }},
        {.row = "D8",
         .name = "sealed_chunk",
         .input = "a chunk with a checksum",
         .events = 3,
         .bytes = [] { return support::sealed(three_events().bytes()); }},
        {.row = "D8",
         .name = "flipped_bit",
         .input = "one bit of a record of a chunk with a checksum: it is read, and nothing concluded from it",
         .code = "W-CRC",
         .status = damaged,
         .offset_bytes = one_event().bytes().size(),
         .text = "nothing is concluded",
         .events = 4,
         .bytes = [] { return one_event().bytes() + with_flipped_bit(support::sealed(three_events().bytes())); }},
        {.row = "D8",
         .name = "flipped_bit_in_a_pipe",
         .input = "the same through a pipe",
         .code = "W-CRC",
         .status = damaged,
         .offset_bytes = 0,
         .events = 4,
         .act =
             [](MalformedInput& at) {
                 return read_pipe(at, with_flipped_bit(support::sealed(three_events().bytes())) +
                                          support::sealed(one_event().bytes()));
             }},
        {.row = "D8",
         .name = "flipped_bit_of_the_checksum",
         .input = "one bit of the checksum itself",
         .code = "W-CRC",
         .status = damaged,
         .offset_bytes = 0,
         .events = 3,
         .bytes =
             [] {
                 Bytes bytes = support::sealed(three_events().bytes());
                 bytes[13 * 16 + 14] ^= std::byte{4};
                 return bytes;
             }},
        {.row = "D8",
         .name = "flipped_kind_of_the_checksum",
         .input = "the header says that it has no checksum, and has one",
         .code = "W-CRC",
         .status = damaged,
         .offset_bytes = 0,
         .events = 3,
         .bytes =
             [] {
                 Bytes bytes = support::sealed(three_events().bytes());
                 bytes[4 * 16 + 13] ^= std::byte{1}; // byte 27 of the payload
                 return bytes;
             }},
        {.row = "D8",
         .name = "flipped_bit_without_meaning",
         .input = "a bit of the header's code that means nothing",
         .code = "W-CRC",
         .status = damaged,
         .offset_bytes = 0,
         .events = 3,
         .bytes =
             [] {
                 Bytes bytes = support::sealed(three_events().bytes());
                 bytes[5 * 16 + 1] ^= std::byte{0x80};
                 return bytes;
             }},
        {.row = "D8",
         .name = "empty_slots",
         .input = "zeros in the place of a record that was lost on its way",
         .code = "W-SHORT",
         .status = damaged,
         .offset_bytes = kMain + 16,
         .text = "1 slots from here on are empty",
         .events = 2,
         .bytes =
             [] {
                 Bytes bytes = support::sealed(three_events().bytes());
                 std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(kMain + 16), 16, std::byte{0});
                 return bytes;
             }},
        {.row = "D8",
         .name = "empty_slots_of_the_preamble",
         .input = "zeros in the place of two slots of a preamble: the records after it are read",
         .code = "W-SHORT",
         .status = damaged,
         .offset_bytes = kMain - 32,
         .text = "2 slots from here on are empty",
         .events = 3,
         .bytes =
             [] {
                 Bytes bytes = support::sealed(three_events().bytes());
                 std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(kMain - 32), 32, std::byte{0});
                 return bytes;
             }},
        {.row = "D18",
         .name = "missing_chunk",
         .input = "the counter of dropped records rose by 7 without a blackout",
         .code = "W-GAP",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "7 records were dropped after chunk 3",
         .events = 4,
         .bytes = dropping(2, 9)},
        {.row = "D18",
         .name = "gap_with_a_blackout",
         .input = "the same, with a blackout",
         .events = 6,
         .bytes =
             [] {
                 ChunkBuilder b(4);
                 b.begin.dropped = 7;
                 b.event(4000, "blackout_start").event(4500, "blackout_end", 0, 7).event(5000, "ipoint", 1);
                 return three_events().bytes() + b.bytes();
             }},
        {.row = "D19",
         .name = "chunks_out_of_order",
         .input = "the later chunk before the earlier one: put in order",
         .events = 4,
         .act =
             [](MalformedInput& at) {
                 Outcome outcome = at.read(one_event().bytes() + three_events().bytes());
                 EXPECT_TRUE(std::ranges::is_sorted(outcome.ticks));
                 return outcome;
             }},
        {.row = "D19",
         .name = "chunks_out_of_order_in_a_pipe",
         .input = "the same through a pipe: shown in the order received",
         .code = "W-ORDER",
         .offset_bytes = one_event().bytes().size() + kMain,
         .events = 4,
         .act = [](MalformedInput& at) { return read_pipe(at, one_event().bytes() + three_events().bytes()); }},
        {.row = "D20",
         .name = "two_runs",
         .input = "a chunk of another boot after the first: left out",
         .code = "E-BOOT",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "another run",
         .events = 3,
         .bytes =
             [] {
                 ChunkBuilder other = one_event();
                 other.begin.boot_id = 1;
                 return three_events().bytes() + other.bytes();
             }},
        {.row = "D58",
         .name = "counter_that_decreases",
         .input = "the counter of dropped records decreases from 9 to 2",
         .code = "W-COUNTER",
         .offset_bytes = kSize,
         .text = "from 9 to 2",
         .events = 4,
         .bytes = dropping(9, 2)},
        {.row = "D58",
         .name = "counter_beyond_the_total",
         .input = "a chunk counts more dropped records than the whole export",
         .code = "W-COUNTER",
         .offset_bytes = 0,
         .text = "9 dropped records are more than the 3",
         .events = 3,
         .bytes =
             [] {
                 ChunkBuilder chunk = three_events();
                 chunk.begin.dropped = 9;
                 return chunk.bytes() + export_end({.chunks = 1, .records = 3, .dropped = 3});
             }},
    };
}

} // namespace support
