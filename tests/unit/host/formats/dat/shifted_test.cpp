// SPDX-License-Identifier: MIT
// Tests chunks that have lost or gained bytes at several places: what is shown between these places was logged, at the
// number that it has in the chunk; all records but those beside a place are shown; each place is named once, and
// `check` decides nothing.
#include "host/formats/trace.hpp"

#include "tests/support/host_command_line.hpp"
#include "tests/support/memory_source.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <set>

namespace host::formats::dat::shifted_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;

// Of a place, in slots: records closer than this to one may be left out.
constexpr std::size_t kBeside = 3;
// Between two places, and after the last one: of fewer slots in a row none may be found.
constexpr std::size_t kBetween = 8 + 2 * kBeside;
constexpr std::size_t kAtEnd = 2 + kBeside;

constexpr std::size_t kSlot = tracer::kRecordBytes;

// An event as it was logged, and the first and last slot of it in its chunk.
struct Logged {
    std::uint64_t ticks = 0;
    std::uint16_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
    Bytes payload{};

    friend auto operator<=>(const Logged&, const Logged&) = default;
};

struct Placed {
    Logged event;
    std::uint64_t slot = 0;
};

enum class Seal : std::uint8_t { none, crc32c };

// A chunk of this many events, every `long_every`th of which takes 35 slots (0: none): stamps rise by random steps,
// or from one to the next that ends in these bits.
Bytes chunk_of(std::size_t events, std::size_t long_every, std::mt19937& random, Seal seal = Seal::crc32c,
               std::optional<std::uint16_t> stamp_end = {}) {
    constexpr auto kNames =
        std::to_array<std::string_view>({"task_dispatch", "ipoint", "context_switch", "task_end_cycle"});
    ChunkBuilder chunk(3);
    chunk.name("task", 12, "sensor").build("control", 7);
    std::uint64_t ticks = 0x1'2345'6789;
    for (std::size_t i = 1; i <= events; ++i) {
        ticks = stamp_end ? ((ticks >> 16) + 1) << 16 | *stamp_end : ticks + 1 + random() % 100'000;
        if (long_every != 0 && i % long_every == 0) {
            Bytes payload(2 + 4 + 2 + 200, static_cast<std::byte>('a' + random() % 26));
            payload[0] = static_cast<std::byte>(payload.size());
            payload[1] = std::byte{0};
            payload[6] = static_cast<std::byte>(tracer::FieldType::text);
            payload[7] = std::byte{200};
            for (const tracer::Record& slot :
                 support::combined(tracer::event_code("formatted_event"), payload, {ticks})) {
                chunk.raw(slot);
            }
        } else {
            chunk.event(ticks, kNames.at(random() % kNames.size()), static_cast<std::uint16_t>(random() % 64),
                        static_cast<std::uint32_t>(random()));
        }
    }
    return seal == Seal::crc32c ? support::sealed(chunk.bytes()) : chunk.bytes();
}

struct Reading {
    std::vector<Placed> shown{};
    std::size_t unsound = 0;
    std::size_t trusted = 0;
    std::string lines{};
    trace::ExitStatus status{};
    std::vector<trace::ChunkReport> chunks{};
};

Reading read(const Bytes& bytes) {
    Reading reading;
    trace::Diagnostics diagnostics([&](std::string_view line) { reading.lines += std::string(line) + '\n'; });
    const auto trace = Trace::open({.name = "input", .bytes = support::source_of(bytes), .keep_open = true},
                                   {.kind = trace::InputKind::records}, diagnostics);
    if (!trace) {
        ADD_FAILURE() << "cannot be opened";
        return reading;
    }
    trace.value()->for_each([&](const trace::Event& event) {
        if (!event.metadata) {
            reading.unsound += event.is_sound() ? 0 : 1;
            reading.trusted += event.is_sound() && !event.doubtful ? 1 : 0;
            reading.shown.push_back({{event.ticks.value, event.raw_code, event.par1, event.par2,
                                      Bytes(event.payload.begin(), event.payload.end())},
                                     event.record});
        }
    });
    diagnostics.finish();
    reading.status = diagnostics.exit_status(true);
    reading.chunks = trace.value()->facts().chunks;
    return reading;
}

// Bytes that were added (or, if negative, lost) before this byte of the chunk as it was.
struct Damage {
    std::size_t at = 0;
    int bytes = 0;
};

