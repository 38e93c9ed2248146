// SPDX-License-Identifier: MIT
// Tests .kev files, read: slots, combine events in every interlacing, what is lost, 64-bit time across rollovers. The
// files are built slot by slot in the tests.
#include "foreign/kev/kev_stream.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/slot.hpp"
#include "lib/endian.hpp"
#include "tests/support/kev_builder.hpp"

#include <gmock/gmock.h>

namespace host::formats::kev {

namespace {

using support::KevBuilder;
using support::KevReading;
using support::KevSeen;
using support::read_kev;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

KevBuilder started() {
    KevBuilder file;
    file.buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000).time(2, 0x1000);
    return file;
}

// Checklist 1.
TEST(KevSlot, IsSixteenBytesWithKindProcessorClassAndEventInItsHeader) {
    static_assert(sizeof(Slot) == 16);
    EXPECT_EQ(make_header(Kind::simple, 0, 1, 1), 0x0000'0401U);
    EXPECT_EQ(make_header(Kind::begin, 1, 4, 320), 0x4100'1140U);
    EXPECT_EQ(make_header(Kind::middle, 63, 31, 1023), 0xBF00'7FFFU);
    EXPECT_EQ(make_header(Kind::end, 2, 6, 0), 0xC200'1800U);
    const Slot slot{.header = 0xBF00'7FFF, .stamp = 0x01020304, .data = {5, 0x0A0B0C0D}};
    EXPECT_EQ(slot.kind(), Kind::middle);
    EXPECT_EQ(slot.cpu(), 63);
    EXPECT_EQ(slot.class_number(), 31);
    EXPECT_EQ(slot.event(), 1023);
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        std::array<std::byte, kSlotBytes> bytes{};
        for (std::size_t i = 0; const std::uint32_t word : {slot.header, slot.stamp, slot.data[0], slot.data[1]}) {
            const auto place = std::span(bytes).subspan(4 * i++);
            order == ByteOrder::little ? lib::store_le(place, word) : lib::store_be(place, word);
        }
        EXPECT_EQ(bytes[4], order == ByteOrder::little ? std::byte{4} : std::byte{1});
        EXPECT_EQ(decode_slot(bytes, order), slot);
    }
}

TEST(KevNames, FollowThePublishedLabels) {
    EXPECT_EQ(event_label(1, 1), "TIME");
    EXPECT_EQ(event_label(2, 11), "KER_CALL 11");
    EXPECT_EQ(event_label(2, 128 + 11), "KER_EXIT 11");
    EXPECT_EQ(event_label(2, 256 + 127), "INT_CALL 127");
    EXPECT_EQ(event_label(2, 512 + 9), "KER_CALL 9");
    EXPECT_EQ(event_label(3, 4), "INT_HANDLER_EXIT");
    EXPECT_EQ(event_label(4, 1), "THRUNNING");
    EXPECT_EQ(event_label(4, 20), "THNET_REPLY");
    EXPECT_EQ(event_label(4, 24), "THCREATE");
    EXPECT_EQ(event_label(4, 26 + 2), "VTHREADY");
    EXPECT_EQ(event_label(4, 320), "PROCTHREAD_NAME");
    EXPECT_EQ(event_label(4, 63), "");
    EXPECT_EQ(event_label(4, 384), "");
    EXPECT_EQ(event_label(5, 8), "MAPNAME");
    EXPECT_EQ(event_label(6, 8), "");
    EXPECT_EQ(event_label(7, 11), "MSG_ERROR");
    EXPECT_EQ(event_label(9, 1), "");
    EXPECT_EQ(class_label(4, 70), "PROCESS");
    EXPECT_EQ(class_label(2, 300), "INT_CALL");
}

// Checklist 3.
TEST(KevReading, DeliversInterlacedCombineEventsWhole) {
    // Nested, round robin, and closing in reverse.
    auto file = started();
    file.slot('B', 0, 6, 1, 0x1010, 1, 2).slot('B', 0, 6, 2, 0x1011, 3, 4).slot('E', 0, 6, 2, 0x1011, 5, 6);
    file.slot('S', 0, 6, 3, 0x1012, 7, 8).slot('E', 0, 6, 1, 0x1010, 9, 10);
    file.slot('B', 0, 6, 4, 0x1020, 1, 1).slot('B', 0, 6, 5, 0x1021, 2, 2).slot('B', 0, 6, 6, 0x1022, 3, 3);
    file.slot('C', 0, 6, 4, 0x1020, 4, 4).slot('C', 0, 6, 5, 0x1021, 5, 5).slot('C', 0, 6, 6, 0x1022, 6, 6);
    file.slot('E', 0, 6, 6, 0x1022, 7, 7).slot('E', 0, 6, 5, 0x1021, 8, 8).slot('E', 0, 6, 4, 0x1020, 9, 9);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_EQ(reading.status, trace::ExitStatus::clean);
    EXPECT_THAT(reading.events,
                ElementsAre(KevSeen{0x1010, 0, 6, 1, {1, 2, 9, 10}}, KevSeen{0x1011, 0, 6, 2, {3, 4, 5, 6}},
                            KevSeen{0x1012, 0, 6, 3, {7, 8}}, KevSeen{0x1020, 0, 6, 4, {1, 1, 4, 4, 9, 9}},
                            KevSeen{0x1021, 0, 6, 5, {2, 2, 5, 5, 8, 8}},
                            KevSeen{0x1022, 0, 6, 6, {3, 3, 6, 6, 7, 7}}));
}

// Checklist 4: the words of one processor's event never land in another's, nor in one of another class or number.
TEST(KevReading, KeepsEventsOfEqualStampApart) {
    auto file = started();
    file.slot('B', 0, 6, 1, 0x2000, 1, 2).slot('B', 1, 6, 1, 0x2000, 11, 12).slot('B', 0, 4, 320, 0x2000, 21, 22);
    file.slot('B', 0, 6, 2, 0x2000, 31, 32);
    file.slot('E', 0, 6, 2, 0x2000, 33, 34).slot('E', 0, 4, 320, 0x2000, 23, 24);
    file.slot('E', 1, 6, 1, 0x2000, 13, 14).slot('E', 0, 6, 1, 0x2000, 3, 4);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.events, testing::UnorderedElementsAre(KevSeen{0x2000, 0, 6, 1, {1, 2, 3, 4}},
                                                              KevSeen{0x2000, 1, 6, 1, {11, 12, 13, 14}},
                                                              KevSeen{0x2000, 0, 4, 320, {21, 22, 23, 24}},
                                                              KevSeen{0x2000, 0, 6, 2, {31, 32, 33, 34}}));
}

// Checklist 7.
TEST(KevReading, ReportsWhatNeverBeganAndWhatNeverEnded) {
    auto file = started();
    file.slot('C', 0, 6, 1, 0x1010, 1, 2).slot('E', 0, 6, 1, 0x1010, 3, 4);
    file.slot('B', 0, 6, 2, 0x1020, 5, 6).slot('B', 0, 6, 2, 0x1020, 7, 8).slot('E', 0, 6, 2, 0x1020, 9, 10);
    file.slot('B', 0, 6, 3, 0x1030, 11, 12).user(0, 0x1031, 13);
    file.buffer(0, 0x1040, 2).user(0, 0x1041, 14).slot('E', 0, 6, 3, 0x1030, 15, 16);
    file.slot('B', 0, 6, 4, 0x1050, 17, 18);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.status, trace::ExitStatus::damaged);
    EXPECT_THAT(reading.events,
                testing::UnorderedElementsAre(KevSeen{0x1010, 0, 6, 1, {1, 2}, trace::EventState::orphan},
                                              KevSeen{0x1010, 0, 6, 1, {3, 4}, trace::EventState::orphan},
                                              KevSeen{0x1020, 0, 6, 2, {5, 6}, trace::EventState::incomplete},
                                              KevSeen{0x1020, 0, 6, 2, {7, 8, 9, 10}},
                                              KevSeen{0x1030, 0, 6, 3, {11, 12}, trace::EventState::incomplete},
                                              KevSeen{0x1031, 0, 6, 9, {13, 0}}, KevSeen{0x1041, 0, 6, 9, {14, 0}},
                                              KevSeen{0x1030, 0, 6, 3, {15, 16}, trace::EventState::orphan},
                                              KevSeen{0x1050, 0, 6, 4, {17, 18}, trace::EventState::incomplete}));
    EXPECT_THAT(reading.lines, HasSubstr("W-ORPHAN class 6 event 1"));
    EXPECT_THAT(reading.lines,
                HasSubstr("E-INCOMPLETE class 6 event 2: its last slot never came (another event began"));
    EXPECT_THAT(reading.lines, HasSubstr("W-GAP buffer 2 follows buffer 0: 1 missing"));
    EXPECT_THAT(reading.lines,
                HasSubstr("E-INCOMPLETE class 6 event 3: its last slot never came (a buffer is missing"));
    EXPECT_THAT(reading.lines, HasSubstr("E-INCOMPLETE class 6 event 4: its last slot never came (the file ends"));
}

TEST(KevReading, CountsBuffersModulo2048) {
    auto file = KevBuilder();
    file.time(0, 0x1000).buffer(0, 0x1001, 2047).user(0, 0x1001, 1).buffer(0, 0x1002, 0).user(0, 0x1002, 2);
    EXPECT_EQ(read_kev(file.bytes).lines, "");
}

TEST(KevReading, ReportsATruncatedLastSlot) {
    auto file = started();
    file.user(0, 0x1010, 1).user(0, 0x1011, 2);
    file.bytes.erase(file.bytes.end() - 3, file.bytes.end());
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.numbers(), ElementsAre(1));
    EXPECT_THAT(reading.lines, HasSubstr("W-TAIL 13 trailing bytes"));
    EXPECT_EQ(reading.status, trace::ExitStatus::damaged);
}

TEST(KevReading, BoundsTheSlotsOfAnEvent) {
    auto file = started();
    file.slot('B', 0, 6, 1, 0x1010, 1, 1);
    for (int i = 0; i < 100'000; ++i) {
        file.slot('C', 0, 6, 1, 0x1010, 2, 2);
    }
    file.slot('E', 0, 6, 1, 0x1010, 3, 3).user(0, 0x1011, 4);
    const KevReading reading = read_kev(file.bytes);
    ASSERT_EQ(reading.events.size(), 2U);
    EXPECT_EQ(reading.events[0].state, trace::EventState::malformed);
    EXPECT_EQ(reading.events[0].words.size(), 2 * Assembler::kSlotsMax);
    EXPECT_THAT(reading.lines, HasSubstr("E-TOOLONG"));
    EXPECT_THAT(reading.lines, Not(HasSubstr("ORPHAN")));
}

TEST(KevReading, BoundsTheEventsThatAreOpen) {
    auto file = started();
    for (std::uint32_t i = 0; i < 5000; ++i) {
        file.slot('B', 0, 6, 1, 0x1010 + i, i, 0);
    }
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.events.size(), 5000U);
    EXPECT_THAT(reading.lines, HasSubstr("E-INCOMPLETE 5000 in all"));
}

TEST(KevReading, KeepsUnknownClassesAndIgnoresReservedBits) {
    auto file = started();
    file.slot('S', 0, 8, 5, 0x1010, 1, 2).slot('S', 0, 8 | 0x20, 6, 0x1011, 3, 4).slot('S', 0, 0, 0, 0, 0, 0);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.events, ElementsAre(KevSeen{0x1010, 0, 8, 5, {1, 2}}, KevSeen{0x1011, 0, 8, 6, {3, 4}}));
    EXPECT_THAT(reading.lines, HasSubstr("W-UNKNOWN class 8 is not known"));
    EXPECT_THAT(reading.lines, HasSubstr("W-RESERVED bits 23..15 of header 0x0000a006"));
    EXPECT_THAT(reading.lines, HasSubstr("W-UNUSED"));
    EXPECT_EQ(reading.status, trace::ExitStatus::nothing) << "an unknown class is nothing usable";
}

