// SPDX-License-Identifier: MIT
// Order, states, chains and mutex protocols: for each rule a trace that keeps it and one that breaks it.
#include "tests/support/oracle_scene.hpp"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::ChunkBuilder;
using support::Scene;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OracleOrder : public support::OracleTest {};

Scene two(std::uint16_t level, std::uint32_t deadline_a, std::uint32_t deadline_b) {
    Scene scene;
    scene.hard(12, level, 50, deadline_a - 100, deadline_a - 100).hard(13, level, 50, deadline_b - 100);
    scene.at(100).release(12, 100, deadline_a).release(13, 100, deadline_b);
    return scene;
}

TEST_F(OracleOrder, TakesTheEarliestDeadline) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).run(13)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::edf_order).checked, 1);
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).run(12)), ElementsAre("edf-order"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard12 (12) with the deadline 400 ticks is used, but hard13 (13) with the "
                                         "deadline 300 ticks comes first"));
}

TEST_F(OracleOrder, NamesTasksInTheFirstDecisionOfAnotherChunk) {
    ChunkBuilder second;
    second.begin.chunk = 1;
    second.name("level", Scene::kEdf, "EDF").name("task", 12, "hard12").name("task", 13, "hard13");
    second.event(120, "task_schedule", 12, 12).event(121, "task_dispatch", 12);
    support::Bytes bytes = two(Scene::kEdf, 400, 300).chunk.bytes();
    const support::Bytes rest = second.bytes();
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    EXPECT_THAT(judge(bytes), ElementsAre("edf-order"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard12 (12)"));
}

TEST_F(OracleOrder, DoesNotAccuseAcrossAnEmptySlot) {
    const auto dispatched = [](bool has_hole) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 50, 300).hard(13, Scene::kEdf, 50, 400).at(100).release(12, 100, 400);
        if (has_hole) {
            scene.chunk.raw({});
        }
        return scene.run(13);
    };
    EXPECT_THAT(judge(dispatched(false)), testing::Not(IsEmpty()));
    EXPECT_THAT(judge(dispatched(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("records are missing")));
}

// A run without a violation, of which one packet of 60 records after the other is lost.
TEST_F(OracleOrder, DoesNotAccuseWhicheverPacketIsLost) {
    const std::string text = support::read_text("tests/viewers/data/control/0trace.dat");
    support::Bytes whole(text.size());
    std::memcpy(whole.data(), text.data(), text.size());
    ASSERT_GT(whole.size(), 50'000U);
    for (std::size_t packet = 4; packet * 960 < whole.size(); ++packet) {
        support::Bytes bytes = whole;
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(packet * 960);
        std::fill(first, first + std::min<std::ptrdiff_t>(960, bytes.end() - first), std::byte{0});
        EXPECT_THAT(judge(bytes, std::nullopt), IsEmpty()) << packet << testing::PrintToString(m_texts);
    }
}

TEST_F(OracleOrder, DoesNotAccuseInAChunkWhoseChecksumIsWrong) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 300).hard(13, Scene::kEdf, 50, 400).at(100).release(12, 100, 400).run(13);
    support::Bytes bytes = support::sealed(scene.chunk.bytes());
    EXPECT_THAT(judge(bytes), testing::Not(IsEmpty()));
    bytes.back() ^= std::byte{1};
    EXPECT_THAT(judge(bytes), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("the checksum of")));
}

// The header announces one record more than there is, which may be any.
TEST_F(OracleOrder, DecidesNothingInAChunkThatRecordsWereCutOutOf) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 300).hard(13, Scene::kEdf, 50, 400).at(100).release(12, 100, 400).run(13);
    support::Bytes cut = scene.chunk.bytes();
    EXPECT_THAT(judge(cut), testing::Not(IsEmpty()));
    cut.resize(cut.size() - tracer::kRecordBytes);
    EXPECT_THAT(judge(cut), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::block_state).checked, 0);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("records of it are missing")));

    ChunkBuilder next;
    next.begin.chunk = 1;
    next.name("level", Scene::kEdf, "EDF").name("level", Scene::kBackground, "background").name("task", 1, "idle");
    next.event(200, "task_schedule", 1, 1).event(201, "task_dispatch", 1);
    const support::Bytes whole = next.bytes();
    cut.insert(cut.end(), whole.begin(), whole.end());
    EXPECT_THAT(judge(cut), IsEmpty()) << "states before the hole do not matter after it";
}

