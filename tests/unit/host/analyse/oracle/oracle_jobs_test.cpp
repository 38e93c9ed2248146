// SPDX-License-Identifier: MIT
// Tests jobs, wake-ups and servers: for each rule a trace that keeps it, one that breaks it, and values at the edge.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::oracle_jobs_test {

namespace {

using support::Scene;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OracleJobs : public support::OracleTest {};

// One job from 100 to 150, then the next release.
Scene second_release(std::uint32_t release, std::uint16_t level = Scene::kEdf) {
    return Scene(fmt::format(R"(hard 12 {} 60 1000, activate 12; 100 release 12 by timer due 1100, dispatch 12
                                150 finish 12, dispatch idle; {} release 12 by timer at {} due {})",
                             level, release + 2, release, release + 1000));
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
        return Scene(fmt::format(R"(hard 12 edf 60 1000, activate 12; 100 release 12 by timer due 1100, dispatch 12
                                    150 finish 12, dispatch idle; {} activate 12, release 12 by timer at {} due {})",
                                 release + 2, release, release + 1000));
    };
    EXPECT_THAT(judge(activated(1777)), IsEmpty());
    EXPECT_THAT(judge(activated(1100)), IsEmpty());
    EXPECT_THAT(judge(activated(900)), ElementsAre("release-period"));
}

TEST_F(OracleJobs, IsDueAtItsReleaseAndD) {
    const auto due = [](std::uint16_t level, std::uint32_t deadline) {
        return Scene(fmt::format("hard 12 {} 60 1000 800; 100 release 12 by timer due {}", level, deadline));
    };
    EXPECT_THAT(judge(due(Scene::kEdf, 900)), IsEmpty());
    EXPECT_THAT(judge(due(Scene::kEdf, 901)), IsEmpty()) << "rounding";
    EXPECT_THAT(judge(due(Scene::kEdf, 1100)), ElementsAre("edf-deadline"));
    EXPECT_THAT(judge(due(Scene::kRm, 1900)), ElementsAre("rm-deadline"));
    EXPECT_THAT(judge(due(Scene::kEdf, 700)), IsEmpty()) << "task_set_deadline may have made it shorter";
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 1);
    EXPECT_THAT(judge(due(Scene::kEdf, 900).play("due 12 1000")), IsEmpty()) << "or longer, for the job";
    EXPECT_THAT(judge(due(Scene::kEdf, 900).play("due 12 1200")), ElementsAre("edf-deadline"));
}

Scene running() {
    return Scene("hard 12 edf 600 1000 800; 100 release 12 by timer due 900, dispatch 12");
}

TEST_F(OracleJobs, WantsAMissExactlyWhenAJobIsLate) {
    EXPECT_THAT(judge(running().play("300 finish 12, dispatch idle")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(running().play("300 miss 12")), ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().play("300 finish 12, dispatch idle, miss 12")), ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().play("705 overrun 12; 920 choose 12")), ElementsAre("deadline-miss"));
    EXPECT_THAT(judge(running().play("705 overrun 12; 901 miss 12; 920 choose 12")), IsEmpty());
    EXPECT_THAT(judge(running().play("902 miss 12, miss 12")), ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, WantsAMissOfAJobThatEndsLate) {
    const auto late = [] { return running().play("overrun 12; 950 finish 12"); };
    EXPECT_THAT(judge(late().play("dispatch idle")), Contains("deadline-miss"));
    Scene recorded = running();
    recorded.play("705 overrun 12; 950 finish 12, miss 12, dispatch idle");
    EXPECT_THAT(judge(recorded), IsEmpty()) << testing::PrintToString(m_texts);
}

