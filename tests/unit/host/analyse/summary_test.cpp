// SPDX-License-Identifier: MIT
// Tests figures against traces that were computed by hand. One tick is one nanosecond.
#include "host/analyse/summary.hpp"

#include "host/formats/trace.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/random_events.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace host::analyse::summary_test {

namespace {

using support::ChunkBuilder;

Summary summarise(const support::Bytes& bytes) {
    const support::TemporaryDirectory directory;
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = formats::Trace::open(directory.write("0trace.dat", bytes), {}, diagnostics);
    Summary summary;
    opened.value()->for_each([&](const trace::Event& event) { summary.add(event); });
    summary.finish();
    return summary;
}

//   0     100        200 210    250 260      300          400
//   |idle  |  task 12  |IRQ      | |IRQ|  12   |  idle      |
//                       nested 220..240
TEST(Summary, TakesInterruptTimeOutOfTheTaskThatWasInterrupted) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 1).event(100, "context_switch", 12);
    chunk.event(200, "interrupt_start", 32).event(220, "interrupt_start", 33);
    chunk.event(240, "interrupt_end", 33).event(250, "interrupt_end", 32);
    chunk.event(260, "timer_wakeup_start").event(265, "timer_wakeup_end", 12);
    chunk.event(300, "context_switch", 1).event(400, "ipoint", 1);
    const Summary summary = summarise(chunk.bytes());

    EXPECT_EQ(summary.tasks().at(12).cpu_time.value, 200U - 50 - 5);
    EXPECT_EQ(summary.tasks().at(1).cpu_time.value, 200U);
    EXPECT_EQ(summary.interrupt_time().value, 55U);
    EXPECT_EQ(summary.duration().value, 400U);
    EXPECT_EQ(summary.vectors().at(32).handler.sum().value, 50U);
    EXPECT_EQ(summary.vectors().at(33).handler.sum().value, 20U);
    EXPECT_EQ(summary.timer().handler.sum().value, 5U);
}

TEST(Summary, ChargesEachTaskItsOwnPartWhenTheSwitchHappensInsideAHandler) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 12).event(100, "interrupt_start", 32).event(110, "context_switch", 13);
    chunk.event(130, "interrupt_end", 32).event(200, "ipoint", 1);
    const Summary summary = summarise(chunk.bytes());
    EXPECT_EQ(summary.tasks().at(12).cpu_time.value, 100U);
    EXPECT_EQ(summary.tasks().at(13).cpu_time.value, 70U);
    EXPECT_EQ(summary.interrupt_time().value, 30U);
}

TEST(Summary, CountsWhatHappensToATask) {
    ChunkBuilder chunk;
    chunk.event(0, "task_activate", 12).event(70, "task_end_cycle", 12);
    chunk.event(100, "task_timer", 12).event(200, "task_timer", 12).event(230, "task_end_cycle", 12);
    chunk.event(250, "task_deadline_miss", 12).event(251, "task_wcet_violation", 12).event(252, "inheritance", 12, 13);
    const TaskFigures task = summarise(chunk.bytes()).tasks().at(12);
    EXPECT_EQ(task.jobs, 2U);
    EXPECT_EQ(task.activations, 1U);
    EXPECT_EQ(task.releases, 2U);
    EXPECT_EQ(task.deadline_misses, 1U);
    EXPECT_EQ(task.wcet_violations, 1U);
    EXPECT_EQ(task.inheritances, 1U);
}

// Before the first switch, and in a gap, it is unknown.
TEST(Summary, DividesAllTimeOfAProcessor) {
    ChunkBuilder chunk;
    chunk.event(0, "ipoint", 1).event(30, "context_switch", 12).event(100, "interrupt_start", 32);
    chunk.event(110, "interrupt_end", 32).event(200, "context_switch", 13).event(250, "blackout_start");
    chunk.event(900, "blackout_end", 0, 7).event(910, "context_switch", 13).event(1000, "ipoint", 1);
    const Uses uses = summarise(chunk.bytes()).uses().at(0);
    EXPECT_EQ(uses.tasks.at(12).value, 160U);
    EXPECT_EQ(uses.tasks.at(13).value, 140U);
    EXPECT_EQ(uses.interrupts.value, 10U);
    EXPECT_EQ(uses.unknown.value, 30U + 660);
    EXPECT_EQ(uses.sum().value, 1000U);
}