// Once for a file, as unknown classes and processors once for each.
TEST(KevReading, ReportsReservedBitsClassesAndProcessorsOnce) {
    auto file = started();
    for (std::uint64_t stamp = 0x1010; stamp < 0x1014; ++stamp) {
        file.slot('S', 0, 8 | 0x20, 6, stamp, 3, 4).slot('S', 9, 6, 9, stamp, 3, 4);
    }
    const std::string lines = read_kev(file.bytes).lines;
    for (const std::string_view code : {" W-RESERVED ", " W-UNKNOWN ", " E-CPU "}) {
        const std::size_t first = lines.find(code);
        ASSERT_NE(first, std::string::npos) << lines;
        EXPECT_EQ(lines.find(code, first + 1), std::string::npos) << lines;
    }
}

// The totals are those of one chunk: all slots, and one record at least for each buffer that is missing.
TEST(KevReading, OfOursHasItsTotalsForOneChunk) {
    std::array<std::byte, 80> payload{};
    const std::size_t size =
        tracer::encode_payload(tracer::ExportEnd{.chunks = 7, .records = 900, .dropped = 3}, payload).value();
    KevBuilder file({.system = "Remora"});
    file.time(0, 0x1000).buffer(0, 0x1000, 1).buffer(0, 0x1000, 4);
    std::vector<std::uint32_t> words{static_cast<std::uint32_t>(size - 2)};
    for (std::size_t at = 2; at < size; at += 4) {
        words.push_back(lib::load_le<std::uint32_t>(std::span<const std::byte>(payload).subspan(at)));
    }
    words.resize((words.size() + 1) / 2 * 2);
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const char kind = i == 0 ? 'B' : i + 2 < words.size() ? 'C' : 'E';
        file.slot(kind, 0, 6, trace::kCodeOf<"export_end">, 0x1010, words[i], words[i + 1]);
    }
    const trace::TraceFacts facts = read_kev(file.bytes).facts;
    ASSERT_TRUE(facts.export_end.has_value());
    EXPECT_EQ(facts.export_end->chunks, 1U);
    EXPECT_EQ(facts.export_end->dropped, 3U);
    EXPECT_EQ(facts.export_end->records, 3 + words.size() / 2 + 2);
    EXPECT_EQ(facts.absent.parts, 2U);
    EXPECT_EQ(facts.absent.unit, "buffers");
    EXPECT_FALSE(read_kev(KevBuilder({.system = "Remora"}).time(0, 0x1000).bytes).facts.export_end.has_value());
}

