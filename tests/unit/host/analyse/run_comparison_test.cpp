// SPDX-License-Identifier: MIT
// Tests two runs of one task each, whose releases, decisions and response times are known. One tick is one nanosecond.
#include "host/analyse/run_comparison.hpp"

#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/oracle_scene.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace host::analyse::run_comparison_test {

namespace {

using support::Scene;
using testing::ElementsAre;
using testing::HasSubstr;

using Recorded = Run; // a test has a Run of its own

constexpr Tolerance kOrder{};
constexpr Tolerance kTimes{.times = true, .resolution_ns = 100};

class RunComparison : public testing::Test {
  protected:
    Recorded read(const Scene& scene) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(m_directory.write("0trace.dat", scene.chunk.bytes()), {}, diagnostics);
        Recorded run;
        RunReader reader(m_phrases, run, {});
        opened.value()->for_each([&](const trace::Event& event) {
            if (!event.metadata) {
                reader.add(event, opened.value()->facts().clock.khz);
            }
        });
        reader.finish();
        run.names = opened.value()->facts().names;
        return run;
    }

    std::vector<std::string> texts(const Recorded& run) const {
        std::vector<std::string> all;
        for (const RunDecision& decision : run.decisions) {
            all.push_back(m_phrases.text(decision.phrase));
        }
        return all;
    }

    support::TemporaryDirectory m_directory;
    Phrases m_phrases;
};

// A job released at 1000 that ends at this time; before it the idle task runs.
Scene one_job(std::uint64_t end, std::uint32_t deadline = 9'000) {
    return Scene(fmt::format(R"(hard 12 edf 600 10'000; 500 dispatch idle, switch idle; 1'000 release 12 by timer due {}
                                1'100 dispatch 12 first, switch 12; {} finish 12, dispatch idle, switch idle)",
                             deadline, end));
}

