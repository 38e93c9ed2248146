// SPDX-License-Identifier: MIT
// Tests the logging call: its cost in instructions, its result in memory, and what it refuses.
#include "tracer/log.hpp"

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/stepper.hpp"

namespace {

using tests::Stepper;
using tests::TracerFixture;
using tracer::Chunk;

constexpr std::uint16_t kOrdinary = tracer::event_code("ipoint");

// --- cost ------------------------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_undefined]] void log_variable(std::uint16_t par1,
                                                                                          std::uint32_t par2) {
    tracer::log<"task_dispatch">(par1, par2);
}

[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_undefined]] void log_constant() {
    tracer::log<"ipoint">(6000);
}

[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_undefined]] void log_nothing() {}

TEST(Log, Takes17InstructionsPerRecord) {
    TracerFixture fixture;
    fixture.select_and_enable(fixture.chunk(16, 0, tracer::kFlagCyclic));
    const int frame = Stepper::count_instructions(&log_nothing);
    const int variable = Stepper::count_instructions(&log_variable, std::uint16_t{1}, std::uint32_t{2}) - frame -
                         tests::kCountingInstructions;
    const int constant = Stepper::count_instructions(&log_constant) - frame - tests::kCountingInstructions;
    EXPECT_EQ(fixture.tracer().control.totals().committed, 2U);
    EXPECT_EQ(variable, 17);                            // test, branch; code and par1 combined by two; call
    EXPECT_EQ(constant, 17);                            // test, branch; two registers loaded; call
    EXPECT_EQ(Stepper({}).record(kOrdinary, 1, 2), 12); // the routine with its ret
}

TEST(Log, TakesTwoInstructionsWhenFilteredOrDisabled) {
    TracerFixture fixture;
    const int frame = Stepper::count_instructions(&log_nothing);
    EXPECT_EQ(Stepper::count_instructions(&log_constant) - frame, 2);
    fixture.select_and_enable(fixture.chunk(16, 0, tracer::kFlagCyclic));
    ASSERT_TRUE(fixture.tracer().control.set_filter(FTrace_filter_ipoint, true).ok());
    EXPECT_EQ(Stepper::count_instructions(&log_constant) - frame, 2);
    EXPECT_EQ(fixture.tracer().control.totals(), tracer::Totals{});
}

// --- layout in memory ------------------------------------------------------------------------------------------------

TEST(Log, WritesThePublishedLayout) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    const std::uint64_t before = __builtin_ia32_rdtsc();
    tracer::log_fast<"task_create">(0x1234, 0x89AB'CDEF);
    const std::uint64_t after = __builtin_ia32_rdtsc();
    const std::byte* const bytes = chunk.control.data;
    const auto at = [bytes](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
    EXPECT_EQ(at(0), 0x02U); // code, little-endian, fast bit
    EXPECT_EQ(at(1), 0x80U);
    EXPECT_EQ(at(2), 0x34U); // par1
    EXPECT_EQ(at(3), 0x12U);
    EXPECT_EQ(at(12), 0xEFU); // par2
    EXPECT_EQ(at(13), 0xCDU);
    EXPECT_EQ(at(14), 0xABU);
    EXPECT_EQ(at(15), 0x89U);
    const std::uint64_t high = at(4) | at(5) << 8 | at(6) << 16 | at(7) << 24; // the high half comes first
    const std::uint64_t low = at(8) | at(9) << 8 | at(10) << 16 | at(11) << 24;
    EXPECT_GE(high << 32 | low, before);
    EXPECT_LE(high << 32 | low, after);
}

TEST(Log, NeverWritesOutsideTheArea) {
    for (const std::uint32_t size : {168U, 16U, 31U, 160U}) {
        for (const tracer::ChunkFlags mode : {tracer::kFlagCyclic, tracer::kFlagStop, tracer::kFlagJumpToNext}) {
            TracerFixture fixture(4096);
            const auto chunk = fixture.tracer().store.create(size, 24, static_cast<tracer::ChunkFlags>(mode | 0x01));
            ASSERT_TRUE(chunk.ok());
            fixture.select_and_enable(*chunk.value());
            for (std::uint32_t i = 0; i < 50; ++i) {
                tracer::log<"task_deadline_miss">(1, i);
                tracer::log<"ipoint">(1, i);
            }
            const auto begin = static_cast<std::size_t>(chunk.value()->control.data - fixture.arena().data());
            const auto emergency =
                static_cast<std::size_t>(chunk.value()->control.emergency_data - fixture.arena().data());
            for (std::size_t i = 0; i < fixture.arena().size(); ++i) {
                const bool in_main = i >= begin && i < begin + size / 16 * 16;
                const bool in_emergency = i >= emergency && i < emergency + 16;
                if (!in_main && !in_emergency) {
                    ASSERT_EQ(fixture.arena()[i], tests::kPattern) << "size " << size << " byte " << i;
                }
            }
        }
    }
}

// --- names -----------------------------------------------------------------------------------------------------------

TEST(Log, TakesOnlyEventsThatAnybodyMayRecord) {
    EXPECT_TRUE(tracer::LoggableEvent<"task_dispatch">);
    EXPECT_FALSE(tracer::LoggableEvent<"task_dispatched">); // no such event
    EXPECT_FALSE(tracer::LoggableEvent<"empty">);           // equals an unused slot
    EXPECT_FALSE(tracer::LoggableEvent<"chunk_begin">);     // combined
    EXPECT_FALSE(tracer::LoggableEvent<"next_chunk">);      // consumed
}

TEST(Log, RefusesWhileNothingIsRecorded) {
    TracerFixture fixture;
    tracer::log<"ipoint">(1);      // disabled: not even an attempt
    tracer::log_fast<"ipoint">(1); // bypasses the test, and is refused
    EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.refused = 1}));
}

} // namespace
