// SPDX-License-Identifier: MIT
// Tests what each task did between two looks at a machine that runs.
#include "host/analyse/load.hpp"

#include "host/formats/trace.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

namespace host::analyse::load_test {

namespace {

const TaskLoad& load_of(const Load& load, std::uint16_t context) {
    const auto found = std::ranges::find(load.tasks, context, &TaskLoad::context);
    EXPECT_NE(found, load.tasks.end());
    return *found;
}

TEST(LoadMeter, DividesTheTimeSinceTheLastLook) {
    support::ChunkBuilder chunk(0);
    chunk.event(1000, "trace_start")
        .event(1000, "context_switch", 12)
        .event(1200, "job_release", 12, 1200)
        .event(1250, "job_deadline", 12, 2400);
    chunk.event(1300, "context_switch", 13).event(2000, "task_deadline_miss", 13);
    chunk.event(2000, "context_switch", 12).event(2500, "task_end_cycle", 12).event(2600, "job_release", 12, 2600);
    chunk.event(2700, "task_deadline_miss", 12).event(3000, "context_switch", 13);
    const support::TemporaryDirectory directory;
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace = formats::Trace::open(directory.write("0trace.dat", chunk.bytes()), {}, diagnostics);
    ASSERT_TRUE(trace.ok());

    LoadMeter meter;
    std::span<const trace::Event> batch;
    const auto take_until = [&](std::uint64_t ticks) {
        for (bool taken = false; !taken; batch = batch.subspan(1)) {
            batch = batch.empty() ? trace.value()->next_batch() : batch;
            meter.add(batch.front());
            taken = !batch.front().metadata && batch.front().ticks.value == ticks;
        }
        return meter.look();
    };
    const Load first = take_until(1300);
    EXPECT_EQ(first.elapsed.value, 300U);
    EXPECT_EQ(first.events, 5U);
    EXPECT_EQ(load_of(first, 12).cpu_time.value, 300U);
    EXPECT_TRUE(load_of(first, 13).runs);

    const Load second = take_until(3000);
    EXPECT_EQ(second.elapsed.value, 1700U);
    EXPECT_EQ(second.events, 6U);
    EXPECT_EQ(second.events_total, 11U);
    ASSERT_EQ(second.tasks.front().context, 12U) << "the one with the most time first";
    EXPECT_EQ(load_of(second, 12).cpu_time.value, 1000U);
    EXPECT_EQ(load_of(second, 12).cpu_time_total.value, 1300U);
    EXPECT_EQ(load_of(second, 13).cpu_time.value, 700U);
    EXPECT_EQ(load_of(second, 12).missed, 2U) << "one was late and not recorded, one is open and was recorded";
    EXPECT_EQ(load_of(second, 12).deadline_misses, 1U);
    EXPECT_EQ(load_of(second, 13).missed_since, 0U) << "a record outside of any job";
    EXPECT_EQ(load_of(second, 13).deadline_misses, 1U);

    const Load third = meter.look();
    EXPECT_EQ(third.elapsed.value, 0U);
    EXPECT_EQ(load_of(third, 12).missed_since, 0U);
    EXPECT_EQ(load_of(third, 12).missed, 2U);
}

} // namespace

} // namespace host::analyse::load_test
