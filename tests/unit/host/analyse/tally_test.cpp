// SPDX-License-Identifier: MIT
// Counting: by hand, and both ways against each other on sound and on damaged traces. Also what the short ways of the
// reader rest on: the conversion of ticks.
#include "host/analyse/tally.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/tick_scale.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <span>

namespace {

using namespace host;
using analyse::Tally;
using support::Bytes;

std::shared_ptr<trace::ByteSource> source_of(std::span<const std::byte> bytes) {
    auto spool = trace::Spool::create();
    EXPECT_TRUE(spool.ok() && spool.value().append(bytes).ok());
    return spool.value().take();
}

std::optional<Tally> of_plain(const Bytes& bytes, std::uint32_t& khz, std::size_t threads = 1) {
    workers::Pool pool(threads);
    return Tally::of_plain_file(*source_of(bytes), khz, pool);
}

Tally event_by_event(const Bytes& bytes, std::uint32_t& khz, bool& reported) {
    Tally tally;
    trace::Diagnostics diagnostics([&](std::string_view) { reported = true; });
    const auto opened = formats::Trace::open({.name = "x", .bytes = source_of(bytes), .keep_open = true},
                                             {.kind = trace::InputKind::records}, diagnostics);
    EXPECT_TRUE(opened.ok());
    trace::Event event;
    while (opened.value()->next(event)) {
        tally.add(event);
    }
    tally.finish();
    khz = opened.value()->facts().clock.khz;
    return tally;
}

std::uint8_t code(std::string_view name) {
    return tracer::find_event(name)->code;
}

// Plain records as the original writes them, with no chunk_begin.
std::vector<tracer::Record> records(std::size_t count) {
    std::vector<tracer::Record> all{tracer::make_record(code("cycles_per_msec"), 0, 2'600'000, {500})};
    std::mt19937_64 random(11);
    std::uint64_t stamp = 1000;
    const auto names = std::to_array<std::string_view>(
        {"context_switch", "interrupt_start", "interrupt_end", "task_dispatch", "task_timer", "id", "trace_start"});
    for (std::size_t i = 0; i < count; ++i) {
        stamp += random() % 5000;
        const std::string_view name = names[random() % names.size()];
        all.push_back(tracer::make_record(code(name), static_cast<std::uint16_t>(random() % 9),
                                          name == "trace_start" ? 2'600'000 : static_cast<std::uint32_t>(random() % 3),
                                          {stamp}));
    }
    return all;
}

TEST(Tally, GivesTheTimeOfAGapToNoTask) {
    const Bytes bytes = support::to_bytes({
        tracer::make_record(code("context_switch"), 5, 0, {100}),
        tracer::make_record(code("blackout_start"), 0, 0, {150}),
        tracer::make_record(code("blackout_end"), 0, 9, {300}),
        tracer::make_record(code("context_switch"), 7, 0, {350}),
        tracer::make_record(code("task_timer"), 7, 0, {400}),
        tracer::make_record(code("blackout_end"), 0, 9, {600}),
        tracer::make_record(code("task_timer"), 7, 0, {700}),
    });
    std::uint32_t khz = 0;
    bool reported = false;
    EXPECT_FALSE(of_plain(bytes, khz)) << "blocks with gaps are left to the events";
    const Tally tally = event_by_event(bytes, khz, reported);
    EXPECT_EQ(tally.busy().at(5), lib::Ticks{50});
    EXPECT_EQ(tally.busy().at(7), lib::Ticks{50});
}

TEST(Tally, AddsUpByHand) {
    const Bytes bytes = support::to_bytes({
        tracer::make_record(code("context_switch"), 5, 0, {100}),
        tracer::make_record(code("task_timer"), 5, 0, {150}),
        tracer::make_record(code("context_switch"), 7, 0, {300}),
        tracer::make_record(code("context_switch"), 5, 0, {350}),
        tracer::make_record(code("task_timer"), 7, 0, {400}),
    });
    std::uint32_t khz = 0;
    const auto tally = of_plain(bytes, khz);
    ASSERT_TRUE(tally);
    EXPECT_EQ(tally->events(), 5U);
    EXPECT_EQ(tally->counts()[code("context_switch")], 3U);
    EXPECT_EQ(tally->counts()[code("task_timer")], 2U);
    EXPECT_EQ(tally->busy().at(5), lib::Ticks{250});
    EXPECT_EQ(tally->busy().at(7), lib::Ticks{50});
    EXPECT_EQ(tally->duration(), lib::Ticks{300});
    EXPECT_EQ(khz, 0U);
}

// An unused slot is no event: the reader of events reports it.
TEST(Tally, LeavesUnusedSlotsToTheEvents) {
    const Bytes zeros(16 * tracer::kRecordBytes);
    std::uint32_t khz = 0;
    bool reported = false;
    EXPECT_FALSE(of_plain(zeros, khz));
    EXPECT_EQ(event_by_event(zeros, khz, reported).events(), 0U);
    EXPECT_TRUE(reported);
}

TEST(Tally, BothWaysAgreeOnASoundTrace) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4000}, std::size_t{40'000}}) {
        const Bytes bytes = support::to_bytes(records(count));
        std::uint32_t khz = 0;
        std::uint32_t khz_expected = 0;
        bool reported = false;
        const Tally expected = event_by_event(bytes, khz_expected, reported);
        const auto tally = of_plain(bytes, khz);
        ASSERT_TRUE(tally) << count;
        EXPECT_EQ(*tally, expected) << count;
        EXPECT_EQ(khz, khz_expected);
        EXPECT_FALSE(reported);
    }
}