Bytes damaged(Bytes bytes, std::vector<Damage> places, std::mt19937& random) {
    std::ranges::sort(places, std::greater{}, &Damage::at);
    for (const Damage& place : places) {
        const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place.at);
        if (place.bytes < 0) {
            bytes.erase(at, std::min(at - place.bytes, bytes.end()));
        } else {
            Bytes added(static_cast<std::size_t>(place.bytes));
            std::ranges::generate(added, [&] { return static_cast<std::byte>(random()); });
            bytes.insert(at, added.begin(), added.end());
        }
    }
    return bytes;
}

// The events that must be shown whatever the damage is: of a row of slots without damage, those that begin and end far
// enough from it.
std::multiset<Logged> promised(const std::vector<Placed>& logged, std::vector<Damage> places, std::size_t slots) {
    std::ranges::sort(places, {}, &Damage::at);
    std::multiset<Logged> events;
    std::size_t first = 0; // of the slots after the place before
    for (std::size_t i = 0; i <= places.size(); ++i) {
        const bool is_last = i == places.size();
        const std::size_t end = is_last ? slots : places[i].at / kSlot;
        const std::size_t least = is_last ? kAtEnd : kBetween;
        for (const Placed& placed : logged) {
            const std::size_t after = placed.slot + std::max<std::size_t>(1, (placed.event.payload.size() + 7) / 6);
            const bool follows = i == 0 || placed.slot >= first + kBeside;
            const bool precedes = is_last || after + kBeside <= end;
            if ((i == 0 || first + least <= end) && placed.slot >= first && follows && precedes && after <= end) {
                events.insert(placed.event);
            }
        }
        if (!is_last) {
            const std::size_t lost = places[i].bytes < 0 ? static_cast<std::size_t>(-places[i].bytes) : 0;
            first = (places[i].at + lost + kSlot - 1) / kSlot;
        }
    }
    return events;
}

// Each has a line; of the last slot of a file some bytes may be left.
std::size_t places_named(const std::string& lines) {
    std::size_t count = 0;
    for (std::size_t at = lines.find("W-TAIL"); at != std::string::npos; at = lines.find("W-TAIL", at + 1)) {
        ++count;
    }
    return count;
}

std::multiset<Logged> events_of(const std::vector<Placed>& shown) {
    std::multiset<Logged> events;
    for (const Placed& placed : shown) {
        events.insert(placed.event);
    }
    return events;
}

void expect_nothing_invented(const Bytes& whole, const Bytes& bytes, const std::vector<Damage>& places) {
    const Reading before = read(whole);
    const Reading after = read(bytes);
    EXPECT_EQ(after.unsound, 0U) << after.lines;
    const std::multiset<Logged> logged = events_of(before.shown);
    const std::multiset<Logged> shown = events_of(after.shown);
    EXPECT_TRUE(std::ranges::includes(logged, shown)) << after.lines;
    const std::multiset<Logged> required = promised(before.shown, places, whole.size() / kSlot);
    EXPECT_TRUE(std::ranges::includes(shown, required)) << shown.size() << " of " << required.size() << '\n'
                                                        << after.lines;
    EXPECT_EQ(after.status, trace::ExitStatus::damaged);
    ASSERT_EQ(after.chunks.size(), 1U);
    EXPECT_TRUE(after.chunks.front().damaged) << "nothing is to be concluded from it";
}

// --- rows
// --------------------------------------------------------------------------------------------------------------

struct Row {
    std::string name;
    std::vector<Damage> places; // at: slots of 16 bytes from the first record on, and bytes
    std::size_t long_every = 0;
    Seal seal = Seal::crc32c;
    std::size_t events = 200;
    std::size_t named = 0; // places; 0: all. Two in one event are one
    std::optional<std::uint16_t> stamp_end{};
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
}

constexpr std::size_t at(std::size_t slot, std::size_t byte = 0) {
    return slot * kSlot + byte;
}

