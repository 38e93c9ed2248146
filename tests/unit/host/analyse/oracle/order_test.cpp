// SPDX-License-Identifier: MIT
// Tests order, states, chains and mutex protocols: for each rule a trace that keeps it and one that breaks it.
#include "tests/support/oracle_scene.hpp"
#include "tests/support/packed_archives.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace host::analyse::oracle::order_test {

namespace {

using support::ChunkBuilder;
using support::Scene;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OracleOrder : public support::OracleTest {};

Scene two(std::uint16_t level, std::uint32_t deadline_a, std::uint32_t deadline_b) {
    return Scene(fmt::format(R"(hard 12 {} 50 {} {}, hard 13 {} 50 {}
                                100 release 12 by timer due {}, release 13 by timer due {})",
                             level, deadline_a - 100, deadline_a - 100, level, deadline_b - 100, deadline_a,
                             deadline_b));
}

TEST_F(OracleOrder, TakesTheEarliestDeadline) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).play("dispatch 13")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::edf_order).checked, 1);
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).play("dispatch 12")), ElementsAre("edf-order"));
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
        Scene scene("hard 12 edf 50 300, hard 13 edf 50 400; 100 release 12 by timer due 400");
        if (has_hole) {
            scene.chunk.raw({});
        }
        return scene.play("dispatch 13");
    };
    EXPECT_THAT(judge(dispatched(false)), testing::Not(IsEmpty()));
    EXPECT_THAT(judge(dispatched(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("records are missing")));
}

// A run without a violation, of which one packet of 60 records after the other is lost.
TEST_F(OracleOrder, DoesNotAccuseWhicheverPacketIsLost) {
    const support::Bytes whole = support::control_run();
    ASSERT_GT(whole.size(), 50'000U);
    for (std::size_t packet = 4; packet * 960 < whole.size(); ++packet) {
        support::Bytes bytes = whole;
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(packet * 960);
        std::fill(first, first + std::min<std::ptrdiff_t>(960, bytes.end() - first), std::byte{0});
        EXPECT_THAT(judge(bytes, std::nullopt), IsEmpty()) << packet << testing::PrintToString(m_texts);
    }
}

TEST_F(OracleOrder, DoesNotAccuseInAChunkWhoseChecksumIsWrong) {
    Scene scene("hard 12 edf 50 300, hard 13 edf 50 400; 100 release 12 by timer due 400, dispatch 13");
    support::Bytes bytes = support::sealed(scene.chunk.bytes());
    EXPECT_THAT(judge(bytes), testing::Not(IsEmpty()));
    bytes.back() ^= std::byte{1};
    EXPECT_THAT(judge(bytes), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("the checksum of")));
}

// The header announces one record more than there is, which may be any.
TEST_F(OracleOrder, DecidesNothingInAChunkThatRecordsWereCutOutOf) {
    Scene scene("hard 12 edf 50 300, hard 13 edf 50 400; 100 release 12 by timer due 400, dispatch 13");
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
        return Scene(fmt::format(R"(hard 12 edf 500 9000, hard 13 edf 50 300
                                    100 release 12 by timer due 9100, dispatch 12; 200 release 13 by timer due 500
                                    {} leave 12, dispatch 13)",
                                 decided));
    };
    EXPECT_THAT(judge(preempted(205)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(preempted(220)), ElementsAre("edf-order"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard13 (13) with the deadline 500 ticks comes first; it continues without a "
                                         "decision for 18 ticks"));
}

TEST_F(OracleOrder, DecidesAfterTheHandlerThatGaveATurn) {
    const auto preempted = [](std::uint64_t decided) {
        return Scene(fmt::format(R"(hard 12 edf 500 9000, hard 13 edf 50 300
                                    100 release 12 by timer due 9100, dispatch 12; 198 irq 240; 199 timer
                                    200 release 13 by timer due 500; 230 timer_wakeup_end 12; 231 iret 240
                                    {} leave 12, dispatch 13)",
                                 decided));
    };
    EXPECT_THAT(judge(preempted(236)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(preempted(260)), ElementsAre("edf-order"));
}

