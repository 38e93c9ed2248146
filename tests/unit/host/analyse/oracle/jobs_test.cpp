// SPDX-License-Identifier: MIT
// Jobs, wake-ups and servers: for each rule a trace that keeps it and one that breaks it, and the values at the edge.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OracleJobs : public support::OracleTest {};

// One job from 100 to 150, then the next release.
Scene second_release(std::uint32_t release, std::uint16_t level = Scene::kEdf) {
    Scene scene;
    scene.hard(12, level, 60, 1000).event("task_activate", 12).at(100).release(12, 100, 1100).run(12).at(150);
    scene.end_job(12).run(Scene::kIdle).at(release + 2);
    return scene.release(12, release, release + 1000);
}

TEST_F(OracleJobs, ReleasesOncePerPeriod) {
    EXPECT_THAT(judge(second_release(1100)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::release_period).checked, 1);
    EXPECT_THAT(judge(second_release(1101)), IsEmpty()) << "rounding";
    EXPECT_THAT(judge(second_release(1102)), ElementsAre("release-period"));
    EXPECT_THAT(judge(second_release(1098)), ElementsAre("release-period"));
    EXPECT_THAT(m_texts.at(0),
                HasSubstr("released at 1098 ticks, release 1 after 100 with the period 1000 ns is at 1100"));
}

TEST_F(OracleJobs, KeepsSporadicReleasesApart) {
    const auto activated = [](std::uint32_t release) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 60, 1000).event("task_activate", 12).at(100).release(12, 100, 1100).run(12).at(150);
        scene.end_job(12).run(Scene::kIdle).at(release + 2).event("task_activate", 12);
        return scene.release(12, release, release + 1000);
    };
    EXPECT_THAT(judge(activated(1777)), IsEmpty());
    EXPECT_THAT(judge(activated(1100)), IsEmpty());
    EXPECT_THAT(judge(activated(900)), ElementsAre("release-period"));
}

TEST_F(OracleJobs, IsDueAtItsReleaseAndD) {
    const auto due = [](std::uint16_t level, std::uint32_t deadline) {
        Scene scene;
        scene.hard(12, level, 60, 1000, 800).at(100).release(12, 100, deadline);
        return scene;
    };
    EXPECT_THAT(judge(due(Scene::kEdf, 900)), IsEmpty());
    EXPECT_THAT(judge(due(Scene::kEdf, 901)), IsEmpty()) << "rounding";
    EXPECT_THAT(judge(due(Scene::kEdf, 1100)), ElementsAre("edf-deadline"));
    EXPECT_THAT(judge(due(Scene::kRm, 1900)), ElementsAre("rm-deadline"));
    EXPECT_THAT(judge(due(Scene::kEdf, 700)), IsEmpty()) << "task_set_deadline may have made it shorter";
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 1);
    EXPECT_THAT(judge(due(Scene::kEdf, 900).event("job_deadline", 12, 1000)), IsEmpty()) << "or longer, for the job";
    EXPECT_THAT(judge(due(Scene::kEdf, 900).event("job_deadline", 12, 1200)), ElementsAre("edf-deadline"));
}

Scene running() {
    Scene scene;
    scene.hard(12, Scene::kEdf, 600, 1000, 800).at(100).release(12, 100, 900).run(12);
    return scene;
}

TEST_F(OracleJobs, WantsAMissExactlyWhenAJobIsLate) {
    EXPECT_THAT(judge(running().at(300).end_job(12).run(Scene::kIdle)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(running().at(300).event("task_deadline_miss", 12)), ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().at(300).end_job(12).run(Scene::kIdle).event("task_deadline_miss", 12)),
                ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().at(920).event("task_schedule", 12, 12)), ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().at(901).event("task_deadline_miss", 12).at(920).event("task_schedule", 12, 12)),
                IsEmpty());
    EXPECT_THAT(judge(running().at(902).event("task_deadline_miss", 12).event("task_deadline_miss", 12)),
                ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, WantsAMissOfAJobThatEndsLate) {
    const auto late = [] { return running().event("task_wcet_violation", 12).at(950).end_job(12); };
    EXPECT_THAT(judge(late().run(Scene::kIdle)), Contains("deadline-miss"));
    Scene recorded = running();
    recorded.at(705).event("task_wcet_violation", 12).at(950).end_job(12).event("task_deadline_miss", 12).run(1);
    EXPECT_THAT(judge(recorded), IsEmpty()) << testing::PrintToString(m_texts);
}

