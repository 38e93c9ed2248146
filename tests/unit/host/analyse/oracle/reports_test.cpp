// SPDX-License-Identifier: MIT
// Tests everything that is reported of a scene: each violation with its stamp, its task and its sentence, then each
// rule with how often it was checked, undecided and violated.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::reports_test {

namespace {

using support::Scene;
using testing::ElementsAre;

class OracleReports : public support::OracleTest {};

TEST_F(OracleReports, OfReleasesAndDeadlines) {
    Scene scene(R"(hard 12 edf 60 1000 800, hard 13 rm 60 1000 800
                   100 activate 12, release 12 by timer due 901, release 13 by timer at 110 due 1111; 200 dispatch 12
                   230 finish 12, dispatch 13; 260 finish 13, dispatch idle; 1150 release 12 by timer due 1950
                   1160 release 13 by timer at 1110 due 1910, leave idle, dispatch 13; 1170 finish 13
                   1200 activate 12, activation_violation 12, dispatch 12, finish 12)");
    EXPECT_THAT(
        report(scene),
        ElementsAre("rm-deadline at 106 of 13: a job of hard13 (13) is due at 1111 ticks, its release 110 + D is 910",
                    "level-order at 200 of 12: the place of hard12 (12) with the deadline 901 ticks is used, but "
                    "hard13 (13) with the relative deadline 1002 ns comes first",
                    "release-period at 1151 of 12: hard12 (12) is released at 1150 ticks, release 1 after 100 with the "
                    "period 1000 ns is at 1100",
                    "level-order 5/0/1", "edf-order 1/0/0", "rm-order 2/0/0", "fifo-order 1/0/0", "block-state 5/0/0",
                    "shadow-chain 5/0/0", "release-period 2/0/1", "edf-deadline 2/0/0", "rm-deadline 2/0/1",
                    "deadline-miss 6/0/0", "wcet-violation 4/0/0", "activation-violation 1/0/0"));
}

TEST_F(OracleReports, OfMissesAndOverruns) {
    Scene scene(R"(hard 12 edf 100 1000 300, hard 13 rm 100 900 300
                   100 release 12 by timer due 400, release 13 by timer due 400, dispatch 13, miss 13, overrun 13
                   overrun 13; 150 finish 13, dispatch 12; 350 finish 12, dispatch idle, miss 12
                   1000 release 13 by timer due 1300, leave idle, dispatch 13; 1320 choose 13
                   1330 finish 13, dispatch idle; 1900 release 13 by timer due 2200, leave idle, dispatch 13
                   2250 finish 13, dispatch idle)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "deadline-miss at 108 of 13: a miss of hard13 (13) is reported at 108 ticks, its job is due at 400",
            "wcet-violation at 109 of 13: an overrun of hard13 (13) is reported after 3 ticks, its worst case is 100",
            "wcet-violation at 110 of 13: an overrun of the same job of hard13 (13) is reported twice",
            "wcet-violation at 351 of 12: a job of hard12 (12) ran 198 ticks, its worst case is 100, and no overrun "
            "was recorded",
            "deadline-miss at 354 of 12: a miss of hard12 (12) is reported, but no job of it is incomplete",
            "deadline-miss at 1320 of 13: a job of hard13 (13) was due at 1300 ticks and is incomplete at 1320, and no "
            "miss was recorded",
            "wcet-violation at 1320 of 13: a job of hard13 (13) ran 316 ticks, its worst case is 100, and no overrun "
            "was recorded",
            "wcet-violation at 2251 of 13: a job of hard13 (13) ran 346 ticks, its worst case is 100, and no overrun "
            "was recorded",
            "deadline-miss at 2252 of 13: a job of hard13 (13) ended after its deadline, and no miss was recorded",
            "level-order 8/0/0", "edf-order 1/0/0", "rm-order 4/0/0", "fifo-order 3/0/0", "block-state 8/0/0",
            "shadow-chain 8/0/0", "release-period 2/0/0", "edf-deadline 1/0/0", "rm-deadline 3/0/0",
            "deadline-miss 9/0/4", "wcet-violation 7/0/5"));
}

