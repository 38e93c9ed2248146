// SPDX-License-Identifier: MIT
// What is left to decide of a scene with something of everything if times, the rate of the clock, or a family of events
// are not known: each rule with how often it was checked, undecided and violated.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class OracleUndecided : public support::OracleTest {};

constexpr std::uint32_t kSemaphore = (1U << 16) | 7U;
constexpr std::uint32_t kDelay = 2U << 16;

// Tasks by deadlines and fixed priorities with mutexes, a round robin, a CBS, a polling server, a semaphore. first: the
// record with which it begins.
Scene everything(std::string_view first = "ipoint", std::uint32_t khz = 1'000'000) {
    Scene scene(khz);
    scene.event(first, 1).hard(12, Scene::kEdf, 100, 1000, 800).hard(13, Scene::kRm, 100, 2000, 900);
    scene.task(14, "load", {.level = Scene::kRr, .budget_ns = 200}).task(15, "request", {.level = Scene::kServed});
    scene.task(16, "soft", {.level = Scene::kCbs}).server(3, 3, 100, 1000, 15).server(4, 1, 100, 1000, 16);
    scene.mutex(1, 1).mutex(2, 2, 0).mutex(5, 3, 0).event("set_semaphore_create", 1, 7);
    scene.event("server_replenish", 0, 3).event("server_budget", 3, 100).event("server_deadline", 3, 1000);
    scene.event("server_budget", 3, 0).run(Scene::kIdle).leave(Scene::kIdle);
    // 12 runs 90 of 100, with a mutex of each protocol.
    scene.at(100).event("task_activate", 12).release(12, 100, 900).run(12, 0, true);
    for (const std::uint32_t mutex : {1U, 2U, 5U}) {
        scene.event("set_mutex_lock", 12, mutex).event("set_mutex_acquire", 12, mutex);
        scene.event("set_mutex_unlock", 12, mutex);
    }
    scene.at(190).end_job(12).release(14, 192).run(14).at(300).leave(14);
    // 13 waits on the semaphore, and is woken.
    scene.release(13, 300, 1200).run(13, 0, true).event("set_mutex_wait", 13, 7).event("set_mutex_wait", 13, 7);
    scene.leave(13).event("task_block", 13, kSemaphore).run(14).event("set_mutex_post", 14, 7);
    scene.event("task_unblock", 13, kSemaphore).leave(14).run(13).at(350).end_job(13);
    // The CBS serves 40 of its 100.
    scene.at(400).arrive(4, 16, 100, 1400).run(16).at(446).leave(16).event("server_budget", 4, 60);
    scene.event("task_end_cycle", 16).run(14).at(520).event("slice_end", 14).leave(14);
    // The polling server serves 30 of its 100, and loses the rest.
    scene.at(900).release(15, 900).run(14).at(1000).event("server_replenish", 0, 3).event("server_budget", 3, 100);
    scene.event("server_deadline", 3, 2000).leave(14).run(15).at(1035).leave(15).event("server_budget", 3, 70);
    scene.event("server_budget", 3, 0).event("task_block", 15, kDelay).run(14).at(1100).release(12, 1100, 1900);
    return scene.leave(14).run(12, 0, true).at(1180).end_job(12).run(14);
}

TEST_F(OracleUndecided, IsNothingInATraceThatShowsAll) {
    const Scene scene = everything();
    EXPECT_THAT(report(scene),
                ElementsAre("level-order 13/0/0", "edf-order 2/0/0", "rm-order 2/0/0", "rr-order 6/0/0",
                            "fifo-order 3/0/0", "block-state 13/0/0", "server-budget 3/0/0", "shadow-chain 13/0/0",
                            "mutex-owner 6/0/0", "pc-grant 1/0/0", "srp-block 1/0/0", "ceiling 2/0/0",
                            "release-period 1/0/0", "edf-deadline 3/0/0", "rm-deadline 1/0/0", "deadline-miss 5/0/0",
                            "wcet-violation 3/0/0", "rr-slice 1/0/0", "cbs-arrival 1/0/0", "cbs-budget 1/0/0",
                            "cbs-isolation 1/1/0", "server-replenish 5/1/0", "lost-wakeup 1/0/0", "wake-order 1/0/0",
                            "semaphore-count 2/0/0"));
    EXPECT_THAT(m_relaxations, ElementsAre());
}

// A clock that does not count instructions: what stamps measure is not judged.
TEST_F(OracleUndecided, IsWhatStampsMeasureOfAHostClock) {
    Scene scene = everything();
    scene.chunk.begin.clock_mode = tracer::ClockMode::emulated;
    EXPECT_THAT(report(scene, std::nullopt),
                ElementsAre("level-order 13/0/0", "edf-order 2/0/0", "rm-order 2/0/0", "rr-order 6/0/0",
                            "fifo-order 3/0/0", "block-state 13/0/0", "server-budget 2/1/0", "shadow-chain 13/0/0",
                            "mutex-owner 6/0/0", "pc-grant 1/0/0", "srp-block 1/0/0", "ceiling 2/0/0",
                            "release-period 1/0/0", "edf-deadline 3/0/0", "rm-deadline 1/0/0", "wcet-violation 0/3/0",
                            "rr-slice 0/1/0", "cbs-arrival 1/0/0", "cbs-budget 0/1/0", "cbs-isolation 0/2/0",
                            "server-replenish 4/2/0", "lost-wakeup 1/0/0", "wake-order 1/0/0",
                            "semaphore-count 2/0/0"));
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("the clock is not one that counts instructions")));
}

