// SPDX-License-Identifier: MIT
// Up to which times the rules about jobs and slices accept a trace, and from where on not. The tolerance is 10 ticks
// for each interval.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;

class OracleJobLimits : public support::OracleTest {};

// Released at 100, dispatched at 104, due at 900; declares 600 of execution and a period of 1000.
Scene running(std::uint16_t level = Scene::kEdf) {
    Scene scene;
    scene.hard(12, level, 600, 1000, 800).at(100).release(12, 100, 900).run(12);
    return scene;
}

TEST_F(OracleJobLimits, ReleasesPeriodicTasksAtTheirPeriod) {
    for (const std::uint16_t level : {Scene::kEdf, Scene::kRm}) {
        expect_limits(Rule::release_period, 1099, 1101, [level](std::uint64_t release) {
            Scene scene = running(level);
            scene.at(300).end_job(12).run(Scene::kIdle).at(1200);
            return scene.release(12, static_cast<std::uint32_t>(release));
        });
    }
}

TEST_F(OracleJobLimits, CountsReleasesFromTheFirst) {
    expect_limits(Rule::release_period, 2099, 2101, [](std::uint64_t release) {
        Scene scene = running();
        scene.at(300).end_job(12).at(1101).release(12, 1101).end_job(12).at(2200);
        return scene.release(12, static_cast<std::uint32_t>(release));
    });
    // One that was wrong is the new first.
    expect_limits(Rule::release_period, 2499, 2501, [this](std::uint64_t release) {
        Scene scene = running();
        scene.at(300).end_job(12).at(1500).release(12, 1500).end_job(12);
        EXPECT_TRUE(violates(Rule::release_period, scene));
        scene.at(2600).release(12, static_cast<std::uint32_t>(release));
        judge(scene);
        return of(Rule::release_period).violations == 2 ? scene : Scene();
    });
}

TEST_F(OracleJobLimits, KeepsSporadicReleasesAPeriodApart) {
    const auto activated = [](std::uint64_t release) {
        Scene scene = running();
        scene.at(300).end_job(12).run(Scene::kIdle).at(5000).event("task_activate", 12);
        return scene.release(12, static_cast<std::uint32_t>(release));
    };
    expect_limits(Rule::release_period, 1099, std::nullopt, activated);
    EXPECT_FALSE(violates(Rule::release_period, activated(4000)));
}

// A deadline between C and T may be one that was changed.
TEST_F(OracleJobLimits, ComparesADeadlineWithTheDeclaredOne) {
    const auto due = [](std::uint16_t level) {
        return [level](std::uint64_t deadline) {
            Scene scene;
            scene.hard(12, level, 60, 1000, 800).at(100);
            return scene.release(12, 100, static_cast<std::uint32_t>(deadline));
        };
    };
    expect_limits(Rule::edf_deadline, 159, 901, due(Scene::kEdf));
    expect_limits(Rule::rm_deadline, 159, 901, due(Scene::kRm));
    for (const std::uint64_t exact : {899U, 900U, 901U}) {
        judge(due(Scene::kEdf)(exact));
        EXPECT_EQ(of(Rule::edf_deadline).checked, 1U) << exact;
    }
    for (const std::uint64_t other : {898U, 160U, 159U}) {
        judge(due(Scene::kRm)(other));
        EXPECT_EQ(of(Rule::rm_deadline).undecided, 1U) << other;
    }
}

TEST_F(OracleJobLimits, LetsAJobsDeadlineBecomeAsLongAsThePeriod) {
    const auto changed = [](std::uint64_t deadline) {
        Scene scene = running();
        return scene.event("job_deadline", 12, static_cast<std::uint32_t>(deadline));
    };
    expect_limits(Rule::edf_deadline, 699, 1101, changed);
    // The next job may keep the longer one, and may have any between.
    const auto next = [](std::uint64_t deadline) {
        Scene scene = running();
        scene.event("job_deadline", 12, 1000).at(200).end_job(12).at(1100).event("task_timer", 12);
        return scene.event("job_release", 12, 1100).event("job_deadline", 12, static_cast<std::uint32_t>(deadline));
    };
    expect_limits(Rule::edf_deadline, 1699, 2001, next);
}

TEST_F(OracleJobLimits, ComparesAChangedDeadlineToItsMicrosecond) {
    const auto due = [](std::uint64_t deadline) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 60'000, 1'000'000, 800'000).at(100).event("deadline_change", 12, 700);
        return scene.release(12, 100, static_cast<std::uint32_t>(deadline));
    };
    expect_limits(Rule::edf_deadline, 700'099, 701'100, due);
    const auto longest = [](std::uint32_t changed_us) {
        Scene scene;
        scene.hard(12, Scene::kRm, 60'000, 1'000'000, 800'000).at(100).event("deadline_change", 12, changed_us);
        return scene.release(12, 100, 800'100);
    };
    judge(longest(~0U));
    EXPECT_EQ(of(Rule::rm_deadline).undecided, 1U) << "or more";
    EXPECT_TRUE(violates(Rule::rm_deadline, longest(701)));
}

TEST_F(OracleJobLimits, AcceptsAMissFromTheDeadlineOn) {
    expect_limits(Rule::deadline_miss, 900, std::nullopt,
                  [](std::uint64_t time) { return running().at(time).event("task_deadline_miss", 12); });
}

TEST_F(OracleJobLimits, WantsAMissOfAJobThatIsIncomplete) {
    expect_limits(Rule::deadline_miss, std::nullopt, 909,
                  [](std::uint64_t time) { return running().at(time).event("task_schedule", 12, 12); });
}

