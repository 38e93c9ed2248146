// SPDX-License-Identifier: MIT
// Tests the tracer's measurement of itself: the figures against a clock of the test, and what it leaves unchanged.
#include "tracer/chunk/cost_meter.hpp"

#include "tests/support/tracer/fixture.hpp"

namespace cost_meter_test {

using tests::TracerFixture;
using tracer::CpuTrace;
using tracer::TraceCost;

// Seven ticks a record and 1000 ticks for each read of the clock: the contents of the scratch chunk are the time.
constexpr std::uint64_t kTicksPerRecord = 7;
constinit std::uint64_t g_looks = 0;
constinit std::uint64_t g_records_before = 0; // in earlier rows
constinit std::uint64_t g_records_now = 0;

lib::Ticks now() {
    const tracer::Chunk& scratch = TracerFixture::current()->store.slots()[0];
    const std::uint64_t records = scratch.control.word / 16;
    if (records < g_records_now) {
        g_records_before += g_records_now;
    }
    g_records_now = records;
    return {++g_looks * 1000 + (g_records_before + g_records_now) * kTicksPerRecord};
}

constinit int g_excluded = 0;
constinit int g_exclusions = 0;

constexpr tracer::CostMeter kMeter = {.now = &now,
                                      .exclusion = {.enter =
                                                        [] {
                                                            ++g_exclusions;
                                                            return static_cast<std::uint64_t>(++g_excluded);
                                                        },
                                                    .leave = [](std::uint64_t) { --g_excluded; }},
                                      .budget_ticks = ~std::uint64_t{0}};

// A tick for each byte that a record adds.
lib::Ticks bytes_now() {
    const tracer::Chunk& scratch = TracerFixture::current()->store.slots()[0];
    const std::uint64_t bytes = scratch.control.word & TRACER_WORD_POSITION_MASK;
    if (bytes < g_records_now) {
        g_records_before += g_records_now;
    }
    g_records_now = bytes;
    return {g_records_before + bytes};
}

// A clock by a script: how long each of the eight runs of a round takes, and the mask under which it runs.
struct Script {
    static constexpr std::array<std::uint64_t, 8> kTicks = {10, 10 + 2 * 64, // the loop alone: 2 ticks a turn
                                                            20, 20 + 9 * 64, // enabled
                                                            30, 30 + 3 * 64, // filtered
                                                            40, 40 + 64};    // disabled: less than the loop, by chance
    std::uint64_t reads = 0;
    std::uint64_t now = 0;
    std::array<std::uint32_t, 8> masks{};
};

constinit Script g_script;

lib::Ticks scripted_now() {
    if (g_script.reads != 0) { // before the first round
        const std::uint64_t place = (g_script.reads - 1) % 16;
        const std::size_t run = place / 2;
        g_script.now += place % 2 == 1 ? Script::kTicks.at(run) : 0;
        g_script.masks.at(run) = TracerFixture::current()->cpu.mask;
    }
    ++g_script.reads;
    return {g_script.now};
}

class CostMeterTest : public testing::Test {
  protected:
    TraceCost measure(const tracer::CostMeter& meter = kMeter,
                      std::optional<tracer::compact::Layout> layout = std::nullopt) {
        const std::uint64_t before = tests::attempted_records();
        const TraceCost cost = tracer::measure_cost(m_fixture.tracer().cpu, m_fixture.tracer().store, meter, layout);
        m_fixture.leave_out(tests::attempted_records() - before);
        return cost;
    }

