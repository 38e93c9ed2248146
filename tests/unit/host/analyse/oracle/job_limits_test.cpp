// SPDX-License-Identifier: MIT
// Tests up to which times the rules about jobs and slices accept a trace, and from where on not. The tolerance is 10
// ticks for each interval.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::job_limits_test {

namespace {

using support::Scene;

class OracleJobLimits : public support::OracleTest {};

// Released at 100, dispatched at 104, due at 900; declares 600 of execution and a period of 1000.
Scene running(std::uint16_t level = Scene::kEdf) {
    return Scene(fmt::format("hard 12 {} 600 1000 800; 100 release 12 by timer due 900, dispatch 12", level));
}

TEST_F(OracleJobLimits, ReleasesPeriodicTasksAtTheirPeriod) {
    for (const std::uint16_t level : {Scene::kEdf, Scene::kRm}) {
        expect_limits(Rule::release_period, 1099, 1101, [level](std::uint64_t release) {
            Scene scene = running(level);
            return scene.play(fmt::format("300 finish 12, dispatch idle; 1200 release 12 at {}", release));
        });
    }
}

TEST_F(OracleJobLimits, CountsReleasesFromTheFirst) {
    expect_limits(Rule::release_period, 2099, 2101, [](std::uint64_t release) {
        Scene scene = running();
        return scene.play(fmt::format("300 finish 12; 1101 release 12, finish 12; 2200 release 12 at {}", release));
    });
    // One that was wrong is the new first.
    expect_limits(Rule::release_period, 2499, 2501, [this](std::uint64_t release) {
        Scene scene = running();
        scene.play("300 finish 12; 1500 release 12, finish 12");
        EXPECT_TRUE(violates(Rule::release_period, scene));
        scene.play(fmt::format("2600 release 12 at {}", release));
        judge(scene);
        return of(Rule::release_period).violations == 2 ? scene : Scene();
    });
}

TEST_F(OracleJobLimits, KeepsSporadicReleasesAPeriodApart) {
    const auto activated = [](std::uint64_t release) {
        Scene scene = running();
        return scene.play(fmt::format("300 finish 12, dispatch idle; 5000 activate 12, release 12 at {}", release));
    };
    expect_limits(Rule::release_period, 1099, std::nullopt, activated);
    EXPECT_FALSE(violates(Rule::release_period, activated(4000)));
}

// A deadline between C and T may be one that was changed.
TEST_F(OracleJobLimits, ComparesADeadlineWithTheDeclaredOne) {
    const auto due = [](std::uint16_t level) {
        return [level](std::uint64_t deadline) {
            return Scene(fmt::format("hard 12 {} 60 1000 800; 100 release 12 by timer due {}", level, deadline));
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
        return scene.play(fmt::format("due 12 {}", deadline));
    };
    expect_limits(Rule::edf_deadline, 699, 1101, changed);
    // The next job may keep the longer one, and may have any between.
    const auto next = [](std::uint64_t deadline) {
        Scene scene = running();
        return scene.play(
            fmt::format("due 12 1000; 200 finish 12; 1100 task_timer 12, release 12, due 12 {}", deadline));
    };
    expect_limits(Rule::edf_deadline, 1699, 2001, next);
}

TEST_F(OracleJobLimits, ComparesAChangedDeadlineToItsMicrosecond) {
    const auto due = [](std::uint64_t deadline) {
        return Scene(fmt::format(R"(hard 12 edf 60'000 1'000'000 800'000
                                    100 deadline_change 12 700, release 12 by timer due {})",
                                 deadline));
    };
    expect_limits(Rule::edf_deadline, 700'099, 701'100, due);
    const auto longest = [](std::uint32_t changed_us) {
        return Scene(fmt::format(R"(hard 12 rm 60'000 1'000'000 800'000
                                    100 deadline_change 12 {}, release 12 by timer due 800'100)",
                                 changed_us));
    };
    judge(longest(~0U));
    EXPECT_EQ(of(Rule::rm_deadline).undecided, 1U) << "or more";
    EXPECT_TRUE(violates(Rule::rm_deadline, longest(701)));
}

TEST_F(OracleJobLimits, AcceptsAMissFromTheDeadlineOn) {
    expect_limits(Rule::deadline_miss, 900, std::nullopt,
                  [](std::uint64_t time) { return running().play(fmt::format("{} miss 12", time)); });
}

TEST_F(OracleJobLimits, WantsAMissOfAJobThatIsIncomplete) {
    expect_limits(Rule::deadline_miss, std::nullopt, 909,
                  [](std::uint64_t time) { return running().play(fmt::format("{} choose 12", time)); });
}

TEST_F(OracleJobLimits, WantsAMissOfAJobThatEndedLate) {
    expect_limits(Rule::deadline_miss, std::nullopt, 910, [](std::uint64_t time) {
        return running().play(fmt::format("{} finish 12, dispatch idle", time - 1));
    });
}

// An aborted job is over before its end is recorded.
TEST_F(OracleJobLimits, AcceptsAMissOfAJobThatJustEnded) {
    expect_limits(Rule::deadline_miss, 900, std::nullopt, [](std::uint64_t missed) {
        Scene scene = running();
        return scene.play(fmt::format("800 leave 12, abort 12; {} miss 12", missed));
    });
}

// The job after the late one was released at 1000 and is due at the latest one period later.
TEST_F(OracleJobLimits, WantsAMissOfEachJobThatWaits) {
    expect_limits(Rule::deadline_miss, std::nullopt, 2009, [](std::uint64_t time) {
        Scene scene = running();
        return scene.play(fmt::format("901 miss 12; 1000 task_timer 12; {} choose 12", time));
    });
    // Two misses may be reported, and no third.
    const auto reported = [](std::size_t misses) {
        Scene scene = running();
        scene.play("901 task_timer 12");
        for (std::size_t i = 0; i < misses; ++i) {
            scene.play("miss 12");
        }
        return scene;
    };
    expect_limits(Rule::deadline_miss, std::nullopt, 2, reported);
}

// Dispatched at 103, left at the stamp that varies: one interval.
TEST_F(OracleJobLimits, WantsAnOverrunBeyondTheDeclaredTime) {
    expect_limits(Rule::wcet_violation, std::nullopt, 103 + 600 + 20,
                  [](std::uint64_t left) { return running().play(fmt::format("{} finish 12", left)); });
    // Two intervals, the first of 100.
    expect_limits(Rule::wcet_violation, std::nullopt, 303 + 500 + 30, [](std::uint64_t left) {
        return running().play(fmt::format("203 leave 12; 303 dispatch 12; {} finish 12", left));
    });
    expect_limits(Rule::wcet_violation, std::nullopt, 103 + 600 + 20,
                  [](std::uint64_t left) { return running().play(fmt::format("{} leave 12, end 12", left)); });
}

// The timer of the budget does not run in the place of another task: the overrun is found when the task leaves it.
TEST_F(OracleJobLimits, WantsAnOverrunInThePlaceOfAnotherTaskOnlyWhenItIsLeft) {
    const auto after = [](std::string_view then) {
        return running().play(fmt::format("203 leave 12; 303 dispatch 12 for 13; 900 choose 12 for 13; {}", then));
    };
    EXPECT_FALSE(violates(Rule::wcet_violation, after("910 leave 12, overrun 12, dispatch idle")));
    EXPECT_TRUE(violates(Rule::wcet_violation, after("910 leave 12, dispatch idle")));
}

TEST_F(OracleJobLimits, AcceptsAnOverrunWhenTheDeclaredTimeIsUsedUp) {
    expect_limits(Rule::wcet_violation, 103 + 600 - 10, std::nullopt,
                  [](std::uint64_t time) { return running().play(fmt::format("{} overrun 12", time)); });
    expect_limits(Rule::wcet_violation, 303 + 500 - 20, std::nullopt, [](std::uint64_t time) {
        return running().play(fmt::format("203 leave 12; 303 dispatch 12; {} overrun 12", time));
    });
}

TEST_F(OracleJobLimits, WantsAReportOfAnActivationThatIsTooEarly) {
    expect_limits(Rule::activation_violation, 1090, std::nullopt, [](std::uint64_t time) {
        return Scene(fmt::format(R"(hard 12 edf 60 1000, activate 12; 100 release 12 by timer due 1100, dispatch 12
                                    150 finish 12; {} activate 12, dispatch idle)",
                                 time));
    });
}

