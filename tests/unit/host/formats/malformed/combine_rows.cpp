// SPDX-License-Identifier: MIT
// Has rows D27 to D39: long events whose slots do not fit each other; compact stamps and turns of the clock.
#include "tests/support/kev_builder.hpp"
#include "tests/support/malformed_row.hpp"

#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;

// Three events and these slots after them: code with its flags, stamp, par1.
struct Slot {
    std::uint16_t code;
    std::uint64_t stamp;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

Bytes followed_by(const std::vector<Slot>& slots) {
    ChunkBuilder chunk = three_events();
    for (const Slot& slot : slots) {
        chunk.raw(tracer::make_record(slot.code, slot.par1, slot.par2, {slot.stamp}));
    }
    return chunk.bytes();
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
        row("D27", "middle_without_first", "a later slot of a long event without a first one", says("W-ORPHAN", kSize),
            damaged, 3, followed_by({{0x200E, 3000}})),
        row("D27", "orphan_at_ring_start", "the same in a chunk that was overwritten from its beginning on", says(),
            clean, 3,
            [] {
                ChunkBuilder chunk = three_events();
                chunk.begin.overwritten = 100;
                return chunk.raw(tracer::make_record(0x200E, 0, 0, {3000})).bytes();
            }()),
        row("D28", "first_after_first", "a long event begins inside another",
            says("E-INCOMPLETE", kSize, "another one"), damaged, 4,
            followed_by({{0x100E, 5000, 12}, {0x10EE, 6000, 2}, {0x30EE, 6000}})),
        row("D29", "first_at_the_end", "a long event with only its first slot",
            says("E-INCOMPLETE", kSize, "by the end"), damaged, 3, followed_by({{0x100E, 5000, 12}})),
        row("D30", "last_of_another_event", "a slot of another long event inside one: both are incomplete",
            says("E-MIX", kSize + 16), damaged, 4, followed_by({{0x100E, 5000, 12}, {0x301E, 5000}, {0x0001, 6000}})),
        row("D31", "endless_event", "5000 slots of a long event without a last one, then a record",
            says("E-TOOLONG", kSize, "more than 64 slots"), damaged, 4, followed_by(endless(5000))),
        row("D32", "length_beyond_the_slots", "a long event that states more bytes than its slots hold",
            says("E-LEN", kSize, "13 bytes"), damaged, 3, followed_by({{0x10EE, 5000, 13}, {0x30EE, 5000}})),
        row("D32", "length_below_the_slots", "a long event of three slots that states a length of one slot",
            says("E-LEN", kSize, "2 bytes"), damaged, 3,
            followed_by({{0x10EE, 5000, 2}, {0x20EE, 5000}, {0x30EE, 5000}})),
        row("D33", "loss_inside_an_event", "a blackout between the slots of a long event", says("E-INCOMPLETE", kSize),
            damaged, 5, followed_by({{0x100E, 5000, 12}, {0x0040, 5100}, {0x0050, 5200, 0, 7}})),
        row("D34", "event_without_payload",
            "a long event of an unknown code that consists of its length: the length is not checked",
            says("W-UNKNOWN", {}, "kept as raw words"), clean, 4, followed_by({{0x10EE, 5000, 2}, {0x30EE, 5000}})),
    };
}

std::vector<MalformedRow> malformed_compact() {
    return {
        row("D35", "turn_boundaries", "cut stamps of a compact stream at both ends of a turn", says(), clean, 7,
            read_turns),
        row("D35", "turn_boundaries_of_kev", "32-bit stamps of a .kev file at both ends of a turn", says(), clean, 4,
            read_kev_turns),
        row("D36", "turn_without_time_event", "a 32-bit stamp decreases by more than half a turn without a TIME",
            says("W-TIMEAMBIG", kKevSlots + 32, "half a turn"), clean, 3,
            kev().user(0, 0x7000'0000, 1).user(0, 0xF000'0000, 2).user(0, kTurn + 4, 3).bytes),
        row("D37", "lost_time_event", "a processor of a .kev file whose TIME events are missing",
            says("W-TIMEAMBIG", kKevSlots + 32, "cpu 3"), clean, 2, kev().user(0, 0x1010, 1).user(3, 0x1011, 2).bytes),
        row("D37", "compact_chunk_alone", "the second of two compact chunks without the first", says(), clean, 3,
            [](MalformedInput& at) {
                ChunkBuilder chunk(9);
                const std::uint64_t base = 77 * kTurn;
                chunk.event(base, "ipoint", 1).event(base + 1, "ipoint", 2).event(base + kTurn, "ipoint", 3);
                Outcome outcome = at.read(chunk.compact(tracer::compact::Layout::a));
                EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{base, base + 1, base + kTurn}));
                return outcome;
            }),
        row("D38", "small_step_back", "a 32-bit stamp decreases by less than half a turn: late, not a turn",
            says("W-TIME", kKevSlots + 16, "earlier"), clean, 3,
            [](MalformedInput& at) {
                KevBuilder file = kev();
                Outcome outcome = at.read(file.user(0, 0x2000, 1).user(0, 0x1F00, 2).user(0, 0x2001, 3).bytes);
                EXPECT_EQ(outcome.ticks, (std::vector<std::uint64_t>{0x1F00, 0x2000, 0x2001}));
                EXPECT_EQ(outcome.late, 1U);
                return outcome;
            }),
        row("D39", "time_event_that_contradicts", "a TIME event six turns before its processor's events: accepted",
            says("W-TIME", kKevSlots + 32, "TIME says 0x0000000300000000"), clean, 2,
            kev().time(0, 9 * kTurn).user(0, 9 * kTurn + 1, 1).time(0, 3 * kTurn).user(0, 3 * kTurn + 1, 2).bytes),
    };
}

} // namespace support
