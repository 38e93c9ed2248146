// SPDX-License-Identifier: MIT
// Everything that is reported of a scene: each violation with its stamp, its task and its sentence, then each rule with
// how often it was checked, undecided and violated.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;
using testing::ElementsAre;

class OracleReports : public support::OracleTest {};

constexpr std::uint32_t kSemaphore = (1U << 16) | 7U;
constexpr std::uint32_t kDelay = 2U << 16;
constexpr std::uint32_t kSuspended = 6U << 16;

TEST_F(OracleReports, OfReleasesAndDeadlines) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 60, 1000, 800).hard(13, Scene::kRm, 60, 1000, 800);
    scene.at(100).event("task_activate", 12).release(12, 100, 901).release(13, 110, 1111).at(200).run(12).at(230);
    scene.end_job(12).run(13).at(260).end_job(13).run(Scene::kIdle).at(1150).release(12, 1150, 1950);
    scene.at(1160).release(13, 1110, 1910).leave(Scene::kIdle).run(13).at(1170).end_job(13);
    scene.at(1200).event("task_activate", 12).event("activation_violation", 12).run(12).end_job(12);
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
    Scene scene;
    scene.hard(12, Scene::kEdf, 100, 1000, 300).hard(13, Scene::kRm, 100, 900, 300);
    scene.at(100).release(12, 100, 400).release(13, 100, 400).run(13).event("task_deadline_miss", 13);
    scene.event("task_wcet_violation", 13).event("task_wcet_violation", 13).at(150).end_job(13).run(12).at(350);
    scene.end_job(12).run(Scene::kIdle).event("task_deadline_miss", 12);
    scene.at(1000).release(13, 1000, 1300).leave(Scene::kIdle).run(13).at(1320).event("task_schedule", 13, 13);
    scene.at(1330).end_job(13).run(Scene::kIdle).at(1900).release(13, 1900, 2200).leave(Scene::kIdle).run(13);
    scene.at(2250).end_job(13).run(Scene::kIdle);
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
            "wcet-violation at 1331 of 13: a job of hard13 (13) ran 326 ticks, its worst case is 100, and no overrun "
            "was recorded",
            "wcet-violation at 2251 of 13: a job of hard13 (13) ran 346 ticks, its worst case is 100, and no overrun "
            "was recorded",
            "deadline-miss at 2252 of 13: a job of hard13 (13) ended after its deadline, and no miss was recorded",
            "level-order 8/0/0", "edf-order 1/0/0", "rm-order 4/0/0", "fifo-order 3/0/0", "block-state 8/0/0",
            "shadow-chain 8/0/0", "release-period 2/0/0", "edf-deadline 1/0/0", "rm-deadline 3/0/0",
            "deadline-miss 9/0/4", "wcet-violation 6/0/5"));
}

TEST_F(OracleReports, OfActivations) {
    Scene scene;
    scene.task(12, "load", {.level = Scene::kRr}).event("job_queued", 12, 1).event("job_skipped", 12);
    scene.event("task_activate", 12).release(12, 20).run(12).event("task_activate", 12).event("job_queued", 12, 1);
    scene.event("task_activate", 12).event("job_queued", 12, 3).event("task_activate", 12).event("job_skipped", 12);
    scene.end_job(12).run(Scene::kIdle).release(12, 60).leave(Scene::kIdle).run(12).end_job(12);
    scene.hard(13, Scene::kEdf, 60, 1000).event("task_activate", 13).at(100).release(13, 100, 1100).run(13).at(150);
    scene.end_job(13).event("task_activate", 13).run(Scene::kIdle).at(2000).event("activation_violation", 13);
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
    Scene scene;
    scene.task(12, "a", {.level = Scene::kRr, .budget_ns = 100}).release(12, 10);
    scene.task(13, "b", {.level = Scene::kRr, .budget_ns = 100}).release(13, 11);
    scene.at(50)
        .run(13)
        .at(100)
        .event("slice_end", 13)
        .leave(13)
        .at(110)
        .run(12)
        .at(400)
        .event("task_schedule", 12, 12);
    scene.at(500).event("slice_end", 12).leave(12).run(13).at(610).event("slice_end", 13);
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "rr-order at 50 of 13: the place of b (13) is used, but a (12) comes first",
            "rr-slice at 100 of 13: the slice of b (13) ends after 50 ticks, it has 100",
            "rr-slice at 400 of 12: the place of a (12) was used for 290 ticks, its slice is 100, and has not ended",
            "level-order 3/0/0", "rr-order 4/0/1", "block-state 4/0/0", "shadow-chain 4/0/0", "rr-slice 3/1/2"));
}

