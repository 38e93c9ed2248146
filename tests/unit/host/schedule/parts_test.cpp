// SPDX-License-Identifier: MIT
// Tests the parts that are built on the schedule: intervals, jobs, the time of processors. Scenes that were computed by
// hand, and random sequences, of which invariants hold. One tick is one nanosecond.
#include "host/schedule/intervals.hpp"
#include "host/schedule/jobs.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace host::schedule::parts_test {

namespace {

using ::testing::ElementsAre;

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
    return fmt::format("{}/{} {} {} {} {} {}{}", job.context, job.number, job.release->ticks.value, ticks(job.start),
                       ticks(job.end), ticks(job.deadline), static_cast<int>(job.outcome),
                       job.is_late() ? " late" : "");
}

// Feeds a scene to all parts.
class Scene {
  public:
    explicit Scene(std::string_view text = "") {
        m_jobs.restore(support::event_of(0, "trace_start"), kKhz); // nothing is missing before it
        play(text);
    }

    Scene& play(std::string_view text) {
        for (const trace::Event& event : m_reader.read(text)) {
            take(event);
        }
        return *this;
    }

    // A switch to this task that another system's trace means, after which the task before it rests.
    Scene& rests(std::uint64_t stamp, std::uint16_t context) {
        trace::Event event = support::event_of(stamp, "context_switch", context, trace::kLeaverRests);
        event.origin = trace::Origin::tlog;
        event.foreign_name = "EVENT_1_OUT";
        return take(event);
    }

    Scene& take(trace::Event event) {
        event.after_hole = std::exchange(m_forgets, false);
        event.doubtful = m_is_doubtful;
        const auto changes = m_schedule.take(event);
        m_intervals.take(event, changes, m_schedule);
        m_jobs.take(event, changes, kKhz);
        return *this;
    }

    Scene& forget() {
        m_forgets = true;
        return *this;
    }

    Scene& doubt() {
        m_is_doubtful = true;
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
    support::SceneReader m_reader;
    bool m_forgets = false;     // records are missing before the next event
    bool m_is_doubtful = false; // the chunk of the events is damaged
    Schedule m_schedule;
    Intervals m_intervals{[this](const Interval& interval) { intervals.push_back(interval); }};
    Jobs m_jobs{[this](const Job& job) { jobs.push_back(job); }};
};

//   4   |resting ...|ready 100..120|running 120..300         |resting
//   3   |running          ..120    |ready 120..300           |running 300..400
TEST(Intervals, APreemptedTaskIsReadyUntilItRunsAgain) {
    Scene scene(R"(0 switch 3; 50 create 4; 60 activate 4; 100 release 4; 120 switch 4; 280 complete 4; 300 switch 3
                   400 ipoint 1)");
    scene.finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..120", "3 ready 120..300", "3 running 300..400"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 resting 50..60", "4 resting 60..100", "4 ready 100..120",
                                            "4 running 120..300", "4 resting 300..400"));
    EXPECT_THAT(scene.job_texts(), ElementsAre("4/1 100 120 280 - 0"));
}

// A record's par2 says nothing of the kind.
TEST(Intervals, ATaskThatAForeignSwitchEndsRests) {
    Scene scene("0 switch 3; 10 switch 4");
    scene.rests(30, 3).rests(40, 3).play("50 switch 4; 60 context_switch 3 1").finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..10", "3 ready 10..30", "3 running 30..50", "3 ready 50..60",
                                            "3 running 60..60"));
    EXPECT_THAT(scene.known(4),
                ElementsAre("4 running 10..30", "4 resting 30..50", "4 running 50..60", "4 ready 60..60"));
}

// 2 holds the mutex 9, 3 the mutex 8 and waits for 9, 4 waits for 8: 2 runs in the place of 4.
TEST(Intervals, AWaitNamesTheMutexAndItsHolderAndARunItsPlace) {
    Scene scene(R"(0 switch 2; 10 acquire 2 9; 20 switch 3; 30 acquire 3 8; 40 blocked 3 9; 41 task_schedule 2 3
                   42 task_dispatch 2; 50 switch 2; 60 switch 4; 70 blocked 4 8; 71 task_schedule 2 4
                   72 task_dispatch 2; 80 switch 2; 90 unlock 2 9; 91 task_schedule 3 4; 92 task_dispatch 3; 95 switch 3
                   96 acquire 3 9)");
    scene.finish();
    EXPECT_THAT(scene.known(2), ElementsAre("2 running 0..20", "2 ready 20..50", "2 running 50..60 for 3",
                                            "2 ready 60..80", "2 running 80..95 for 4", "2 ready 95..96"));
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 20..50", "3 waiting 50..90 8/9 of 2", "3 ready 90..95",
                                            "3 running 95..96 for 4"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 running 60..80", "4 waiting 80..96 8/8 of 3"));
}