TEST_F(OracleOrder, DecidesAsSoonAsAnotherTaskHasATurn) {
    const auto preempted = [](std::uint64_t decided) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 500, 9000).hard(13, Scene::kEdf, 50, 300).at(100).release(12, 100, 9100).run(12);
        return scene.at(200).release(13, 200, 500).at(decided).leave(12).run(13);
    };
    EXPECT_THAT(judge(preempted(205)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(preempted(220)), ElementsAre("edf-order"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard13 (13) with the deadline 500 ticks comes first; it continues without a "
                                         "decision for 18 ticks"));
}

TEST_F(OracleOrder, DecidesAfterTheHandlerThatGaveATurn) {
    const auto preempted = [](std::uint64_t decided) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 500, 9000).hard(13, Scene::kEdf, 50, 300).at(100).release(12, 100, 9100).run(12);
        scene.at(198).event("interrupt_start", 240).at(199).event("timer_wakeup_start").at(200).release(13, 200, 500);
        scene.at(230).event("timer_wakeup_end", 12).at(231).event("interrupt_end", 240);
        return scene.at(decided).leave(12).run(13);
    };
    EXPECT_THAT(judge(preempted(236)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(preempted(260)), ElementsAre("edf-order"));
}

TEST_F(OracleOrder, TakesTheFirstOfEqualDeadlines) {
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).run(12)), IsEmpty());
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).run(13)), ElementsAre("edf-order"));
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).event("job_deadline", 12, 300).run(13)), IsEmpty())
        << "a change brings it after its equals";
}

TEST_F(OracleOrder, TakesTheShortestRelativeDeadline) {
    EXPECT_THAT(judge(two(Scene::kRm, 400, 300).run(13)), IsEmpty());
    EXPECT_THAT(judge(two(Scene::kRm, 400, 300).run(12)), ElementsAre("rm-order"));
}

TEST_F(OracleOrder, AsksTheLevelsInTurn) {
    Scene scene = two(Scene::kEdf, 400, 400);
    scene.task(14, "load", {.level = Scene::kRr}).release(14, 110).run(14);
    EXPECT_THAT(judge(scene), ElementsAre("level-order"));
}

TEST_F(OracleOrder, TakesTheFirstOfTheRoundRobin) {
    const auto loads = [] {
        Scene scene;
        scene.task(12, "a", {.level = Scene::kRr, .budget_ns = 1000}).release(12, 10);
        scene.task(13, "b", {.level = Scene::kRr, .budget_ns = 1000}).release(13, 11);
        return scene;
    };
    EXPECT_THAT(judge(loads().run(12)), IsEmpty());
    EXPECT_THAT(judge(loads().run(13)), ElementsAre("rr-order"));
    EXPECT_THAT(judge(loads().at(100).run(12).at(1100).event("slice_end", 12).run(13)), IsEmpty())
        << testing::PrintToString(m_texts);
}

TEST_F(OracleOrder, TakesTheFirstOfTheBackground) {
    Scene scene;
    scene.task(12, "a", {.level = Scene::kBackground}).release(12, 10);
    scene.task(13, "b", {.level = Scene::kBackground}).release(13, 11).run(13);
    EXPECT_THAT(judge(scene), ElementsAre("fifo-order"));
    Scene idles;
    idles.task(12, "a", {.level = Scene::kBackground}).release(12, 10).run(Scene::kIdle);
    EXPECT_THAT(judge(idles), ElementsAre("fifo-order"));
}

TEST_F(OracleOrder, NeverRunsWhoWaits) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.event("task_block", 13, 2U << 16).run(12);
    EXPECT_THAT(judge(scene), IsEmpty());
    scene.leave(12).run(13);
    EXPECT_THAT(judge(scene), ElementsAre("block-state"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard13 (13) is dispatched, but it is not ready"));
}

TEST_F(OracleOrder, NeverRunsWhoIsSuspendedUntilItIsResumed) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.event("task_block", 13, 6U << 16).run(12);
    EXPECT_THAT(judge(scene), IsEmpty()) << testing::PrintToString(m_texts);
    scene.event("task_unblock", 13, 6U << 16).event("task_schedule", 12, 12);
    EXPECT_THAT(judge(scene), ElementsAre("edf-order"));
}

// Requests 12 and 13 of a deferrable server; 12 came first.
Scene requests() {
    Scene scene;
    scene.task(12, "first", {.level = Scene::kServed}).task(13, "second", {.level = Scene::kServed});
    scene.server(3, 4, 100, 1000, 12).event("server_attach", 3, 13).event("server_replenish", 0, 3);
    scene.event("server_budget", 3, 100).event("server_deadline", 3, 1000).at(50);
    return scene.release(12, 50).release(13, 51);
}