Scene served(std::uint16_t kind) {
    Scene scene;
    scene.at(480).task(12, "soft", {.level = kind == 1 ? Scene::kCbs : Scene::kGrub}).server(3, kind, 100, 1000, 12);
    scene.at(490).hard(13, Scene::kEdf, 400, 1000);
    if (kind == 2) {
        scene.event("server_bandwidth", 0, 0x7FFF'FFFF);
    }
    return scene.at(500).arrive(3, 12, 100, 1500).at(506).run(12);
}

TEST_F(OracleReports, OfAServerThatKeepsItsRules) {
    Scene scene = served(1);
    scene.at(546).leave(12).event("server_budget", 3, 60).event("task_end_cycle", 12).run(Scene::kIdle).at(600);
    scene.arrive(3, 12, 60, 1500).leave(Scene::kIdle).at(610).run(12).at(670).leave(12).event("server_budget", 3, 0);
    scene.event("server_exhaust", 0, 3).event("server_replenish", 0, 3).event("server_budget", 3, 100);
    scene.event("server_deadline", 3, 2500).event("job_deadline", 12, 2500).event("task_end_cycle", 12);
    scene.run(Scene::kIdle).at(2400).arrive(3, 12, 100, 3400).leave(Scene::kIdle).run(12);
    EXPECT_THAT(report(scene), ElementsAre("level-order 5/0/0", "fifo-order 5/0/0", "block-state 5/0/0",
                                           "shadow-chain 5/0/0", "edf-deadline 4/0/0", "cbs-arrival 3/0/0",
                                           "cbs-exhaust 2/0/0", "cbs-budget 2/0/0", "cbs-isolation 5/1/0"));
}

TEST_F(OracleReports, OfWhatACbsIsCharged) {
    Scene scene = served(1);
    scene.at(546).leave(12).event("server_budget", 3, 90).event("server_deadline", 3, 1600).run(12).at(700).leave(12);
    scene.event("server_budget", 3, 0).run(12).at(720).leave(12).event("server_exhaust", 0, 3);
    scene.event("server_replenish", 0, 3).event("server_budget", 3, 300).event("server_deadline", 3, 2000).run(12);
    scene.at(760).leave(12).event("server_exhaust", 0, 3);
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
        scene.at(546).leave(12).event("server_budget", 3, 60).event("task_end_cycle", 12).run(Scene::kIdle).at(time);
        return scene.arrive(3, 12, budget, deadline);
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
    scene.at(546).leave(12).event("server_budget", 3, 60).event("task_end_cycle", 12);
    scene.event("server_bandwidth", 0, 0x1000).run(Scene::kIdle).at(990).event("task_schedule", 1, 1);
    scene.at(1000).event("server_reclaiming", 0, 3).run(Scene::kIdle);
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
    Scene scene;
    scene.task(12, "request", {.level = Scene::kServed}).server(3, 4, 100, 1000, 12).event("server_replenish", 0, 3);
    scene.event("server_budget", 3, 100).event("server_deadline", 3, 1000).run(Scene::kIdle).at(200).release(12, 200);
    scene.leave(Scene::kIdle).run(12).at(240).leave(12).event("server_budget", 3, 90).event("server_exhaust", 0, 3);
    scene.event("server_budget", 3, 0).run(12).at(700).event("server_replenish", 0, 3).event("server_budget", 3, 70);
    scene.event("server_deadline", 3, 2500).leave(12).at(2500).event("server_replenish", 0, 3);
    scene.event("server_budget", 3, 100).event("server_deadline", 3, 3500);
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
    Scene scene;
    scene.task(12, "request", {.level = Scene::kServed}).server(3, 3, 100, 1000, 12).event("server_replenish", 0, 3);
    scene.event("server_budget", 3, 100).event("server_deadline", 3, 1000).run(Scene::kIdle);
    scene.event("server_budget", 3, 0).at(900).release(12, 900).event("task_schedule", 1, 1).at(1001);
    scene.event("server_replenish", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 2000);
    scene.leave(Scene::kIdle).run(12).at(1050).leave(12).event("server_budget", 3, 55).event("server_budget", 3, 0);
    scene.run(Scene::kIdle);
    EXPECT_THAT(
        report(scene),
        ElementsAre("server-replenish at 11: polling server 3 keeps 100 ticks of budget without a request",
                    "server-budget at 1053 of 12: polling server 3 loses its budget, but has the request request (12)",
                    "level-order 4/0/0", "fifo-order 4/0/0", "block-state 4/0/0", "server-budget 3/0/1",
                    "shadow-chain 4/0/0", "server-replenish 6/1/1"));
}

TEST_F(OracleReports, OfTheOwnersOfAMutex) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9000).hard(13, Scene::kEdf, 50, 300).mutex(1, 1).mutex(2, 1);
    scene.chunk.name("mutex", 2, "bus");
    scene.at(100).release(12, 100, 9100).run(12).event("set_mutex_unlock", 12, 2).event("set_mutex_inherit", 12, 1);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).event("set_mutex_block", 12, 1);
    scene.event("set_mutex_acquire", 13, 1).event("set_mutex_block", 12, 2).event("set_mutex_unlock", 12, 1);
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
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, 300'000).hard(14, Scene::kEdf, 50, 90'000);
    scene.mutex(1, 2, 300).mutex(2, 2, 100).at(100).release(12, 100, 9'000'100).run(12);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).at(150).release(13, 150, 300'150).leave(12);
    scene.run(13).event("set_mutex_lock", 13, 2).event("set_mutex_acquire", 13, 2).event("set_mutex_unlock", 13, 2);
    scene.release(14, 180, 90'180).leave(13).run(14).event("set_mutex_lock", 14, 2).event("set_mutex_acquire", 14, 2);
    scene.event("set_mutex_unlock", 14, 2).event("set_mutex_lock", 14, 1).leave(14).event("set_mutex_block", 14, 1);
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
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, 300'000).hard(14, Scene::kEdf, 50, 200'000);
    scene.mutex(1, 3, 300).at(100).release(12, 100, 9'000'100).run(12, 0, true);
    scene.event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1).at(150).release(13, 150, 300'150).leave(12);
    scene.run(13, 0, true).event("set_mutex_block", 13, 1).release(14, 180, 200'180).leave(13).run(14, 0, true);
    scene.event("set_mutex_block", 14, 1);
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
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9000).hard(13, Scene::kEdf, 50, 300).hard(14, Scene::kEdf, 50, 5000).mutex(1, 1);
    scene.at(100).release(12, 100, 9100).run(12).event("set_mutex_lock", 12, 1).event("set_mutex_acquire", 12, 1);
    scene.at(120).release(13, 120, 420).leave(12).run(13).event("set_mutex_lock", 13, 1).leave(13);
    scene.event("set_mutex_block", 13, 1).event("set_mutex_inherit", 12, 1);
    return scene.release(14, 130, 5130);
}

