// SPDX-License-Identifier: MIT
// Tests the legs of latencies against a trace that was computed by hand. One tick is one nanosecond.
#include "host/analyse/latencies.hpp"

#include "host/trace/event.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace host::analyse::latencies_test {

namespace {

constexpr std::uint16_t kTimer = 0xEE;

struct Scene {
    schedule::Schedule schedule;
    Latencies latencies;
};

void add(Scene& scene, std::uint64_t stamp, std::string_view name, std::uint16_t par1) {
    trace::Event event;
    trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = 0});
    event.ticks = {stamp};
    event.record = stamp;
    scene.latencies.add(event, scene.schedule.take(event), scene.schedule);
}

// Task 12 runs twice: 20 and 35 from entry to ready, 40 and 30 from there to its first instruction.
void add_two(Scene& scene) {
    add(scene, 10, "context_switch", 3);
    add(scene, 100, "interrupt_start", kTimer);
    add(scene, 120, "job_release", 12);
    add(scene, 130, "interrupt_end", kTimer);
    add(scene, 160, "context_switch", 12);
    add(scene, 170, "task_end_cycle", 12);
    add(scene, 180, "context_switch", 3);
    add(scene, 300, "interrupt_start", kTimer);
    add(scene, 335, "job_release", 12);
    add(scene, 340, "interrupt_end", kTimer);
    add(scene, 365, "context_switch", 12);
}

TEST(Latencies, SumUpEachLegAndNameTheInterruptOfTheGreatest) {
    Scene scene{{}, Latencies(std::nullopt)};
    Latencies& latencies = scene.latencies;
    add_two(scene);
    latencies.finish();
    ASSERT_EQ(latencies.pairs().size(), 1U);
    const LatencyLegs& legs = latencies.pairs().at({kTimer, 12});
    EXPECT_EQ(legs.to_ready.durations.least().value, 20U);
    EXPECT_EQ(legs.to_ready.durations.greatest().value, 35U);
    EXPECT_EQ(legs.to_ready.greatest.value().record, 300U);
    EXPECT_EQ(legs.to_first.durations.least().value, 30U);
    EXPECT_EQ(legs.to_first.durations.mean().value, 35U);
    EXPECT_EQ(legs.to_first.greatest.value().record, 100U);
    EXPECT_EQ(legs.to_entry.durations.count(), 0U);
    EXPECT_FALSE(latencies.raises().has_value());
}

TEST(Latencies, HaveAFirstLegWhereTheRaiseWasObserved) {
    Scene scene{{}, Latencies(std::vector<schedule::Observed>{{kTimer, 50, 90, 95}, {kTimer, {}, 290, 295}})};
    Latencies& latencies = scene.latencies;
    add_two(scene);
    latencies.finish();
    const LatencyLegs& legs = latencies.pairs().at({kTimer, 12});
    EXPECT_EQ(latencies.raises()->observed, 2U);
    EXPECT_EQ(legs.to_entry.durations.count(), 1U);
    EXPECT_EQ(legs.to_entry.durations.greatest().value, 45U);
    EXPECT_EQ(legs.to_entry.greatest.value().record, 100U);
}

} // namespace

} // namespace host::analyse::latencies_test
