// SPDX-License-Identifier: MIT
// Tests counting, against figures that were added up by hand; and the conversion of ticks.
#include "host/analyse/summary.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/tick_scale.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string_view>

namespace {

using namespace host;
using analyse::Tally;
using support::Bytes;

Tally tally_of(const Bytes& bytes) {
    Tally tally;
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = formats::Trace::open({.name = "x", .bytes = support::memory_source(bytes), .keep_open = true},
                                             {.kind = trace::InputKind::records}, diagnostics);
    EXPECT_TRUE(opened.ok());
    opened.value()->for_each([&](const trace::Event& event) { tally.add(event); });
    tally.finish();
    return tally;
}

std::uint8_t code(std::string_view name) {
    return tracer::find_event(name)->code;
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
    const Tally tally = tally_of(bytes);
    EXPECT_EQ(tally.busy().at(5), lib::Ticks{50});
    EXPECT_EQ(tally.busy().at(7), lib::Ticks{50});
}

TEST(Tally, AddsUpByHand) {
    const Bytes bytes = support::to_bytes({
        tracer::make_record(code("context_switch"), 5, 0, {100}),
        tracer::make_record(code("task_timer"), 5, 0, {150}),
        tracer::make_record(code("interrupt_start"), 32, 0, {170}),
        tracer::make_record(code("interrupt_end"), 32, 0, {190}), // not of the task, as in the summary
        tracer::make_record(code("context_switch"), 7, 0, {300}),
        tracer::make_record(code("context_switch"), 5, 0, {350}),
        tracer::make_record(code("task_timer"), 7, 0, {400}),
    });
    const Tally tally = tally_of(bytes);
    EXPECT_EQ(tally.events(), 7U);
    EXPECT_EQ(tally.counts()[code("context_switch")], 3U);
    EXPECT_EQ(tally.counts()[code("task_timer")], 2U);
    EXPECT_EQ(tally.busy().at(5), lib::Ticks{230});
    EXPECT_EQ(tally.busy().at(7), lib::Ticks{50});
    EXPECT_EQ(tally.duration(), lib::Ticks{300});
}

TEST(Tally, CountsNoUnusedSlot) {
    EXPECT_EQ(tally_of(Bytes(16 * tracer::kRecordBytes)).events(), 0U);
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
