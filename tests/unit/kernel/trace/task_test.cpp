// SPDX-License-Identifier: MIT
// Tests what the life of a task leaves in the trace.
#include "kernel/trace/task.hpp"

#include "tests/support/tracer/bridge.hpp"

namespace task_test {

using namespace kernel;
using namespace kernel::trace_points;

class TaskPoints : public tests::BridgeTest {
  protected:
    // Returns the parameters that a task with this model is registered with: level, C, T, D, Q, offset.
    [[nodiscard]] std::string parameters(const TaskModel& model) {
        task.model = model;
        task.context = static_cast<std::uint16_t>(task.context + 1); // a task is registered once
        task_created(task);
        const tracer::TaskParameters& all = traced.names().entry(traced.names().size() - 1).parameters;
        return fmt::format("{}: {} {} {} {} {}", all.level, all.wcet_ns, all.period_ns, all.deadline_ns, all.budget_ns,
                           all.offset_ns);
    }
};

TEST_F(TaskPoints, NameATaskWithItsNumberAndWhatItsModelAsksFor) {
    EXPECT_EQ(by([&] { task_created(task); }), "task_create 7 3");
    EXPECT_EQ(last_name(), "task 7 seven");
    EXPECT_EQ(traced.names().entry(0).pid, 3U);
    EXPECT_EQ(parameters(HardModel{.wcet = {1}, .period = {2}, .relative_deadline = {3}, .offset = {4}}),
              "2: 1 2 3 0 4");
    EXPECT_EQ(parameters(HardModel{.wcet = {1}, .period = {2}}), "2: 1 2 2 0 0") << "the deadline is the period";
    EXPECT_EQ(parameters(SoftModel{.budget = {5}, .period = {6}}), "2: 0 6 0 5 0");
    EXPECT_EQ(parameters(JobModel{.wcet = {7}, .deadline = {8}}), "2: 7 0 8 0 0");
    EXPECT_EQ(parameters(NrtModel{.slice = {9}}), "2: 0 0 0 9 0");
    EXPECT_EQ(parameters(NrtModel{.slice = {9}, .policy = NrtPolicy::fifo}), "2: 0 0 0 0 0");
    EXPECT_EQ(parameters(BackgroundModel{}), "2: 0 0 0 0 0");
}

TEST_F(TaskPoints, RecordTheStepsOfALife) {
    EXPECT_EQ(by([&] { task_activated(task); }), "task_activate 7 0");
    EXPECT_EQ(by([&] { task_cycle_begun(task); }), "task_begin_cycle 7 2");
    EXPECT_EQ(by([&] { task_cycle_ended(task); }), "task_end_cycle 7 2");
    EXPECT_EQ(by([&] { task_slept(task); }), "task_sleep 7 2");
    EXPECT_EQ(by([&] { task_disabled(task); }), "task_disable 7 2");
    EXPECT_EQ(by([&] { task_timer_released(task); }), "task_timer 7 2");
    EXPECT_EQ(by([&] { task_deadline_missed(task); }), "task_deadline_miss 7 2");
    EXPECT_EQ(by([&] { task_wcet_violated(task); }), "task_wcet_violation 7 2");
    EXPECT_EQ(by([&] { activation_violated(task); }), "activation_violation 7 2");
    EXPECT_EQ(by([&] { slice_ended(task); }), "slice_end 7 2");
    EXPECT_EQ(by([&] { task_ended(task); }), "task_end 7 3");
}

TEST_F(TaskPoints, RecordJobsWithTheLowHalfOfTheirTimes) {
    EXPECT_EQ(by([&] { job_released(task, {0x5'0000'0004}); }), "job_release 7 4");
    EXPECT_EQ(by([&] { job_deadline_set(task, {0x1'0000'1000}); }), // 2 ticks are a nanosecond
              "job_deadline 7 4096, set_priority 7 2147485")
        << "in ticks, and in microseconds";
    EXPECT_EQ(by([&] { deadline_changed(task, lib::Nanoseconds{5'999}); }), "deadline_change 7 5");
    EXPECT_EQ(by([&] { deadline_changed(task, lib::Nanoseconds{~std::uint64_t{0}}); }), "deadline_change 7 4294967295");
    EXPECT_EQ(by([&] { job_skipped(task); }), "job_skipped 7 2");
    EXPECT_EQ(by([&] { job_queued(task, 70'000); }), "job_queued 7 70000");
    EXPECT_EQ(by([&] { job_aborted(task, TaskException::wcet); }), "job_abort 7 131073");
    EXPECT_EQ(by([&] { task_exception(task, TaskException::activation, Reaction::panic); }), "task_exception 7 196612");
}

TEST_F(TaskPoints, RecordWaitsWithTheirKindAndObject) {
    task.waits_for = {WaitKind::receive, 6};
    EXPECT_EQ(by([&] { task_blocked(task); }), "task_block 7 262150");
    EXPECT_EQ(by([&] { task_unblocked(task); }), "task_unblock 7 262150");
    EXPECT_EQ(by([&] { task_suspended(task); }), "task_block 7 393216");
    EXPECT_EQ(by([&] { task_resumed(task); }), "task_unblock 7 393216");
}

TEST_F(TaskPoints, RecordSignals) {
    EXPECT_EQ(by([&] { signal_raised(task, 11); }), "signal_raise 7 11");
    EXPECT_EQ(by([&] { signal_delivered(task, 12); }), "signal 7 12");
}

TEST_F(TaskPoints, DeclareARefusalWithNameAndError) {
    EXPECT_NE(by([] { task_refused("late", lib::Error::no_space); }), "");
    ASSERT_EQ(traced.names().declarations(), 1U);
}

TEST_F(TaskPoints, EndTheStepsOfATaskThatEnds) {
    traced.tracer().instructions.add(7, tracer::Grain::instructions);
    EXPECT_EQ(by([&] { task_ended(other); }), "task_end 9 5");
    EXPECT_TRUE(traced.tracer().instructions.wants(7));
    EXPECT_EQ(by([&] { task_ended(task); }), "task_end 7 3, instruction_trace_end 7 0");
    EXPECT_FALSE(traced.tracer().instructions.wants(7));
}

} // namespace task_test
