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
