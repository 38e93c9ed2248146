// SPDX-License-Identifier: MIT
// Rows D27 to D39: long events whose slots do not fit each other; compact stamps and turns of the clock.
#include "tests/support/kev_builder.hpp"
#include "tests/support/malformed_row.hpp"

#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;

const std::size_t kSize = three_events().bytes().size();

// Three events and these slots after them: code with its flags, stamp, par1.
struct Slot {
    std::uint16_t code;
    std::uint64_t stamp;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

std::function<Bytes()> followed_by(std::vector<Slot> slots) {
    return [slots = std::move(slots)] {
        ChunkBuilder chunk = three_events();
        for (const Slot& slot : slots) {
            chunk.raw(tracer::make_record(slot.code, slot.par1, slot.par2, {slot.stamp}));
        }
        return chunk.bytes();
    };
}

std::vector<Slot> endless(std::size_t middles) {
    std::vector<Slot> slots{{0x100E, 5000}};
    slots.resize(1 + middles, {0x200E, 5000});
    slots.push_back({0x0001, 6000, 77});
    return slots;
}

constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

KevBuilder kev() {
    KevBuilder file;
    return file.buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000);
}

// Layout A cuts stamps to 27 bits.
Outcome read_turns(MalformedInput& at) {
    constexpr std::uint64_t kWrap = std::uint64_t{1} << 27;
    const std::vector<std::uint64_t> stamps{kWrap - 2,     kWrap - 1, kWrap,    kWrap + 1,
                                            2 * kWrap - 1, 2 * kWrap, 5 * kWrap};
    ChunkBuilder chunk;
    for (const std::uint64_t stamp : stamps) {
        chunk.event(stamp, "ipoint", 1);
    }
    Outcome outcome;
    for (const auto layout : {tracer::compact::Layout::a, tracer::compact::Layout::a2}) {
        outcome = at.read(chunk.compact(layout));
        EXPECT_EQ(outcome.ticks, stamps);
    }
    return outcome;
}

Outcome read_kev_turns(MalformedInput& at) {
    KevBuilder file = kev();
    file.user(0, kTurn - 2, 1).user(0, kTurn - 1, 2).time(0, kTurn).user(0, kTurn, 3).user(0, kTurn + 1, 4);
    Outcome outcome = at.read(file.bytes);
    EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{kTurn - 2, kTurn - 1, kTurn, kTurn + 1}));
    return outcome;
}

const std::size_t kKevSlots = kev().bytes.size();

} // namespace

std::vector<MalformedRow> malformed_long_events() {
    return {
        {.row = "D27",
         .name = "middle_without_first",
         .input = "a later slot of a long event without a first one",
         .code = "W-ORPHAN",
         .status = damaged,
         .offset_bytes = kSize,
         .events = 3,
         .bytes = followed_by({{0x200E, 3000}})},
        {.row = "D27",
         .name = "orphan_at_ring_start",
         .input = "the same in a chunk that was overwritten from its beginning on",
         .events = 3,
         .bytes =
             [] {
                 ChunkBuilder chunk = three_events();
                 chunk.begin.overwritten = 100;
                 return chunk.raw(tracer::make_record(0x200E, 0, 0, {3000})).bytes();
             }},
        {.row = "D28",
         .name = "first_after_first",
         .input = "a long event begins inside another",
         .code = "E-INCOMPLETE",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "another one",
         .events = 4,
         .bytes = followed_by({{0x100E, 5000, 12}, {0x10EE, 6000, 2}, {0x30EE, 6000}})},
        {.row = "D29",
         .name = "first_at_the_end",
         .input = "a long event with only its first slot",
         .code = "E-INCOMPLETE",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "by the end",
         .events = 3,
         .bytes = followed_by({{0x100E, 5000, 12}})},
        {.row = "D30",
         .name = "last_of_another_event",
         .input = "a slot of another long event inside one: both are incomplete",
         .code = "E-MIX",
         .status = damaged,
         .offset_bytes = kSize + 16,
         .events = 4,
         .bytes = followed_by({{0x100E, 5000, 12}, {0x301E, 5000}, {0x0001, 6000}})},
        {.row = "D31",
         .name = "endless_event",
         .input = "5000 slots of a long event without a last one, then a record",
         .code = "E-TOOLONG",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "more than 64 slots",
         .events = 4,
         .bytes = followed_by(endless(5000))},
        {.row = "D32",
         .name = "length_beyond_the_slots",
         .input = "a long event that states more bytes than its slots hold",
         .code = "E-LEN",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "13 bytes",
         .events = 3,
         .bytes = followed_by({{0x10EE, 5000, 13}, {0x30EE, 5000}})},
        {.row = "D32",
         .name = "length_below_the_slots",
         .input = "a long event of three slots that states a length of one slot",
         .code = "E-LEN",
         .status = damaged,
         .offset_bytes = kSize,
         .text = "2 bytes",
         .events = 3,
         .bytes = followed_by({{0x10EE, 5000, 2}, {0x20EE, 5000}, {0x30EE, 5000}})},
        {.row = "D33",
         .name = "loss_inside_an_event",
         .input = "a blackout between the slots of a long event",
         .code = "E-INCOMPLETE",
         .status = damaged,
         .offset_bytes = kSize,
         .events = 5,
         .bytes = followed_by({{0x100E, 5000, 12}, {0x0040, 5100}, {0x0050, 5200, 0, 7}})},
        {.row = "D34",
         .name = "event_without_payload",
         .input = "a long event of an unknown code that consists of its length: the length is not checked",
         .code = "W-UNKNOWN",
         .text = "kept as raw words",
         .events = 4,
         .bytes = followed_by({{0x10EE, 5000, 2}, {0x30EE, 5000}})},
    };
}

