// SPDX-License-Identifier: MIT
// The parts that are built on the schedule: intervals, jobs, the time of processors. Scenes that were computed by hand,
// and random sequences, of which invariants hold. One tick is one nanosecond.
#include "host/schedule/intervals.hpp"
#include "host/schedule/jobs.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t kKhz = 1'000'000;

std::string text_of(const Interval& interval) {
    static constexpr auto kActivities =
        std::to_array<std::string_view>({"unknown", "running", "ready", "waiting", "resting"});
    std::string text =
        fmt::format("{} {} {}..{}", interval.context, kActivities[static_cast<std::size_t>(interval.activity)],
                    interval.begin.ticks.value, interval.end.ticks.value);
    if (interval.activity == Activity::waiting) {
        text += fmt::format(" {}/{}", interval.wait >> 16, interval.wait & 0xFFFF);
    }
    if (interval.other < kContexts && interval.other != interval.context) {
        text += fmt::format(" {}{}", interval.activity == Activity::running ? "for " : "of ", interval.other);
    }
    return text;
}

std::string text_of(const Job& job) {
    const auto ticks = [](const std::optional<Moment>& moment) {
        return moment ? std::to_string(moment->ticks.value) : std::string("-");
    };
    return fmt::format("{}/{} {} {} {} {} {}{}", job.context, job.number, job.release.ticks.value, ticks(job.start),
                       ticks(job.end), ticks(job.deadline), static_cast<int>(job.outcome),
                       job.is_late() ? " late" : "");
}

// Feeds records to all parts.
class Scene {
  public:
    Scene& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0,
              std::uint16_t cpu = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        return take(stamp, cpu, event);
    }

    // A switch to this task that another system's trace means, after which the task before it rests.
    Scene& rests(std::uint64_t stamp, std::uint16_t context) {
        trace::Event event;
        event.origin = trace::Origin::tlog;
        event.foreign_name = "EVENT_1_OUT";
        trace::set_meaning(event,
                           {.code = trace::kCodeOf<"context_switch">, .par1 = context, .par2 = trace::kLeaverRests});
        return take(stamp, 0, event);
    }

    Scene& take(std::uint64_t stamp, std::uint16_t cpu, trace::Event& event) {
        event.cpu = cpu;
        event.ticks = {stamp};
        event.time_ns = static_cast<std::int64_t>(stamp);
        event.timed = true;
        const auto changes = m_schedule.take(event);
        m_intervals.take(event, changes, m_schedule);
        m_jobs.take(event, changes, kKhz);
        return *this;
    }

    Scene& forget() {
        m_schedule.forget(0);
        return *this;
    }

    Scene& finish() {
        m_intervals.finish();
        m_jobs.finish();
        return *this;
    }

    // Of one task, those of known activity.
    [[nodiscard]] std::vector<std::string> known(std::uint16_t context) const {
        std::vector<std::string> texts;
        for (const Interval& interval : intervals) {
            if (interval.context == context && interval.activity != Activity::unknown) {
                texts.push_back(text_of(interval));
            }
        }
        return texts;
    }

    // Of one task: where, why it began and ended, and for what it waits next.
    [[nodiscard]] std::vector<std::string> causes(std::uint16_t context) const {
        static constexpr auto kCauses = std::to_array<std::string_view>(
            {"unknown", "created", "released", "unblocked", "dispatched", "preempted", "slice_used_up", "blocked",
             "completed", "aborted", "ended", "sleeps", "records_lost", "end_of_trace"});
        std::vector<std::string> texts;
        for (const Interval& interval : intervals) {
            if (interval.context == context) {
                texts.push_back(fmt::format("cpu {} {}..{}", interval.cpu,
                                            kCauses[static_cast<std::size_t>(interval.began)],
                                            kCauses[static_cast<std::size_t>(interval.ended)]));
                if (interval.next_wait != 0) {
                    texts.back() += fmt::format(" {}/{}", interval.next_wait >> 16, interval.next_wait & 0xFFFF);
                }
            }
        }
        return texts;
    }

    [[nodiscard]] std::vector<std::string> job_texts() const {
        std::vector<std::string> texts;
        for (const Job& job : jobs) {
            texts.push_back(text_of(job));
        }
        return texts;
    }

    std::vector<Interval> intervals;
    std::vector<Job> jobs;

  private:
    Schedule m_schedule;
    Intervals m_intervals{[this](const Interval& interval) { intervals.push_back(interval); }};
    Jobs m_jobs{[this](const Job& job) { jobs.push_back(job); }};
};