TEST_F(OracleReports, OfActivations) {
    Scene scene(R"(task 12 load rr, job_queued 12 1, job_skipped 12, activate 12, release 12 at 20, dispatch 12
                   activate 12, job_queued 12 1, activate 12, job_queued 12 3, activate 12, job_skipped 12
                   finish 12, dispatch idle, release 12 at 60, leave idle, dispatch 12, finish 12
                   hard 13 edf 60 1000, activate 13; 100 release 13 by timer due 1100, dispatch 13
                   150 finish 13, activate 13, dispatch idle; 2000 activation_violation 13)");
    EXPECT_THAT(report(scene),
                ElementsAre("skip-save at 3 of 12: an activation of load (12) is kept although it has no job",
                            "skip-save at 4 of 12: an activation of load (12) is dropped although it has no job",
                            "skip-save at 10 of 12: load (12) has 1 pending activations, but 2 were kept",
                            "skip-save at 12 of 12: load (12) has 3 pending activations, but 2 were kept",
                            "skip-save at 17 of 12: load (12) has 3 kept activations, but its next job does not begin",
                            "skip-save at 103 of 12: load (12) has 2 kept activations, but its next job does not begin",
                            "activation-violation at 153 of 13: hard13 (13) was activated sooner than its minimum "
                            "inter-arrival after the release at 100 ticks, and no record reports it",
                            "activation-violation at 2000 of 13: an activation of hard13 (13) at 2000 ticks is "
                            "recorded as early, but it was due from 1100 on",
                            "level-order 5/0/0", "edf-order 1/0/0", "fifo-order 4/0/0", "block-state 5/0/0",
                            "shadow-chain 5/0/0", "edf-deadline 1/0/0", "deadline-miss 1/0/0", "wcet-violation 1/0/0",
                            "activation-violation 2/0/2", "skip-save 7/0/6"));
}

TEST_F(OracleReports, OfSlices) {
    Scene scene(R"(task 12 a rr budget 100, release 12 at 10, task 13 b rr budget 100, release 13 at 11; 50 dispatch 13
                   100 slice_end 13, leave 13; 110 dispatch 12; 400 choose 12; 500 slice_end 12, leave 12, dispatch 13
                   610 slice_end 13)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "rr-order at 50 of 13: the place of b (13) is used, but a (12) comes first",
            "rr-slice at 100 of 13: the slice of b (13) ends after 50 ticks, it has 100",
            "rr-slice at 400 of 12: the place of a (12) was used for 290 ticks, its slice is 100, and has not ended",
            "level-order 3/0/0", "rr-order 4/0/1", "block-state 4/0/0", "shadow-chain 4/0/0", "rr-slice 3/1/2"));
}

Scene served(std::uint16_t kind) {
    Scene scene(fmt::format(R"(480 task 12 soft {}, server 3 {} capacity 100 period 1000 for 12
                               490 hard 13 edf 400 1000)",
                            kind == 1 ? Scene::kCbs : Scene::kGrub, kind));
    if (kind == 2) {
        scene.play("server_bandwidth 0 0x7FFF'FFFF");
    }
    return scene.play("500 arrive 12 at 3 budget 100 due 1500; 506 dispatch 12");
}

TEST_F(OracleReports, OfAServerThatKeepsItsRules) {
    Scene scene = served(1);
    scene.play(R"(546 leave 12, budget 3 60, complete 12, dispatch idle
                  600 arrive 12 at 3 budget 60 due 1500, leave idle; 610 dispatch 12
                  670 leave 12, budget 3 0, exhaust 3, replenish 3, budget 3 100, server_deadline 3 2500
                  due 12 2500, complete 12, dispatch idle
                  2400 arrive 12 at 3 budget 100 due 3400, leave idle, dispatch 12)");
    EXPECT_THAT(report(scene), ElementsAre("level-order 5/0/0", "fifo-order 5/0/0", "block-state 5/0/0",
                                           "shadow-chain 5/0/0", "edf-deadline 4/0/0", "cbs-arrival 3/0/0",
                                           "cbs-exhaust 2/0/0", "cbs-budget 2/0/0", "cbs-isolation 5/1/0"));
}