TEST_F(OracleOrder, TakesTheFirstOfEqualDeadlines) {
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).play("dispatch 12")), IsEmpty());
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).play("dispatch 13")), ElementsAre("edf-order"));
    EXPECT_THAT(judge(two(Scene::kEdf, 300, 300).play("due 12 300, dispatch 13")), IsEmpty())
        << "a change brings it after its equals";
}

TEST_F(OracleOrder, TakesTheShortestRelativeDeadline) {
    EXPECT_THAT(judge(two(Scene::kRm, 400, 300).play("dispatch 13")), IsEmpty());
    EXPECT_THAT(judge(two(Scene::kRm, 400, 300).play("dispatch 12")), ElementsAre("rm-order"));
}

TEST_F(OracleOrder, AsksTheLevelsInTurn) {
    Scene scene = two(Scene::kEdf, 400, 400);
    scene.play("task 14 load rr, release 14 at 110, dispatch 14");
    EXPECT_THAT(judge(scene), ElementsAre("level-order"));
}

TEST_F(OracleOrder, TakesTheFirstOfTheRoundRobin) {
    const auto loads = [] {
        return Scene("task 12 a rr budget 1000, release 12 at 10, task 13 b rr budget 1000, release 13 at 11");
    };
    EXPECT_THAT(judge(loads().play("dispatch 12")), IsEmpty());
    EXPECT_THAT(judge(loads().play("dispatch 13")), ElementsAre("rr-order"));
    EXPECT_THAT(judge(loads().play("100 dispatch 12; 1100 slice_end 12, dispatch 13")), IsEmpty())
        << testing::PrintToString(m_texts);
}

TEST_F(OracleOrder, TakesTheFirstOfTheBackground) {
    Scene scene("task 12 a background, release 12 at 10, task 13 b background, release 13 at 11, dispatch 13");
    EXPECT_THAT(judge(scene), ElementsAre("fifo-order"));
    Scene idles("task 12 a background, release 12 at 10, dispatch idle");
    EXPECT_THAT(judge(idles), ElementsAre("fifo-order"));
}

TEST_F(OracleOrder, NeverRunsWhoWaits) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.play("wait 13 delay, dispatch 12");
    EXPECT_THAT(judge(scene), IsEmpty());
    scene.play("leave 12, dispatch 13");
    EXPECT_THAT(judge(scene), ElementsAre("block-state"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("hard13 (13) is dispatched, but it is not ready"));
}

TEST_F(OracleOrder, NeverRunsWhoIsSuspendedUntilItIsResumed) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.play("wait 13 suspended, dispatch 12");
    EXPECT_THAT(judge(scene), IsEmpty()) << testing::PrintToString(m_texts);
    scene.play("wake 13 suspended, choose 12");
    EXPECT_THAT(judge(scene), ElementsAre("edf-order"));
}

// Requests 12 and 13 of a deferrable server; 12 came first.
Scene requests() {
    return Scene(R"(task 12 first served, task 13 second served
                    server 3 deferrable capacity 100 period 1000 for 12, server_attach 3 13
                    replenish 3, budget 3 100, server_deadline 3 1000; 50 release 12, release 13 at 51)");
}