constexpr std::uint32_t wait(std::uint32_t kind, std::uint32_t object) {
    return kind << 16 | object;
}

//   4   |resting ...|ready 100..120|running 120..300         |resting
//   3   |running          ..120    |ready 120..300           |running 300..400
TEST(Intervals, APreemptedTaskIsReadyUntilItRunsAgain) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(50, "task_create", 4).at(60, "task_activate", 4);
    scene.at(100, "job_release", 4, 100).at(120, "context_switch", 4);
    scene.at(280, "task_end_cycle", 4).at(300, "context_switch", 3).at(400, "ipoint", 1).finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..120", "3 ready 120..300", "3 running 300..400"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 resting 50..60", "4 resting 60..100", "4 ready 100..120",
                                            "4 running 120..300", "4 resting 300..400"));
    EXPECT_THAT(scene.job_texts(), ElementsAre("4/1 100 120 280 - 0"));
}

// A record's par2 says nothing of the kind.
TEST(Intervals, ATaskThatAForeignSwitchEndsRests) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "context_switch", 4).rests(30, 3).rests(40, 3).at(50, "context_switch", 4);
    scene.at(60, "context_switch", 3, trace::kLeaverRests).finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..10", "3 ready 10..30", "3 running 30..50", "3 ready 50..60",
                                            "3 running 60..60"));
    EXPECT_THAT(scene.known(4),
                ElementsAre("4 running 10..30", "4 resting 30..50", "4 running 50..60", "4 ready 60..60"));
}

// 2 holds the mutex 9, 3 the mutex 8 and waits for 9, 4 waits for 8: 2 runs in the place of 4.
TEST(Intervals, AWaitNamesTheMutexAndItsHolderAndARunItsPlace) {
    Scene scene;
    scene.at(0, "context_switch", 2).at(10, "set_mutex_acquire", 2, 9).at(20, "context_switch", 3);
    scene.at(30, "set_mutex_acquire", 3, 8).at(40, "set_mutex_block", 3, 9).at(41, "task_schedule", 2, 3);
    scene.at(42, "task_dispatch", 2).at(50, "context_switch", 2).at(60, "context_switch", 4);
    scene.at(70, "set_mutex_block", 4, 8).at(71, "task_schedule", 2, 4).at(72, "task_dispatch", 2);
    scene.at(80, "context_switch", 2).at(90, "set_mutex_unlock", 2, 9).at(91, "task_schedule", 3, 4);
    scene.at(92, "task_dispatch", 3).at(95, "context_switch", 3).at(96, "set_mutex_acquire", 3, 9).finish();
    EXPECT_THAT(scene.known(2), ElementsAre("2 running 0..20", "2 ready 20..50", "2 running 50..60 for 3",
                                            "2 ready 60..80", "2 running 80..95 for 4", "2 ready 95..96"));
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 20..50", "3 waiting 50..90 8/9 of 2", "3 ready 90..95",
                                            "3 running 95..96 for 4"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 running 60..80", "4 waiting 80..96 8/8 of 3"));
}

TEST(Intervals, ASuspendedTaskWaitsUntilItIsResumed) {
    Scene scene;
    scene.at(0, "context_switch", 1).at(10, "job_release", 3, 10).at(20, "task_block", 3, wait(6, 0));
    scene.at(50, "task_unblock", 3, wait(6, 0)).at(60, "context_switch", 3).finish();
    EXPECT_THAT(scene.known(3),
                ElementsAre("3 ready 10..20", "3 waiting 20..50 6/0", "3 ready 50..60", "3 running 60..60"));
}

TEST(Intervals, AGapEndsWhatIsOpenWithTheRecordBeforeIt) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "job_release", 4, 10).at(20, "task_block", 5, wait(1, 2));
    scene.at(30, "ipoint", 1).at(90, "blackout_end", 0, 7).at(100, "context_switch", 4).at(120, "ipoint", 1).finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..30"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 ready 10..30", "4 running 100..120"));
    EXPECT_THAT(scene.known(5), ElementsAre("5 waiting 20..30 1/2"));
    EXPECT_THAT(scene.job_texts(), ElementsAre("4/1 10 - - - 4"));
}