TEST_F(OracleUndecided, IsEachTimeWithoutARate) {
    const Scene scene = everything("ipoint", 0);
    EXPECT_THAT(report(scene),
                ElementsAre("level-order 13/0/0", "edf-order 2/0/0", "rm-order 2/0/0", "rr-order 6/0/0",
                            "fifo-order 3/0/0", "block-state 13/0/0", "server-budget 3/0/0", "shadow-chain 13/0/0",
                            "mutex-owner 6/0/0", "pc-grant 1/0/0", "srp-block 1/0/0", "ceiling 2/0/0",
                            "edf-deadline 1/0/0", "rr-slice 0/1/0", "cbs-arrival 0/1/0", "cbs-budget 1/0/0",
                            "cbs-isolation 0/2/0", "server-replenish 4/1/0", "lost-wakeup 1/0/0", "wake-order 1/0/0",
                            "semaphore-count 2/0/0"));
    EXPECT_THAT(m_relaxations, Contains(HasSubstr("the rate of the clock is not known")));
}

TEST_F(OracleUndecided, IsWhatNeedsAFamilyThatWasFiltered) {
    const Scene without_tasks = everything("filter_task");
    const Scene without_jobs = everything("filter_job");
    const Scene without_mutexes = everything("filter_mutex");
    const Scene without_servers = everything("filter_server");
    EXPECT_THAT(report(without_tasks),
                ElementsAre("level-order 0/13/0", "edf-order 0/2/0", "rm-order 0/2/0", "rr-order 0/6/0",
                            "fifo-order 0/3/0", "block-state 0/13/0", "server-budget 0/3/0", "shadow-chain 0/13/0",
                            "mutex-owner 0/6/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 0/2/0",
                            "release-period 0/1/0", "edf-deadline 0/3/0", "rm-deadline 0/1/0", "deadline-miss 0/5/0",
                            "wcet-violation 0/3/0", "rr-slice 0/1/0", "cbs-arrival 0/1/0", "cbs-budget 0/1/0",
                            "cbs-isolation 0/2/0", "server-replenish 0/6/0", "lost-wakeup 0/1/0", "wake-order 0/1/0",
                            "semaphore-count 0/2/0"));
    EXPECT_THAT(report(without_jobs),
                ElementsAre("level-order 0/13/0", "edf-order 0/2/0", "rm-order 0/2/0", "rr-order 0/6/0",
                            "fifo-order 0/3/0", "block-state 0/13/0", "server-budget 0/3/0", "shadow-chain 0/13/0",
                            "mutex-owner 6/0/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 2/0/0",
                            "release-period 0/1/0", "edf-deadline 0/3/0", "rm-deadline 0/1/0", "deadline-miss 0/5/0",
                            "wcet-violation 0/3/0", "rr-slice 0/1/0", "cbs-arrival 0/1/0", "cbs-budget 0/1/0",
                            "cbs-isolation 0/2/0", "server-replenish 0/6/0", "lost-wakeup 1/0/0", "wake-order 0/1/0",
                            "semaphore-count 2/0/0"));
    EXPECT_THAT(report(without_mutexes),
                ElementsAre("level-order 0/13/0", "edf-order 0/2/0", "rm-order 0/2/0", "rr-order 0/6/0",
                            "fifo-order 0/3/0", "block-state 0/13/0", "server-budget 3/0/0", "shadow-chain 0/13/0",
                            "mutex-owner 0/6/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 0/2/0",
                            "release-period 1/0/0", "edf-deadline 3/0/0", "rm-deadline 1/0/0", "deadline-miss 5/0/0",
                            "wcet-violation 3/0/0", "rr-slice 1/0/0", "cbs-arrival 1/0/0", "cbs-budget 1/0/0",
                            "cbs-isolation 1/1/0", "server-replenish 5/1/0", "lost-wakeup 0/1/0", "wake-order 0/1/0",
                            "semaphore-count 0/2/0"));
    EXPECT_THAT(report(without_servers),
                ElementsAre("level-order 0/13/0", "edf-order 0/2/0", "rm-order 0/2/0", "rr-order 0/6/0",
                            "fifo-order 0/3/0", "block-state 0/13/0", "server-budget 0/3/0", "shadow-chain 0/13/0",
                            "mutex-owner 6/0/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 2/0/0",
                            "release-period 1/0/0", "edf-deadline 3/0/0", "rm-deadline 1/0/0", "deadline-miss 5/0/0",
                            "wcet-violation 3/0/0", "rr-slice 1/0/0", "cbs-arrival 0/1/0", "cbs-budget 0/1/0",
                            "cbs-isolation 0/2/0", "server-replenish 0/6/0", "lost-wakeup 1/0/0", "wake-order 0/1/0",
                            "semaphore-count 2/0/0"));
}

} // namespace

} // namespace host::analyse::oracle