TEST_F(OracleOrder, ServesTheFirstRequestThatIsNotSuspended) {
    EXPECT_THAT(judge(requests().play("dispatch 12")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(requests().play("dispatch 13")), ElementsAre("fifo-order"));
    EXPECT_THAT(judge(requests().play("wait 12 suspended, dispatch 13")), IsEmpty());
    EXPECT_THAT(judge(requests().play("wait 12 suspended, dispatch idle")), ElementsAre("level-order"));
    const auto resumed = [] { return requests().play("wait 12 suspended, dispatch 13, wake 12 suspended, leave 13"); };
    EXPECT_THAT(judge(resumed().play("dispatch 12")), IsEmpty()) << "it keeps its turn";
    EXPECT_THAT(judge(resumed().play("dispatch 13")), ElementsAre("fifo-order"));
    // It waited when it was suspended: when it was woken is not recorded.
    const auto woken = [] { return requests().play("wait 12 delay, wake 12 suspended"); };
    EXPECT_THAT(judge(woken().play("dispatch 12")), IsEmpty());
    EXPECT_THAT(judge(woken().play("dispatch 13")), IsEmpty());
    EXPECT_THAT(judge(woken().play("dispatch idle")), IsEmpty());
}

// A mutex that none waits for is unlocked without a decision.
TEST_F(OracleOrder, WaitsForADecisionFromAReplenishmentOn) {
    const auto replenished = [](std::uint64_t late) {
        return Scene(fmt::format(R"(task 14 load rr budget 100'000, mutex 1 inheritance, task 12 request served
                                    server 3 deferrable capacity 100 period 1000 for 12, budget 3 0
                                    server_deadline 3 1000
                                    50 release 12, release 14 at 51, dispatch 14, lock 14 1, acquire 14 1; unlock 14 1
                                    1000 replenish 3, budget 3 100, server_deadline 3 2000; {} set_mutex_post 14 7)",
                                 1000 + late));
    };
    EXPECT_THAT(judge(replenished(5)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(replenished(20)), ElementsAre("level-order"));
}

// --- mutexes: 12 owns, 13 is more urgent and blocked by it ----------------------------------------------------------

Scene blocked() {
    return Scene(R"(hard 12 edf 50 9000, hard 13 edf 50 300, hard 14 edf 50 5000, mutex 1 inheritance
                    100 release 12 by timer due 9100, dispatch 12, lock 12 1, acquire 12 1
                    120 release 13 by timer due 420, leave 12, dispatch 13, lock 13 1, leave 13, blocked 13 1
                    set_mutex_inherit 12 1, release 14 by timer at 130 due 5130)");
}

TEST_F(OracleOrder, FollowsTheChainOfOwners) {
    EXPECT_THAT(judge(blocked().play("dispatch 12 for 13, inheritance 12 13")), IsEmpty())
        << testing::PrintToString(m_texts);
    EXPECT_EQ(of(Rule::shadow_chain).checked, 4);
    EXPECT_THAT(judge(blocked().play("dispatch 14 for 13")), ElementsAre("shadow-chain"));
    EXPECT_THAT(judge(blocked().play("dispatch 13")), ElementsAre("pi-inheritance"));
    EXPECT_THAT(judge(blocked().play("dispatch 14")), ElementsAre("pi-inheritance"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("whose place hard12 (12) should use"));
    EXPECT_THAT(judge(blocked().play("dispatch 12 for 13, inheritance 14 13")), ElementsAre("shadow-chain"));
}

TEST_F(OracleOrder, ReturnsTheFormerOwnerToItsOwnPlace) {
    const auto unlocked = [] { return blocked().play("dispatch 12 for 13, unlock 12 1"); };
    EXPECT_THAT(judge(unlocked().play("leave 12, dispatch 13, acquire 13 1")), IsEmpty());
    EXPECT_THAT(judge(unlocked().play("choose 12 for 13")), ElementsAre("pi-return"));
    EXPECT_THAT(judge(unlocked().play("170 leave 12, dispatch 13")), ElementsAre("pi-return")) << "too late";
}

TEST_F(OracleOrder, KnowsWhoOwns) {
    EXPECT_THAT(judge(blocked().play("acquire 14 1")), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().play("unlock 14 1")), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().play("set_mutex_inherit 14 1")), ElementsAre("mutex-owner"));
    EXPECT_THAT(judge(blocked().play("set_mutex_owner_died 12 1, acquire 14 1")), IsEmpty());
}

// 12 holds ceiling mutex 1 (ceiling 300 us); 13 (relative deadline 500 us) asks for mutex 2.
Scene ceilings(std::uint64_t level_us) {
    return Scene(fmt::format(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 {}, mutex 1 ceiling 300
                                mutex 2 ceiling 100
                                100 release 12 by timer due 9'000'100, dispatch 12, lock 12 1, acquire 12 1
                                150 release 13 by timer due {}, leave 12, dispatch 13, lock 13 2)",
                             level_us * 1'000, 150 + level_us * 1'000));
}