TEST_F(OracleReports, OfWhatACbsIsCharged) {
    Scene scene = served(1);
    scene.play(R"(546 leave 12, budget 3 90, server_deadline 3 1600, dispatch 12; 700 leave 12, budget 3 0, dispatch 12
                  720 leave 12, exhaust 3, replenish 3, budget 3 300, server_deadline 3 2000, dispatch 12
                  760 leave 12, exhaust 3)");
    EXPECT_THAT(report(scene), ElementsAre("cbs-budget at 547: server 3 of soft (12) has 90 ticks left, but of 100 it "
                                           "was charged 40 for the 40 that ran in its place",
                                           "cbs-exhaust at 548: the deadline of server 3 of soft (12) goes from 1500 "
                                           "to 1600 ticks without an arrival or an exhaustion",
                                           "cbs-exhaust at 701: server 3 of soft (12) is charged 151 ticks, its budget "
                                           "was 90: it had to be exhausted sooner",
                                           "cbs-isolation at 701: server 3 of soft (12) used 191 of the 1100 ticks up "
                                           "to its deadline 1600, it may use 110",
                                           "cbs-isolation at 723: server 3 of soft (12) used 209 of the 1100 ticks up "
                                           "to its deadline 1600, it may use 110",
                                           "cbs-exhaust at 724: server 3 of soft (12) is exhausted and gets the budget "
                                           "300 and the deadline 2000; Q is 100, d + T is 2600",
                                           "cbs-exhaust at 761: server 3 of soft (12) is recorded as exhausted after a "
                                           "charge of 35 ticks, its budget was 300",
                                           "level-order 4/0/0", "fifo-order 4/0/0", "block-state 4/0/0",
                                           "shadow-chain 4/0/0", "edf-deadline 1/0/0", "cbs-arrival 1/0/0",
                                           "cbs-exhaust 5/0/4", "cbs-budget 1/0/1", "cbs-isolation 3/1/2"));
}

TEST_F(OracleReports, OfArrivalsAtACbs) {
    const auto again = [](std::uint64_t time, std::uint32_t budget, std::uint32_t deadline) {
        Scene scene = served(1);
        return scene.play(fmt::format(R"(546 leave 12, budget 3 60, complete 12, dispatch idle
                                         {} arrive 12 at 3 budget {} due {})",
                                      time, budget, deadline));
    };
    const Scene renewed_too_soon = again(700, 100, 1700);
    const Scene kept_too_long = again(1100, 60, 1500);
    const Scene budget_changed = again(700, 90, 1500);
    const Scene not_a_period = again(1100, 100, 2300);
    EXPECT_THAT(report(renewed_too_soon),
                ElementsAre("cbs-arrival at 702: work arrives at 700 ticks for server 3 of soft (12) with the budget "
                            "60 and the deadline 1500: c T < (d - t) Q, so both had to be kept",
                            "level-order 2/0/0", "fifo-order 2/0/0", "block-state 2/0/0", "shadow-chain 2/0/0",
                            "edf-deadline 2/0/0", "cbs-arrival 2/0/1", "cbs-budget 1/0/0", "cbs-isolation 2/1/0"));
    EXPECT_THAT(
        report(kept_too_long),
        ElementsAre("cbs-arrival at 1102: work arrives at about 1100 ticks for server 3 of soft (12) with the budget "
                    "60 and the deadline 1500: c T >= (d - t) Q or d <= t, so d = t + T and c = Q were due",
                    "level-order 2/0/0", "fifo-order 2/0/0", "block-state 2/0/0", "shadow-chain 2/0/0",
                    "edf-deadline 2/0/0", "cbs-arrival 2/0/1", "cbs-budget 1/0/0", "cbs-isolation 2/1/0"));
    EXPECT_THAT(
        report(budget_changed),
        ElementsAre("cbs-arrival at 702: server 3 of soft (12) keeps its deadline, but its budget goes from 60 to 90",
                    "level-order 2/0/0", "fifo-order 2/0/0", "block-state 2/0/0", "shadow-chain 2/0/0",
                    "edf-deadline 2/0/0", "cbs-arrival 2/0/1", "cbs-budget 1/0/0", "cbs-isolation 2/1/0"));
    EXPECT_THAT(report(not_a_period),
                ElementsAre("cbs-arrival at 1102: work for server 3 of soft (12) arrives at about 1100 ticks and gives "
                            "it the deadline 2300 and the budget 100; t + T is 2100, Q is 100",
                            "level-order 2/0/0", "fifo-order 2/0/0", "block-state 2/0/0", "shadow-chain 2/0/0",
                            "edf-deadline 2/0/0", "cbs-arrival 2/0/1", "cbs-budget 1/0/0", "cbs-isolation 2/1/0"));
}