std::vector<MalformedRow> malformed_compact() {
    return {
        {.row = "D35",
         .name = "turn_boundaries",
         .input = "cut stamps of a compact stream at both ends of a turn",
         .events = 7,
         .act = read_turns},
        {.row = "D35",
         .name = "turn_boundaries_of_kev",
         .input = "32-bit stamps of a .kev file at both ends of a turn",
         .events = 4,
         .act = read_kev_turns},
        {.row = "D36",
         .name = "turn_without_time_event",
         .input = "a 32-bit stamp decreases by more than half a turn without a TIME",
         .code = "W-TIMEAMBIG",
         .offset_bytes = kKevSlots + 32,
         .text = "half a turn",
         .events = 3,
         .bytes =
             [] {
                 KevBuilder file = kev();
                 return file.user(0, 0x7000'0000, 1).user(0, 0xF000'0000, 2).user(0, kTurn + 4, 3).bytes;
             }},
        {.row = "D37",
         .name = "lost_time_event",
         .input = "a processor of a .kev file whose TIME events are missing",
         .code = "W-TIMEAMBIG",
         .offset_bytes = kKevSlots + 32,
         .text = "cpu 3",
         .events = 2,
         .bytes =
             [] {
                 KevBuilder file = kev();
                 return file.user(0, 0x1010, 1).user(3, 0x1011, 2).bytes;
             }},
        {.row = "D37",
         .name = "compact_chunk_alone",
         .input = "the second of two compact chunks without the first",
         .events = 3,
         .act =
             [](MalformedInput& at) {
                 ChunkBuilder chunk(9);
                 const std::uint64_t base = 77 * kTurn;
                 chunk.event(base, "ipoint", 1).event(base + 1, "ipoint", 2).event(base + kTurn, "ipoint", 3);
                 Outcome outcome = at.read(chunk.compact(tracer::compact::Layout::a));
                 EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{base, base + 1, base + kTurn}));
                 return outcome;
             }},
        {.row = "D38",
         .name = "small_step_back",
         .input = "a 32-bit stamp decreases by less than half a turn: late, not a turn",
         .code = "W-TIME",
         .offset_bytes = kKevSlots + 16,
         .text = "earlier",
         .events = 3,
         .act =
             [](MalformedInput& at) {
                 KevBuilder file = kev();
                 Outcome outcome = at.read(file.user(0, 0x2000, 1).user(0, 0x1F00, 2).user(0, 0x2001, 3).bytes);
                 EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{0x1F00, 0x2000, 0x2001}));
                 EXPECT_EQ(outcome.late, 1U);
                 return outcome;
             }},
        {.row = "D39",
         .name = "time_event_that_contradicts",
         .input = "a TIME event six turns before its processor's events: accepted",
         .code = "W-TIME",
         .offset_bytes = kKevSlots + 32,
         .text = "TIME says 0x0000000300000000",
         .events = 2,
         .bytes =
             [] {
                 KevBuilder file = kev();
                 file.time(0, 9 * kTurn).user(0, 9 * kTurn + 1, 1);
                 return file.time(0, 3 * kTurn).user(0, 3 * kTurn + 1, 2).bytes;
             }},
    };
}

} // namespace support