TEST_F(OracleReports, OfChains) {
    const Scene kept = blocked().run(12, 13).event("inheritance", 12, 13);
    const Scene other = blocked().run(14, 13).event("inheritance", 14, 13);
    const Scene none = blocked().run(14);
    const Scene itself = blocked().run(13);
    const Scene returned = blocked().run(12, 13).event("set_mutex_unlock", 12, 1).event("task_schedule", 12, 13);
    const Scene late = blocked().run(12, 13).event("set_mutex_unlock", 12, 1).at(170).leave(12).run(13);
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
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 900).hard(13, Scene::kRm, 50, 300).task(14, "load", {.level = Scene::kRr});
    scene.at(100).release(12, 100, 1000).release(13, 101, 401).release(14, 102).run(14).leave(14);
    scene.event("task_block", 13, kDelay).run(13).leave(13).event("task_block", 12, kSuspended).run(14, 12).leave(14);
    scene.event("task_unblock", 12, kSuspended).event("task_unblock", 13, kDelay).run(13).leave(13).run(99);
    EXPECT_THAT(
        report(scene),
        ElementsAre(
            "level-order at 107 of 14: the place of load (14) is used, but hard13 (13) with the relative deadline 300 "
            "ns comes first",
            "block-state at 111 of 13: hard13 (13) is dispatched, but it is not ready",
            "block-state at 115 of 12: the place of hard12 (12) is used, but it is in no ready queue",
            "pi-return at 115 of 14: the chain of hard12 (12) ends in hard12 (12), but load (14) runs in its place",
            "level-order 4/1/1", "edf-order 1/0/0", "rm-order 2/0/0", "block-state 4/1/2", "shadow-chain 3/1/0",
            "pi-return 1/0/1", "edf-deadline 1/0/0", "rm-deadline 1/0/0", "deadline-miss 10/0/0"));
}

