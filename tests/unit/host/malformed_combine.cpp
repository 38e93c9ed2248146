// SPDX-License-Identifier: MIT
// Rows D27 to D39: long events whose slots do not fit each other; compact stamps and turns of the clock.
#include "tests/support/kev_builder.hpp"
#include "tests/support/malformed_row.hpp"

#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;

const std::size_t kSize = three_events().bytes().size();

// Three events and these slots behind them: code with its flags, stamp, par1.
struct Slot {
    std::uint16_t code;
    std::uint64_t stamp;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

std::function<Bytes()> behind(std::vector<Slot> slots) {
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
        {"D27",
         "middle_without_first",
         "a later slot of a long event that never began",
         "W-ORPHAN",
         damaged,
         kSize,
         "",
         3,
         {},
         behind({{0x200E, 3000}})},
        {"D27",
         "orphan_at_ring_start",
         "the same in a chunk that was overwritten from its beginning on",
         "",
         clean,
         {},
         "",
         3,
         {},
         [] {
             ChunkBuilder chunk = three_events();
             chunk.begin.overwritten = 100;
             return chunk.raw(tracer::make_record(0x200E, 0, 0, {3000})).bytes();
         }},
        {"D28",
         "first_after_first",
         "a long event begins inside another",
         "E-INCOMPLETE",
         damaged,
         kSize,
         "another one",
         4,
         {},
         behind({{0x100E, 5000, 12}, {0x10EE, 6000, 2}, {0x30EE, 6000}})},
        {"D29",
         "first_at_the_end",
         "a long event of which only the first slot is there",
         "E-INCOMPLETE",
         damaged,
         kSize,
         "by the end",
         3,
         {},
         behind({{0x100E, 5000, 12}})},
        {"D30",
         "last_of_another_event",
         "a slot of another long event inside one: both are given up",
         "E-MIX",
         damaged,
         kSize + 16,
         "",
         4,
         {},
         behind({{0x100E, 5000, 12}, {0x301E, 5000}, {0x0001, 6000}})},
        {"D31",
         "endless_event",
         "5000 slots of a long event without a last one, then a record",
         "E-TOOLONG",
         damaged,
         kSize,
         "more than 64 slots",
         4,
         {},
         behind(endless(5000))},
        {"D32",
         "length_beyond_the_slots",
         "a long event that says it is longer than its slots",
         "E-LEN",
         damaged,
         kSize,
         "13 bytes",
         3,
         {},
         behind({{0x10EE, 5000, 13}, {0x30EE, 5000}})},
        {"D32",
         "length_below_the_slots",
         "a long event of three slots that says it fits in one",
         "E-LEN",
         damaged,
         kSize,
         "2 bytes",
         3,
         {},
         behind({{0x10EE, 5000, 2}, {0x20EE, 5000}, {0x30EE, 5000}})},
        {"D33",
         "loss_inside_an_event",
         "a blackout between the slots of a long event",
         "E-INCOMPLETE",
         damaged,
         kSize,
         "",
         5,
         {},
         behind({{0x100E, 5000, 12}, {0x0040, 5100}, {0x0050, 5200, 0, 7}})},
        {"D34",
         "event_without_payload",
         "a long event of an unknown code that has its length alone: nothing is said of its length",
         "W-UNKNOWN",
         clean,
         {},
         "kept as raw words",
         4,
         {},
         behind({{0x10EE, 5000, 2}, {0x30EE, 5000}})},
    };
}

std::vector<MalformedRow> malformed_compact() {
    return {
        {"D35",
         "turn_boundaries",
         "cut stamps of a compact stream at both ends of a turn",
         "",
         clean,
         {},
         "",
         7,
         {},
         {},
         read_turns},
        {"D35",
         "turn_boundaries_of_kev",
         "32-bit stamps of a .kev file at both ends of a turn",
         "",
         clean,
         {},
         "",
         4,
         {},
         {},
         read_kev_turns},
        {"D36",
         "turn_without_time_event",
         "a 32-bit stamp falls by more than half a turn, and no TIME says so",
         "W-TIMEAMBIG",
         clean,
         kKevSlots + 32,
         "half a turn",
         3,
         {},
         [] {
             KevBuilder file = kev();
             return file.user(0, 0x7000'0000, 1).user(0, 0xF000'0000, 2).user(0, kTurn + 4, 3).bytes;
         }},
        {"D37",
         "lost_time_event",
         "a processor of a .kev file whose TIME events are missing",
         "W-TIMEAMBIG",
         clean,
         kKevSlots + 32,
         "cpu 3",
         2,
         {},
         [] {
             KevBuilder file = kev();
             return file.user(0, 0x1010, 1).user(3, 0x1011, 2).bytes;
         }},
        {"D37",
         "compact_chunk_alone",
         "the second of two compact chunks without the first",
         "",
         clean,
         {},
         "",
         3,
         {},
         {},
         [](MalformedInput& at) {
             ChunkBuilder chunk(9);
             const std::uint64_t base = 77 * kTurn;
             chunk.event(base, "ipoint", 1).event(base + 1, "ipoint", 2).event(base + kTurn, "ipoint", 3);
             Outcome outcome = at.read(chunk.compact(tracer::compact::Layout::a));
             EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{base, base + 1, base + kTurn}));
             return outcome;
         }},
        {"D38",
         "small_step_back",
         "a 32-bit stamp falls by less than half a turn: late, and no turn",
         "W-TIME",
         clean,
         kKevSlots + 16,
         "earlier",
         3,
         {},
         {},
         [](MalformedInput& at) {
             KevBuilder file = kev();
             Outcome outcome = at.read(file.user(0, 0x2000, 1).user(0, 0x1F00, 2).user(0, 0x2001, 3).bytes);
             EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{0x1F00, 0x2000, 0x2001}));
             EXPECT_EQ(outcome.late, 1U);
             return outcome;
         }},
        {"D39",
         "time_event_that_contradicts",
         "a TIME event that lies six turns before its processor's events: believed",
         "W-TIME",
         clean,
         kKevSlots + 32,
         "TIME says 0x0000000300000000",
         2,
         {},
         [] {
             KevBuilder file = kev();
             file.time(0, 9 * kTurn).user(0, 9 * kTurn + 1, 1);
             return file.time(0, 3 * kTurn).user(0, 3 * kTurn + 1, 2).bytes;
         }},
    };
}

} // namespace support