// Each thread takes a range of 256 KiB at least. A stretch of a task may begin in one range and end two ranges later.
TEST(Tally, IsTheSameHoweverManyThreadsCount) {
    std::vector<tracer::Record> some = records(80'000);
    std::vector<tracer::Record> long_stretch = some;
    const auto is_quiet = [](std::size_t i) { return i > 20'000 && i < 60'000; };
    for (std::size_t i = 0; i < long_stretch.size(); ++i) {
        if (is_quiet(i)) {
            long_stretch[i].code = code("task_timer");
        }
    }
    for (const auto& list : {some, long_stretch}) {
        const Bytes bytes = support::to_bytes(list);
        std::uint32_t khz_expected = 0;
        const auto expected = of_plain(bytes, khz_expected);
        ASSERT_TRUE(expected);
        for (std::size_t threads = 1; threads <= 8; ++threads) {
            std::uint32_t khz = 0;
            const auto tally = of_plain(bytes, khz, threads);
            ASSERT_TRUE(tally) << threads;
            EXPECT_EQ(*tally, *expected) << threads;
            EXPECT_EQ(khz, khz_expected) << threads;
        }
    }
}

// A stamp that falls from one range to the next, and a second rate in a later range.
TEST(Tally, IsLeftToTheEventsIfTwoRangesContradictEachOther) {
    const std::vector<tracer::Record> sound = records(80'000);
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
        std::uint32_t khz = 0;
        std::vector<tracer::Record> falling(sound.begin() + 40'000, sound.end());
        falling.insert(falling.end(), sound.begin(), sound.begin() + 40'000);
        EXPECT_FALSE(of_plain(support::to_bytes(falling), khz, threads)) << threads;
        std::vector<tracer::Record> rates = sound;
        rates[10] = tracer::make_record(code("cycles_per_msec"), 0, 2'000'000, rates[10].stamp());
        rates[70'000] = tracer::make_record(code("cycles_per_msec"), 0, 3'000'000, rates[70'000].stamp());
        khz = 0;
        EXPECT_FALSE(of_plain(support::to_bytes(rates), khz, threads)) << threads;
    }
}

// One record changed in any way: the block way gives up, or it agrees and there was nothing to report.
TEST(Tally, WhereSomethingIsOddTheBlocksLeaveItToTheEvents) {
    std::mt19937_64 random(3);
    std::size_t given_up = 0;
    for (int round = 0; round < 400; ++round) {
        Bytes bytes = support::to_bytes(records(300));
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << (random() % 8));
        if (round % 10 == 0) {
            bytes.resize(bytes.size() - random() % 40);
        }
        std::uint32_t khz = 0;
        std::uint32_t khz_expected = 0;
        bool reported = false;
        const Tally expected = event_by_event(bytes, khz_expected, reported);
        const auto tally = of_plain(bytes, khz);
        given_up += tally ? 0U : 1U;
        if (tally) {
            ASSERT_EQ(*tally, expected) << round;
            ASSERT_EQ(khz, khz_expected) << round;
            ASSERT_FALSE(reported) << round;
        }
    }
    EXPECT_GT(given_up, 20U);
    EXPECT_LT(given_up, 380U);
}

TEST(TickScale, AgreesWithTheDivision) {
    std::mt19937_64 random(1);
    for (const std::uint32_t khz :
         {1U, 3U, 1000U, 1024U, 999'983U, 2'600'000U, 10'000'000U, 0x8000'0000U, 0xFFFF'FFFFU}) {
        const trace::TickScale scale(khz);
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t ticks = random() >> (random() % 64);
            ASSERT_EQ(scale.to_nanoseconds(ticks), lib::TickRate{khz}.to_nanoseconds({ticks}).value)
                << khz << ' ' << ticks;
        }
        for (const std::uint64_t ticks : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{khz},
                                          std::uint64_t{khz} - 1, std::uint64_t{khz} * 1'000'000}) {
            ASSERT_EQ(scale.to_nanoseconds(ticks), lib::TickRate{khz}.to_nanoseconds({ticks}).value)
                << khz << ' ' << ticks;
        }
    }
}

} // namespace