// An aborted job is over when its end is recorded, some hundred instructions later.
TEST_F(OracleJobs, AcceptsAMissOfAJobThatIsAbortedAtItsDeadline) {
    const auto aborted = [](std::uint64_t missed) {
        Scene scene = running();
        return scene.play(
            fmt::format("895 overrun 12, leave 12, abort 12; {} miss 12, complete 12, dispatch idle", missed));
    };
    EXPECT_THAT(judge(aborted(901)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(aborted(899)), ElementsAre("deadline-miss"));
}

// The job of 1100 waits while that of 100 is in progress, and is due at 1900.
TEST_F(OracleJobs, AcceptsAMissOfAJobThatWaitsWhileTheOneBeforeIsAborted) {
    const auto aborted = [](std::string_view waiting) {
        return running().play(fmt::format(R"(705 overrun 12; 901 miss 12; {} 1895 leave 12, abort 12
                                             1901 miss 12, complete 12)",
                                          waiting));
    };
    EXPECT_THAT(judge(aborted("1100 timer, task_timer 12, timer_wakeup_end 12;")), IsEmpty())
        << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(aborted("")), ElementsAre("deadline-miss"));
}

// A section in steps from `begin` on, in which the deadline 900 passes; the interrupt reports it at 300'000.
Scene in_steps(std::uint64_t begin) {
    Scene scene = running();
    for (std::uint64_t stamp = begin; stamp < 300'000; stamp += 1'000) {
        scene.play(fmt::format("{} block 0x1000 0x1000", stamp));
    }
    return scene.play("299'900 dispatch 12, switch 12; 300'000 timer, miss 12, timer_wakeup_end 12");
}