TEST(Intervals, ATaskThatIsWokenBeforeItHasLeftIsReadyThen) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "task_block", 3, wait(2, 0)).at(15, "task_unblock", 3, wait(2, 0));
    scene.at(20, "context_switch", 1).finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20", "3 ready 20..20"));
}

TEST(Intervals, ATaskEndsWhenItHasLeftItsProcessor) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "task_end", 3).at(20, "context_switch", 1).at(30, "ipoint", 1).finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20"));
}

// Each interval begins with the cause with which the one before it ended.
TEST(Intervals, SayWhyTheyBeginAndEndAndWhere) {
    Scene scene;
    scene.at(0, "context_switch", 3, 0, 1).at(5, "task_create", 4).at(10, "job_release", 4, 10);
    scene.at(20, "context_switch", 4).at(30, "task_block", 4, wait(1, 9)).at(35, "context_switch", 3);
    scene.at(40, "task_unblock", 4, wait(1, 9)).at(50, "context_switch", 4, 0, 1);
    scene.at(60, "slice_end", 4, 0, 1).at(65, "context_switch", 1, 0, 1).at(70, "context_switch", 4, 0, 1);
    scene.at(75, "task_end_cycle", 4, 0, 1).at(80, "context_switch", 1, 0, 1).at(85, "job_release", 4, 85, 1);
    scene.at(90, "context_switch", 4, 0, 1).at(92, "job_abort", 4, 0, 1).at(94, "context_switch", 1, 0, 1);
    scene.at(95, "job_release", 4, 95, 1).at(96, "task_sleep", 4, 0, 1).at(97, "task_end", 4, 0, 1).finish();
    EXPECT_THAT(scene.causes(4),
                ElementsAre("cpu 0 created..released", "cpu 0 released..dispatched", "cpu 0 dispatched..blocked 1/9",
                            "cpu 0 blocked..unblocked", "cpu 0 unblocked..dispatched",
                            "cpu 1 dispatched..slice_used_up", "cpu 1 slice_used_up..dispatched",
                            "cpu 1 dispatched..completed", "cpu 1 completed..released", "cpu 1 released..dispatched",
                            "cpu 1 dispatched..aborted", "cpu 1 aborted..released", "cpu 1 released..sleeps",
                            "cpu 1 sleeps..ended"));
}

TEST(Intervals, OfATaskThatLeavesReadyBeginWithItsPreemption) {
    Scene scene;
    scene.at(0, "slice_end", 3).at(5, "context_switch", 3).at(10, "context_switch", 4).at(20, "ipoint", 1);
    scene.at(30, "task_disable", 4).at(35, "slice_end", 4).at(40, "context_switch", 3).finish();
    EXPECT_THAT(scene.causes(3), ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..preempted",
                                             "cpu 0 preempted..dispatched", "cpu 0 dispatched..end_of_trace"));
    EXPECT_THAT(scene.causes(4),
                ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..sleeps", "cpu 0 sleeps..end_of_trace"))
        << "the end of a slice changes nothing for who is to rest";
}

TEST(Intervals, OfANewTaskFollowTheEndOfTheOldOne) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "job_release", 4, 10).at(20, "task_create", 4).at(30, "task_end", 4);
    scene.at(40, "task_create", 4).at(50, "ipoint", 1).finish();
    EXPECT_THAT(scene.causes(4), ElementsAre("cpu 0 unknown..released", "cpu 0 released..ended", "cpu 0 created..ended",
                                             "cpu 0 created..end_of_trace"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 ready 10..20", "4 resting 20..30", "4 resting 40..50"));
}

TEST(Intervals, WhereRecordsAreMissingEndWithTheLatestOneOfTheProcessor) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(2, "context_switch", 4, 0, 1).at(10, "job_release", 5, 10, 1);
    scene.at(20, "ipoint", 1).at(30, "ipoint", 1, 0, 1).at(50, "blackout_end", 0, 4).at(60, "ipoint", 1).finish();
    EXPECT_THAT(scene.causes(3), ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..records_lost",
                                             "cpu 0 records_lost..end_of_trace"));
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 running 2..60"));
    EXPECT_THAT(scene.known(5), ElementsAre("5 ready 10..20"));
}

TEST(Intervals, HaveTheTimesOfTheirRecords) {
    Scene scene;
    scene.at(3, "context_switch", 3).at(10, "context_switch", 4).finish();
    ASSERT_FALSE(scene.intervals.empty());
    for (const Interval& interval : scene.intervals) {
        EXPECT_EQ(interval.begin.ns, static_cast<std::int64_t>(interval.begin.ticks.value));
        EXPECT_EQ(interval.end.ns, static_cast<std::int64_t>(interval.end.ticks.value));
    }
}