// Without a TIME event, events wait; their memory is bounded by the number of their words, too.
TEST(KevReading, GuessesTheTimeWhenLongEventsWithoutItTakeTooMuchMemory) {
    constexpr std::size_t kSlots = 1024; // of each event
    constexpr std::size_t kEvents = (1U << 20) / (2 * kSlots) + 2;
    KevBuilder file;
    for (std::uint32_t i = 0; i < kEvents; ++i) {
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            const char kind = slot == 0 ? 'B' : slot + 1 < kSlots ? 'C' : 'E';
            file.slot(kind, 0, 6, 9, 0x1000 + i, i);
        }
    }
    const std::size_t header = KevBuilder().bytes.size();
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.events.size(), kEvents);
    const std::size_t line = reading.lines.find("W-TIMEAMBIG");
    ASSERT_NE(line, std::string::npos) << reading.lines;
    const std::size_t place = std::stoul(reading.lines.substr(reading.lines.find(":0x") + 1), nullptr, 16);
    EXPECT_EQ(place, header + 16 * kSlots * (kEvents - 1)) << reading.lines;
}

// --- checklist 6: time
// ------------------------------------------------------------------------------------------------

TEST(KevTime, TriggerAfterTimeSharesItsStamp) {
    auto file = started();
    file.user(0, 0xFFFF'FFF0, 1);
    // TIME's data are slightly before its stamp, and the event after it has the stamp of TIME.
    file.time(0, kTurn + 0x10, kTurn + 0x13).user(0, kTurn + 0x13, 2).user(0, kTurn + 0x20, 3);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.ticks(), ElementsAre(0xFFFF'FFF0, kTurn + 0x13, kTurn + 0x20));
    EXPECT_EQ(reading.events[1].state, trace::EventState::ok);
    EXPECT_EQ(reading.control.back().ticks, kTurn + 0x13);
}

TEST(KevTime, TimeWhoseDataAreBeforeTheRolloverAndItsStampAfter) {
    auto file = started();
    file.user(0, 0xFFFF'FF00, 1).time(0, 0xFFFF'FFFE, kTurn + 2).user(0, kTurn + 2, 2).user(0, kTurn + 9, 3);
    EXPECT_THAT(read_kev(file.bytes).ticks(), ElementsAre(0xFFFF'FF00, kTurn + 2, kTurn + 9));
}

TEST(KevTime, EventWrittenLateBelongsToTheTurnInWhichItWasStamped) {
    auto file = started();
    file.user(0, 0xFFFF'FF00, 1).time(0, kTurn + 0x10).user(0, 0xFFFF'FFF0, 2).user(0, 0xFFFF'FFF8, 3);
    file.user(0, kTurn + 0x20, 4);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.ticks(), ElementsAre(0xFFFF'FF00, 0xFFFF'FFF0, 0xFFFF'FFF8, kTurn + 0x20));
    EXPECT_THAT(reading.numbers(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(reading.events[1].state, trace::EventState::late) << "written after TIME, stamped before it";
    EXPECT_EQ(reading.events[3].state, trace::EventState::ok);
}

TEST(KevTime, LateEventBeforeATimeOfTheSameTurn) {
    auto file = started();
    file.time(0, kTurn + 0x10).user(0, 0xFFFF'FFF0, 1).time(0, kTurn + 0x200).user(0, kTurn + 0x201, 2);
    EXPECT_THAT(read_kev(file.bytes).ticks(), ElementsAre(0xFFFF'FFF0, kTurn + 0x201));
}

TEST(KevTime, LateEventOfTheSameTurnIsMarkedAndPutInOrder) {
    auto file = started();
    file.user(0, 0x2000, 1).user(0, 0x1F00, 2).user(0, 0x2001, 3);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.numbers(), ElementsAre(2, 1, 3));
    EXPECT_EQ(reading.events[0].state, trace::EventState::late);
    EXPECT_EQ(reading.events[1].state, trace::EventState::ok);
    EXPECT_EQ(reading.status, trace::ExitStatus::clean);
}

TEST(KevTime, CombineEventAstrideTheRolloverHasTheTimeOfItsBegin) {
    auto file = started();
    file.slot('B', 0, 6, 1, 0xFFFF'FFF0, 1, 2).time(0, kTurn + 5).user(0, kTurn + 5, 9);
    file.slot('C', 0, 6, 1, 0xFFFF'FFF0, 3, 4).user(0, kTurn + 7, 10).slot('E', 0, 6, 1, 0xFFFF'FFF0, 5, 6);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    ASSERT_EQ(reading.events.size(), 3U);
    EXPECT_EQ(reading.events[0], (KevSeen{0xFFFF'FFF0, 0, 6, 1, {1, 2, 3, 4, 5, 6}}));
    EXPECT_EQ(reading.events[2].ticks, kTurn + 7);
}

TEST(KevTime, IdleGapsOfOneAndAHalfAndTwoAndAHalfTurns) {
    auto file = started();
    const std::uint64_t one_and_a_half = 0x2000 + kTurn + kTurn / 2 + 0x10;
    const std::uint64_t two_and_a_half = one_and_a_half + 2 * kTurn + kTurn / 2;
    file.user(0, 0x2000, 1);
    file.time(0, one_and_a_half).user(0, one_and_a_half + 1, 2);
    file.time(0, two_and_a_half).user(0, two_and_a_half + 1, 3);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.ticks(), ElementsAre(0x2000, one_and_a_half + 1, two_and_a_half + 1));
}

TEST(KevTime, IdleGapOfMoreThanHalfATurnWithinOneTurn) {
    auto file = started();
    file.user(0, 0x2000, 1).user(0, 0xE000'0000, 2).user(0, 0xE000'0001, 3);
    file.time(0, kTurn + 3).user(0, kTurn + 4, 4);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.ticks(), ElementsAre(0x2000, 0xE000'0000, 0xE000'0001, kTurn + 4));
    for (const KevSeen& seen : reading.events) {
        EXPECT_EQ(seen.state, trace::EventState::ok);
    }
}

TEST(KevTime, IdleGapOfMoreThanHalfATurnAtTheEndOfTheFile) {
    auto file = started();
    file.user(0, 0x2000, 1).user(0, 0xE000'0000, 2);
    EXPECT_THAT(read_kev(file.bytes).ticks(), ElementsAre(0x2000, 0xE000'0000));
}

TEST(KevTime, LeapThatNothingSettlesIsTakenAsItIs) {
    auto file = started();
    file.user(0, 0x2000, 1);
    for (std::uint32_t i = 0; i < 3 * TimeLine::kPendingMax; ++i) {
        file.user(0, 0xA000'0000 + i, i);
    }
    const KevReading reading = read_kev(file.bytes);
    ASSERT_EQ(reading.events.size(), 1 + 3 * TimeLine::kPendingMax);
    EXPECT_EQ(reading.events[1].ticks, 0xA000'0000);
    EXPECT_EQ(reading.events.back().ticks, 0xA000'0000 + 3 * TimeLine::kPendingMax - 1);
}

TEST(KevTime, ProcessorsRollOverAtDifferentPlaces) {
    auto file = started();
    file.user(0, 0xFFFF'FFF0, 1).user(1, 0xFFFF'FFF1, 2).time(1, kTurn + 1).user(1, kTurn + 1, 3);
    file.user(0, 0xFFFF'FFF8, 4).time(0, kTurn + 2).user(0, kTurn + 2, 5).user(1, kTurn + 3, 6);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.numbers(), ElementsAre(1, 2, 4, 3, 5, 6));
    EXPECT_THAT(reading.ticks(), ElementsAre(0xFFFF'FFF0, 0xFFFF'FFF1, 0xFFFF'FFF8, kTurn + 1, kTurn + 2, kTurn + 3));
}

TEST(KevTime, ManyTurns) {
    auto file = started();
    std::vector<std::uint64_t> expected;
    for (std::uint64_t turn = 1; turn < 1000; ++turn) {
        const std::uint64_t ticks = turn * kTurn + turn * 7919 % kTurn;
        file.time(0, ticks).user(0, ticks, 1).user(0, ticks + 0x7FFF'0000, 2);
        expected.insert(expected.end(), {ticks, ticks + 0x7FFF'0000});
    }
    EXPECT_EQ(read_kev(file.bytes).ticks(), expected);
}

TEST(KevTime, SlotsBeforeTheFirstTimeAreCountedBackFromIt) {
    KevBuilder file;
    file.buffer(0, 0x0000'0010, 0).user(0, 0xFFFF'FF00, 1).user(0, 0xFFFF'FFF0, 2).time(0, 7 * kTurn + 0x10);
    file.user(0, 7 * kTurn + 0x10, 3);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.lines, "");
    EXPECT_THAT(reading.ticks(), ElementsAre(6 * kTurn + 0xFFFF'FF00, 6 * kTurn + 0xFFFF'FFF0, 7 * kTurn + 0x10));
}

TEST(KevTime, ProcessorWithoutTimeTakesTheTurnOfTheOthersAndSaysSo) {
    KevBuilder file;
    file.time(0, 7 * kTurn + 0x1000).user(0, 7 * kTurn + 0x1000, 1).user(3, 0x1010, 2);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.ticks(), ElementsAre(7 * kTurn + 0x1000, 7 * kTurn + 0x1010));
    EXPECT_THAT(reading.lines, HasSubstr("cpu 3 W-TIMEAMBIG"));
}

TEST(KevTime, FallOfMoreThanHalfATurnWithoutTimeIsOneTurnAndIsSaid) {
    auto file = started();
    file.user(0, 0x7000'0000, 1).user(0, 0xF000'0000, 2).user(0, kTurn + 4, 3).user(0, kTurn + 5, 4);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.ticks(), ElementsAre(0x7000'0000, 0xF000'0000, kTurn + 4, kTurn + 5));
    EXPECT_THAT(reading.lines, HasSubstr("W-TIMEAMBIG the stamp fell by more than half a turn"));
}

TEST(KevTime, TimeThatContradictsIsBelievedAndReported) {
    auto file = started();
    file.time(0, 9 * kTurn).user(0, 9 * kTurn + 1, 1).time(0, 3 * kTurn).user(0, 3 * kTurn + 1, 2);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.lines, HasSubstr("W-TIME TIME says 0x0000000300000000"));
    EXPECT_THAT(reading.ticks(), testing::UnorderedElementsAre(9 * kTurn + 1, 3 * kTurn + 1));
}

// A coarse clock (t, t) is stamped t, t + 1 and then t again: that is no rollover.
TEST(KevTime, SmallFallIsNoRollover) {
    auto file = started();
    file.user(0, 0x2000, 1).user(0, 0x2001, 2).user(0, 0x2000, 3).user(0, 0x2002, 4);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_THAT(reading.ticks(), ElementsAre(0x2000, 0x2000, 0x2001, 0x2002));
    EXPECT_EQ(reading.control.size(), 4U);
}

TEST(KevReading, EventsFurtherOutOfOrderThanTheWindowAreDeliveredAndReported) {
    auto file = started();
    for (std::uint32_t i = 0; i < 2 * KevStream::kWindowEvents; ++i) {
        file.user(0, 0x10'0000 + i, i);
    }
    file.user(1, 0x10'0001, 0xAFFE);
    const KevReading reading = read_kev(file.bytes);
    EXPECT_EQ(reading.events.size(), 2 * KevStream::kWindowEvents + 1);
    EXPECT_THAT(reading.lines, HasSubstr("W-ORDER"));
    EXPECT_THAT(reading.numbers(), testing::Contains(0xAFFE));
}

TEST(KevReading, TimesComeFromTheExactRate) {
    KevBuilder file({.cycles_per_second = "3579545"});
    file.time(0, 0x1000).user(0, 0x1000, 1).user(0, 0x1000 + 3'579'545, 2);
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto stream = KevStream::open({.name = "t", .bytes = support::source_of(file.bytes)}, {}, diagnostics);
    std::int64_t last = 0;
    for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
        last = batch.back().time_ns;
    }
    EXPECT_EQ(last, 1'000'000'000);
}

} // namespace

} // namespace host::formats::kev