TEST(Summary, GivesTheTimeOfAGapToNoTask) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 12).event(100, "blackout_start").event(900, "blackout_end", 0, 7);
    chunk.event(910, "context_switch", 13).event(950, "ipoint", 1).event(990, "blackout_end", 0, 7);
    chunk.event(999, "ipoint", 1);
    const Summary summary = summarise(chunk.bytes());
    EXPECT_EQ(summary.tasks().at(12).cpu_time.value, 100U);
    EXPECT_EQ(summary.tasks().at(13).cpu_time.value, 40U);
}

TEST(Summary, CountsFamiliesAndUnknownCodesApart) {
    ChunkBuilder chunk;
    chunk.event(1, "ipoint", 1).event(2, "ipoint", 1).event(3, "interrupt_hit", 7).event(4, "interrupt_count", 7, 9);
    chunk.raw(tracer::make_record(0xD3, 0, 0, {5}));
    const Summary summary = summarise(chunk.bytes());
    EXPECT_EQ(summary.families()[1], 2U);
    EXPECT_EQ(summary.families()[3], 2U);
    EXPECT_EQ(summary.unknown(), 1U);
    EXPECT_EQ(summary.events(), 5U);
    EXPECT_EQ(summary.vectors().at(7).count, 10U);
}

// Whether the handler has ended, and what runs, no record says.
TEST(Summary, KnowsNoUseWhileAFilterHidesIt) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 12).event(100, "interrupt_start", 32).event(110, "filter_interrupt", 1);
    chunk.event(200, "context_switch", 13).event(300, "filter_interrupt", 0).event(400, "context_switch", 12);
    chunk.event(500, "ipoint", 1);
    const Summary summary = summarise(chunk.bytes());
    EXPECT_EQ(summary.tasks().at(12).cpu_time.value, 200U);
    EXPECT_EQ(summary.interrupt_time().value, 0U);
    EXPECT_EQ(summary.uses().at(0).unknown.value, 300U);
    EXPECT_EQ(summary.vectors().at(32).handler.count(), 0U);
}

TEST(Summary, AddsUpWhateverTheCodesAndStamps) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(seed);
        support::RandomEvents events(seed);
        Summary summary;
        std::map<std::uint16_t, std::pair<lib::Ticks, lib::Ticks>> spans; // by processor: the first and greatest stamps
        lib::Ticks least{~std::uint64_t{0}};
        lib::Ticks greatest;
        for (int i = 0; i < 1000; ++i) {
            trace::Event event = events.event(2);
            event.par1 = trace::kSetsFilter[event.code] ? 0 : event.par1; // no filter is set for long
            summary.add(event);
            auto& [first, last] = spans.try_emplace(event.cpu, event.ticks, event.ticks).first->second;
            last = std::max(last, event.ticks);
            least = std::min(least, event.ticks);
            greatest = std::max(greatest, event.ticks);
        }
        summary.finish();
        EXPECT_EQ(summary.events(), 1000U);
        EXPECT_EQ(std::accumulate(summary.families().begin(), summary.families().end(), std::uint64_t{0}), 1000U);
        EXPECT_EQ(summary.duration(), greatest - least);
        lib::Ticks handlers;
        lib::Ticks of_uses;
        lib::Ticks of_tasks;
        for (const auto& [cpu, uses] : summary.uses()) {
            EXPECT_EQ(uses.sum(), spans.at(cpu).second - spans.at(cpu).first) << "cpu" << cpu;
            handlers = handlers + uses.interrupts;
            for (const auto& [context, ticks] : uses.tasks) {
                of_uses = of_uses + ticks;
            }
        }
        for (const auto& [context, task] : summary.tasks()) {
            of_tasks = of_tasks + task.cpu_time;
        }
        EXPECT_EQ(summary.cpus(), 2U);
        EXPECT_EQ(summary.interrupt_time(), handlers);
        EXPECT_GT(handlers, lib::Ticks{});
        EXPECT_EQ(of_tasks, of_uses);
        EXPECT_GT(of_tasks, lib::Ticks{});
    }
}

} // namespace

} // namespace host::analyse::summary_test