TEST(Jobs, TimesAreTheNearestOnesWithTheRecordedLowHalf) {
    constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;
    Scene scene;
    scene.at(kTurn + 5, "job_release", 3, 0xFFFF'FFF0).at(kTurn + 6, "job_deadline", 3, 100);
    scene.at(kTurn + 50, "task_begin_cycle", 3).at(kTurn + 101, "task_end_cycle", 3);
    ASSERT_EQ(scene.jobs.size(), 1U);
    const Job& job = scene.jobs.front();
    EXPECT_EQ(job.release.ticks.value, kTurn - 16);
    EXPECT_EQ(job.release.ns, static_cast<std::int64_t>(kTurn) - 16);
    EXPECT_EQ(job.deadline->ticks.value, kTurn + 100);
    EXPECT_TRUE(job.is_late());
}

TEST(Jobs, AreLateAfterTheirDeadlineAndNotAtIt) {
    Scene scene;
    for (const std::uint64_t release : {1'000U, 2'000U, 3'000U}) {
        const auto low = static_cast<std::uint32_t>(release);
        scene.at(release, "job_release", 3, low).at(release + 1, "job_deadline", 3, low + 500);
        scene.at(release + 498 + release / 1'000, "task_end_cycle", 3);
    }
    ASSERT_EQ(scene.jobs.size(), 3U);
    EXPECT_FALSE(scene.jobs[0].is_late());
    EXPECT_FALSE(scene.jobs[1].is_late()) << "it ends at its deadline";
    EXPECT_TRUE(scene.jobs[2].is_late());
}

TEST(Jobs, ThatTheKernelSawMissTheirDeadlineAreLateWhateverTheirTimesAre) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).at(11, "job_deadline", 3, 20).at(20, "task_deadline_miss", 3);
    scene.at(20, "task_end_cycle", 3);
    EXPECT_TRUE(scene.jobs.at(0).is_late());
}

// A server of CBS or GRUB competes by deadlines that it postpones; its jobs are due as if it had not.
TEST(Jobs, OfAServedTaskAreDueAPeriodAfterTheirRelease) {
    Scene scene;
    scene.at(1, "server_attach", 7, 3).at(2, "server_attach", 8, 4).at(3, "server_period", 7, 100);
    scene.at(10, "job_release", 3, 10).at(11, "job_deadline", 3, 111).at(20, "job_deadline", 3, 211);
    scene.at(111, "task_end_cycle", 3);
    scene.at(112, "job_release", 3, 110).at(113, "job_deadline", 3, 911).at(210, "task_end_cycle", 3);
    scene.at(220, "job_release", 4, 220).at(221, "job_deadline", 4, 230).at(240, "task_end_cycle", 4);
    scene.at(241, "server_period", 8, 0xFFFF'FFFF);
    scene.at(250, "job_release", 4, 250).at(251, "job_deadline", 4, 255).at(260, "task_end_cycle", 4);
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 111 110 0 late", "3/2 110 - 210 210 0", "4/1 220 - 240 - 0",
                                               "4/2 250 - 260 - 0"));
}

TEST(Jobs, OfAServedTaskThatEndHaveNoDeadline) {
    Scene scene;
    scene.at(1, "server_attach", 7, 3).at(2, "server_period", 7, 10);
    for (const std::uint16_t context : std::to_array<std::uint16_t>({3, 4})) {
        scene.at(10, "job_release", context, 10).at(11, "job_deadline", context, 20).at(30, "task_end", context);
    }
    EXPECT_FALSE(scene.jobs.at(0).is_late());
    EXPECT_FALSE(scene.jobs.at(0).deadline);
    EXPECT_TRUE(scene.jobs.at(1).is_late());
}

TEST(Jobs, EachEndHasItsOutcome) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).at(20, "job_release", 3, 20).at(30, "job_abort", 3).at(31, "task_end_cycle", 3);
    scene.at(40, "job_release", 3, 40).at(45, "task_deadline_miss", 3).at(50, "task_end", 3);
    scene.at(60, "task_create", 3).at(70, "job_release", 3, 70).finish();
    EXPECT_THAT(scene.job_texts(),
                ElementsAre("3/1 10 - 20 - 3", "3/2 20 - 30 - 1", "3/3 40 - 50 - 2 late", "3/1 70 - - - 5"));
}