TEST_F(OracleOrder, GrantsOnlyAboveTheCeilingsOfOthers) {
    EXPECT_THAT(judge(ceilings(299).play("acquire 13 2")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(ceilings(300).play("acquire 13 2")), ElementsAre("pc-grant"));
    EXPECT_THAT(judge(ceilings(300).play("blocked 13 1")), IsEmpty());
    EXPECT_THAT(judge(ceilings(299).play("blocked 13 1")), ElementsAre("pc-block"));
    EXPECT_THAT(judge(ceilings(300).play("blocked 13 2")), ElementsAre("mutex-owner", "pc-block"));
}

// 12 runs in the place of 14, which waits for the mutex 3 of the protocol inheritance, and so above the ceiling of 1,
// but 13 has it.
TEST_F(OracleOrder, LetsATaskThatInheritsWaitForACeilingMutexThatIsTaken) {
    const auto lifted = [](std::uint32_t asked) {
        return Scene(fmt::format(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 8'000'000, hard 14 edf 50 500'000
                                    mutex 1 ceiling 8'000, mutex 2 ceiling 500, mutex 3 inheritance
                                    100 release 12 by timer due 9'000'100, dispatch 12, lock 12 3, acquire 12 3
                                    release 13 by timer at 150 due 8'000'150, leave 12, dispatch 13, lock 13 1
                                    acquire 13 1, release 14 by timer at 160 due 500'160, leave 13, dispatch 14
                                    lock 14 3, leave 14, blocked 14 3, dispatch 12 for 14, lock 12 {}, leave 12
                                    blocked 12 1)",
                                 asked));
    };
    EXPECT_THAT(judge(lifted(1)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(lifted(2)), ElementsAre("pc-block"));
}

TEST_F(OracleOrder, SeesACeilingBelowAUser) {
    EXPECT_THAT(judge(ceilings(99).play("acquire 13 2")), ElementsAre("ceiling"));
    Scene untold(R"(hard 12 edf 50 9000, set_mutex_create 0 1, protocol 1 ceiling
                    release 12 by timer at 100 due 9100, dispatch 12, lock 12 1, acquire 12 1)");
    EXPECT_THAT(judge(untold), ElementsAre("ceiling")) << "nothing raised it";
}

// 12 holds stack mutex 1 with the ceiling 300 us; the job of 13 has not begun.
Scene stack(std::uint64_t level_us) {
    return Scene(fmt::format(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 {}, mutex 1 stack 300
                                100 release 12 by timer due 9'000'100, dispatch 12 first, lock 12 1, acquire 12 1
                                150 release 13 by timer due {}, leave 12)",
                             level_us * 1'000, 150 + level_us * 1'000));
}

TEST_F(OracleOrder, BeginsAJobOnlyAboveTheSystemCeiling) {
    EXPECT_THAT(judge(stack(299).play("dispatch 13 first")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(stack(300).play("dispatch 12 for 13")), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(stack(300).play("dispatch 13 first")), ElementsAre("srp-start", "srp-start"));
    EXPECT_THAT(judge(stack(299).play("dispatch 13 first, blocked 13 1")), ElementsAre("srp-block"));
}

// Jobs that leave their places break the order of a stack.
TEST_F(OracleOrder, LeavesAStackMutexUndecidedOfJobsThatLeftTheirPlaces) {
    const auto blocked_after = [](auto&& happens) {
        Scene scene = stack(299);
        happens(scene.play("dispatch 13 first"));
        return scene.play("blocked 13 1");
    };
    EXPECT_THAT(judge(blocked_after([](Scene&) {})), ElementsAre("srp-block"));
    for (const std::uint16_t who : {std::uint16_t{12}, std::uint16_t{13}}) {
        const auto waited = [who](Scene& scene) { scene.play(fmt::format("wait {} delay, wake {} delay", who, who)); };
        EXPECT_THAT(judge(blocked_after(waited)), IsEmpty()) << who;
        EXPECT_EQ(of(Rule::srp_block).undecided, 1);
        EXPECT_THAT(judge(blocked_after([who](Scene& scene) { scene.play(fmt::format("due {} 700'000", who)); })),
                    testing::Not(testing::Contains("srp-block")));
    }
    const auto waited_for_a_mutex = [](Scene& scene) { scene.play("blocked 13 2, acquire 13 2"); };
    EXPECT_THAT(judge(blocked_after(waited_for_a_mutex)), testing::Not(testing::Contains("srp-block")));
    EXPECT_THAT(judge(blocked_after([](Scene& scene) { scene.play("leave 13, choose 12 for 13"); })),
                testing::Not(testing::Contains("srp-block")))
        << "it has run in the place of the other";
}

TEST_F(OracleOrder, BeginsTheIdleTaskWhileAStackMutexIsHeld) {
    Scene scene(R"(hard 12 edf 50 9'000'000, mutex 1 stack 300
                   100 release 12 by timer due 9'000'100, dispatch 12 first, lock 12 1, acquire 12 1, leave 12)");
    EXPECT_THAT(judge(scene.play("wait 12 delay, dispatch idle first")), IsEmpty()) << testing::PrintToString(m_texts);
}

TEST_F(OracleOrder, BeginsAJobThatKeptAMutexFromAnEarlierOne) {
    const auto kept = [](bool owns) {
        Scene scene(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 300'000, mutex 1 stack 300, mutex 2 inheritance
                       100 release 13 by timer due 300'100, dispatch 13 first)");
        if (owns) {
            scene.play("lock 13 2, acquire 13 2");
        }
        return scene.play(R"(finish 13, release 12 by timer at 150 due 9'000'150, dispatch 12 first, lock 12 1
                             acquire 12 1; 250 overrun 12
                             300'100 release 13 by timer due 600'100, leave 12, dispatch 13 first)");
    };
    EXPECT_THAT(judge(kept(true)), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(judge(kept(false)), testing::Contains("srp-start"));
}

// --- relaxation ------------------------------------------------------------------------------------------------------

TEST_F(OracleOrder, DecidesNothingWithoutAHeader) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).play("dispatch 12").chunk.plain()), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked, 0);
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("has no header")));
}