TEST(Intervals, ASuspendedTaskWaitsUntilItIsResumed) {
    Scene scene("0 switch 1; 10 release 3; 20 wait 3 suspended; 50 wake 3 suspended; 60 switch 3");
    scene.finish();
    EXPECT_THAT(scene.known(3),
                ElementsAre("3 ready 10..20", "3 waiting 20..50 6/0", "3 ready 50..60", "3 running 60..60"));
}

TEST(Intervals, AGapEndsWhatIsOpenWithTheRecordBeforeIt) {
    Scene scene("0 switch 3; 10 release 4; 20 wait 5 semaphore 2; 30 ipoint 1; 90 lost 7; 100 switch 4; 120 ipoint 1");
    scene.finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..30"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 ready 10..30", "4 running 100..120"));
    EXPECT_THAT(scene.known(5), ElementsAre("5 waiting 20..30 1/2"));
    EXPECT_THAT(scene.job_texts(), ElementsAre("4/1 10 - - - 4"));
}

TEST(Intervals, ATaskThatIsWokenBeforeItHasLeftIsReadyThen) {
    Scene scene("0 switch 3; 10 wait 3 delay; 15 wake 3 delay; 20 switch 1");
    scene.finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20", "3 ready 20..20"));
}

TEST(Intervals, ATaskEndsWhenItHasLeftItsProcessor) {
    Scene scene("0 switch 3; 10 end 3; 20 switch 1; 30 ipoint 1");
    scene.finish();
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20"));
}

// Each interval begins with the cause with which the one before it ended.
TEST(Intervals, SayWhyTheyBeginAndEndAndWhere) {
    Scene scene(R"(0 switch 3 @1; 5 create 4; 10 release 4; 20 switch 4; 30 wait 4 semaphore 9; 35 switch 3
                   40 wake 4 semaphore 9; 50 switch 4 @1; 60 slice_end 4 @1; 65 switch 1 @1; 70 switch 4 @1
                   75 complete 4 @1; 80 switch 1 @1; 85 release 4 @1; 90 switch 4 @1; 92 abort 4 @1; 94 switch 1 @1
                   95 release 4 @1; 96 sleep 4 @1; 97 end 4 @1)");
    scene.finish();
    EXPECT_THAT(scene.causes(4),
                ElementsAre("cpu 0 created..released", "cpu 0 released..dispatched", "cpu 0 dispatched..blocked 1/9",
                            "cpu 0 blocked..unblocked", "cpu 0 unblocked..dispatched",
                            "cpu 1 dispatched..slice_used_up", "cpu 1 slice_used_up..dispatched",
                            "cpu 1 dispatched..completed", "cpu 1 completed..released", "cpu 1 released..dispatched",
                            "cpu 1 dispatched..aborted", "cpu 1 aborted..released", "cpu 1 released..sleeps",
                            "cpu 1 sleeps..ended"));
}

TEST(Intervals, OfATaskThatLeavesReadyBeginWithItsPreemption) {
    Scene scene("0 slice_end 3; 5 switch 3; 10 switch 4; 20 ipoint 1; 30 disable 4; 35 slice_end 4; 40 switch 3");
    scene.finish();
    EXPECT_THAT(scene.causes(3), ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..preempted",
                                             "cpu 0 preempted..dispatched", "cpu 0 dispatched..end_of_trace"));
    EXPECT_THAT(scene.causes(4),
                ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..sleeps", "cpu 0 sleeps..end_of_trace"))
        << "the end of a slice changes nothing for who is to rest";
}