TEST_F(OracleJobs, WaitsForAMissAsLongAsASectionInSteps) {
    const auto violated = [this](const Scene& scene) { return judge(scene.chunk.bytes(), std::nullopt); };
    EXPECT_THAT(violated(in_steps(500).play("dispatch 12")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("may differ by 319402 ticks")));
    EXPECT_THAT(violated(in_steps(250'000)), Contains("deadline-miss")) << "no step explains what passed before";
}

// The job that follows the section in steps is due at release + 800, and incomplete 100'000 ticks later.
TEST_F(OracleJobs, ForgetsASectionInStepsAfterAWhile) {
    const auto violated = [this](std::uint32_t release) {
        Scene scene = in_steps(500);
        scene.play(fmt::format(R"(finish 12, dispatch idle
                                  {} activate 12, release 12 by timer at {} due {}, leave idle, dispatch 12)",
                               release, release, release + 800));
        scene.play(fmt::format("{} overrun 12; {} choose 12", release + 700, release + 100'000));
        return judge(scene.chunk.bytes(), std::nullopt);
    };
    EXPECT_THAT(violated(1'000'100), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(violated(4'000'100), ElementsAre("deadline-miss"));
}

// D is 800 us, and 900 or 700 us from 200 on, when release 0 is in progress.
TEST_F(OracleJobs, FollowsAChangedDeadline) {
    const auto next = [this](std::uint32_t changed_us, std::uint32_t deadline, bool gap = false) {
        Scene scene(fmt::format(R"(hard 12 edf 60 1'000'000 800'000; 100 release 12 by timer due 800'100, dispatch 12
                                   130 deadline_change 12 {})",
                                changed_us));
        if (changed_us > 800) {
            scene.play(fmt::format("due 12 {}", 100 + changed_us * 1000));
        }
        scene.play("finish 12, dispatch idle");
        if (gap) {
            scene.play("blackout, lost 5");
        }
        return judge(scene.play(fmt::format("1'000'100 release 12 by timer due {}", deadline)));
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
    EXPECT_THAT(judge(running().play("730 finish 12")), ElementsAre("wcet-violation")) << "600 declared, 625 used";
    EXPECT_THAT(judge(running().play("705 overrun 12; 730 finish 12")), IsEmpty());
    EXPECT_THAT(judge(running().play("300 overrun 12")), ElementsAre("wcet-violation"));
    EXPECT_THAT(judge(running().play("705 overrun 12, overrun 12")), ElementsAre("wcet-violation"));
}

TEST_F(OracleJobs, LooksAtAJobThatEndsWithItsTask) {
    EXPECT_THAT(judge(running().play("300 leave 12, task_end 12 12")), IsEmpty());
    EXPECT_THAT(judge(running().play("730 leave 12, task_end 12 12")), ElementsAre("wcet-violation"));
    EXPECT_THAT(judge(running().play("705 overrun 12; 950 leave 12, task_end 12 12")), ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, LeavesStampsOfAHostClockUnjudged) {
    Scene scene = running();
    scene.play("730 finish 12");
    scene.chunk.begin.clock_mode = tracer::ClockMode::emulated;
    EXPECT_THAT(judge(scene.chunk.bytes(), std::nullopt), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("--tolerance")));
    EXPECT_THAT(judge(scene.chunk.bytes(), 10), ElementsAre("wcet-violation"));
}

TEST_F(OracleJobs, WantsAnEarlyActivation) {
    const auto early = [] {
        return Scene(R"(hard 12 edf 60 1000, activate 12; 100 release 12 by timer due 1100, dispatch 12
                        150 finish 12, activate 12)");
    };
    EXPECT_THAT(judge(early().play("activation_violation 12, dispatch idle")), IsEmpty());
    EXPECT_THAT(judge(early().play("dispatch idle")), ElementsAre("activation-violation"));
    EXPECT_THAT(judge(early().play("activation_violation 12; 1500 activation_violation 12")),
                ElementsAre("activation-violation"));
}

// The release at 1100 waits for the job before, and is dropped when the task goes to sleep.
TEST_F(OracleJobs, CountsTheInterArrivalFromAReleaseThatWasDropped) {
    const auto early = [](std::uint64_t time) {
        return Scene(fmt::format(R"(hard 12 edf 600 1000; 100 release 12 by timer due 1100, dispatch 12
                                    1101 miss 12, task_timer 12; 1200 leave 12, disable 12, dispatch idle
                                    {} activate 12, activation_violation 12)",
                                 time));
    };
    EXPECT_THAT(judge(early(1500)), testing::Not(Contains("activation-violation")));
    EXPECT_THAT(judge(early(2200)), Contains("activation-violation"));
}

TEST_F(OracleJobs, KeepsAndDropsActivationsOfABusyTaskOnly) {
    const auto busy = [] {
        return Scene("task 12 load rr budget 5000, activate 12, release 12 at 10, dispatch 12, activate 12");
    };
    EXPECT_THAT(judge(busy().play("job_queued 12 1, finish 12, release 12 at 20, dispatch 12")), IsEmpty())
        << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(busy().play("job_queued 12 2")), ElementsAre("skip-save"));
    EXPECT_THAT(judge(busy().play("job_queued 12 1, finish 12, dispatch idle")), ElementsAre("skip-save"));
    EXPECT_THAT(judge(busy().play("job_skipped 12, finish 12, dispatch idle")), IsEmpty());
    EXPECT_THAT(judge(busy().play("job_skipped 12, finish 12, job_skipped 12")), ElementsAre("skip-save"));
}

TEST_F(OracleJobs, KeepsActivationsOfATaskThatWaitsForItsActivation) {
    const auto queued = [](bool activated) {
        Scene scene("task 12 late rr budget 1000");
        if (activated) {
            scene.play("activate 12"); // for a later time
        }
        return scene.play("activate 12, job_queued 12 1, release 12 at 50");
    };
    EXPECT_THAT(judge(queued(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(queued(false)), ElementsAre("skip-save"));
    EXPECT_THAT(judge(queued(true).play("complete 12, release 12 at 60")), IsEmpty());
    EXPECT_THAT(judge(queued(true).play("complete 12, dispatch idle")), ElementsAre("skip-save"));
}

// Due at 400 and late; released again at 5000, T = 300.
TEST_F(OracleJobs, CountsTheReleasesOfASporadicTaskFromTheirRecords) {
    const auto again = [](std::uint64_t time) {
        return Scene(
            fmt::format(R"(hard 12 edf 50 300; 100 release 12 by timer due 400, dispatch 12; 160 overrun 12; 401 miss 12
                                    5000 task_timer 12; {} choose 12)",
                        time));
    };
    EXPECT_THAT(judge(again(5100)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(again(5400)), ElementsAre("deadline-miss"));
}

TEST_F(OracleJobs, EndsASliceWhenItIsUsedUp) {
    const auto slice = [](std::uint64_t end) {
        return Scene(fmt::format("task 12 load rr budget 500, release 12 at 10; 100 dispatch 12; {}", end));
    };
    EXPECT_THAT(judge(slice(600).play("slice_end 12, choose 12")), IsEmpty());
    EXPECT_THAT(judge(slice(400).play("slice_end 12")), ElementsAre("rr-slice"));
    EXPECT_THAT(judge(slice(700).play("slice_end 12")), ElementsAre("rr-slice"));
    EXPECT_THAT(judge(slice(700).play("choose 12")), ElementsAre("rr-slice"));
}

// --- semaphores ----------------------------------------------------------------------------------------------------

Scene waiting() {
    Scene scene("set_semaphore_create 0 7, hard 12 edf 50 900, hard 13 edf 50 300");
    for (const std::uint16_t context : {std::uint16_t{12}, std::uint16_t{13}}) {
        scene.play(fmt::format(R"(release {} by timer at 100 due {}, dispatch {}, set_mutex_wait {} 7, leave {}
                                  wait {} semaphore 7)",
                               context, context == 12 ? 1000 : 400, context, context, context, context));
    }
    return scene.play("dispatch idle, set_mutex_post 0 7");
}

TEST_F(OracleJobs, WakesAWaiterAtOnceAndInTurn) {
    EXPECT_THAT(judge(waiting().play("wake 12 semaphore 7, leave idle, dispatch 12")),
                kWakeOrder == WakeOrder::arrival ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                                 : ElementsAre("wake-order"));
    EXPECT_THAT(judge(waiting().play("wake 13 semaphore 7, leave idle, dispatch 13")),
                kWakeOrder == WakeOrder::urgency ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                                 : ElementsAre("wake-order"));
    EXPECT_THAT(judge(waiting().play("choose idle")), ElementsAre("lost-wakeup"));
    EXPECT_THAT(judge(waiting().play("choose idle, wake 12 suspended")), IsEmpty())
        << "it was suspended, and came back when it was resumed";
}

TEST_F(OracleJobs, WakesNoneInPlaceOfAWaiterThatEnded) {
    Scene ended = waiting();
    ended.play("set_mutex_post 0 7, task_end 12 2, wake 13 semaphore 7");
    EXPECT_THAT(judge(ended.play("leave idle, dispatch 13")), IsEmpty()) << testing::PrintToString(m_texts);
    Scene other = waiting();
    other.play("set_mutex_post 0 7, task_end 12 2");
    EXPECT_THAT(judge(other.play("choose idle")), ElementsAre("lost-wakeup")) << "the one that is left";
}

TEST_F(OracleJobs, CountsUnits) {
    const auto one = [](std::uint16_t units) {
        return Scene(fmt::format(R"(set_semaphore_create {} 7, hard 12 edf 50 900, release 12 by timer at 3 due 903
                                    dispatch 12, set_mutex_wait 12 7)",
                                 units));
    };
    EXPECT_THAT(judge(one(1).play("choose 12")), IsEmpty());
    EXPECT_THAT(judge(one(0).play("choose 12")), ElementsAre("semaphore-count"));
    EXPECT_THAT(judge(one(1).play("leave 12, wait 12 semaphore 7")), ElementsAre("semaphore-count"));
    EXPECT_THAT(judge(one(0).play("leave 12, wait 12 semaphore 7, dispatch idle")), IsEmpty());
}

TEST_F(OracleJobs, KnowsEachWaiterAfterAGapOnceATaskHasTakenAUnit) {
    const auto posted = [](std::string_view first) {
        Scene scene(
            "set_semaphore_create 1 7, hard 12 edf 50 900, blackout, lost 5, release 12 by timer at 100 due 1000");
        scene.play(fmt::format("dispatch 12, {}, leave 12, wait 12 semaphore 7, dispatch idle", first));
        return scene.play("set_mutex_post 0 7, choose idle, set_mutex_post 0 7, choose idle");
    };
    EXPECT_THAT(judge(posted("set_mutex_wait 12 7, choose 12, set_mutex_wait 12 7")), ElementsAre("lost-wakeup"));
    EXPECT_THAT(judge(posted("set_mutex_wait 12 7")), IsEmpty()) << "another task may have waited and been woken";
}

// --- servers -------------------------------------------------------------------------------------------------------

// Q = 100, T = 1000; work at 500 renews: d = 1500, c = 100. It runs until `end` and is charged. reclaiming: somewhere
// is a server that reclaims, and half of the processor is active.
Scene served(std::uint16_t kind, std::uint64_t end, std::uint32_t left, bool reclaiming) {
    Scene scene(fmt::format(R"(490 task 12 soft {} period 1000 budget 100; server 3 {} capacity 100 period 1000 for 12
                               500)",
                            kind == 1 ? Scene::kCbs : Scene::kGrub, kind));
    if (reclaiming) {
        scene.play("hard 13 edf 400 1000, server_bandwidth 0 0x7FFF'FFFF"); // 0.4 and 0.1
    }
    return scene.play(
        fmt::format("arrive 12 at 3 budget 100 due 1500, dispatch 12; {} leave 12, budget 3 {}", end, left));
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
        return scene.play("exhaust 3, replenish 3, budget 3 100, server_deadline 3 2500, due 12 2500");
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
        return scene.play(fmt::format("exhaust 3, replenish 3, budget 3 {}, server_deadline 3 {}, due 12 {}", budget,
                                      deadline, deadline));
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
        return scene.play(
            fmt::format("complete 12, dispatch idle; {} arrive 12 at 3 budget {} due {}", time, budget, deadline));
    };
    EXPECT_THAT(judge(again(700, 60, 1500)), IsEmpty()) << "60 * 1000 < 800 * 100: kept";
    EXPECT_THAT(judge(again(1100, 100, 2100)), IsEmpty()) << "60 * 1000 >= 400 * 100: renewed";
    EXPECT_THAT(judge(again(700, 100, 1700)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 60, 1500)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(700, 90, 1500)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 100, 2300)), ElementsAre("cbs-arrival"));
    EXPECT_THAT(judge(again(1100, 90, 2100)), ElementsAre("cbs-arrival")) << "a new deadline, and not all of Q";
    EXPECT_THAT(judge(again(700, 60, 1500).play("due 12 1400")), ElementsAre("edf-deadline"));
}