// An aborted job is over when its end is recorded, some hundred instructions later.
TEST_F(OracleJobs, AcceptsAMissOfAJobThatIsAbortedAtItsDeadline) {
    const auto aborted = [](std::uint64_t missed) {
        Scene scene = running();
        scene.at(895).event("task_wcet_violation", 12).leave(12).event("job_abort", 12).at(missed);
        return scene.event("task_deadline_miss", 12).event("task_end_cycle", 12).run(Scene::kIdle);
    };
    EXPECT_THAT(judge(aborted(901)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(aborted(899)), ElementsAre("deadline-miss"));
}

// A section in steps from `begin` on, in which the deadline 900 passes; the interrupt reports it at 300'000.
Scene in_steps(std::uint64_t begin) {
    Scene scene = running();
    for (std::uint64_t stamp = begin; stamp < 300'000; stamp += 1'000) {
        scene.at(stamp).event("block", 1U << 12U, 0x1000);
    }
    scene.at(299'900).run(12).event("context_switch", 12).at(300'000);
    return scene.event("timer_wakeup_start").event("task_deadline_miss", 12).event("timer_wakeup_end", 12);
}

TEST_F(OracleJobs, WaitsForAMissAsLongAsASectionInSteps) {
    const auto violated = [this](const Scene& scene) { return judge(scene.chunk.bytes(), std::nullopt); };
    EXPECT_THAT(violated(in_steps(500).run(12)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("may differ by 319402 ticks")));
    EXPECT_THAT(violated(in_steps(250'000)), Contains("deadline-miss")) << "no step explains what passed before";
}

// The job that follows the section in steps is due at release + 800, and incomplete 100'000 ticks later.
TEST_F(OracleJobs, ForgetsASectionInStepsAfterAWhile) {
    const auto violated = [this](std::uint32_t release) {
        Scene scene = in_steps(500);
        scene.end_job(12).run(Scene::kIdle).at(release).event("task_activate", 12);
        scene.release(12, release, release + 800).leave(Scene::kIdle).run(12);
        return judge(scene.at(release + 100'000).event("task_schedule", 12, 12).chunk.bytes(), std::nullopt);
    };
    EXPECT_THAT(violated(1'000'100), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(violated(4'000'100), ElementsAre("deadline-miss"));
}

// D is 800 us, and 900 or 700 us from 200 on, when release 0 is in progress.
TEST_F(OracleJobs, FollowsAChangedDeadline) {
    const auto next = [this](std::uint32_t changed_us, std::uint32_t deadline, bool gap = false) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 60, 1'000'000, 800'000).at(100).release(12, 100, 800'100).run(12).at(130);
        scene.event("deadline_change", 12, changed_us);
        if (changed_us > 800) {
            scene.event("job_deadline", 12, 100 + changed_us * 1000);
        }
        scene.end_job(12).run(Scene::kIdle);
        if (gap) {
            scene.event("blackout_start").event("blackout_end", 0, 5);
        }
        return judge(scene.at(1'000'100).release(12, 1'000'100, deadline));
    };
    EXPECT_THAT(next(700, 1'700'100), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 0);
    EXPECT_EQ(of(Rule::edf_deadline).checked, 2);
    EXPECT_THAT(next(700, 1'701'099), IsEmpty()) << "the record has microseconds";
    EXPECT_THAT(next(700, 1'800'100), ElementsAre("edf-deadline")) << "as declared";
    EXPECT_THAT(m_texts.at(0), HasSubstr("due at 1800100 ticks, its release 1000100 + D, which was changed to 700 us"));
    EXPECT_THAT(next(900, 1'900'100), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 0);
    EXPECT_EQ(of(Rule::edf_deadline).checked, 3) << "of the job in progress, too";
    EXPECT_THAT(next(900, 1'800'100), ElementsAre("edf-deadline"));
    EXPECT_THAT(next(900, 1'900'100, true), IsEmpty()) << "what was changed before a gap is not known";
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 1);
}

TEST_F(OracleJobs, WantsAnOverrunOncePerJob) {
    EXPECT_THAT(judge(running().at(730).end_job(12)), ElementsAre("wcet-violation")) << "600 declared, 625 used";
    EXPECT_THAT(judge(running().at(705).event("task_wcet_violation", 12).at(730).end_job(12)), IsEmpty());
    EXPECT_THAT(judge(running().at(300).event("task_wcet_violation", 12)), ElementsAre("wcet-violation"));
    EXPECT_THAT(judge(running().at(705).event("task_wcet_violation", 12).event("task_wcet_violation", 12)),
                ElementsAre("wcet-violation"));
}

TEST_F(OracleJobs, LooksAtAJobThatEndsWithItsTask) {
    EXPECT_THAT(judge(running().at(300).leave(12).event("task_end", 12, 12)), IsEmpty());
    EXPECT_THAT(judge(running().at(730).leave(12).event("task_end", 12, 12)), ElementsAre("wcet-violation"));
    EXPECT_THAT(judge(running().at(705).event("task_wcet_violation", 12).at(950).leave(12).event("task_end", 12, 12)),
                ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, LeavesStampsOfAHostClockUnjudged) {
    Scene scene = running();
    scene.at(730).end_job(12);
    scene.chunk.begin.clock_mode = tracer::ClockMode::emulated;
    EXPECT_THAT(judge(scene.chunk.bytes(), std::nullopt), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("--tolerance")));
    EXPECT_THAT(judge(scene.chunk.bytes(), 10), ElementsAre("wcet-violation"));
}

TEST_F(OracleJobs, WantsAnEarlyActivation) {
    const auto early = [] {
        Scene scene;
        scene.hard(12, Scene::kEdf, 60, 1000).event("task_activate", 12).at(100).release(12, 100, 1100).run(12).at(150);
        return scene.end_job(12).event("task_activate", 12);
    };
    EXPECT_THAT(judge(early().event("activation_violation", 12).run(Scene::kIdle)), IsEmpty());
    EXPECT_THAT(judge(early().run(Scene::kIdle)), ElementsAre("activation-violation"));
    EXPECT_THAT(judge(early().event("activation_violation", 12).at(1500).event("activation_violation", 12)),
                ElementsAre("activation-violation"));
}

// The release at 1100 waits for the job before, and is dropped when the task goes to sleep.
TEST_F(OracleJobs, CountsTheInterArrivalFromAReleaseThatWasDropped) {
    const auto early = [](std::uint64_t time) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 600, 1000).at(100).release(12, 100, 1100).run(12);
        scene.at(1101).event("task_deadline_miss", 12).event("task_timer", 12).at(1200).leave(12);
        scene.event("task_disable", 12).run(Scene::kIdle).at(time).event("task_activate", 12);
        return scene.event("activation_violation", 12);
    };
    EXPECT_THAT(judge(early(1500)), testing::Not(Contains("activation-violation")));
    EXPECT_THAT(judge(early(2200)), Contains("activation-violation"));
}

TEST_F(OracleJobs, KeepsAndDropsActivationsOfABusyTaskOnly) {
    const auto busy = [] {
        Scene scene;
        scene.task(12, "load", {.level = Scene::kRr, .budget_ns = 5000}).event("task_activate", 12).release(12, 10);
        return scene.run(12).event("task_activate", 12);
    };
    EXPECT_THAT(judge(busy().event("job_queued", 12, 1).end_job(12).release(12, 20).run(12)), IsEmpty())
        << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(busy().event("job_queued", 12, 2)), ElementsAre("skip-save"));
    EXPECT_THAT(judge(busy().event("job_queued", 12, 1).end_job(12).run(Scene::kIdle)), ElementsAre("skip-save"));
    EXPECT_THAT(judge(busy().event("job_skipped", 12).end_job(12).run(Scene::kIdle)), IsEmpty());
    EXPECT_THAT(judge(busy().event("job_skipped", 12).end_job(12).event("job_skipped", 12)), ElementsAre("skip-save"));
}

TEST_F(OracleJobs, KeepsActivationsOfATaskThatWaitsForItsActivation) {
    const auto queued = [](bool activated) {
        Scene scene;
        scene.task(12, "late", {.level = Scene::kRr, .budget_ns = 1000});
        if (activated) {
            scene.event("task_activate", 12); // for a later time
        }
        return scene.event("task_activate", 12).event("job_queued", 12, 1).release(12, 50);
    };
    EXPECT_THAT(judge(queued(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(queued(false)), ElementsAre("skip-save"));
    EXPECT_THAT(judge(queued(true).event("task_end_cycle", 12).release(12, 60)), IsEmpty());
    EXPECT_THAT(judge(queued(true).event("task_end_cycle", 12).run(Scene::kIdle)), ElementsAre("skip-save"));
}

// Due at 400 and late; released again at 5000, T = 300.
TEST_F(OracleJobs, CountsTheReleasesOfASporadicTaskFromTheirRecords) {
    const auto again = [](std::uint64_t time) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 50, 300).at(100).release(12, 100, 400).run(12).at(401);
        scene.event("task_deadline_miss", 12).at(5000).event("task_timer", 12);
        return scene.at(time).event("task_schedule", 12, 12);
    };
    EXPECT_THAT(judge(again(5100)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(again(5400)), ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, EndsASliceWhenItIsUsedUp) {
    const auto slice = [](std::uint64_t end) {
        Scene scene;
        scene.task(12, "load", {.level = Scene::kRr, .budget_ns = 500}).release(12, 10).at(100).run(12);
        return scene.at(end);
    };
    EXPECT_THAT(judge(slice(600).event("slice_end", 12).event("task_schedule", 12, 12)), IsEmpty());
    EXPECT_THAT(judge(slice(400).event("slice_end", 12)), ElementsAre("rr-slice"));
    EXPECT_THAT(judge(slice(700).event("slice_end", 12)), ElementsAre("rr-slice"));
    EXPECT_THAT(judge(slice(700).event("task_schedule", 12, 12)), ElementsAre("rr-slice"));
}

// --- semaphores ----------------------------------------------------------------------------------------------------

Scene waiting() {
    Scene scene;
    scene.event("set_semaphore_create", 0, 7).hard(12, Scene::kEdf, 50, 900).hard(13, Scene::kEdf, 50, 300);
    for (const std::uint16_t context : {std::uint16_t{12}, std::uint16_t{13}}) {
        scene.release(context, 100, context == 12 ? 1000 : 400).run(context).event("set_mutex_wait", context, 7);
        scene.leave(context).event("task_block", context, (1U << 16) | 7U);
    }
    return scene.run(Scene::kIdle).event("set_mutex_post", 0, 7);
}

TEST_F(OracleJobs, WakesAWaiterAtOnceAndInTurn) {
    EXPECT_THAT(judge(waiting().event("task_unblock", 12, (1U << 16) | 7U).leave(1).run(12)),
                kWakeOrder == WakeOrder::arrival ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                                 : ElementsAre("wake-order"));
    EXPECT_THAT(judge(waiting().event("task_unblock", 13, (1U << 16) | 7U).leave(1).run(13)),
                kWakeOrder == WakeOrder::urgency ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                                 : ElementsAre("wake-order"));
    EXPECT_THAT(judge(waiting().event("task_schedule", 1, 1)), ElementsAre("lost-wakeup"));
    EXPECT_THAT(judge(waiting().event("task_schedule", 1, 1).event("task_unblock", 12, 6U << 16)), IsEmpty())
        << "it was suspended, and came back when it was resumed";
}

TEST_F(OracleJobs, WakesNoneInPlaceOfAWaiterThatEnded) {
    Scene ended = waiting();
    ended.event("set_mutex_post", 0, 7).event("task_end", 12, 2).event("task_unblock", 13, (1U << 16) | 7U);
    EXPECT_THAT(judge(ended.leave(1).run(13)), IsEmpty()) << testing::PrintToString(m_texts);
    Scene other = waiting();
    other.event("set_mutex_post", 0, 7).event("task_end", 12, 2);
    EXPECT_THAT(judge(other.event("task_schedule", 1, 1)), ElementsAre("lost-wakeup")) << "the one that is left";
}

TEST_F(OracleJobs, CountsUnits) {
    const auto one = [](std::uint16_t units) {
        Scene scene;
        scene.event("set_semaphore_create", units, 7).hard(12, Scene::kEdf, 50, 900).release(12, 3, 903).run(12);
        return scene.event("set_mutex_wait", 12, 7);
    };
    EXPECT_THAT(judge(one(1).event("task_schedule", 12, 12)), IsEmpty());
    EXPECT_THAT(judge(one(0).event("task_schedule", 12, 12)), ElementsAre("semaphore-count"));
    EXPECT_THAT(judge(one(1).leave(12).event("task_block", 12, (1U << 16) | 7U)), ElementsAre("semaphore-count"));
    EXPECT_THAT(judge(one(0).leave(12).event("task_block", 12, (1U << 16) | 7U).run(1)), IsEmpty());
}

// --- servers -------------------------------------------------------------------------------------------------------

// Q = 100, T = 1000; work at 500 renews: d = 1500, c = 100. It runs until `end` and is charged. reclaiming: somewhere
// is a server that reclaims, and half of the processor is active.
Scene served(std::uint16_t kind, std::uint64_t end, std::uint32_t left, bool reclaiming) {
    Scene scene;
    scene.at(490).task(12, "soft",
                       {.level = kind == 1 ? Scene::kCbs : Scene::kGrub, .period_ns = 1000, .budget_ns = 100});
    scene.server(3, kind, 100, 1000, 12).at(500);
    if (reclaiming) {
        scene.hard(13, Scene::kEdf, 400, 1000).event("server_bandwidth", 0, 0x7FFF'FFFF); // 0.4 and 0.1
    }
    scene.arrive(3, 12, 100, 1500).run(12).at(end).leave(12);
    return scene.event("server_budget", 3, left);
}

Scene served(std::uint16_t kind, std::uint64_t end, std::uint32_t left) {
    return served(kind, end, left, kind == 2);
}

TEST_F(OracleJobs, ChargesACbsInFullBesideOneThatReclaims) {
    EXPECT_THAT(judge(served(1, 585, 20, true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::cbs_budget).checked, 1);
    EXPECT_THAT(judge(served(1, 585, 60, true)), ElementsAre("cbs-budget")) << "half of what ran";
    const auto exhausted = [](std::uint64_t end) {
        Scene scene = served(1, end, 0, true);
        scene.event("server_exhaust", 0, 3).event("server_replenish", 0, 3).event("server_budget", 3, 100);
        return scene.event("server_deadline", 3, 2500).event("job_deadline", 12, 2500);
    };
    EXPECT_THAT(judge(exhausted(605)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(exhausted(705)), Contains("cbs-exhaust")) << "only half of it was charged";
}

TEST_F(OracleJobs, ChargesACbsWhatRanInItsPlace) {
    EXPECT_THAT(judge(served(1, 545, 60)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::cbs_budget).checked, 1);
    EXPECT_THAT(judge(served(1, 545, 100)), ElementsAre("cbs-budget"));
    EXPECT_THAT(judge(served(1, 545, 10)), ElementsAre("cbs-budget"));
}

TEST_F(OracleJobs, PostponesAnExhaustedCbs) {
    const auto exhausted = [](std::uint64_t end, std::uint32_t budget, std::uint32_t deadline) {
        Scene scene = served(1, end, 0);
        scene.event("server_exhaust", 0, 3).event("server_replenish", 0, 3).event("server_budget", 3, budget);
        return scene.event("server_deadline", 3, deadline).event("job_deadline", 12, deadline);
    };
    EXPECT_THAT(judge(exhausted(605, 100, 2500)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(exhausted(605, 100, 1500)), ElementsAre("cbs-exhaust"));
    EXPECT_THAT(judge(exhausted(605, 200, 2500)), ElementsAre("cbs-exhaust"));
    EXPECT_THAT(judge(exhausted(550, 100, 2500)), Contains("cbs-budget")) << "50 used of 100";
    EXPECT_THAT(judge(exhausted(700, 100, 2500)), Contains("cbs-exhaust")) << "195 used of 100";
    EXPECT_THAT(judge(exhausted(700, 100, 2500)), Contains("cbs-isolation")) << "195 of the 1000 up to its deadline";
}

TEST_F(OracleJobs, RenewsOrKeepsADeadlineAtAnArrival) {
    const auto again = [](std::uint64_t time, std::uint32_t budget, std::uint32_t deadline) {
        Scene scene = served(1, 545, 60);
        return scene.event("task_end_cycle", 12).run(Scene::kIdle).at(time).arrive(3, 12, budget, deadline);
    };
    EXPECT_THAT(judge(again(700, 60, 1500)), IsEmpty()) << "60 * 1000 < 800 * 100: kept";
    EXPECT_THAT(judge(again(1100, 100, 2100)), IsEmpty()) << "60 * 1000 >= 400 * 100: renewed";
    EXPECT_THAT(judge(again(700, 100, 1700)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 60, 1500)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(700, 90, 1500)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 100, 2300)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 90, 2100)), ElementsAre("cbs-arrival")) << "a new deadline, and not all of Q";
    EXPECT_THAT(judge(again(700, 60, 1500).event("job_deadline", 12, 1400)), ElementsAre("edf-deadline"));
}

TEST_F(OracleJobs, ChargesAGrubByTheActiveBandwidth) {
    EXPECT_THAT(judge(served(2, 585, 60)), IsEmpty()) << "half of 80";
    EXPECT_EQ(of(Rule::grub_budget).checked, 1);
    EXPECT_THAT(judge(served(2, 585, 20)), ElementsAre("grub-budget"));
}

TEST_F(OracleJobs, AddsUpTheActiveBandwidth) {
    const auto recorded = [](std::uint32_t bandwidth) {
        Scene scene;
        scene.hard(13, Scene::kEdf, 400, 1000);
        scene.task(12, "soft", {.level = Scene::kGrub, .period_ns = 1000, .budget_ns = 100})
            .server(3, 2, 100, 1000, 12);
        return scene.at(500).event("server_bandwidth", 0, bandwidth).arrive(3, 12, 100, 1500).run(12);
    };
    EXPECT_THAT(judge(recorded(0x7FFF'FFFF)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::grub_rate).checked, 1);
    EXPECT_THAT(judge(recorded(0x6666'6666)), ElementsAre("grub-rate"));
}

// C = 200, T = 1000 above; C = 100, D = 500, T = 1000; Q = 100, T = 1000.
TEST_F(OracleJobs, CountsDeadlinesAndWhatRunsAboveThem) {
    const auto recorded = [](double bandwidth, bool removed = false) {
        Scene scene;
        scene.hard(13, Scene::kEdf, 100, 1000, 500).hard(14, Scene::kRm, 200, 1000);
        scene.task(12, "soft", {.level = Scene::kGrub, .period_ns = 1000, .budget_ns = 100});
        scene.server(3, 2, 100, 1000, 12)
            .at(500)
            .event("server_bandwidth", 0, static_cast<std::uint32_t>(bandwidth * 4294967295.0));
        scene.arrive(3, 12, 100, 1500);
        if (removed) {
            scene.event("task_end", 12).event("server_remove", 0, 3).run(Scene::kIdle);
        } else {
            scene.run(12);
        }
        return scene;
    };
    EXPECT_THAT(judge(recorded(0.2 + 0.1 + 0.2 + 0.4)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::grub_rate).checked, 1);
    EXPECT_THAT(judge(recorded(0.2 + 0.1 + 0.1)), ElementsAre("grub-rate")) << "shares of the periods alone";
    EXPECT_THAT(judge(recorded(0.9, true)), IsEmpty()) << "no server is left that reclaims";
}

TEST_F(OracleJobs, CountsATaskThatEndedUntilNoneHasWork) {
    const auto ended = [](bool has_rested) {
        Scene scene;
        scene.hard(13, Scene::kEdf, 400, 1000);
        scene.task(12, "soft", {.level = Scene::kGrub, .period_ns = 1000, .budget_ns = 100});
        scene.server(3, 2, 100, 1000, 12).at(500).event("server_bandwidth", 0, 0x7FFF'FFFF);
        scene.arrive(3, 12, 100, 1500).event("task_end", 13);
        if (has_rested) {
            scene.run(12).leave(12).event("server_budget", 3, 100).event("task_end_cycle", 12).run(Scene::kIdle);
            scene.leave(Scene::kIdle).arrive(3, 12, 100, 1500);
        }
        return scene.run(12);
    };
    EXPECT_THAT(judge(ended(false)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(ended(true)), ElementsAre("grub-rate", "grub-rate"));
}

TEST_F(OracleJobs, LeavesAServerItsBandwidthWhileItHasWork) {
    const auto after = [](std::string_view what, std::uint32_t value) {
        Scene scene = served(2, 585, 60);
        if (what == "job_release") {
            scene.event("task_end_cycle", 12);
        }
        return scene.event(what, 12, value).at(990).run(Scene::kIdle);
    };
    EXPECT_THAT(judge(after("job_release", 590)), testing::Not(Contains("grub-zero-lag"))) << "a kept activation";
    EXPECT_THAT(judge(after("task_block", 6U << 16)), IsEmpty()) << "suspended";
    EXPECT_THAT(judge(after("task_block", 2U << 16)), Contains("grub-zero-lag")) << "delayed";
}

TEST_F(OracleJobs, GivesBandwidthBackAtTheZeroLagTime) {
    const auto rests = [](std::uint64_t time, bool recorded) { // c = 60, d = 1500: at 900
        Scene scene = served(2, 585, 60);
        scene.event("task_end_cycle", 12).at(time);
        return recorded ? scene.event("server_reclaiming", 0, 3) : scene.run(Scene::kIdle);
    };
    EXPECT_THAT(judge(rests(901, true)), IsEmpty());
    EXPECT_THAT(judge(rests(700, true)), ElementsAre("grub-zero-lag"));
    EXPECT_THAT(judge(rests(990, true)), ElementsAre("grub-zero-lag"));
    EXPECT_THAT(judge(rests(990, false)), Contains("grub-zero-lag"));
}

// Q = 100, T = 1000, refilled at 1000, 2000, ...
Scene fixed_server(std::uint16_t kind) {
    Scene scene;
    scene.task(12, "request", {.level = Scene::kServed}).server(3, kind, 100, 1000, 12);
    scene.event("server_replenish", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 1000);
    if (kind == 3) {
        scene.event("server_budget", 3, 0);
    }
    return scene.run(Scene::kIdle);
}

TEST_F(OracleJobs, RefillsAServerEachPeriod) {
    const auto refilled = [](std::uint64_t time, std::uint32_t budget, std::uint32_t next) {
        Scene scene = fixed_server(4);
        scene.at(time).event("server_replenish", 0, 3).event("server_budget", 3, budget);
        return scene.event("server_deadline", 3, next);
    };
    EXPECT_THAT(judge(refilled(1002, 100, 2000)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(refilled(1002, 80, 2000)), ElementsAre("server-replenish"));
    EXPECT_THAT(judge(refilled(1002, 120, 2000)), ElementsAre("server-replenish")) << "more than Q";
    EXPECT_THAT(judge(refilled(1002, 100, 2010)), ElementsAre("server-replenish"));
    EXPECT_THAT(judge(refilled(900, 100, 2000)), ElementsAre("server-replenish"));
}

TEST_F(OracleJobs, TakesThePollingServersBudgetWithoutRequests) {
    EXPECT_THAT(judge(fixed_server(3)), IsEmpty());
    Scene keeps = fixed_server(3);
    keeps.at(1001).event("server_replenish", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 2000);
    EXPECT_THAT(judge(keeps.event("task_schedule", 1, 1)), ElementsAre("server-replenish"));
}

// The loss is recorded before the wait for which it is lost.
TEST_F(OracleJobs, TakesThePollingServersBudgetWhenItsRequestWaits) {
    const auto lost = [](bool waits) {
        Scene scene = fixed_server(3);
        scene.at(900)
            .release(12, 900)
            .event("task_schedule", 1, 1)
            .at(1001)
            .event("server_replenish", 0, 3)
            .event("server_budget", 3, 100);
        scene.event("server_deadline", 3, 2000).leave(Scene::kIdle).run(12).at(1050).leave(12);
        scene.event("server_budget", 3, 55).event("server_budget", 3, 0);
        return waits ? scene.event("task_block", 12, 2U << 16) : scene;
    };
    EXPECT_THAT(judge(lost(true).run(Scene::kIdle)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(lost(false).run(Scene::kIdle)), ElementsAre("server-budget"));
    Scene again = lost(true);
    again.event("task_unblock", 12, 2U << 16).event("server_active", 12, 3).event("server_budget", 3, 0);
    EXPECT_THAT(judge(again.run(Scene::kIdle)), IsEmpty()) << "it is back";
}

TEST_F(OracleJobs, ServesOnlyWithinTheBudget) {
    const auto serve = [](std::uint64_t end, std::uint32_t left) {
        Scene scene = fixed_server(4);
        scene.at(200).release(12, 200).leave(1).run(12).at(end).leave(12);
        return scene.event("server_budget", 3, left);
    };
    EXPECT_THAT(judge(serve(250, 55)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(serve(250, 100)), ElementsAre("server-budget"));
    EXPECT_THAT(judge(serve(350, 0)), ElementsAre("server-budget"));
    EXPECT_THAT(judge(serve(305, 0).run(12)), ElementsAre("server-budget"));
}

} // namespace

} // namespace host::analyse::oracle