TEST_F(OracleOrder, TakesStatesBeforeTheStartForUnknown) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.chunk.begin.overwritten = 7;
    scene.play("dispatch 13, leave 13, dispatch 12");
    EXPECT_THAT(judge(scene), ElementsAre("edf-order")) << "what was released since is known";
    Scene gap = two(Scene::kEdf, 400, 300);
    gap.play("blackout, lost 3, dispatch 12");
    EXPECT_THAT(judge(gap), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked + of(Rule::level_order).checked, 0);
    EXPECT_EQ(of(Rule::level_order).undecided, 1);
}

TEST_F(OracleOrder, KnowsEverybodyOnceTheIdleTaskRuns) {
    Scene scene = two(Scene::kEdf, 400, 300);
    scene.play("blackout, lost 3, dispatch idle, switch idle");
    scene.play("release 12 by timer at 500 due 800, leave idle, dispatch 12");
    EXPECT_THAT(judge(scene), IsEmpty());
    EXPECT_EQ(of(Rule::edf_order).checked, 1);
}

// The record of a filter may have been lost: a family counts from its first record on, those of mutexes and servers if
// there are any.
TEST_F(OracleOrder, DoesNotRelyAfterAGapOnWhatAFilterMayHide) {
    const auto after = [](std::string_view gap, std::string_view what) {
        Scene scene("mutex 1 inheritance");
        scene.chunk.name("mutex", 1, "one");
        scene.play("hard 12 edf 50 300, hard 13 edf 50 400").play(gap).play("dispatch idle, switch idle").play(what);
        return scene.play(R"(release 12 by timer at 500 due 800, release 13 by timer at 501 due 901, leave idle
                             dispatch 13, switch 13)");
    };
    EXPECT_TRUE(violates(Rule::edf_order, after("", "")));
    EXPECT_FALSE(violates(Rule::edf_order, after("blackout, lost 3", "")));
    EXPECT_EQ(of(Rule::edf_order).checked, 0);
    EXPECT_TRUE(violates(Rule::edf_order, after("blackout, lost 3", "set_mutex_post 0 7")));
}

TEST_F(OracleOrder, RelaxesTheFamilyOfAFilter) {
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).play("filter_job 1, dispatch 12")), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("filter_job")));
    EXPECT_THAT(judge(two(Scene::kEdf, 400, 300).play("filter_interrupt 1, dispatch 12")), ElementsAre("edf-order"));
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

} // namespace host::analyse::oracle::order_test