TEST_F(OracleReports, OfAGrub) {
    Scene scene = served(2);
    scene.play(R"(546 leave 12, budget 3 60, complete 12, server_bandwidth 0 0x1000, dispatch idle; 990 choose idle
                  1000 server_reclaiming 0 3, dispatch idle)");
    EXPECT_THAT(report(scene), ElementsAre("grub-rate at 550: the active bandwidth is recorded as 4096 of 4294967295, "
                                           "the reservations and active servers add up to 2147483648",
                                           "grub-zero-lag at 990: server 3 without work still has its bandwidth at 990 "
                                           "ticks, its zero-lag time was 900",
                                           "grub-rate at 990: the active bandwidth is recorded as 4096 of 4294967295, "
                                           "the reservations and active servers add up to 2147483648",
                                           "grub-rate at 1001: the active bandwidth is recorded as 4096 of 4294967295, "
                                           "the reservations and active servers add up to 1717986918",
                                           "level-order 4/0/0", "fifo-order 4/0/0", "block-state 4/0/0",
                                           "shadow-chain 4/0/0", "edf-deadline 1/0/0", "cbs-arrival 1/0/0",
                                           "grub-rate 4/0/3", "grub-zero-lag 2/0/1", "grub-budget 1/0/0"));
}

TEST_F(OracleReports, OfADeferrableServer) {
    Scene scene(R"(task 12 request served, server 3 deferrable capacity 100 period 1000 for 12, replenish 3
                   budget 3 100, server_deadline 3 1000, dispatch idle; 200 release 12, leave idle, dispatch 12
                   240 leave 12, budget 3 90, exhaust 3, budget 3 0, dispatch 12
                   700 replenish 3, budget 3 70, server_deadline 3 2500, leave 12
                   2500 replenish 3, budget 3 100, server_deadline 3 3500)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "server-budget at 241: server 3 has 90 ticks left, but of 100 38 ran in its place",
            "server-budget at 242: server 3 is recorded as exhausted after 0 ticks, its budget was 90",
            "server-budget at 243: server 3 has 0 ticks left, but of 90 0 ran in its place",
            "server-budget at 244 of 12: request (12) is served although its server's budget is 0",
            "server-replenish at 700: server 3 is replenished at 700 ticks, its period ends at 1000",
            "server-replenish at 701: server 3 is replenished to 70 ticks, Q is 100",
            "server-replenish at 702: server 3 is recorded as replenished at 2500 ticks next, origin + 2 T is 3000",
            "level-order 3/0/0", "fifo-order 3/0/0", "block-state 3/0/0", "server-budget 5/0/4", "shadow-chain 3/0/0",
            "server-replenish 7/1/3"));
}

TEST_F(OracleReports, OfAPollingServer) {
    Scene scene(R"(task 12 request served, server 3 polling capacity 100 period 1000 for 12, replenish 3
                   budget 3 100, server_deadline 3 1000, dispatch idle, budget 3 0; 900 release 12, choose idle
                   1001 replenish 3, budget 3 100, server_deadline 3 2000, leave idle, dispatch 12
                   1050 leave 12, budget 3 55, budget 3 0, dispatch idle)");
    EXPECT_THAT(
        report(scene),
        ElementsAre("server-replenish at 11: polling server 3 keeps 100 ticks of budget without a request",
                    "server-budget at 1053 of 12: polling server 3 loses its budget, but has the request request (12)",
                    "level-order 4/0/0", "fifo-order 4/0/0", "block-state 4/0/0", "server-budget 3/0/1",
                    "shadow-chain 4/0/0", "server-replenish 6/1/1"));
}