TEST_F(OracleJobs, ChargesAGrubByTheActiveBandwidth) {
    EXPECT_THAT(judge(served(2, 585, 60)), IsEmpty()) << "half of 80";
    EXPECT_EQ(of(Rule::grub_budget).checked, 1);
    EXPECT_THAT(judge(served(2, 585, 20)), ElementsAre("grub-budget"));
}

TEST_F(OracleJobs, AddsUpTheActiveBandwidth) {
    const auto recorded = [](std::uint32_t bandwidth) {
        return Scene(fmt::format(R"(hard 13 edf 400 1000, task 12 soft grub period 1000 budget 100
                                    server 3 GRUB capacity 100 period 1000 for 12
                                    500 server_bandwidth 0 {}, arrive 12 at 3 budget 100 due 1500, dispatch 12)",
                                 bandwidth));
    };
    EXPECT_THAT(judge(recorded(0x7FFF'FFFF)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::grub_rate).checked, 1);
    EXPECT_THAT(judge(recorded(0x6666'6666)), ElementsAre("grub-rate"));
}

// C = 200, T = 1000 above; C = 100, D = 500, T = 1000; Q = 100, T = 1000.
TEST_F(OracleJobs, CountsDeadlinesAndWhatRunsAboveThem) {
    const auto recorded = [](double bandwidth, bool removed = false) {
        Scene scene(fmt::format(R"(hard 13 edf 100 1000 500, hard 14 rm 200 1000
                                   task 12 soft grub period 1000 budget 100
                                   server 3 GRUB capacity 100 period 1000 for 12
                                   500 server_bandwidth 0 {}, arrive 12 at 3 budget 100 due 1500)",
                                static_cast<std::uint32_t>(bandwidth * 4294967295.0)));
        if (removed) {
            scene.play("end 12, server_remove 0 3, dispatch idle");
        } else {
            scene.play("dispatch 12");
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
        Scene scene(R"(hard 13 edf 400 1000, task 12 soft grub period 1000 budget 100
                       server 3 GRUB capacity 100 period 1000 for 12
                       500 server_bandwidth 0 0x7FFF'FFFF, arrive 12 at 3 budget 100 due 1500, end 13)");
        if (has_rested) {
            scene.play(R"(dispatch 12, leave 12, budget 3 100, complete 12, dispatch idle, leave idle
                          arrive 12 at 3 budget 100 due 1500)");
        }
        return scene.play("dispatch 12");
    };
    EXPECT_THAT(judge(ended(false)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(ended(true)), ElementsAre("grub-rate", "grub-rate"));
}

TEST_F(OracleJobs, LeavesAServerItsBandwidthWhileItHasWork) {
    const auto after = [](std::string_view what, std::uint32_t value) {
        Scene scene = served(2, 585, 60);
        if (what == "job_release") {
            scene.play("complete 12");
        }
        return scene.play(fmt::format("{} 12 {}; 990 dispatch idle", what, value));
    };
    EXPECT_THAT(judge(after("job_release", 590)), testing::Not(Contains("grub-zero-lag"))) << "a kept activation";
    EXPECT_THAT(judge(after("task_block", 6U << 16)), IsEmpty()) << "suspended";
    EXPECT_THAT(judge(after("task_block", 2U << 16)), Contains("grub-zero-lag")) << "delayed";
}

TEST_F(OracleJobs, GivesBandwidthBackAtTheZeroLagTime) {
    const auto rests = [](std::uint64_t time, bool recorded) { // c = 60, d = 1500: at 900
        Scene scene = served(2, 585, 60);
        scene.play(fmt::format("complete 12; {}", time));
        return recorded ? scene.play("server_reclaiming 0 3") : scene.play("dispatch idle");
    };
    EXPECT_THAT(judge(rests(901, true)), IsEmpty());
    EXPECT_THAT(judge(rests(700, true)), ElementsAre("grub-zero-lag"));
    EXPECT_THAT(judge(rests(990, true)), ElementsAre("grub-zero-lag"));
    EXPECT_THAT(judge(rests(990, false)), Contains("grub-zero-lag"));
}

// Q = 100, T = 1000, refilled at 1000, 2000, ...
Scene fixed_server(std::uint16_t kind) {
    Scene scene(fmt::format(R"(task 12 request served, server 3 {} capacity 100 period 1000 for 12, replenish 3
                               budget 3 100, server_deadline 3 1000)",
                            kind));
    if (kind == 3) {
        scene.play("budget 3 0");
    }
    return scene.play("dispatch idle");
}

TEST_F(OracleJobs, RefillsAServerEachPeriod) {
    const auto refilled = [](std::uint64_t time, std::uint32_t budget, std::uint32_t next) {
        Scene scene = fixed_server(4);
        return scene.play(fmt::format("{} replenish 3, budget 3 {}, server_deadline 3 {}", time, budget, next));
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
    keeps.play("1001 replenish 3, budget 3 100, server_deadline 3 2000");
    EXPECT_THAT(judge(keeps.play("choose idle")), ElementsAre("server-replenish"));
}

// The loss is recorded before the wait for which it is lost.
TEST_F(OracleJobs, TakesThePollingServersBudgetWhenItsRequestWaits) {
    const auto lost = [](bool waits) {
        Scene scene = fixed_server(3);
        scene.play(R"(900 release 12, choose idle
                      1001 replenish 3, budget 3 100, server_deadline 3 2000, leave idle, dispatch 12
                      1050 leave 12, budget 3 55, budget 3 0)");
        return waits ? scene.play("wait 12 delay") : scene;
    };
    EXPECT_THAT(judge(lost(true).play("dispatch idle")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(lost(false).play("dispatch idle")), ElementsAre("server-budget"));
    Scene again = lost(true);
    again.play("wake 12 delay, server_active 12 3, budget 3 0");
    EXPECT_THAT(judge(again.play("dispatch idle")), IsEmpty()) << "it is back";
}

TEST_F(OracleJobs, ServesOnlyWithinTheBudget) {
    const auto serve = [](std::uint64_t end, std::uint32_t left) {
        Scene scene = fixed_server(4);
        return scene.play(fmt::format("200 release 12, leave idle, dispatch 12; {} leave 12, budget 3 {}", end, left));
    };
    EXPECT_THAT(judge(serve(250, 55)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(serve(250, 100)), ElementsAre("server-budget"));
    EXPECT_THAT(judge(serve(350, 0)), ElementsAre("server-budget"));
    EXPECT_THAT(judge(serve(305, 0).play("dispatch 12")), ElementsAre("server-budget"));
}

} // namespace

} // namespace host::analyse::oracle::oracle_jobs_test