    TracerFixture m_fixture;
};

TEST_F(CostMeterTest, MeasuresWhatARecordCostsAndWhatAFilterAndADisabledTracerSave) {
    EXPECT_EQ(measure(), (TraceCost{.enabled_ticks_x256 = kTicksPerRecord * 256,
                                    .filtered_ticks_x256 = 0,
                                    .disabled_ticks_x256 = 0,
                                    .rounds = tracer::kCostRoundsMax}));
}

TEST_F(CostMeterTest, LeavesOutWhatTheLoopCostsItself) {
    g_script = {};
    tracer::CostMeter meter = kMeter;
    meter.now = &scripted_now;
    meter.budget_ticks = 0; // one more read of the clock, after the last round
    EXPECT_EQ(measure(meter), (TraceCost{.enabled_ticks_x256 = (9 - 2) * 256,
                                         .filtered_ticks_x256 = (3 - 2) * 256,
                                         .disabled_ticks_x256 = 0,
                                         .rounds = tracer::kCostRoundsMin}));
    EXPECT_EQ(g_script.reads, 1 + 16 * tracer::kCostRoundsMin + 1);
    constexpr std::uint32_t kOthers = ~tracer::mask_bit(tracer::event_code("user_event_0"));
    EXPECT_EQ(g_script.masks, (std::array<std::uint32_t, 8>{0, 0, ~0U, ~0U, kOthers, kOthers, 0, 0}));
}

TEST_F(CostMeterTest, LeavesNoTraceInAnyCount) {
    static_cast<void>(measure());
    tracer::Instance& tracer = m_fixture.tracer();
    EXPECT_EQ(tracer.control.totals(), tracer::Totals{});
    EXPECT_EQ(tracer.cpu.active, &tracer::null_chunk);
    EXPECT_EQ(tracer.cpu.mask, 0U);
    for (const tracer::Chunk& chunk : tracer.store.slots()) {
        EXPECT_FALSE(chunk.exists);
        EXPECT_EQ(chunk.uses, 0U);
    }
    // The first chunk of the application is number 0 in its first use, at the arena's begin.
    tracer::Chunk& chunk = m_fixture.chunk(4, 0, tracer::kFlagStop);
    EXPECT_EQ(chunk.control.data, m_fixture.arena().data());
    m_fixture.select_and_enable(chunk);
    tracer::log<"ipoint">(1, 2);
    EXPECT_EQ(chunk.number, 0);
    EXPECT_EQ(chunk.generation(), 0U);
    EXPECT_EQ(tracer.control.totals(), (tracer::Totals{.committed = 1}));
}

// The record that is measured has an id in layouts with more than 16 of them; a word of parameters follows its header.
TEST_F(CostMeterTest, MeasuresACompactRecord) {
    using tracer::compact::Layout;
    tracer::CostMeter meter = kMeter;
    meter.now = &bytes_now;
    EXPECT_EQ(measure(meter).enabled_ticks_x256, 16U * 256);
    for (const auto& [layout, bytes] :
         {std::pair{Layout::a, 16U}, {Layout::a2, 8U}, {Layout::plan12, 8U}, {Layout::large64, 16U}}) {
        const TraceCost cost = measure(meter, layout);
        EXPECT_EQ(cost.enabled_ticks_x256, bytes * 256) << tracer::compact::row_of(layout).name;
        EXPECT_EQ(cost.filtered_ticks_x256, 0U);
        EXPECT_EQ(m_fixture.tracer().control.totals(), tracer::Totals{});
        EXPECT_FALSE(m_fixture.tracer().store.slots()[0].exists);
        EXPECT_EQ(m_fixture.tracer().store.slots()[0].uses, 0U);
    }
}

TEST_F(CostMeterTest, TouchesNothingOutsideItsScratchChunk) {
    static_cast<void>(measure());
    const auto rest = m_fixture.arena().subspan(std::size_t{tracer::kManyRecords} * tracer::kRecordBytes);
    EXPECT_TRUE(std::ranges::all_of(rest, [](std::byte byte) { return byte == tests::kPattern; }));
    EXPECT_NE(m_fixture.arena().front(), tests::kPattern) << "it wrote no record at all";
}

TEST_F(CostMeterTest, KeepsInterruptsOffForOneRowAtATime) {
    g_exclusions = 0;
    static_cast<void>(measure());
    EXPECT_EQ(g_excluded, 0);
    EXPECT_EQ(g_exclusions, static_cast<int>(4 * 2 * tracer::kCostRoundsMax));
}

TEST_F(CostMeterTest, StopsWhenItsTimeIsOver) {
    tracer::CostMeter meter = kMeter;
    meter.budget_ticks = 0;
    EXPECT_EQ(measure(meter).rounds, tracer::kCostRoundsMin);
    EXPECT_EQ(measure(meter).enabled_ticks_x256, kTicksPerRecord * 256);
}

TEST_F(CostMeterTest, KnowsNothingWhereTheArenaHasNoRoom) {
    TracerFixture small(256);
    EXPECT_EQ(tracer::measure_cost(small.tracer().cpu, small.tracer().store, kMeter), TraceCost{});
    EXPECT_EQ(small.tracer().control.totals(), tracer::Totals{});
}

} // namespace cost_meter_test