// The record of the end of the task that had the context before is missing.
TEST(Jobs, EndUnknownWhereTheirContextIsAnotherTasks) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).at(20, "context_switch", 3).at(30, "task_create", 3);
    scene.at(40, "job_release", 3, 40).at(50, "task_end_cycle", 3).finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 20 - - 4", "3/1 40 - 50 - 0"));
}

// What the next record says of the task is no end of the job that was open before the hole.
TEST(Jobs, AreLostWhereRecordsAreMissing) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).forget().at(20, "task_end_cycle", 3).finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - - - 4"));
}

TEST(Jobs, AreCompletedByATaskThatSleeps) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).at(20, "task_sleep", 3).at(21, "task_disable", 3);
    scene.at(30, "job_release", 3, 30).at(40, "task_sleep", 3).at(41, "task_deadline_miss", 3);
    scene.at(42, "task_disable", 3).at(50, "job_release", 3, 50).finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 21 - 0", "3/2 30 - 42 - 0 late", "3/3 50 - - - 5"));
}

// The record of the beginning comes before the switch, or after it if the task has the processor.
TEST(Jobs, StartWithTheSwitchThatFollowsTheirBeginning) {
    Scene scene;
    scene.at(10, "job_release", 3, 10).at(20, "task_begin_cycle", 3).at(25, "context_switch", 3);
    scene.at(30, "context_switch", 4).at(40, "context_switch", 3).at(50, "task_end_cycle", 3);
    scene.at(60, "job_release", 3, 60).at(65, "task_begin_cycle", 3).at(66, "task_begin_cycle", 3);
    scene.at(70, "context_switch", 4).at(72, "context_switch", 3).at(80, "task_end_cycle", 3);
    scene.at(90, "job_release", 3, 90).at(91, "task_begin_cycle", 3, 0, 1).at(95, "context_switch", 3);
    scene.at(96, "context_switch", 3, 0, 1).at(99, "task_end_cycle", 3);
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 25 50 - 0", "3/2 60 65 80 - 0", "3/3 90 96 99 - 0"));
}