std::vector<Row> rows() {
    std::vector<Row> rows{
        {"one_byte_lost_twice", {{at(50, 5), -1}, {at(120, 5), -1}}},
        {"one_byte_added_twice", {{at(50, 5), 1}, {at(120, 5), 1}}},
        {"lost_and_added_again", {{at(50, 5), -3}, {at(120, 6), 3}}},
        {"lost_and_added_again_without_a_checksum", {{at(50, 5), -3}, {at(120, 6), 3}}, 0, Seal::none},
        {"two_places_without_a_checksum", {{at(50, 5), -7}, {at(120, 6), -2}}, 0, Seal::none},
        {"three_places", {{at(40, 2), -5}, {at(90, 9), -11}, {at(150, 13), -2}}},
        {"three_places_both_ways", {{at(40, 2), -5}, {at(90, 9), 4}, {at(150, 13), -2}}},
        {"five_places", {{at(20, 3), -1}, {at(50, 15), -15}, {at(90, 8), -8}, {at(130, 4), -4}, {at(170, 12), -9}}},
        {"five_places_gained", {{at(20, 3), 1}, {at(50, 15), 15}, {at(90, 8), 8}, {at(130, 4), 4}, {at(170, 12), 9}}},
        {"five_places_both_ways",
         {{at(20, 3), 1}, {at(50, 15), -6}, {at(90, 8), 7}, {at(130, 4), -4}, {at(170, 12), 2}}},
        {"at_the_beginning", {{at(0, 0), -3}, {at(20, 9), -4}, {at(100), -5}}},
        {"between_records", {{at(50), -16 + 1}, {at(100), -4}}},
        {"at_the_end", {{at(100, 1), -3}, {at(198, 4), -3}}},
        {"in_the_last_record", {{at(100, 1), -3}, {at(199, 4), -3}}},
        {"added_at_the_end", {{at(100, 1), 3}, {at(199, 4), 3}}},
        {"inside_a_long_event", {{at(40, 2), -3}, {at(60, 7), -2}, {at(155, 2), -6}}, 20},
        {"twice_inside_a_long_event", {{at(22, 2), -3}, {at(30, 7), -2}, {at(155, 2), -6}}, 20, Seal::crc32c, 200, 2},
        {"stamps_like_a_slot_of_a_header", {{at(50, 8), 8}}, 0, Seal::crc32c, 200, 0, 0x200C},
        {"stamps_like_the_last_slot_of_a_header", {{at(50, 8), 8}}, 0, Seal::none, 200, 0, 0x300C},
        {"stamps_like_a_slot_of_a_header_of_other_bits", {{at(50, 8), 8}}, 0, Seal::crc32c, 200, 0, 0x6A0C},
        {"inside_long_events_both_ways", {{at(30, 2), 3}, {at(85, 7), -12}, {at(155, 2), 6}}, 20},
    };
    for (int bytes = 1; bytes < 16; ++bytes) {
        rows.push_back({"lost_" + std::to_string(bytes) + "_three_times",
                        {{at(40, 4), -bytes}, {at(90, 4), -bytes}, {at(150, 4), -bytes}}});
        rows.push_back({"added_" + std::to_string(bytes) + "_three_times",
                        {{at(40, 4), bytes}, {at(90, 4), bytes}, {at(150, 4), bytes}}});
    }
    return rows;
}

class Shifts : public testing::TestWithParam<Row> {};

