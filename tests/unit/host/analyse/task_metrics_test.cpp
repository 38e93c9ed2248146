// SPDX-License-Identifier: MIT
// Tests the figures of docs/metrics.md for jobs that were computed by hand. One tick is one nanosecond.
#include "host/analyse/summary.hpp"

#include "host/formats/trace.hpp"
#include "host/schedule/pass.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

namespace host::analyse::task_metrics_test {

namespace {

using schedule::Part;

//      100 110 120     150 160    170     |      200 ... 209 |      300    306
//   r  ^    |ready|run  |IRQ |run  |end    |      R = 9       |      R = 6
class JobsOf12 : public testing::Test {
  protected:
    JobsOf12() {
        support::ChunkBuilder chunk;
        chunk.event(0, "trace_start").event(0, "context_switch", 1);
        chunk.event(110, "job_release", 12, 100).event(120, "context_switch", 12);
        chunk.event(150, "interrupt_start", 32).event(160, "interrupt_end", 32).event(170, "task_end_cycle", 12);
        chunk.event(171, "context_switch", 1);
        for (const auto& [release, end] : {std::pair(200U, 209U), std::pair(300U, 306U)}) {
            chunk.event(release, "job_release", 12, release).event(release + 1, "context_switch", 12);
            chunk.event(end, "task_end_cycle", 12).event(end + 1, "context_switch", 1);
        }
        chunk.event(400, "job_release", 12, 400).event(410, "job_abort", 12);
        chunk.event(500, "job_release", 12, 500).event(550, "ipoint", 1);
        const support::TemporaryDirectory directory;
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(directory.write("0trace.dat", chunk.bytes()), {}, diagnostics);
        schedule::Pass pass([&](const schedule::JobAccount& account) { m_metrics.add(account); });
        opened.value()->for_each([&](const trace::Event& event) { pass.take(event, 1'000'000); });
    }

    [[nodiscard]] const TaskMetrics& task() const { return m_metrics.tasks().at(12); }

    TraceMetrics m_metrics;
};

TEST_F(JobsOf12, ResponsesBeginWithTheReleaseThatTheKernelComputed) {
    EXPECT_EQ(task().response.count(), 3U) << "an aborted job, and one that has not ended, are not complete";
    EXPECT_EQ(task().response.least().value, 6U);
    EXPECT_EQ(task().response.mean().value, (70U + 9 + 6) / 3);
    EXPECT_EQ(task().response.greatest().value, 70U);
    EXPECT_EQ(task().percentile(50).value, 9U);
    EXPECT_EQ(task().percentile(99).value, 70U);
}

TEST_F(JobsOf12, JittersAreDifferencesOfJobs) {
    EXPECT_EQ(task().absolute_finishing_jitter().value, 70U - 6);
    EXPECT_EQ(task().relative_finishing_jitter().value, 70U - 9);
    EXPECT_EQ(task().start_jitter().value, 20U - 1);
}

TEST_F(JobsOf12, PartsAddUpToTheResponses) {
    EXPECT_EQ(task().part(Part::jitter).sum().value, 10U);
    EXPECT_EQ(task().part(Part::execution).sum().value, 40U + 8 + 5);
    EXPECT_EQ(task().part(Part::interference).sum().value, 10U + 10 + 1 + 1);
    EXPECT_EQ(task().part(Part::blocking).sum().value, 0U);
    EXPECT_EQ(task().gross.sum().value, 50U + 8 + 5);
    EXPECT_EQ(task().dispatches, 3U);
    EXPECT_EQ(task().preemptions, 0U);
}

// Released at 100, R = 50; the times are relative to the release.
TEST(TaskMetrics, CountAStartFromTheReleaseOn) {
    const auto starts = [](std::uint64_t start, std::uint64_t end = 150) {
        schedule::JobAccount account;
        account.job = {.context = 12, .number = 1, .release = schedule::Moment{{100}}, .end = schedule::Moment{{end}}};
        account.job.start.emplace().ticks = {start};
        TaskMetrics metrics;
        metrics.add(account);
        return std::pair(metrics.start.count(), metrics.response.count());
    };
    EXPECT_EQ(starts(110), std::pair(std::uint64_t{1}, std::uint64_t{1}));
    EXPECT_EQ(starts(100), std::pair(std::uint64_t{1}, std::uint64_t{1}));
    EXPECT_EQ(starts(99), std::pair(std::uint64_t{0}, std::uint64_t{1}));
    EXPECT_EQ(starts(100, 100), std::pair(std::uint64_t{1}, std::uint64_t{1}));
    EXPECT_EQ(starts(99, 99), std::pair(std::uint64_t{0}, std::uint64_t{0}));
}

TEST_F(JobsOf12, ATaskWithoutCompleteJobsHasNone) {
    EXPECT_FALSE(m_metrics.tasks().contains(1));
}

} // namespace

} // namespace host::analyse::task_metrics_test