Scene waiting() {
    Scene scene;
    scene.event("set_semaphore_create", 1, 7).hard(12, Scene::kEdf, 50, 900).hard(13, Scene::kEdf, 50, 300);
    scene.task(14, "load", {.level = Scene::kRr}).task(15, "more", {.level = Scene::kRr});
    scene.release(12, 100, 1000).release(13, 100, 400).release(14, 100).release(15, 100);
    scene.run(13).event("set_mutex_wait", 13, 7).event("set_mutex_wait", 13, 7).leave(13);
    scene.event("task_block", 13, kSemaphore).run(12).event("set_mutex_wait", 12, 7).leave(12);
    scene.event("task_block", 12, kSemaphore);
    for (const std::uint16_t context : {std::uint16_t{14}, std::uint16_t{15}}) {
        scene.run(context).event("set_mutex_wait", context, 7).leave(context).event("task_block", context, kSemaphore);
    }
    return scene.run(Scene::kIdle);
}

TEST_F(OracleReports, OfWakeUps) {
    Scene in_turn = waiting();
    for (const std::uint16_t context : {std::uint16_t{13}, std::uint16_t{12}, std::uint16_t{14}, std::uint16_t{15}}) {
        in_turn.event("set_mutex_post", 0, 7).event("task_unblock", context, kSemaphore);
    }
    Scene reversed = waiting();
    for (const std::uint16_t context : {std::uint16_t{15}, std::uint16_t{14}, std::uint16_t{12}, std::uint16_t{13}}) {
        reversed.event("set_mutex_post", 0, 7).event("task_unblock", context, kSemaphore);
    }
    Scene lost = waiting();
    lost.event("set_mutex_post", 0, 7).event("task_schedule", 1, 1).event("set_mutex_post", 0, 7);
    lost.event("task_schedule", 1, 1).event("task_unblock", 13, kSemaphore).event("task_unblock", 12, kSuspended);
    lost.event("set_mutex_post", 0, 7).event("task_schedule", 1, 1);
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
    Scene scene;
    scene.event("set_semaphore_create", 2, 7).hard(12, Scene::kEdf, 50, 900).release(12, 100, 1000).run(12);
    scene.event("set_mutex_wait", 12, 7).event("set_mutex_wait", 12, 7).event("set_mutex_wait", 12, 7);
    scene.event("task_schedule", 12, 12).event("set_mutex_post", 12, 7).event("set_mutex_wait", 12, 7);
    scene.event("set_mutex_post", 12, 7).leave(12).event("task_block", 12, kSemaphore).run(Scene::kIdle);
    EXPECT_THAT(
        report(scene),
        ElementsAre("semaphore-count at 12 of 12: hard12 (12) waits on semaphore 7, which has no unit, and continues",
                    "semaphore-count at 17 of 12: hard12 (12) begins to wait on semaphore 7, which had a unit for it",
                    "level-order 3/0/0", "edf-order 2/0/0", "fifo-order 1/0/0", "block-state 3/0/0",
                    "shadow-chain 3/0/0", "edf-deadline 1/0/0", "deadline-miss 3/0/0", "semaphore-count 5/0/2"));
}