TEST_F(OracleReports, OfTheOwnersOfAMutex) {
    Scene scene("hard 12 edf 50 9000, hard 13 edf 50 300, mutex 1 inheritance, mutex 2 inheritance");
    scene.chunk.name("mutex", 2, "bus");
    scene.play(R"(100 release 12 by timer due 9100, dispatch 12, unlock 12 2, set_mutex_inherit 12 1, lock 12 1
                  acquire 12 1, blocked 12 1, acquire 13 1, blocked 12 2, unlock 12 1)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "mutex-owner at 105 of 12: hard12 (12) unlocks mutex 2 (bus), which no task owns",
            "mutex-owner at 106 of 12: hard12 (12) is recorded as inheriting through mutex 1, which no task owns",
            "mutex-owner at 109 of 12: hard12 (12) is blocked by mutex 1, which it owns itself",
            "mutex-owner at 110 of 13: hard13 (13) acquires mutex 1, which hard12 (12) owns",
            "mutex-owner at 111 of 12: hard12 (12) is blocked by mutex 2 (bus), which no task owns",
            "mutex-owner at 112 of 12: hard12 (12) unlocks mutex 1, which hard13 (13) owns", "level-order 1/0/0",
            "edf-order 1/0/0", "block-state 1/0/0", "shadow-chain 1/0/0", "mutex-owner 7/0/6", "edf-deadline 1/0/0",
            "deadline-miss 1/0/0"));
}

TEST_F(OracleReports, OfCeilings) {
    Scene scene(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 300'000, hard 14 edf 50 90'000, mutex 1 ceiling 300
                   mutex 2 ceiling 100; 100 release 12 by timer due 9'000'100, dispatch 12, lock 12 1, acquire 12 1
                   150 release 13 by timer due 300'150, leave 12, dispatch 13, lock 13 2, acquire 13 2, unlock 13 2
                   release 14 by timer at 180 due 90'180, leave 13, dispatch 14, lock 14 2, acquire 14 2
                   unlock 14 2, lock 14 1, leave 14, blocked 14 1)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "pc-grant at 157 of 13: hard13 (13) with the preemption level 300 us is granted mutex 2, but hard12 (12) "
            "holds a mutex with the ceiling 300 us",
            "ceiling at 166 of 14: hard14 (14) locks mutex 2, whose ceiling 100 us is below its preemption level 90 us",
            "pc-block at 170 of 14: hard14 (14) with the preemption level 90 us is blocked by mutex 1 with the ceiling "
            "300 us, but the highest ceiling that others hold is 300 us",
            "level-order 3/0/0", "edf-order 3/0/0", "block-state 3/0/0", "shadow-chain 3/0/0", "mutex-owner 6/0/0",
            "pc-grant 3/0/1", "pc-block 1/0/1", "ceiling 3/0/1", "edf-deadline 3/0/0", "deadline-miss 6/0/0"));
}

TEST_F(OracleReports, OfAStack) {
    Scene scene(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 300'000, hard 14 edf 50 200'000, mutex 1 stack 300
                   100 release 12 by timer due 9'000'100, dispatch 12 first, lock 12 1, acquire 12 1
                   150 release 13 by timer due 300'150, leave 12, dispatch 13 first, blocked 13 1
                   release 14 by timer at 180 due 200'180, leave 13, dispatch 14 first, blocked 14 1)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "srp-start at 154 of 13: the chain of hard13 (13) ends in hard12 (12), but hard13 (13) runs in its place",
            "srp-start at 155 of 13: a job of hard13 (13) with the preemption level 300 us begins, but hard12 (12) "
            "holds a mutex with the ceiling 300 us",
            "srp-block at 157 of 13: hard13 (13) is blocked by mutex 1 of the stack protocol, and neither it nor the "
            "owner hard12 (12) has left its place since its job began",
            "srp-block at 165 of 14: hard14 (14) is blocked by mutex 1 of the stack protocol, and neither it nor the "
            "owner hard12 (12) has left its place since its job began",
            "level-order 3/0/0", "edf-order 2/0/0", "block-state 3/0/0", "shadow-chain 2/0/0", "pi-inheritance 1/0/0",
            "mutex-owner 3/0/0", "srp-start 3/0/2", "srp-block 3/0/2", "ceiling 1/0/0", "edf-deadline 3/0/0",
            "deadline-miss 6/0/0"));
}

// 12 owns, 13 is blocked by it; 14 has a later deadline than 13.
Scene blocked() {
    return Scene(R"(hard 12 edf 50 9000, hard 13 edf 50 300, hard 14 edf 50 5000, mutex 1 inheritance
                    100 release 12 by timer due 9100, dispatch 12, lock 12 1, acquire 12 1
                    120 release 13 by timer due 420, leave 12, dispatch 13, lock 13 1, leave 13, blocked 13 1
                    set_mutex_inherit 12 1, release 14 by timer at 130 due 5130)");
}