TEST_F(OracleJobLimits, WantsAMissOfAJobThatEndedLate) {
    expect_limits(Rule::deadline_miss, std::nullopt, 910,
                  [](std::uint64_t time) { return running().at(time - 1).end_job(12).run(Scene::kIdle); });
}

// An aborted job is over before its end is recorded.
TEST_F(OracleJobLimits, AcceptsAMissOfAJobThatJustEnded) {
    expect_limits(Rule::deadline_miss, 900, std::nullopt, [](std::uint64_t missed) {
        Scene scene = running();
        return scene.at(800).leave(12).event("job_abort", 12).at(missed).event("task_deadline_miss", 12);
    });
}

// The job after the late one was released at 1000 and is due at the latest one period later.
TEST_F(OracleJobLimits, WantsAMissOfEachJobThatWaits) {
    expect_limits(Rule::deadline_miss, std::nullopt, 2009, [](std::uint64_t time) {
        Scene scene = running();
        scene.at(901).event("task_deadline_miss", 12).at(1000).event("task_timer", 12);
        return scene.at(time).event("task_schedule", 12, 12);
    });
    // Two misses may be reported, and no third.
    const auto reported = [](std::size_t misses) {
        Scene scene = running();
        scene.at(901).event("task_timer", 12);
        for (std::size_t i = 0; i < misses; ++i) {
            scene.event("task_deadline_miss", 12);
        }
        return scene;
    };
    expect_limits(Rule::deadline_miss, std::nullopt, 2, reported);
}

// Dispatched at 103, left at the stamp that varies: one interval.
TEST_F(OracleJobLimits, WantsAnOverrunBeyondTheDeclaredTime) {
    expect_limits(Rule::wcet_violation, std::nullopt, 103 + 600 + 20,
                  [](std::uint64_t left) { return running().at(left).end_job(12); });
    // Two intervals, the first of 100.
    expect_limits(Rule::wcet_violation, std::nullopt, 303 + 500 + 30,
                  [](std::uint64_t left) { return running().at(203).leave(12).at(303).run(12).at(left).end_job(12); });
    expect_limits(Rule::wcet_violation, std::nullopt, 103 + 600 + 20,
                  [](std::uint64_t left) { return running().at(left).leave(12).event("task_end", 12); });
}

TEST_F(OracleJobLimits, AcceptsAnOverrunWhenTheDeclaredTimeIsUsedUp) {
    expect_limits(Rule::wcet_violation, 103 + 600 - 10, std::nullopt,
                  [](std::uint64_t time) { return running().at(time).event("task_wcet_violation", 12); });
    expect_limits(Rule::wcet_violation, 303 + 500 - 20, std::nullopt, [](std::uint64_t time) {
        return running().at(203).leave(12).at(303).run(12).at(time).event("task_wcet_violation", 12);
    });
}

TEST_F(OracleJobLimits, WantsAReportOfAnActivationThatIsTooEarly) {
    expect_limits(Rule::activation_violation, 1090, std::nullopt, [](std::uint64_t time) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 60, 1000).event("task_activate", 12).at(100).release(12, 100, 1100).run(12);
        return scene.at(150).end_job(12).at(time).event("task_activate", 12).run(Scene::kIdle);
    });
}

TEST_F(OracleJobLimits, AcceptsAReportOfAnActivationOnlyIfItIsTooEarly) {
    expect_limits(Rule::activation_violation, std::nullopt, 1109, [](std::uint64_t time) {
        Scene scene = running();
        scene.at(300).end_job(12).event("task_activate", 12).at(time);
        return scene.event("activation_violation", 12);
    });
    // From a release that may have been dropped.
    expect_limits(Rule::activation_violation, std::nullopt, 1609, [](std::uint64_t time) {
        Scene scene = running();
        scene.at(300).end_job(12).at(600).event("task_timer", 12).at(time);
        return scene.event("activation_violation", 12);
    });
}

// A slice of 500 that began with the dispatch at 100.
Scene sliced() {
    Scene scene;
    scene.task(12, "load", {.level = Scene::kRr, .budget_ns = 500}).release(12, 10).at(100).run(12);
    return scene;
}

TEST_F(OracleJobLimits, EndsASliceWhenItIsUsedUp) {
    expect_limits(Rule::rr_slice, 590, 610,
                  [](std::uint64_t time) { return sliced().at(time).event("slice_end", 12); });
    expect_limits(Rule::rr_slice, 780, 820, [](std::uint64_t time) {
        return sliced().at(200).leave(12).at(300).run(12).at(time - 100).event("slice_end", 12);
    });
    expect_limits(Rule::rr_slice, std::nullopt, 610,
                  [](std::uint64_t time) { return sliced().at(time).event("task_schedule", 12, 12); });
}

// The next slice begins where the one before ended.
TEST_F(OracleJobLimits, BeginsANewSliceAtTheEndOfTheOneBefore) {
    expect_limits(Rule::rr_slice, 1090, 1110, [](std::uint64_t time) {
        return sliced().at(600).event("slice_end", 12).at(time).event("slice_end", 12);
    });
    expect_limits(Rule::rr_slice, 1180, 1220, [](std::uint64_t time) {
        Scene scene = sliced();
        scene.at(600).event("slice_end", 12).at(700).leave(12).at(800).run(12);
        return scene.at(time).event("slice_end", 12);
    });
}

TEST_F(OracleJobLimits, DecidesWithinTheTolerance) {
    expect_limits(Rule::edf_order, std::nullopt, 213, [](std::uint64_t time) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 500, 9000).hard(13, Scene::kEdf, 50, 300).at(100).release(12, 100, 9100).run(12);
        return scene.at(201).release(13, 200, 500).at(time).event("set_mutex_post", 12, 7);
    });
}

} // namespace

} // namespace host::analyse::oracle
