// SPDX-License-Identifier: MIT
// Tests what is left to decide of a scene with something of everything if times, the rate of the clock, or a family of
// events are not known: each rule with how often it was checked, undecided and violated.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::undecided_test {

namespace {

using support::Scene;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class OracleUndecided : public support::OracleTest {};

// Tasks by deadlines and fixed priorities with mutexes, a round robin, a CBS, a polling server, a semaphore. first: the
// record with which it begins.
Scene everything(std::string_view first = "ipoint", std::uint32_t khz = 1'000'000) {
    Scene scene(fmt::format(R"({} 1, hard 12 edf 100 1000 800, hard 13 rm 100 2000 900, task 14 load rr budget 200
                               task 15 request served, task 16 soft cbs
                               server 3 polling capacity 100 period 1000 for 15
                               server 4 CBS capacity 100 period 1000 for 16, mutex 1 inheritance, mutex 2 ceiling 0
                               mutex 5 stack 0, set_semaphore_create 1 7, replenish 3, budget 3 100
                               server_deadline 3 1000, budget 3 0, dispatch idle, leave idle)",
                            first),
                khz);
    // 12 runs 90 of 100, with a mutex of each protocol.
    scene.play("100 activate 12, release 12 by timer due 900, dispatch 12 first");
    for (const std::uint32_t mutex : {1U, 2U, 5U}) {
        scene.play(fmt::format("lock 12 {}, acquire 12 {}, unlock 12 {}", mutex, mutex, mutex));
    }
    scene.play("190 finish 12, release 14 at 192, dispatch 14; 300 leave 14");
    // 13 waits on the semaphore, and is woken.
    scene.play(R"(release 13 by timer at 300 due 1200, dispatch 13 first, set_mutex_wait 13 7, set_mutex_wait 13 7
                  leave 13, wait 13 semaphore 7, dispatch 14, set_mutex_post 14 7, wake 13 semaphore 7, leave 14
                  dispatch 13; 350 finish 13)");
    // The CBS serves 40 of its 100.
    scene.play(R"(400 arrive 16 at 4 budget 100 due 1400, dispatch 16
                  446 leave 16, budget 4 60, complete 16, dispatch 14; 520 slice_end 14, leave 14)");
    // The polling server serves 30 of its 100, and loses the rest.
    return scene.play(R"(900 release 15, dispatch 14
                         1000 replenish 3, budget 3 100, server_deadline 3 2000, leave 14, dispatch 15
                         1035 leave 15, budget 3 70, budget 3 0, wait 15 delay, dispatch 14
                         1100 release 12 by timer due 1900, leave 14, dispatch 12 first; 1180 finish 12, dispatch 14)");
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
                            "edf-deadline 0/1/0", "rr-slice 0/1/0", "cbs-arrival 0/1/0", "cbs-budget 1/0/0",
                            "cbs-isolation 0/2/0", "server-replenish 1/4/0", "lost-wakeup 1/0/0", "wake-order 1/0/0",
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
                            "mutex-owner 0/6/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 0/2/0",
                            "release-period 0/1/0", "edf-deadline 0/3/0", "rm-deadline 0/1/0", "deadline-miss 0/5/0",
                            "wcet-violation 0/3/0", "rr-slice 0/1/0", "cbs-arrival 0/1/0", "cbs-budget 0/1/0",
                            "cbs-isolation 0/2/0", "server-replenish 0/6/0", "lost-wakeup 0/1/0", "wake-order 0/1/0",
                            "semaphore-count 0/2/0"));
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
                            "mutex-owner 6/0/0", "pc-grant 0/1/0", "srp-block 0/1/0", "ceiling 0/2/0",
                            "release-period 1/0/0", "edf-deadline 0/3/0", "rm-deadline 1/0/0", "deadline-miss 5/0/0",
                            "wcet-violation 3/0/0", "rr-slice 1/0/0", "cbs-arrival 0/1/0", "cbs-budget 0/1/0",
                            "cbs-isolation 0/2/0", "server-replenish 0/6/0", "lost-wakeup 1/0/0", "wake-order 0/1/0",
                            "semaphore-count 2/0/0"));
}

} // namespace

} // namespace host::analyse::oracle::undecided_test