// After a gap no state is known, and rules are undecided until records show one.
TEST_F(OracleReports, OfWhatIsUndecidedAfterAGap) {
    const auto gap = [](Scene scene) { return scene.event("blackout_start").event("blackout_end", 0, 5); };
    Scene jobs = gap(blocked());
    jobs.event("set_mutex_acquire", 13, 1).event("set_mutex_block", 14, 1).event("task_deadline_miss", 13);
    jobs.event("task_wcet_violation", 13).event("activation_violation", 13).event("job_deadline", 13, 500);
    jobs.event("inheritance", 13, 14).run(13).leave(13).event("set_mutex_unlock", 13, 1).run(14, 13, true);
    Scene server = gap(served(1));
    server.event("server_active", 12, 3).event("server_budget", 3, 100).event("server_deadline", 3, 1700);
    server.event("server_exhaust", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 2700).run(12);
    Scene grub = gap(served(2));
    grub.event("server_reclaiming", 0, 3).event("server_exhaust", 0, 3).event("server_budget", 3, 100);
    grub.event("server_budget", 3, 90).event("server_bandwidth", 0, 0x7FFF'FFFF).run(12);
    Scene semaphore = gap(waiting());
    semaphore.event("set_mutex_wait", 12, 7).event("set_mutex_post", 0, 7).event("task_block", 12, kSemaphore);
    semaphore.event("set_mutex_post", 0, 7).event("task_unblock", 13, kSemaphore).run(12).event("set_mutex_post", 0, 7);
    semaphore.event("task_schedule", 12, 12);
    EXPECT_THAT(
        report(jobs),
        ElementsAre(
            "pi-return at 146 of 14: the chain of hard13 (13) ends in hard13 (13), but hard14 (14) runs in its place",
            "level-order 2/2/0", "edf-order 2/2/0", "block-state 2/2/0", "shadow-chain 4/0/0", "pi-return 1/0/1",
            "mutex-owner 4/2/0", "edf-deadline 3/0/0", "deadline-miss 3/1/0", "wcet-violation 0/1/0",
            "activation-violation 0/1/0"));
    EXPECT_THAT(
        report(server),
        ElementsAre(
            "cbs-arrival at 512: work for server 3 arrives at about 510 ticks and gives it the deadline 1700 and the "
            "budget 100; t + T is 1510, Q is 100",
            "cbs-exhaust at 513: server 3 is recorded as exhausted after a charge of 0 ticks, its budget was 100",
            "level-order 1/1/0", "fifo-order 1/0/0", "block-state 1/1/0", "shadow-chain 1/1/0", "edf-deadline 1/0/0",
            "cbs-arrival 2/0/1", "cbs-exhaust 2/0/1", "cbs-isolation 1/2/0"));
    EXPECT_THAT(report(grub), ElementsAre("level-order 1/1/0", "fifo-order 1/0/0", "block-state 1/1/0",
                                          "shadow-chain 1/1/0", "edf-deadline 1/0/0", "cbs-arrival 1/0/0",
                                          "cbs-exhaust 0/1/0", "grub-rate 1/1/0", "grub-zero-lag 0/1/0"));
    EXPECT_THAT(report(semaphore),
                ElementsAre("block-state at 45 of 12: hard12 (12) is dispatched, but it is not ready",
                            "block-state at 48 of 12: hard12 (12) is dispatched, but it is not ready",
                            "level-order 5/2/0", "edf-order 2/1/0", "fifo-order 3/0/0", "block-state 7/0/2",
                            "shadow-chain 6/1/0", "pi-inheritance 0/1/0", "edf-deadline 2/0/0", "deadline-miss 10/0/0",
                            "lost-wakeup 1/2/0", "wake-order 0/1/0", "semaphore-count 5/1/0"));
}

} // namespace

} // namespace host::analyse::oracle