TEST_F(RunComparison, EqualRunsDoNotDiffer) {
    const Recorded a = read(one_job(2'000));
    const Recorded b = read(one_job(2'000));
    EXPECT_FALSE(first_difference(a.decisions, b.decisions, {.times = true, .resolution_ns = 1}));
    EXPECT_THAT(texts(a), ElementsAre("idle         is created", "idle         is released", "hard12       is created",
                                      "idle         runs", "hard12       is released", "hard12       runs",
                                      "hard12       completes its job", "idle         runs"));
    const auto changes = task_changes(a, b, kOrder);
    ASSERT_FALSE(changes.empty());
    for (const TaskChange& change : changes) {
        EXPECT_EQ(change.figures[0], change.figures[1]) << change.task;
        EXPECT_FALSE(change.most) << change.task;
    }
}

TEST_F(RunComparison, TimesCountOnlyIfAskedForAndByMoreThanAStep) {
    const Recorded a = read(one_job(2'000));
    const Recorded near = read(one_job(2'150));
    const Recorded far = read(one_job(2'250));
    EXPECT_FALSE(first_difference(a.decisions, far.decisions, kOrder));
    EXPECT_FALSE(first_difference(a.decisions, near.decisions, kTimes));
    EXPECT_EQ(first_difference(a.decisions, far.decisions, kTimes), 6U);
    EXPECT_FALSE(first_difference(a.decisions, far.decisions, {.times = true, .resolution_ns = 1'000}));
}

TEST_F(RunComparison, FirstDifferenceIsAnotherDecisionOrTheEndOfOne) {
    const Recorded a = read(one_job(2'000));
    const Recorded longer = read(one_job(2'000).play("3'000 end 12"));
    const Recorded missed = read(one_job(2'000).play("2'500 miss 12"));
    EXPECT_EQ(first_difference(a.decisions, longer.decisions, kOrder), 8U);
    EXPECT_EQ(first_difference(longer.decisions, a.decisions, kOrder), 8U);
    EXPECT_EQ(first_difference(longer.decisions, missed.decisions, kOrder), 8U);
    EXPECT_EQ(first_difference({}, a.decisions, kOrder), 0U);
    EXPECT_FALSE(first_difference({}, {}, kOrder));
}

TEST_F(RunComparison, JobThatChangedMostIsExplained) {
    const Recorded a = read(one_job(2'000));
    const Recorded b = read(one_job(9'500));
    const auto changes = task_changes(a, b, {.resolution_ns = 100});
    const auto change = std::ranges::find(changes, "hard12", &TaskChange::task);
    ASSERT_NE(change, changes.end());
    EXPECT_EQ(change->figures[0].missed, 0U);
    EXPECT_EQ(change->figures[1].missed, 1U);
    EXPECT_EQ(change->figures[1].response_ns_max - change->figures[0].response_ns_max, 7'500U);
    ASSERT_TRUE(change->most);
    EXPECT_EQ(change->most->number, 1U);
    ASSERT_TRUE(change->most->decision[0] && change->most->decision[1]);
    EXPECT_EQ(m_phrases.text(a.decisions[*change->most->decision[0]].phrase), "hard12       completes its job");
    ASSERT_FALSE(change->most->shares.empty());
    EXPECT_EQ(change->most->shares.front().culprit, "execution");
    EXPECT_EQ(change->most->shares.front().ns[1] - change->most->shares.front().ns[0], 7'500U);
}

TEST_F(RunComparison, MissThatNoRecordStatesIsADifference) {
    const auto changes = [&](std::uint32_t deadline, std::uint64_t end, const Tolerance& tolerance) {
        const Recorded a = read(one_job(2'000));
        const Recorded b = read(one_job(end, deadline));
        EXPECT_FALSE(first_difference(a.decisions, b.decisions, tolerance));
        return are_same(task_changes(a, b, tolerance), tolerance);
    };
    EXPECT_TRUE(changes(9'000, 2'000, kTimes));
    EXPECT_FALSE(changes(1'500, 2'000, kOrder)) << "late, which the kernel did not record";
    EXPECT_TRUE(changes(9'000, 2'001, kOrder));
    EXPECT_FALSE(changes(9'000, 2'001, kTimes)) << "any response time counts";
}

TEST_F(RunComparison, JobsAreMatchedByTheirTaskAndNumber) {
    const auto two = [](std::uint16_t first, std::uint64_t end) {
        Scene scene;
        for (const std::uint16_t context : {std::uint16_t{20}, std::uint16_t{21}}) {
            scene.chunk.name("task", context, "twin");
        }
        std::uint64_t stamp = 1'000;
        for (const std::uint16_t context : {first, static_cast<std::uint16_t>(41 - first)}) {
            const std::uint64_t completed = context == 21 ? end : stamp + 200;
            scene.play(fmt::format("{} release {} by timer due 9'000; {} switch {}; {} complete {}", stamp, context,
                                   stamp + 100, context, completed, context));
            stamp = completed;
        }
        return scene;
    };
    const Recorded a = read(two(20, 1'900));
    const Recorded b = read(two(20, 1'950));
    const auto changes = task_changes(a, b, kOrder);
    const auto change = std::ranges::find(changes, "twin", &TaskChange::task);
    ASSERT_TRUE(change != changes.end() && change->most);
    EXPECT_EQ(change->most->number, 1U) << "the first job of the second task";
    EXPECT_EQ(change->most->jobs[1]->job.context, 21U);
}

TEST_F(RunComparison, TaskOfOneRunAloneIsCounted) {
    const Recorded a = read(one_job(2'000));
    const auto changes = task_changes(a, Recorded{}, kOrder);
    const auto change = std::ranges::find(changes, "hard12", &TaskChange::task);
    ASSERT_NE(change, changes.end());
    EXPECT_EQ(change->figures[0].jobs, 1U);
    EXPECT_EQ(change->figures[1].jobs, 0U);
    EXPECT_FALSE(change->figures[1].worst_ns()) << "unknown, not zero";
    EXPECT_FALSE(change->figures[1].mean_ns());
    EXPECT_FALSE(change->most);
}

TEST_F(RunComparison, CulpritsHaveNames) {
    trace::Names names;
    names.set(tracer::Unit::context, 2, "low");
    names.set(tracer::Unit::context, 3, "middle");
    names.set(tracer::Unit::mutex, 1, "bus");
    EXPECT_EQ(culprit_text({.part = schedule::Part::blocking,
                            .by = schedule::By::task,
                            .inversion = schedule::Inversion::unbounded,
                            .who = 3,
                            .object = 1,
                            .holder = 2},
                           names),
              "blocking by middle (bus, held by low, unbounded)");
    EXPECT_EQ(culprit_text({.part = schedule::Part::blocking,
                            .by = schedule::By::task,
                            .inversion = schedule::Inversion::bounded,
                            .who = 2,
                            .holder = 2},
                           names),
              "blocking by low (held by low, bounded)")
        << "the mutex was just unlocked";
    EXPECT_EQ(culprit_text({.part = schedule::Part::interference, .by = schedule::By::task, .who = 9}, names),
              "interference by #9");
    EXPECT_THAT(culprit_text({.part = schedule::Part::suspension, .object = 2U << 16}, names), HasSubstr("delay"));
}

TEST_F(RunComparison, EveryCulpritHasWords) {
    using schedule::By;
    using schedule::Part;
    trace::Names names;
    names.set(tracer::Unit::context, 2, "low");
    names.set(tracer::Unit::vector, 32, "timer");
    names.set(tracer::Unit::server, 3, "soft");
    names.set(tracer::Unit::semaphore, 7, "data");
    const auto by = [&names](By executor, std::uint32_t who) {
        return culprit_text({.part = Part::interference, .by = executor, .who = who}, names);
    };
    EXPECT_EQ(by(By::unknown, 2), "interference by something unknown");
    EXPECT_EQ(by(By::self, 2), "interference by itself");
    EXPECT_EQ(by(By::task, 2), "interference by low");
    EXPECT_EQ(by(By::task, schedule::kUnknownContext), "interference by an unknown task");
    EXPECT_EQ(by(By::interrupt, 32), "interference by interrupt timer");
    EXPECT_EQ(by(By::interrupt, schedule::kTimerHandler), "interference by the timer");
    EXPECT_EQ(by(By::kernel, 2), "interference by the kernel");
    EXPECT_EQ(by(By::section, 2), "interference by interrupts off in low");
    EXPECT_EQ(by(By::throttling, 3), "interference by the empty server soft");
    EXPECT_EQ(by(By::backlog, 2), "interference by its job before");
    EXPECT_EQ(culprit_text({.part = Part::jitter, .by = By::task, .who = 2}, names), "jitter by low");
    EXPECT_EQ(culprit_text({.part = Part::execution, .by = By::self}, names), "execution");
    const auto wait = [&names](std::uint32_t object) {
        return culprit_text({.part = Part::suspension, .object = object}, names);
    };
    EXPECT_EQ(wait(1U << 16 | 7U), "suspension for semaphore data");
    EXPECT_EQ(wait(1U << 16 | 8U), "suspension for semaphore #8");
    EXPECT_EQ(wait(1U << 16), "suspension for semaphore");
    EXPECT_EQ(wait(2U << 16 | 8U), "suspension for delay");
    EXPECT_EQ(culprit_text({.part = Part::blocking, .by = By::task, .who = 2, .object = 1}, names),
              "blocking by low (#1, held by an unknown task, none)");
}

// Response times 1000 and 3000 in one run, 2000 and 2000 in the other: both change by 1000, and the first is explained.
// From the dispatch to the switch the idle task blocks it, one tick each time.
TEST_F(RunComparison, FiguresAreThoseOfTheKnownJobs) {
    const auto two_jobs = [](std::uint64_t first, std::uint64_t second) {
        Scene scene = one_job(1'000 + first);
        return scene.play(fmt::format(R"(11'000 release 12 by timer due 13'500; 11'100 dispatch 12 first, switch 12
                                         {} finish 12, dispatch idle, switch idle
                                         21'000 release 12 by timer due 29'000)",
                                      11'000 + second));
    };
    const Recorded a = read(two_jobs(1'000, 3'000));
    const Recorded b = read(two_jobs(2'000, 2'000));
    const auto changes = task_changes(a, b, kTimes);
    const auto change = std::ranges::find(changes, "hard12", &TaskChange::task);
    ASSERT_TRUE(change != changes.end() && change->most);
    EXPECT_EQ(change->figures[0], (TaskFiguresOfRun{.jobs = 3,
                                                    .missed = 1,
                                                    .known = 2,
                                                    .response_ns_sum = 4'002,
                                                    .response_ns_max = 3'001,
                                                    .blocking_ns_sum = 2}));
    EXPECT_EQ(change->figures[1].missed, 0U);
    EXPECT_EQ(change->figures[1].mean_ns(), 2'001U);
    EXPECT_EQ(change->figures[0].worst_ns(), 3'001U);
    EXPECT_EQ(change->most->number, 1U);
    ASSERT_EQ(change->most->shares.size(), 1U);
    EXPECT_EQ(change->most->shares[0].culprit, "execution");
    EXPECT_EQ(change->most->shares[0].ns[1] - change->most->shares[0].ns[0], 1'000U);
}

TEST_F(RunComparison, SharesThatChangeMostComeFirst) {
    const auto interrupted = [](std::uint64_t handler, std::uint64_t end) {
        return Scene(fmt::format(R"(hard 12 edf 600 10'000; 500 dispatch idle, switch idle
                                    1'000 release 12 by timer due 9'000; 1'100 dispatch 12 first, switch 12
                                    1'200 irq 32; {} iret 32; {} finish 12, dispatch idle)",
                                 1'200 + handler, end));
    };
    const auto shares = [&](const Recorded& a, const Recorded& b) {
        std::vector<std::string> lines;
        for (const TaskChange& change : task_changes(a, b, kTimes)) {
            for (const ShareChange& share : change.most ? change.most->shares : std::vector<ShareChange>{}) {
                lines.push_back(fmt::format("{} {} {}", share.culprit, share.ns[0], share.ns[1]));
            }
        }
        return lines;
    };
    const Recorded a = read(interrupted(100, 2'000));
    const Recorded b = read(interrupted(400, 2'100));
    EXPECT_THAT(shares(a, b), ElementsAre("interference by interrupt #32 100 400", "execution 798 598"));
    EXPECT_THAT(shares(b, a), ElementsAre("interference by interrupt #32 400 100", "execution 598 798"));
}

TEST_F(RunComparison, APartHasItsDecisionsAndTheJobsReleasedInIt) {
    Scene scene = one_job(2'000);
    scene.play(R"(11'000 release 12 by timer due 19'000; 11'100 dispatch 12 first, switch 12
                  13'000 finish 12, dispatch idle, switch idle)");
    const Recorded whole = read(scene);
    ASSERT_EQ(whole.jobs.at("hard12").size(), 2U);
    const auto begin = whole.jobs.at("hard12")[1].job.release->ns.value();
    const Recorded before = part_of(whole, 0, begin);
    const Recorded after = part_of(whole, begin, std::nullopt);
    EXPECT_EQ(before.decisions.size() + after.decisions.size(), whole.decisions.size());
    EXPECT_EQ(m_phrases.text(after.decisions.front().phrase), "hard12       is released");
    EXPECT_EQ(before.jobs.at("hard12").front().job.number, 1U);
    EXPECT_EQ(after.jobs.at("hard12").front().job.number, 2U);
    const auto changes = task_changes(before, after, kOrder);
    const auto task = std::ranges::find(changes, "hard12", &TaskChange::task);
    ASSERT_NE(task, changes.end());
    EXPECT_EQ(task->figures[0].jobs, 1U);
    EXPECT_EQ(task->figures[1].jobs, 1U);
    ASSERT_TRUE(task->most);
    EXPECT_EQ(task->most->number, 1U);
}

} // namespace

} // namespace host::analyse::run_comparison_test
