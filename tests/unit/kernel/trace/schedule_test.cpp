// SPDX-License-Identifier: MIT
// Tests what decisions, timers and servers leave in the trace.
#include "kernel/trace/schedule.hpp"

#include "tests/support/tracer/bridge.hpp"

namespace schedule_test {

using namespace kernel;
using namespace kernel::trace_points;

using SchedulePoints = tests::BridgeTest;

struct NamedLevel {
    [[nodiscard]] static std::uint16_t index() { return 6; }

    [[nodiscard]] static std::string_view name() { return "EDF"; }
};

TEST_F(SchedulePoints, RecordDecisionsAndSwitches) {
    EXPECT_EQ(by([&] { task_scheduled(task, other); }), "task_schedule 7 9");
    EXPECT_EQ(by([&] { task_dispatched(task); }), "task_dispatch 7 2");
    EXPECT_EQ(by([&] { task_epilogue(task); }), "task_epilogue 7 2");
    EXPECT_EQ(by([&] { context_switched(task); }), "context_switch 7 0");
    EXPECT_EQ(by([&] { level_registered(NamedLevel()); }), "");
    EXPECT_EQ(last_name(), "level 6 EDF");
}

TEST_F(SchedulePoints, RecordAnInheritanceOnlyWhereAnotherTaskRuns) {
    Processor cpu;
    cpu.exec = &other;
    cpu.exec_shadow = &task;
    EXPECT_EQ(by([&] { inherited(cpu); }), "inheritance 7 9");
    cpu.exec_shadow = &other;
    EXPECT_EQ(by([&] { inherited(cpu); }), "");
}

TEST_F(SchedulePoints, RecordTimers) {
    EXPECT_EQ(by([] { timer_posted(11); }), "timer_post 0 11");
    EXPECT_EQ(by([] { timer_deleted(12); }), "timer_delete 0 12");
    EXPECT_EQ(by([] { timer_wakeup_started(); }), "timer_wakeup_start 0 0");
    EXPECT_EQ(by([&] { timer_wakeup_ended(&task); }), "timer_wakeup_end 7 0");
    EXPECT_EQ(by([] { timer_wakeup_ended(nullptr); }), "timer_wakeup_end 0 0") << "of the boot context";
}

TEST_F(SchedulePoints, RecordWhatAServerIsMadeOf) {
    EXPECT_EQ(by([] { server_created(8, "S", lib::ServerKind::polling, {1'000}, {~std::uint64_t{0}}); }),
              "server_create 0 8, server_capacity 8 1000, server_period 8 4294967295, server_kind 3 8");
    EXPECT_EQ(last_name(), "server 8 S");
}

TEST_F(SchedulePoints, RecordTheStepsOfAServer) {
    EXPECT_EQ(by([&] { server_attached(8, task); }), "server_attach 8 7");
    EXPECT_EQ(by([&] { server_activated(8, task); }), "server_active 7 8");
    EXPECT_EQ(by([] { server_replenished(8); }), "server_replenish 0 8");
    EXPECT_EQ(by([] { server_exhausted(8); }), "server_exhaust 0 8");
    EXPECT_EQ(by([] { server_budget(8, {0xFFFF'FFFE}); }), "server_budget 8 4294967294");
    EXPECT_EQ(by([] { server_budget(8, {0x1'0000'0000}); }), "server_budget 8 4294967295") << "more than fits";
    EXPECT_EQ(by([] { server_deadline(8, {0x3'0000'0002}); }), "server_deadline 8 2") << "the low half";
    EXPECT_EQ(by([] { server_reclaiming(8); }), "server_reclaiming 0 8");
    EXPECT_EQ(by([] { server_reclaimed(8, {2 * 5'999}); }), "server_using_rec 5 8") << "in microseconds";
    EXPECT_EQ(by([] { server_reclaimed(8, {2ULL * 65'534'000}); }), "server_using_rec 65534 8");
    EXPECT_EQ(by([] { server_reclaimed(8, {2ULL * 70'000'000}); }), "server_using_rec 65535 8") << "more than fits";
    EXPECT_EQ(by([] { server_bandwidth(70'000); }), "server_bandwidth 0 70000");
    EXPECT_EQ(by([] { server_removed(8); }), "server_remove 0 8");
}

TEST_F(SchedulePoints, AskForANextReplenishment) {
    struct {
        std::uint16_t id = 8;
    } server;

    const auto due = [](const auto& of) { return lib::Ticks{of.id + 0x2'0000'0000ULL}; };
    EXPECT_EQ(by([&] { server_refill_due(server, due); }), "server_deadline 8 8");
}

} // namespace schedule_test