// Without its period or the clock's rate nothing is known of a server's deadline.
TEST(Jobs, OfAServedTaskAreDueOnceThePeriodIsKnown) {
    Scene scene;
    scene.at(1, "server_attach", 7, 3).at(2, "server_period", 7, 0);
    scene.at(10, "job_release", 3, 10).at(11, "job_deadline", 3, 20).at(12, "task_end_cycle", 3);
    scene.at(13, "server_period", 7, 1'000).at(20, "job_release", 3, 20).at(21, "job_deadline", 3, 30);
    scene.at(22, "task_end_cycle", 3);
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 12 - 0", "3/2 20 - 22 1020 0"));
}

TEST(Jobs, OfNoReleaseHaveNoRecords) {
    Scene scene;
    scene.at(10, "job_deadline", 3, 20).at(11, "task_begin_cycle", 3).at(12, "task_deadline_miss", 3);
    scene.at(13, "context_switch", 3).at(20, "job_release", 3, 20).at(30, "task_end_cycle", 3).finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 20 - 30 - 0"));
}

TEST(ProcessorTime, TimeInHandlersAndGapsIsOfNoTask) {
    ProcessorTime time;
    const auto at = [&](std::uint64_t stamp) -> ProcessorTime& {
        time.saw({stamp});
        return time;
    };
    using Stretch = ProcessorTime::Stretch;
    constexpr std::uint8_t kSwitch = trace::kCodeOf<"context_switch">;
    EXPECT_EQ(at(10).take(kSwitch, 3), (Stretch{{}, {}, {10}, {10}}));
    EXPECT_EQ(at(20).enter_handler(32), (Stretch{3, {}, {10}, {20}}));
    EXPECT_EQ(at(30).leave_handler(32), (Stretch{3, 32, {20}, {30}}));
    EXPECT_EQ(at(25).take(kSwitch, 4), (Stretch{3, {}, {30}, {30}})) << "a stamp that falls takes no time away";
    static_cast<void>(at(40));
    EXPECT_EQ(at(90).take(trace::kCodeOf<"blackout_end">, 0), (Stretch{4, {}, {30}, {40}}));
    EXPECT_EQ(at(95).take(kSwitch, 5), (Stretch{{}, {}, {40}, {95}}));
    EXPECT_EQ(at(99).take(trace::kCodeOf<"blackout_start">, 0), (Stretch{5, {}, {95}, {99}}));
    EXPECT_EQ(time.finish(), (Stretch{{}, {}, {99}, {99}}));
}

TEST(Moments, OfOtherTimesNeedTheRateAndATimeOfTheEvent) {
    trace::Event event;
    event.ticks = {1000};
    event.time_ns = 500;
    EXPECT_EQ(Moment::of(event).ns, std::nullopt);
    EXPECT_EQ(Moment::at(1010, event, kKhz).ns, std::nullopt);
    event.timed = true;
    EXPECT_EQ(Moment::of(event), (Moment{{1000}, 500}));
    EXPECT_EQ(Moment::at(1010, event, 0).ns, std::nullopt);
    EXPECT_EQ(Moment::at(1010, event, kKhz / 2).ns, 520);
    EXPECT_EQ(Moment::at(990, event, kKhz / 2).ns, 480);
    EXPECT_EQ(Moment::at(1000, event, kKhz).ns, 500);
    EXPECT_EQ(later({{5}, 1}, {{5}, 2}).ns, 1);
    EXPECT_EQ(later({{5}, 1}, {{6}, 2}).ns, 2);
}

TEST(Moments, SaturateAtBothEndsOfTime) {
    using Limits = std::numeric_limits<std::int64_t>;
    trace::Event event;
    event.timed = true;
    event.ticks = {1000};
    for (const std::int64_t sign : {-1, 1}) {
        const std::int64_t limit = sign < 0 ? Limits::min() : Limits::max();
        event.time_ns = limit - sign * 50;
        EXPECT_EQ(Moment::at(static_cast<std::uint64_t>(1000 + sign * 10), event, kKhz).ns, limit - sign * 40);
        EXPECT_EQ(Moment::at(static_cast<std::uint64_t>(1000 + sign * 90), event, kKhz).ns, limit);
    }
}

TEST(Moments, ReleaseIsPastHoweverLateItsRecordIs) {
    constexpr std::uint64_t kStamp = 0x5'1234'5678;
    constexpr std::uint64_t kEarly = trace::kReleaseEarlyTicks;
    for (const std::uint64_t release :
         {kStamp, kStamp - 1, kStamp - 0x8000'0001, kStamp - 0xFF00'0000 + 1, kStamp + kEarly}) {
        trace::Event event;
        event.ticks = {kStamp};
        event.par2 = static_cast<std::uint32_t>(release);
        EXPECT_EQ(Moment::release(event, kKhz).ticks.value, release);
    }
    EXPECT_EQ(trace::release_time(static_cast<std::uint32_t>(kStamp + kEarly + 1), kStamp),
              kStamp + kEarly + 1 - 0x1'0000'0000)
        << "so early none is recorded";
}

TEST(Moments, FirstDeadlineOfAJobFollowsItsRelease) {
    constexpr std::uint64_t kStamp = 0x5'1234'5678;
    constexpr std::uint64_t kRelease = kStamp - 0x9000'0000;
    trace::Event event;
    event.ticks = {kStamp};
    event.par2 = static_cast<std::uint32_t>(kRelease + 1000);
    EXPECT_EQ(Moment::deadline(event, lib::Ticks{kRelease}, kKhz).ticks.value, kRelease + 1000);
    EXPECT_EQ(Moment::deadline(event, std::nullopt, kKhz).ticks.value, kRelease + 1000 + 0x1'0000'0000)
        << "a server moves it to a time near its record";
}

// --- random sequences

struct Random {
    std::mt19937 engine;

    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(engine() % end); }
};