TEST_F(OracleOrder, ServesTheFirstRequestThatIsNotSuspended) {
    constexpr std::uint32_t kSuspended = 6U << 16;
    EXPECT_THAT(judge(requests().run(12)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(requests().run(13)), ElementsAre("fifo-order"));
    EXPECT_THAT(judge(requests().event("task_block", 12, kSuspended).run(13)), IsEmpty());
    EXPECT_THAT(judge(requests().event("task_block", 12, kSuspended).run(Scene::kIdle)), ElementsAre("level-order"));
    const auto resumed = [] {
        return requests().event("task_block", 12, kSuspended).run(13).event("task_unblock", 12, kSuspended).leave(13);
    };
    EXPECT_THAT(judge(resumed().run(12)), IsEmpty()) << "it keeps its turn";
    EXPECT_THAT(judge(resumed().run(13)), ElementsAre("fifo-order"));
    // It waited when it was suspended: when it was woken is not recorded.
    const auto woken = [] {
        return requests().event("task_block", 12, 2U << 16).event("task_unblock", 12, kSuspended);
    };
    EXPECT_THAT(judge(woken().run(12)), IsEmpty());
    EXPECT_THAT(judge(woken().run(13)), IsEmpty());
    EXPECT_THAT(judge(woken().run(Scene::kIdle)), IsEmpty());
}

// A mutex that none waits for is unlocked without a decision.
TEST_F(OracleOrder, WaitsForADecisionFromAReplenishmentOn) {
    const auto replenished = [](std::uint64_t late) {
        Scene scene;
        scene.task(14, "load", {.level = Scene::kRr, .budget_ns = 100'000}).mutex(1, 1);
        scene.task(12, "request", {.level = Scene::kServed}).server(3, 4, 100, 1000, 12).event("server_budget", 3, 0);
        scene.event("server_deadline", 3, 1000).at(50).release(12, 50).release(14, 51).run(14);
        scene.event("set_mutex_lock", 14, 1).event("set_mutex_acquire", 14, 1).event("set_mutex_unlock", 14, 1);
        scene.at(1000).event("server_replenish", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 2000);
        return scene.at(1000 + late).event("set_mutex_post", 14, 7);
    };
    EXPECT_THAT(judge(replenished(5)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(replenished(20)), ElementsAre("level-order"));
}

// --- mutexes: 12 owns, 13 is more urgent and blocked by it ----------------------------------------------------------

Scene blocked() {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9000).hard(13, Scene::kEdf, 50, 300).hard(14, Scene::kEdf, 50, 5000).mutex(1, 1);
    scene.at(100).release(12, 100, 9100).run(12).event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1);
    scene.at(120).release(13, 120, 420).leave(12).run(13).event("set_mutex_lock", 13, 1).leave(13);
    scene.event("set_mutex_block", 13, 1).event("set_mutex_inherit", 12, 1).release(14, 130, 5130);
    return scene;
}

TEST_F(OracleOrder, FollowsTheChainOfOwners) {
    EXPECT_THAT(judge(blocked().run(12, 13).event("inheritance", 12, 13)), IsEmpty())
        << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::shadow_chain).checked, 4);
    EXPECT_THAT(judge(blocked().run(14, 13)), ElementsAre("shadow-chain"));
    EXPECT_THAT(judge(blocked().run(13)), ElementsAre("pi-inheritance"));
    EXPECT_THAT(judge(blocked().run(14)), ElementsAre("pi-inheritance"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("whose place hard12 (12) should use"));
    EXPECT_THAT(judge(blocked().run(12, 13).event("inheritance", 14, 13)), ElementsAre("shadow-chain"));
}

TEST_F(OracleOrder, ReturnsTheFormerOwnerToItsOwnPlace) {
    const auto unlocked = [] { return blocked().run(12, 13).event("set_mutex_unlock", 12, 1); };
    EXPECT_THAT(judge(unlocked().leave(12).run(13).event("set_mutex_acquire", 13, 1)), IsEmpty());
    EXPECT_THAT(judge(unlocked().event("task_schedule", 12, 13)), ElementsAre("pi-return"));
    EXPECT_THAT(judge(unlocked().at(170).leave(12).run(13)), ElementsAre("pi-return")) << "too late";
}

TEST_F(OracleOrder, KnowsWhoOwns) {
    EXPECT_THAT(judge(blocked().event("set_mutex_acquire", 14, 1)), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().event("set_mutex_unlock", 14, 1)), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().event("set_mutex_inherit", 14, 1)), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().event("set_mutex_owner_died", 12, 1).event("set_mutex_acquire", 14, 1)), IsEmpty());
}

