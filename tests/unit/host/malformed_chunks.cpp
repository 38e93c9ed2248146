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
        {"D17",
         "chunk_that_comes_again",
         "a chunk twice in a file",
         "W-DUP",
         clean,
         kSize,
         ":0x0",
         3,
         {},
         [] { return three_events().bytes() + three_events().bytes(); }},
        {"D17",
         "chunk_that_contradicts",
         "two chunks of one number with different records",
         "E-CONFLICT",
         damaged,
         kSize,
         ":0x0",
         3,
         {},
         [] { return three_events().bytes() + one_event(3).bytes(); }},
        {"D17",
         "chunk_that_comes_again_in_a_pipe",
         "a chunk twice in a pipe",
         "W-DUP",
         clean,
         kSize,
         "",
         3,
         {},
         {},
         [](MalformedInput& at) { return read_pipe(at, three_events().bytes() + three_events().bytes()); }},
        {"D18",
         "missing_chunk",
         "the counter of dropped records rose by 7 and no blackout tells",
         "W-GAP",
         damaged,
         kSize,
         "7 records were dropped behind chunk 3",
         4,
         {},
         dropping(2, 9)},
        {"D18",
         "gap_that_is_told",
         "the same, and a blackout tells",
         "",
         clean,
         {},
         "",
         6,
         {},
         [] {
             ChunkBuilder b(4);
             b.begin.dropped = 7;
             b.event(4000, "blackout_start").event(4500, "blackout_end", 0, 7).event(5000, "ipoint", 1);
             return three_events().bytes() + b.bytes();
         }},
        {"D19",
         "chunks_out_of_order",
         "the later chunk in front of the earlier one: put in order",
         "",
         clean,
         {},
         "",
         4,
         {},
         {},
         [](MalformedInput& at) {
             Outcome outcome = at.read(one_event().bytes() + three_events().bytes());
             EXPECT_TRUE(std::ranges::is_sorted(outcome.ticks));
             return outcome;
         }},
        {"D19",
         "chunks_out_of_order_in_a_pipe",
         "the same through a pipe: shown as it comes",
         "W-ORDER",
         clean,
         one_event().bytes().size() + kMain,
         "",
         4,
         {},
         {},
         [](MalformedInput& at) { return read_pipe(at, one_event().bytes() + three_events().bytes()); }},
        {"D20",
         "two_runs",
         "a chunk of another boot behind the first: left out",
         "E-BOOT",
         damaged,
         kSize,
         "another run",
         3,
         {},
         [] {
             ChunkBuilder other = one_event();
             other.begin.boot_id = 1;
             return three_events().bytes() + other.bytes();
         }},
        {"D58",
         "counter_that_falls",
         "the counter of dropped records falls from 9 to 2",
         "W-COUNTER",
         clean,
         kSize,
         "from 9 to 2",
         4,
         {},
         dropping(9, 2)},
        {"D58",
         "counter_beyond_the_total",
         "a chunk counts more dropped records than the whole export",
         "W-COUNTER",
         clean,
         0,
         "9 dropped records are more than the 3",
         3,
         {},
         [] {
             ChunkBuilder chunk = three_events();
             chunk.begin.dropped = 9;
             return chunk.bytes() + export_end({.chunks = 1, .records = 3, .dropped = 3});
         }},
    };
}

} // namespace support