// Whatever the records say, the intervals of a task follow each other, and no processor runs two tasks at a time.
TEST(Intervals, OfATaskTileItsLifeAndOfAProcessorNeverOverlap) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"context_switch",  "context_switch", "context_switch",  "job_release",       "task_end_cycle",
         "task_block",      "task_unblock",   "set_mutex_block", "set_mutex_acquire", "set_mutex_unlock",
         "task_create",     "task_end",       "job_abort",       "task_sleep",        "slice_end",
         "interrupt_start", "interrupt_end",  "blackout_start",  "blackout_end",      "trace_start",
         "task_activate",   "task_schedule",  "task_dispatch",   "inheritance",       "task_epilogue",
         "ipoint"});
    for (unsigned seed = 0; seed < 200; ++seed) {
        Random random{std::mt19937(seed)};
        Scene scene;
        std::uint64_t stamp = 1000;
        for (int i = 0; i < 400; ++i) {
            stamp += random.below(4);
            scene.at(stamp, kNames[random.below(kNames.size())], static_cast<std::uint16_t>(1 + random.below(5)),
                     random.below(2) != 0 ? wait(random.below(10), random.below(3)) : random.below(3),
                     static_cast<std::uint16_t>(random.below(2)));
        }
        scene.finish();
        std::map<std::uint16_t, std::uint64_t> end_of_task;
        std::map<std::uint16_t, std::uint64_t> end_of_cpu;
        for (const Interval& interval : scene.intervals) {
            const std::uint64_t begin = interval.begin.ticks.value;
            const std::uint64_t end = interval.end.ticks.value;
            ASSERT_LE(begin, end) << seed;
            const bool is_first = !end_of_task.contains(interval.context) || interval.began == Cause::created;
            ASSERT_TRUE(is_first || end_of_task[interval.context] == begin) << seed << ": " << text_of(interval);
            end_of_task[interval.context] = end;
        }
        std::ranges::stable_sort(scene.intervals, {}, [](const Interval& interval) { return interval.begin.ticks; });
        for (const Interval& interval : scene.intervals) {
            if (interval.activity == Activity::running && interval.end.ticks > interval.begin.ticks) {
                ASSERT_LE(end_of_cpu[interval.cpu], interval.begin.ticks.value) << seed << ": " << text_of(interval);
                end_of_cpu[interval.cpu] = interval.end.ticks.value;
            }
        }
    }
}

// A second reading of the records, state by state for each tick, against the intervals: of one processor, without gaps.
TEST(Intervals, AgreeWithAReadingTickByTick) {
    enum class Wish : std::uint8_t { ready, waiting, resting };
    for (unsigned seed = 0; seed < 100; ++seed) {
        Random random{std::mt19937(seed)};
        constexpr std::uint16_t kTasks = 4;
        constexpr std::uint64_t kEnd = 600;
        Scene scene;
        std::array<Wish, kTasks> wish{};
        std::array<std::vector<Activity>, kTasks> ticks;
        std::uint16_t running = 0;
        scene.at(0, "context_switch", 1);
        for (std::uint16_t task = 1; task < kTasks; ++task) {
            wish[task] = Wish::resting;
            scene.at(0, "task_end_cycle", static_cast<std::uint16_t>(task + 1));
        }
        for (std::uint64_t stamp = 1; stamp <= kEnd; ++stamp) {
            for (std::uint16_t task = 0; task < kTasks; ++task) {
                ticks[task].push_back(task == running               ? Activity::running
                                      : wish[task] == Wish::ready   ? Activity::ready
                                      : wish[task] == Wish::waiting ? Activity::waiting
                                                                    : Activity::resting);
            }
            const auto task = static_cast<std::uint16_t>(random.below(kTasks));
            const auto context = static_cast<std::uint16_t>(task + 1);
            switch (random.below(6)) {
            case 0:
                if (task == running || wish[task] == Wish::ready) {
                    scene.at(stamp, "task_block", context, wait(1, 7));
                    wish[task] = Wish::waiting;
                }
                break;
            case 1:
                if (wish[task] == Wish::waiting) {
                    scene.at(stamp, "task_unblock", context, wait(1, 7));
                    wish[task] = Wish::ready;
                }
                break;
            case 2:
                if (wish[task] == Wish::resting) {
                    scene.at(stamp, "job_release", context, static_cast<std::uint32_t>(stamp));
                    wish[task] = Wish::ready;
                }
                break;
            case 3:
                if (task == running && wish[task] == Wish::ready) {
                    scene.at(stamp, "task_end_cycle", context);
                    wish[task] = Wish::resting;
                }
                break;
            default:
                if (wish[task] == Wish::ready && task != running) {
                    scene.at(stamp, "context_switch", context);
                    running = task;
                }
                break;
            }
        }
        scene.at(kEnd, "ipoint", 1).finish();
        for (const Interval& interval : scene.intervals) {
            for (std::uint64_t tick = interval.begin.ticks.value; tick < interval.end.ticks.value; ++tick) {
                ASSERT_EQ(interval.activity, ticks[interval.context - 1U][tick])
                    << seed << " at " << tick << ": " << text_of(interval);
            }
        }
    }
}

} // namespace

} // namespace host::schedule