TEST_F(OracleReports, OfChains) {
    const Scene kept = blocked().play("dispatch 12 for 13, inheritance 12 13");
    const Scene other = blocked().play("dispatch 14 for 13, inheritance 14 13");
    const Scene none = blocked().play("dispatch 14");
    const Scene itself = blocked().play("dispatch 13");
    const Scene returned = blocked().play("dispatch 12 for 13, unlock 12 1, choose 12 for 13");
    const Scene late = blocked().play("dispatch 12 for 13, unlock 12 1; 170 leave 12, dispatch 13");
    EXPECT_THAT(report(kept),
                ElementsAre("level-order 3/0/0", "edf-order 2/0/0", "block-state 3/0/0", "shadow-chain 4/0/0",
                            "pi-inheritance 1/0/0", "mutex-owner 3/0/0", "edf-deadline 3/0/0", "deadline-miss 6/0/0"));
    EXPECT_THAT(report(other),
                ElementsAre("shadow-chain at 133 of 14: the chain of hard13 (13) ends in hard12 (12), but hard14 (14) "
                            "runs in its place",
                            "shadow-chain at 135 of 14: the chain of hard13 (13) ends in hard12 (12), but hard14 (14) "
                            "is recorded as inheriting",
                            "level-order 3/0/0", "edf-order 2/0/0", "block-state 3/0/0", "shadow-chain 4/0/2",
                            "pi-inheritance 1/0/0", "mutex-owner 3/0/0", "edf-deadline 3/0/0", "deadline-miss 6/0/0"));
    EXPECT_THAT(
        report(none),
        ElementsAre("pi-inheritance at 133 of 14: the place of hard14 (14) with the deadline 5130 ticks is used, but "
                    "hard13 (13) with the deadline 420 ticks, whose place hard12 (12) should use comes first",
                    "level-order 2/0/0", "edf-order 2/0/0", "block-state 3/0/0", "shadow-chain 3/0/0",
                    "pi-inheritance 1/0/1", "mutex-owner 3/0/0", "edf-deadline 3/0/0", "deadline-miss 6/0/0"));
    EXPECT_THAT(report(itself),
                ElementsAre("pi-inheritance at 133 of 13: the chain of hard13 (13) ends in hard12 (12), but hard13 "
                            "(13) runs in its place",
                            "level-order 3/0/0", "edf-order 2/0/0", "block-state 3/0/0", "shadow-chain 2/0/0",
                            "pi-inheritance 2/0/1", "mutex-owner 3/0/0", "edf-deadline 3/0/0", "deadline-miss 6/0/0"));
    EXPECT_THAT(
        report(returned),
        ElementsAre(
            "pi-return at 136 of 12: the chain of hard13 (13) ends in hard13 (13), but hard12 (12) runs in its place",
            "level-order 4/0/0", "edf-order 3/0/0", "block-state 4/0/0", "shadow-chain 3/0/0", "pi-inheritance 1/0/0",
            "pi-return 1/0/1", "mutex-owner 4/0/0", "edf-deadline 3/0/0", "deadline-miss 9/0/0"));
    EXPECT_THAT(report(late), ElementsAre("pi-return at 170 of 12: the chain of hard13 (13) ends in hard13 (13), but "
                                          "hard12 (12) runs in its place; it continues without a decision for 35 ticks",
                                          "level-order 4/0/0", "edf-order 3/0/0", "block-state 4/0/0",
                                          "shadow-chain 4/0/0", "pi-inheritance 1/0/0", "pi-return 1/0/1",
                                          "mutex-owner 4/0/0", "edf-deadline 3/0/0", "deadline-miss 9/0/0"));
}

TEST_F(OracleReports, OfStates) {
    Scene scene(R"(hard 12 edf 50 900, hard 13 rm 50 300, task 14 load rr
                   100 release 12 by timer due 1000, release 13 by timer at 101 due 401, release 14 at 102
                   dispatch 14, leave 14, wait 13 delay, dispatch 13, leave 13, wait 12 suspended
                   dispatch 14 for 12, leave 14, wake 12 suspended, wake 13 delay, dispatch 13, leave 13
                   dispatch 99)");
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "level-order at 107 of 14: the place of load (14) is used, but hard13 (13) with the relative deadline 300 "
            "ns comes first",
            "block-state at 111 of 13: hard13 (13) is dispatched, but it is not ready",
            "block-state at 115 of 12: the place of hard12 (12) is used, but it is in no ready queue",
            "pi-return at 115 of 14: the chain of hard12 (12) ends in hard12 (12), but load (14) runs in its place",
            "block-state at 123: context 99 is chosen for the place of context 99, and there is no such task",
            "level-order 4/0/1", "edf-order 1/0/0", "rm-order 2/0/0", "block-state 5/0/3", "shadow-chain 3/0/0",
            "pi-return 1/0/1", "edf-deadline 1/0/0", "rm-deadline 1/0/0", "deadline-miss 10/0/0"));
}