TEST(Intervals, OfANewTaskFollowTheEndOfTheOldOne) {
    Scene scene("0 switch 3; 10 release 4; 20 create 4; 30 end 4; 40 create 4; 50 ipoint 1");
    scene.finish();
    EXPECT_THAT(scene.causes(4), ElementsAre("cpu 0 unknown..released", "cpu 0 released..ended", "cpu 0 created..ended",
                                             "cpu 0 created..end_of_trace"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 ready 10..20", "4 resting 20..30", "4 resting 40..50"));
}

TEST(Intervals, WhereRecordsAreMissingEndWithTheLatestOneOfTheProcessor) {
    Scene scene("0 switch 3; 2 switch 4 @1; 10 release 5 @1; 20 ipoint 1; 30 ipoint 1 @1; 50 lost 4; 60 ipoint 1");
    scene.finish();
    EXPECT_THAT(scene.causes(3), ElementsAre("cpu 0 unknown..dispatched", "cpu 0 dispatched..records_lost",
                                             "cpu 0 records_lost..end_of_trace"));
    EXPECT_THAT(scene.known(3), ElementsAre("3 running 0..20"));
    EXPECT_THAT(scene.known(4), ElementsAre("4 running 2..60"));
    EXPECT_THAT(scene.known(5), ElementsAre("5 ready 10..20"));
}

TEST(Intervals, HaveTheTimesOfTheirRecords) {
    Scene scene("3 switch 3; 10 switch 4");
    scene.finish();
    ASSERT_FALSE(scene.intervals.empty());
    for (const Interval& interval : scene.intervals) {
        EXPECT_EQ(interval.begin.ns, static_cast<std::int64_t>(interval.begin.ticks.value));
        EXPECT_EQ(interval.end.ns, static_cast<std::int64_t>(interval.end.ticks.value));
    }
}

TEST(Jobs, TimesAreTheNearestOnesWithTheRecordedLowHalf) {
    constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;
    Scene scene(fmt::format("{} release 3 at 0xFFFF'FFF0; {} due 3 100; {} begin 3; {} complete 3", kTurn + 5,
                            kTurn + 6, kTurn + 50, kTurn + 101));
    ASSERT_EQ(scene.jobs.size(), 1U);
    const Job& job = scene.jobs.front();
    EXPECT_EQ(job.release->ticks.value, kTurn - 16);
    EXPECT_EQ(job.release->ns, static_cast<std::int64_t>(kTurn) - 16);
    EXPECT_EQ(job.deadline->ticks.value, kTurn + 100);
    EXPECT_TRUE(job.is_late());
}

TEST(Jobs, AreLateAfterTheirDeadlineAndNotAtIt) {
    Scene scene;
    for (const std::uint64_t release : {1'000U, 2'000U, 3'000U}) {
        const auto low = static_cast<std::uint32_t>(release);
        scene.play(fmt::format("{} release 3 at {}; {} due 3 {}; {} complete 3", release, low, release + 1, low + 500,
                               release + 498 + release / 1'000));
    }
    ASSERT_EQ(scene.jobs.size(), 3U);
    EXPECT_FALSE(scene.jobs[0].is_late());
    EXPECT_FALSE(scene.jobs[1].is_late()) << "it ends at its deadline";
    EXPECT_TRUE(scene.jobs[2].is_late());
}

TEST(Jobs, ThatTheKernelSawMissTheirDeadlineAreLateWhateverTheirTimesAre) {
    Scene scene("10 release 3; 11 due 3 20; 20 miss 3, complete 3");
    EXPECT_TRUE(scene.jobs.at(0).is_late());
}

// A server of CBS or GRUB competes by deadlines that it postpones; its jobs are due as if it had not.
TEST(Jobs, OfAServedTaskAreDueAPeriodAfterTheirRelease) {
    Scene scene(R"(1 server_attach 7 3; 2 server_attach 8 4; 3 server_period 7 100; 10 release 3; 11 due 3 111
                   20 due 3 211; 111 complete 3; 112 release 3 at 110; 113 due 3 911; 210 complete 3; 220 release 4
                   221 due 4 230; 240 complete 4; 241 server_period 8 0xFFFF'FFFF; 250 release 4; 251 due 4 255
                   260 complete 4)");
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 111 110 0 late", "3/2 110 - 210 210 0", "4/1 220 - 240 - 0",
                                               "4/2 250 - 260 - 0"));
}

TEST(Jobs, OfAServedTaskThatEndHaveNoDeadline) {
    Scene scene("1 server_attach 7 3; 2 server_period 7 10");
    for (const std::uint16_t context : std::to_array<std::uint16_t>({3, 4})) {
        scene.play(fmt::format("!10 release {}; 11 due {} 20; 30 end {}", context, context, context));
    }
    EXPECT_FALSE(scene.jobs.at(0).is_late());
    EXPECT_FALSE(scene.jobs.at(0).deadline);
    EXPECT_TRUE(scene.jobs.at(1).is_late());
}

TEST(Jobs, EachEndHasItsOutcome) {
    Scene scene(R"(10 release 3; 20 release 3; 30 abort 3; 31 complete 3; 40 release 3; 45 miss 3; 50 end 3; 60 create 3
                   70 release 3)");
    scene.finish();
    EXPECT_THAT(scene.job_texts(),
                ElementsAre("3/1 10 - 20 - 3", "3/2 20 - 30 - 1", "3/3 40 - 50 - 2 late", "3/1 70 - - - 5"));
}

// The record of the end of the task that had the context before is missing.
TEST(Jobs, EndUnknownWhereTheirContextIsAnotherTasks) {
    Scene scene("10 release 3; 20 switch 3; 30 create 3; 40 release 3; 50 complete 3");
    scene.finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 20 - - 4", "3/1 40 - 50 - 0"));
}

// What the next record says of the task is no end of the job that was open before the hole.
TEST(Jobs, AreLostWhereRecordsAreMissing) {
    Scene scene("10 release 3");
    scene.forget().play("20 complete 3").finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - - - 4"));
}

// Any of the records may be wrong, or that of another job, if those between are missing.
TEST(Jobs, AreNeverLateInADamagedChunk) {
    constexpr std::string_view kJobs = R"(10 release 3; 11 due 3 15; 20 complete 3
                                          30 release 3; 31 due 3 35; 36 miss 3; 40 complete 3)";
    Scene whole(kJobs);
    EXPECT_THAT(whole.job_texts(), ElementsAre("3/1 10 - 20 15 0 late", "3/2 30 - 40 35 0 late"));
    Scene damaged;
    damaged.doubt().play(kJobs);
    EXPECT_THAT(damaged.job_texts(), ElementsAre("3/1 10 - 20 15 0", "3/2 30 - 40 35 0"));
}

TEST(Jobs, AreCompletedByATaskThatSleeps) {
    Scene scene(R"(10 release 3; 20 sleep 3; 21 disable 3; 30 release 3; 40 sleep 3; 41 miss 3; 42 disable 3
                   50 release 3)");
    scene.finish();
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 21 - 0", "3/2 30 - 42 - 0 late", "3/3 50 - - - 5"));
}

// The record of the beginning comes before the switch, or after it if the task has the processor.
TEST(Jobs, StartWithTheSwitchThatFollowsTheirBeginning) {
    Scene scene(R"(10 release 3; 20 begin 3; 25 switch 3; 30 switch 4; 40 switch 3; 50 complete 3; 60 release 3
                   65 begin 3; 66 begin 3; 70 switch 4; 72 switch 3; 80 complete 3; 90 release 3; 91 begin 3 @1
                   95 switch 3; 96 switch 3 @1; 99 complete 3)");
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 25 50 - 0", "3/2 60 65 80 - 0", "3/3 90 96 99 - 0"));
}

// Without its period or the clock's rate nothing is known of a server's deadline.
TEST(Jobs, OfAServedTaskAreDueOnceThePeriodIsKnown) {
    Scene scene(R"(1 server_attach 7 3; 2 server_period 7; 10 release 3; 11 due 3 20; 12 complete 3
                   13 server_period 7 1'000; 20 release 3; 21 due 3 30; 22 complete 3)");
    EXPECT_THAT(scene.job_texts(), ElementsAre("3/1 10 - 12 - 0", "3/2 20 - 22 1020 0"));
}

TEST(Jobs, OfNoReleaseHaveNoRecords) {
    Scene scene("10 due 3 20; 11 begin 3; 12 miss 3; 13 switch 3; 20 release 3; 30 complete 3");
    scene.finish();
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
            const std::string_view name = kNames[random.below(kNames.size())];
            const auto context = static_cast<std::uint16_t>(1 + random.below(5));
            const std::uint32_t other =
                random.below(2) != 0 ? random.below(10) << 16 | random.below(3) : random.below(3);
            scene.take(support::event_of(stamp, name, context, other, static_cast<std::uint16_t>(random.below(2))));
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
        scene.play("0 switch 1");
        for (std::uint16_t task = 1; task < kTasks; ++task) {
            wish[task] = Wish::resting;
            scene.play(fmt::format("0 complete {}", task + 1));
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
                    scene.play(fmt::format("{} wait {} semaphore 7", stamp, context));
                    wish[task] = Wish::waiting;
                }
                break;
            case 1:
                if (wish[task] == Wish::waiting) {
                    scene.play(fmt::format("{} wake {} semaphore 7", stamp, context));
                    wish[task] = Wish::ready;
                }
                break;
            case 2:
                if (wish[task] == Wish::resting) {
                    scene.play(fmt::format("{} release {}", stamp, context));
                    wish[task] = Wish::ready;
                }
                break;
            case 3:
                if (task == running && wish[task] == Wish::ready) {
                    scene.play(fmt::format("{} complete {}", stamp, context));
                    wish[task] = Wish::resting;
                }
                break;
            default:
                if (wish[task] == Wish::ready && task != running) {
                    scene.play(fmt::format("{} switch {}", stamp, context));
                    running = task;
                }
                break;
            }
        }
        scene.play(fmt::format("{} ipoint 1", kEnd)).finish();
        for (const Interval& interval : scene.intervals) {
            for (std::uint64_t tick = interval.begin.ticks.value; tick < interval.end.ticks.value; ++tick) {
                ASSERT_EQ(interval.activity, ticks[interval.context - 1U][tick])
                    << seed << " at " << tick << ": " << text_of(interval);
            }
        }
    }
}

} // namespace

} // namespace host::schedule::parts_test