TEST_F(OracleJobLimits, AcceptsAReportOfAnActivationOnlyIfItIsTooEarly) {
    expect_limits(Rule::activation_violation, std::nullopt, 1109, [](std::uint64_t time) {
        Scene scene = running();
        return scene.play(fmt::format("300 finish 12, activate 12; {} activation_violation 12", time));
    });
    // From a release that may have been dropped.
    expect_limits(Rule::activation_violation, std::nullopt, 1609, [](std::uint64_t time) {
        Scene scene = running();
        return scene.play(fmt::format("300 finish 12; 600 task_timer 12; {} activation_violation 12", time));
    });
}

// A slice of 500 that began with the dispatch at 100.
Scene sliced() {
    return Scene("task 12 load rr budget 500, release 12 at 10; 100 dispatch 12");
}

TEST_F(OracleJobLimits, EndsASliceWhenItIsUsedUp) {
    expect_limits(Rule::rr_slice, 590, 610,
                  [](std::uint64_t time) { return sliced().play(fmt::format("{} slice_end 12", time)); });
    expect_limits(Rule::rr_slice, 780, 820, [](std::uint64_t time) {
        return sliced().play(fmt::format("200 leave 12; 300 dispatch 12; {} slice_end 12", time - 100));
    });
    expect_limits(Rule::rr_slice, std::nullopt, 610,
                  [](std::uint64_t time) { return sliced().play(fmt::format("{} choose 12", time)); });
}

// The next slice begins where the one before ended.
TEST_F(OracleJobLimits, BeginsANewSliceAtTheEndOfTheOneBefore) {
    expect_limits(Rule::rr_slice, 1090, 1110, [](std::uint64_t time) {
        return sliced().play(fmt::format("600 slice_end 12; {} slice_end 12", time));
    });
    expect_limits(Rule::rr_slice, 1180, 1220, [](std::uint64_t time) {
        Scene scene = sliced();
        return scene.play(fmt::format("600 slice_end 12; 700 leave 12; 800 dispatch 12; {} slice_end 12", time));
    });
}

TEST_F(OracleJobLimits, DecidesWithinTheTolerance) {
    expect_limits(Rule::edf_order, std::nullopt, 213, [](std::uint64_t time) {
        return Scene(fmt::format(R"(hard 12 edf 500 9000, hard 13 edf 50 300
                                    100 release 12 by timer due 9100, dispatch 12
                                    201 release 13 by timer at 200 due 500; {} set_mutex_post 12 7)",
                                 time));
    });
}

} // namespace

} // namespace host::analyse::oracle::job_limits_test