Scene waiting() {
    Scene scene(R"(set_semaphore_create 1 7, hard 12 edf 50 900, hard 13 edf 50 300, task 14 load rr
                   task 15 more rr, release 12 by timer at 100 due 1000, release 13 by timer at 100 due 400
                   release 14 at 100, release 15 at 100, dispatch 13, set_mutex_wait 13 7, set_mutex_wait 13 7
                   leave 13, wait 13 semaphore 7, dispatch 12, set_mutex_wait 12 7, leave 12, wait 12 semaphore 7)");
    for (const std::uint16_t context : {std::uint16_t{14}, std::uint16_t{15}}) {
        scene.play(fmt::format("dispatch {}, set_mutex_wait {} 7, leave {}, wait {} semaphore 7", context, context,
                               context, context));
    }
    return scene.play("dispatch idle");
}

TEST_F(OracleReports, OfWakeUps) {
    Scene in_turn = waiting();
    for (const std::uint16_t context : {std::uint16_t{13}, std::uint16_t{12}, std::uint16_t{14}, std::uint16_t{15}}) {
        in_turn.play(fmt::format("set_mutex_post 0 7, wake {} semaphore 7", context));
    }
    Scene reversed = waiting();
    for (const std::uint16_t context : {std::uint16_t{15}, std::uint16_t{14}, std::uint16_t{12}, std::uint16_t{13}}) {
        reversed.play(fmt::format("set_mutex_post 0 7, wake {} semaphore 7", context));
    }
    Scene lost = waiting();
    lost.play(R"(set_mutex_post 0 7, choose idle, set_mutex_post 0 7, choose idle, wake 13 semaphore 7
                 wake 12 suspended, set_mutex_post 0 7, choose idle)");
    EXPECT_THAT(report(in_turn),
                ElementsAre("level-order 5/0/0", "edf-order 2/0/0", "fifo-order 3/0/0", "block-state 5/0/0",
                            "shadow-chain 5/0/0", "edf-deadline 2/0/0", "deadline-miss 10/0/0", "lost-wakeup 4/0/0",
                            "wake-order 4/0/0", "semaphore-count 5/0/0"));
    EXPECT_THAT(report(reversed),
                ElementsAre("wake-order at 39 of 15: semaphore 7 wakes more (15), but hard13 (13) with the deadline "
                            "400 ticks waits with higher urgency",
                            "wake-order at 41 of 14: semaphore 7 wakes load (14), but hard13 (13) with the deadline "
                            "400 ticks waits with higher urgency",
                            "wake-order at 43 of 12: semaphore 7 wakes hard12 (12) with the deadline 1000 ticks, but "
                            "hard13 (13) with the deadline 400 ticks waits with higher urgency",
                            "level-order 5/0/0", "edf-order 2/0/0", "fifo-order 3/0/0", "block-state 5/0/0",
                            "shadow-chain 5/0/0", "edf-deadline 2/0/0", "deadline-miss 10/0/0", "lost-wakeup 4/0/0",
                            "wake-order 4/0/3", "semaphore-count 5/0/0"));
    EXPECT_THAT(report(lost), ElementsAre("lost-wakeup at 42 of 13: semaphore 7 was posted before 39 ticks while "
                                          "hard13 (13) waited, and no task was woken",
                                          "level-order at 45 of 1: the place of idle (1) is used, but hard13 (13) with "
                                          "the deadline 400 ticks comes first",
                                          "lost-wakeup at 45 of 14: semaphore 7 was posted before 45 ticks while load "
                                          "(14) waited, and no task was woken",
                                          "level-order 8/0/1", "edf-order 2/0/0", "fifo-order 5/0/0",
                                          "block-state 8/0/0", "shadow-chain 8/0/0", "edf-deadline 2/0/0",
                                          "deadline-miss 16/0/0", "lost-wakeup 2/1/2", "semaphore-count 5/0/0"));
}