TEST_P(Shifts, AreFoundAgainAfterEachPlace) {
    const Row& row = GetParam();
    std::mt19937 random(1);
    const Bytes whole = chunk_of(row.events, row.long_every, random, row.seal, row.stamp_end);
    const Reading before = read(whole);
    ASSERT_EQ(before.status, trace::ExitStatus::clean) << before.lines;
    ASSERT_EQ(before.shown.size(), row.events);
    std::vector<Damage> places = row.places;
    for (Damage& place : places) {
        place.at += before.shown.front().slot * kSlot;
    }
    const Bytes bytes = damaged(whole, places, random);
    expect_nothing_invented(whole, bytes, places);
    const Reading after = read(bytes);
    EXPECT_EQ(places_named(after.lines), row.named != 0 ? row.named : places.size()) << after.lines;
    std::map<Logged, std::uint64_t> slots;
    for (const Placed& placed : before.shown) {
        slots[placed.event] = placed.slot;
    }
    const bool is_one_way = std::ranges::all_of(places, [](const Damage& place) { return place.bytes < 0; }) ||
                            std::ranges::all_of(places, [](const Damage& place) { return place.bytes > 0; });
    for (const Placed& placed : after.shown) {
        const auto logged = static_cast<std::int64_t>(slots[placed.event]);
        const auto shown = static_cast<std::int64_t>(placed.slot);
        ASSERT_LE(std::abs(logged - shown), is_one_way ? 0 : 1) << logged << ' ' << shown << '\n' << after.lines;
    }
    if (after.shown.back().event == before.shown.back().event) { // its number is known from the end of the chunk
        EXPECT_EQ(after.shown.back().slot, before.shown.back().slot);
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, Shifts, testing::ValuesIn(rows()), [](const auto& row) { return row.param.name; });

// --- at random
// --------------------------------------------------------------------------------------------------------------

class RandomShifts : public testing::TestWithParam<unsigned> {};

TEST_P(RandomShifts, InventNothingAndHideLittle) {
    std::mt19937 random(GetParam());
    for (unsigned round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        const std::size_t long_every = random() % 3 == 0 ? 5 + random() % 30 : 0;
        const Bytes whole =
            chunk_of(60 + random() % 200, long_every, random, random() % 2 == 0 ? Seal::none : Seal::crc32c);
        const std::size_t begin = read(whole).shown.front().slot * kSlot;
        std::vector<Damage> places;
        for (std::size_t count = 1 + random() % 5; places.size() < count;) {
            const std::size_t at = begin + random() % (whole.size() - begin);
            const bool is_apart = std::ranges::all_of(places, [&](const Damage& place) {
                return std::max(place.at, at) - std::min(place.at, at) >= kSlot * kBeside;
            });
            if (is_apart) {
                const int bytes = 1 + static_cast<int>(random() % 15);
                places.push_back({at, random() % 2 == 0 ? bytes : -bytes});
            }
            count -= is_apart ? 0 : random() % 2; // a short chunk has no room for five
        }
        expect_nothing_invented(whole, damaged(whole, places, random), places);
        if (HasFailure()) {
            for (const Damage& place : places) {
                ADD_FAILURE() << "slot " << place.at / kSlot << " byte " << place.at % kSlot << ": " << place.bytes;
            }
            return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomShifts, testing::Range(0U, 25U));

// --- several chunks; check
// --------------------------------------------------------------------------------------------------------------

class ShiftedFiles : public support::CommandLine {};

TEST_F(ShiftedFiles, AreReadChunkByChunk) {
    std::mt19937 random(2);
    const Bytes first = chunk_of(100, 0, random);
    ChunkBuilder next(4);
    for (std::uint16_t i = 0; i < 20; ++i) {
        next.event(0x2'0000'0000 + i, "ipoint", i);
    }
    const std::size_t begin = read(first).shown.front().slot * kSlot;
    Bytes bytes = damaged(first, {{begin + at(30, 3), -2}, {begin + at(60, 3), -5}}, random);
    const Bytes second = support::sealed(next.bytes());
    bytes.insert(bytes.end(), second.begin(), second.end());
    const Reading reading = read(bytes);
    ASSERT_EQ(reading.chunks.size(), 2U) << reading.lines;
    EXPECT_TRUE(reading.chunks[0].damaged);
    EXPECT_FALSE(reading.chunks[1].damaged);
    EXPECT_EQ(reading.chunks[1].missing, 0U);
    EXPECT_EQ(reading.chunks[1].records, 20U);
    EXPECT_EQ(places_named(reading.lines), 2U) << reading.lines;
}

// The checksum over what the header announces is right, so that nothing of it is damaged, and the next chunk is found.
TEST_F(ShiftedFiles, LoseNoRecordToTheBytesAfterASealedChunk) {
    std::mt19937 random(2);
    const Bytes first = chunk_of(100, 0, random);
    ChunkBuilder next(4);
    const Bytes second = support::sealed(next.event(0x2'0000'0000, "ipoint").bytes());
    for (const std::size_t stray : {1U, 15U, 17U, 97U, 160U, 1000U}) {
        Bytes bytes = first;
        bytes.insert(bytes.end(), stray, std::byte{'Z'});
        Reading reading = read(bytes);
        EXPECT_EQ(reading.trusted, 100U) << stray << reading.lines;
        EXPECT_EQ(reading.status, trace::ExitStatus::damaged) << stray;
        bytes.insert(bytes.end(), second.begin(), second.end());
        reading = read(bytes);
        EXPECT_EQ(reading.trusted, 101U) << stray << reading.lines;
        EXPECT_EQ(reading.chunks.size(), 2U) << stray;
    }
}

// Of a file without a header each buffer is scanned as a whole: after one with two places, the second of which takes
// the first one back, others follow without any.
TEST_F(ShiftedFiles, WithoutAHeaderAreSearchedWhicheverBufferHasThePlace) {
    constexpr std::size_t kRecords = 20'000; // of 4,096 in a buffer
    std::mt19937 random(4);
    ChunkBuilder chunk(0);
    std::uint64_t ticks = 0x1'2345'6789;
    for (std::size_t i = 0; i < kRecords; ++i) {
        ticks += 1 + random() % 100'000;
        chunk.event(ticks, i % 7 == 0 ? "context_switch" : "ipoint", static_cast<std::uint16_t>(random() % 64),
                    static_cast<std::uint32_t>(random()));
    }
    const Bytes whole = chunk.plain();
    for (const std::size_t record : {2'000U, 4'000U, 4'100U, 9'000U, 15'000U, 19'900U}) {
        const Reading reading =
            read(damaged(whole, {{record * kSlot + 5, -3}, {(record + 50) * kSlot + 5, 3}}, random));
        EXPECT_GE(reading.shown.size(), kRecords - 2 * kBeside) << record << '\n' << reading.lines;
        EXPECT_EQ(places_named(reading.lines), 2U) << record << '\n' << reading.lines;
    }
    EXPECT_EQ(read(whole).lines, "");
}

// A kernel that is newer than the reader, or another one, has codes that the reader does not know, whatever else is in
// their records: rising stamps show that every slot is in its place.
TEST_F(ShiftedFiles, OfUnknownCodesInTheirPlacesAreNotShifted) {
    std::vector<std::uint16_t> unknown;
    for (std::uint16_t code = 1; code < 256; ++code) {
        const bool describes_the_trace = static_cast<tracer::Family>(code & 0x0F) == tracer::Family::metadata;
        if (!describes_the_trace &&
            tracer::find_event(tracer::canonical_code(static_cast<std::uint8_t>(code))) == nullptr) {
            unknown.push_back(code);
        }
    }
    for (unsigned seed = 0; seed < 30; ++seed) {
        std::mt19937 random(seed);
        const std::uint64_t unknown_percent = 20 + random() % 45;
        const std::uint64_t step = std::uint64_t{1} << random() % 34;
        const std::uint32_t par_mask = ~0U >> random() % 32;
        ChunkBuilder chunk(0);
        std::uint64_t ticks = seed % 2 == 0 ? 1000 : 0x1'2345'6789;
        std::vector<std::uint64_t> logged;
        for (unsigned i = 0; i < 180; ++i) {
            const bool is_unknown = random() % 100 < unknown_percent;
            const std::uint16_t code =
                is_unknown ? unknown.at(random() % unknown.size()) : std::uint16_t{0x19}; // ipoint
            ticks += random() % step;
            logged.push_back(ticks);
            chunk.raw(tracer::make_record(code, static_cast<std::uint16_t>(random() & par_mask),
                                          static_cast<std::uint32_t>(random()) & par_mask, {ticks}));
        }
        for (const bool has_header : {false, true}) {
            const Reading reading = read(has_header ? chunk.bytes() : chunk.plain());
            std::vector<std::uint64_t> shown;
            std::ranges::transform(reading.shown, std::back_inserter(shown),
                                   [](const Placed& placed) { return placed.event.ticks; });
            EXPECT_EQ(shown, logged) << seed << '\n' << reading.lines;
            EXPECT_EQ(places_named(reading.lines), 0U) << seed;
        }
    }
}

TEST_F(ShiftedFiles, AreNamedByPlaceAndLeftUndecided) {
    std::mt19937 random(3);
    const Bytes whole = chunk_of(100, 0, random);
    const std::size_t begin = read(whole).shown.front().slot * kSlot;
    const std::string path =
        m_directory.write("0trace.dat", damaged(whole, {{begin + at(30, 4), -3}, {begin + at(60, 4), 3}}, random));
    EXPECT_EQ(remora({"print", path}), 2);
    EXPECT_THAT(m_err, testing::HasSubstr("copy or receive the file again"));
    EXPECT_EQ(remora({"check", path}), 2);
    EXPECT_THAT(m_out, testing::HasSubstr("nothing is decided in it"));
}

} // namespace

} // namespace host::formats::dat::shifted_test