// 12 holds ceiling mutex 1 (ceiling 300 us); 13 (relative deadline 500 us) asks for mutex 2.
Scene ceilings(std::uint64_t level_us) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, level_us * 1'000);
    scene.mutex(1, 2, 300).mutex(2, 2, 100).at(100).release(12, 100, 9'000'100).run(12);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).at(150);
    scene.release(13, 150, static_cast<std::uint32_t>(150 + level_us * 1'000)).leave(12).run(13);
    return scene.event("set_mutex_lock", 13, 2);
}

TEST_F(OracleOrder, GrantsOnlyAboveTheCeilingsOfOthers) {
    EXPECT_THAT(judge(ceilings(299).event("set_mutex_acquire", 13, 2)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(ceilings(300).event("set_mutex_acquire", 13, 2)), ElementsAre("pc-grant"));
    EXPECT_THAT(judge(ceilings(300).event("set_mutex_block", 13, 1)), IsEmpty());
    EXPECT_THAT(judge(ceilings(299).event("set_mutex_block", 13, 1)), ElementsAre("pc-block"));
    EXPECT_THAT(judge(ceilings(300).event("set_mutex_block", 13, 2)), ElementsAre("mutex-owner", "pc-block"));
}

// 12 runs in the place of 14, which waits for the mutex 3 of the protocol inheritance, and so above the ceiling of 1,
// but 13 has it.
TEST_F(OracleOrder, LetsATaskThatInheritsWaitForACeilingMutexThatIsTaken) {
    const auto lifted = [](std::uint32_t asked) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 50, 9'000'000)
            .hard(13, Scene::kEdf, 50, 8'000'000)
            .hard(14, Scene::kEdf, 50, 500'000);
        scene.mutex(1, 2, 8'000).mutex(2, 2, 500).mutex(3, 1).at(100).release(12, 100, 9'000'100).run(12);
        scene.event("set_mutex_lock", 12, 3).event("set_mutex_acquire", 12, 3);
        scene.release(13, 150, 8'000'150).leave(12).run(13).event("set_mutex_lock", 13, 1);
        scene.event("set_mutex_acquire", 13, 1).release(14, 160, 500'160).leave(13).run(14);
        scene.event("set_mutex_lock", 14, 3).leave(14).event("set_mutex_block", 14, 3).run(12, 14);
        return scene.event("set_mutex_lock", 12, asked).leave(12).event("set_mutex_block", 12, 1);
    };
    EXPECT_THAT(judge(lifted(1)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(lifted(2)), ElementsAre("pc-block"));
}

TEST_F(OracleOrder, SeesACeilingBelowAUser) {
    EXPECT_THAT(judge(ceilings(99).event("set_mutex_acquire", 13, 2)), ElementsAre("ceiling"));
    Scene untold;
    untold.hard(12, Scene::kEdf, 50, 9000).event("set_mutex_create", 0, 1).event("set_mutex_protocol", 2, 1);
    untold.release(12, 100, 9100).run(12).event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1);
    EXPECT_THAT(judge(untold), ElementsAre("ceiling")) << "nothing raised it";
}

// 12 holds stack mutex 1 with the ceiling 300 us; the job of 13 has not begun.
Scene stack(std::uint64_t level_us) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, level_us * 1'000).mutex(1, 3, 300);
    scene.at(100).release(12, 100, 9'000'100).run(12, 0, true);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).at(150);
    return scene.release(13, 150, static_cast<std::uint32_t>(150 + level_us * 1'000)).leave(12);
}

TEST_F(OracleOrder, BeginsAJobOnlyAboveTheSystemCeiling) {
    EXPECT_THAT(judge(stack(299).run(13, 0, true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(stack(300).run(12, 13)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(stack(300).run(13, 0, true)), ElementsAre("srp-start", "srp-start"));
    EXPECT_THAT(judge(stack(299).run(13, 0, true).event("set_mutex_block", 13, 1)), ElementsAre("srp-block"));
}

// Jobs that leave their places break the order of a stack.
TEST_F(OracleOrder, LeavesAStackMutexUndecidedOfJobsThatLeftTheirPlaces) {
    const auto blocked_after = [](auto&& happens) {
        Scene scene = stack(299);
        happens(scene.run(13, 0, true));
        return scene.event("set_mutex_block", 13, 1);
    };
    EXPECT_THAT(judge(blocked_after([](Scene&) {})), ElementsAre("srp-block"));
    for (const std::uint16_t who : {std::uint16_t{12}, std::uint16_t{13}}) {
        const auto waited = [who](Scene& scene) {
            scene.event("task_block", who, 2U << 16).event("task_unblock", who, 2U << 16);
        };
        EXPECT_THAT(judge(blocked_after(waited)), IsEmpty()) << who;
        EXPECT_EQ(of(Rule::srp_block).undecided, 1);
        EXPECT_THAT(judge(blocked_after([who](Scene& scene) { scene.event("job_deadline", who, 700'000); })),
                    testing::Not(testing::Contains("srp-block")));
    }
    const auto waited_for_a_mutex = [](Scene& scene) {
        scene.event("set_mutex_block", 13, 2).event("set_mutex_acquire", 13, 2);
    };
    EXPECT_THAT(judge(blocked_after(waited_for_a_mutex)), testing::Not(testing::Contains("srp-block")));
    EXPECT_THAT(judge(blocked_after([](Scene& scene) { scene.leave(13).event("task_schedule", 12, 13); })),
                testing::Not(testing::Contains("srp-block")))
        << "it has run in the place of the other";
}

TEST_F(OracleOrder, BeginsTheIdleTaskWhileAStackMutexIsHeld) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).mutex(1, 3, 300).at(100).release(12, 100, 9'000'100).run(12, 0, true);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).leave(12);
    EXPECT_THAT(judge(scene.event("task_block", 12, 2U << 16).run(Scene::kIdle, 0, true)), IsEmpty())
        << testing::PrintToString(m_texts);
}

TEST_F(OracleOrder, BeginsAJobThatKeptAMutexFromAnEarlierOne) {
    const auto kept = [](bool owns) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, 300'000).mutex(1, 3, 300).mutex(2, 1);
        scene.at(100).release(13, 100, 300'100).run(13, 0, true);
        if (owns) {
            scene.event("set_mutex_lock", 13, 2).event("set_mutex_acquire", 13, 2);
        }
        scene.end_job(13).release(12, 150, 9'000'150).run(12, 0, true).event("set_mutex_lock", 12, 1);
        return scene.event("set_mutex_acquire", 12, 1)
            .at(300'100)
            .release(13, 300'100, 600'100)
            .leave(12)
            .run(13, 0, true);
    };
    EXPECT_THAT(judge(kept(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(kept(false)), testing::Contains("srp-start"));
}

// --- relaxation ------------------------------------------------------------------------------------------------------

TEST_F(OracleOrder, DecidesNothingWithoutAHeader) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).run(12).chunk.plain()), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked, 0);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("has no header")));
}

TEST_F(OracleOrder, TakesStatesBeforeTheStartForUnknown) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.chunk.begin.overwritten = 7;
    scene.run(13).leave(13).run(12);
    EXPECT_THAT(judge(scene), ElementsAre("edf-order")) << "what was released since is known";
    Scene gap = two(Scene::kEdf, 400, 300);
    gap.event("blackout_start").event("blackout_end", 0, 3).run(12);
    EXPECT_THAT(judge(gap), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked + of(Rule::level_order).checked, 0);
    EXPECT_EQ(of(Rule::level_order).undecided, 1);
}

TEST_F(OracleOrder, KnowsEverybodyOnceTheIdleTaskRuns) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.event("blackout_start").event("blackout_end", 0, 3).run(Scene::kIdle).release(12, 500, 800).leave(1).run(12);
    EXPECT_THAT(judge(scene), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked, 1);
}

TEST_F(OracleOrder, RelaxesTheFamilyOfAFilter) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).event("filter_job", 1).run(12)), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("filter_job")));
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).event("filter_interrupt", 1).run(12)), ElementsAre("edf-order"));
}

TEST_F(OracleOrder, SaysOfAnOldKernelWhatItCannotDecide) {
    support::ChunkBuilder chunk;
    chunk.name("level", 0, "EDF").name("task", 12, "a").parameters({.context = 12, .wcet_ns = 5, .period_ns = 500'000});
    chunk.event(1, "trace_start", 0).event(2, "task_create", 12).event(3, "set_priority", 12, 500);
    chunk.event(4, "task_schedule", 12, 12).event(5, "task_dispatch", 12).event(6, "task_epilogue", 12);
    EXPECT_THAT(judge(chunk.bytes()), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("older kernel")));
}

} // namespace

} // namespace host::analyse::oracle