TEST_F(OracleReports, OfUnits) {
    Scene scene(R"(set_semaphore_create 2 7, hard 12 edf 50 900, release 12 by timer at 100 due 1000, dispatch 12
                   set_mutex_wait 12 7, set_mutex_wait 12 7, set_mutex_wait 12 7, choose 12, set_mutex_post 12 7
                   set_mutex_wait 12 7, set_mutex_post 12 7, leave 12, wait 12 semaphore 7, dispatch idle)");
    EXPECT_THAT(
        report(scene),
        ElementsAre("semaphore-count at 12 of 12: hard12 (12) waits on semaphore 7, which has no unit, and continues",
                    "semaphore-count at 17 of 12: hard12 (12) begins to wait on semaphore 7, which had a unit for it",
                    "level-order 3/0/0", "edf-order 2/0/0", "fifo-order 1/0/0", "block-state 3/0/0",
                    "shadow-chain 3/0/0", "edf-deadline 1/0/0", "deadline-miss 3/0/0", "semaphore-count 5/0/2"));
}

// After a gap no state is known, and rules are undecided until records show one.
TEST_F(OracleReports, OfWhatIsUndecidedAfterAGap) {
    const auto gap = [](Scene scene) { return scene.play("blackout, lost 5"); };
    Scene jobs = gap(blocked());
    jobs.play(R"(acquire 13 1, blocked 14 1, miss 13, overrun 13, activation_violation 13, due 13 500
                 inheritance 13 14, dispatch 13, leave 13, unlock 13 1, dispatch 14 for 13 first)");
    Scene server = gap(served(1));
    server.play(R"(server_active 12 3, budget 3 100, server_deadline 3 1700, exhaust 3, budget 3 100
                   server_deadline 3 2700, dispatch 12)");
    Scene grub = gap(served(2));
    grub.play(R"(server_reclaiming 0 3, exhaust 3, budget 3 100, budget 3 90, server_bandwidth 0 0x7FFF'FFFF
                 dispatch 12)");
    Scene semaphore = gap(waiting());
    semaphore.play(R"(set_mutex_wait 12 7, set_mutex_post 0 7, wait 12 semaphore 7, set_mutex_post 0 7
                      wake 13 semaphore 7, dispatch 12, set_mutex_post 0 7, choose 12)");
    EXPECT_THAT(
        report(jobs),
        ElementsAre(
            "pi-return at 146 of 14: the chain of hard13 (13) ends in hard13 (13), but hard14 (14) runs in its place",
            "level-order 2/2/0", "edf-order 2/2/0", "block-state 2/2/0", "shadow-chain 4/0/0", "pi-return 1/0/1",
            "mutex-owner 4/2/0", "edf-deadline 3/0/0", "deadline-miss 3/1/0", "wcet-violation 0/1/0",
            "activation-violation 0/1/0"));
    EXPECT_THAT(report(server),
                ElementsAre("level-order 1/1/0", "fifo-order 1/0/0", "block-state 1/1/0", "shadow-chain 1/1/0",
                            "edf-deadline 1/0/0", "cbs-arrival 1/1/0", "cbs-exhaust 0/2/0", "cbs-isolation 0/3/0"));
    EXPECT_THAT(report(grub), ElementsAre("level-order 1/1/0", "fifo-order 1/0/0", "block-state 1/1/0",
                                          "shadow-chain 1/1/0", "edf-deadline 1/0/0", "cbs-arrival 1/0/0",
                                          "cbs-exhaust 0/1/0", "grub-rate 1/1/0", "grub-zero-lag 0/1/0"));
    EXPECT_THAT(report(semaphore),
                ElementsAre("level-order 5/2/0", "edf-order 2/1/0", "fifo-order 3/0/0", "block-state 5/2/0",
                            "shadow-chain 5/2/0", "pi-inheritance 0/1/0", "edf-deadline 2/0/0", "deadline-miss 10/0/0",
                            "lost-wakeup 0/3/0", "wake-order 0/1/0", "semaphore-count 5/1/0"));
}

} // namespace

} // namespace host::analyse::oracle::reports_test
