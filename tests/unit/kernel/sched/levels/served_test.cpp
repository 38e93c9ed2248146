// SPDX-License-Identifier: MIT
// Tests polling and deferrable servers: schedules computed by hand. Everything is set up in one interrupt at time 0, so
// that the servers' periods begin with the schedule.
#include "kernel/sched/server.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace served_test {

using namespace hosted;
using kernel::ServerKind;

// Tasks (1, 4) and (1, 8), a server (2, 5), and requests of 2 at 2, 1 at 8, 2 at 12, 1 at 19.
std::string textbook(const std::string& kind) {
    return run("at 0: server " + kind + R"( 2/5
               at 0: start A fixed 1/4: each A 1
               at 0: start B fixed 1/8: each B 1
               at 0: create S served: S 2; end; S 1; end; S 2; end; S 1; end
               at 2: activate S; at 8: activate S; at 12: activate S; at 19: activate S; until 22)");
}

TEST(PollingServer, FollowsTheTextbookExample) {
    EXPECT_EQ(textbook("polling"),
              "A 0-1 | B 1-2 | A 4-5 | S 5-7 | A 8-9 | B 9-10 | S 10-11 | A 12-13 | S 15-16 | A 16-17 | S 17-18 | "
              "B 18-19 | A 20-21 | S 21-22");
}

TEST(DeferrableServer, FollowsTheTextbookExample) {
    EXPECT_EQ(textbook("deferrable"),
              "A 0-1 | B 1-2 | S 2-4 | A 4-5 | A 8-9 | S 9-10 | B 10-11 | A 12-13 | S 13-15 | A 16-17 | B 17-18 | "
              "S 19-20 | A 20-21");
}

TEST(DeferrableServer, SpendsTwoBudgetsInARowAndNoMore) {
    // A request of 6 at 3: 2 at the end of the first period, 2 at the start of the second, the rest in the third.
    EXPECT_EQ(run(R"(at 0: server deferrable 2/5
                     at 0: create S served: S 6; end
                     at 3: activate S; until 20; server-state 1)"),
              "S 3-7 | S 10-12 | left 2 exhausted 3 tasks 1");
}

TEST(PollingServer, LosesWhatIsLeftOfABudgetWhenRequestsEnd) {
    // The second request comes at 3, in the period whose budget the first has left: it waits for the next.
    EXPECT_EQ(run(R"(at 0: server polling 4/5
                     at 0: create S served: S 1; end; S 1; end
                     at 1: activate S; at 7: activate S; until 20)"),
              "S 5-6 | S 10-11");
}

TEST(PollingServer, LosesWhatIsLeftOfABudgetWhenItsRequestIsKilled) {
    EXPECT_EQ(run(R"(at 0: server polling 4/5
                     at 0: create S served: S 3; end
                     at 0: create O served: each O 1
                     at 1: activate S; at 6: kill S; at 7: activate O; until 20)"),
              "S 5-6 | O 10-11");
}

TEST(AperiodicServer, ServesRequestsFirstInFirstOut) {
    EXPECT_EQ(run(R"(at 0: server deferrable 3/5
                     at 0: create R served: each R 2
                     at 0: create O served: each O 2
                     at 0: activate O; at 0: activate R; at 0: activate O  // saved: after both
                     until 20)"),
              "O 0-2 | R 2-3 | R 5-6 | O 6-8");
}

TEST(AperiodicServer, LetsTheNextRequestGoFirstWhenOneWaits) {
    EXPECT_EQ(run(R"(at 0: server deferrable 4/5
                     at 0: create R served: R 1; until 2; R 1
                     at 0: create O served: each O 2
                     at 0: activate R; at 0: activate O; until 20)"),
              "R 0-1 | O 1-3 | R 3-4");
}

// R for 2, then O for 3, are requested at 10; R is suspended from 11 to 12.
std::string the_first_of_two_is_suspended(const std::string& budget) {
    return run("at 0: server deferrable " + budget + R"(/10
               at 0: create R served: each R 2
               at 0: create O served: each O 3
               at 10: activate R; at 10: activate O; at 11: suspend R; at 12: resume R; until 40)");
}

TEST(AperiodicServer, ServesTheNextRequestWhileTheFirstIsSuspended) {
    EXPECT_EQ(the_first_of_two_is_suspended("8"), "R 10-11 | O 11-12 | R 12-13 | O 13-15");
}

TEST(AperiodicServer, PaysForWhatItsRequestsUseAroundASuspension) {
    EXPECT_EQ(the_first_of_two_is_suspended("2"), "R 10-11 | O 11-12 | R 20-21 | O 21-22 | O 30-31");
}

TEST(PollingServer, LosesItsBudgetWhenItsOnlyRequestIsSuspended) {
    EXPECT_EQ(run(R"(at 0: server polling 4/10
                     at 0: create R served: each R 2
                     at 5: activate R; at 11: suspend R; at 12: resume R; until 30)"),
              "R 10-11 | R 20-21");
}

TEST(DeferrableServer, ServesAtOnceARequestThatCameWhileItsTaskWasSuspended) {
    EXPECT_EQ(run(R"(at 0: server deferrable 4/10
                     at 0: create R served: each R 2
                     at 0: suspend R; at 1: activate R; at 2: resume R; until 30)"),
              "R 2-4");
}

TEST(AperiodicServer, PassesOverASuspendedRequestWhoseMutexAWaiterGaveUp) {
    EXPECT_EQ(run(R"(mutex shared
                     at 0: server deferrable 4/10
                     at 0: create R served: lock shared; R 2
                     at 0: create O served: each O 1
                     at 0: activate R; at 1: suspend R; at 4: activate O; until 2; ? timedlock shared 1; until 30)"),
              "R 0-1 | timeout | O 4-5");
}

TEST(AperiodicServer, RunsAtThePriorityOfItsPeriod) {
    EXPECT_EQ(run(R"(at 0: server deferrable 2/10
                     at 0: start A fixed 2/9: each A 2
                     at 0: start C fixed 2/30: each C 2
                     at 0: start E hard 1/30/9: each E 1
                     at 0: create S served: S 2; end
                     at 0: activate S; until 8)"),
              "A 0-2 | S 2-4 | C 4-6 | E 6-7");
}

TEST(AperiodicServer, IsRemovedOnlyWhenNoTaskIsAttached) {
    EXPECT_EQ(run(R"(server polling 4/5
                     create S served: each S 1
                     ? remove-server 1; kill S; ? remove-server 1; ? remove-server 1; ? remove-server 0
                     ? create S served: each S 1)"),
              "busy | ok | not found | not found | not found");
}

TEST(AperiodicServer, ServesAsBeforeAfterARefusedRemoval) {
    EXPECT_EQ(run(R"(at 0: server deferrable 2/5
                     at 0: create S served: S 3; end; S 2; end
                     at 0: ? remove-server 1
                     at 1: activate S; at 2: ? remove-server 1; at 11: activate S; until 14)"),
              "busy | S 1-2 | busy | S 2-3 | S 5-6 | S 11-13");
}

TEST(AperiodicServer, IsNotReplenishedAfterItsRemoval) {
    static int interrupts;
    EXPECT_EQ(hosted::run([] {
                  play("server polling 4/5");
                  pause_until(0);
                  play("remove-server 1");
                  before_each_interrupt([] { ++interrupts; });
                  pause_until(30);
                  note(std::to_string(interrupts)); // this task's own
              }),
              "1");
}

TEST(AperiodicServer, IsAdmittedBesideAllOthersOrRefused) {
    EXPECT_EQ(hosted::run([] {
                  const auto note_server = [](ServerKind kind, lib::Nanoseconds budget, lib::Nanoseconds period) {
                      const auto created = kernel::server_create({"S", kind, budget, period});
                      note(created.ok() ? "ok" : lib::error_name(created.error()));
                  };
                  hosted::create("A", periodic<'A', 1>, hard(1, 4));
                  note_server(ServerKind::cbs, ms(1), ms(4)); // a task's own server is made with the task
                  note_server(ServerKind::polling, {}, ms(4));
                  note_server(ServerKind::polling, ms(5), ms(4));
                  note_server(ServerKind::polling, {3'000'001}, ms(4));
                  note_server(ServerKind::deferrable, ms(2), ms(4)); // twice in a row: 4 of 4
                  note_server(ServerKind::deferrable, {1'500'000}, ms(4));
              }),
              "invalid argument | invalid argument | invalid argument | refused | refused | ok");
}

TEST(AperiodicServer, TakesItsShareFromWhatIsLeftForOthersUntilItIsRemoved) {
    EXPECT_EQ(run(R"(server polling 6/10
                     ? create A fixed 5/10: each A 5
                     remove-server 1
                     ? create A fixed 5/10: each A 5)"),
              "refused | ok");
}

TEST(AperiodicServer, SpendsItsOwnBudgetBesideOthers) {
    EXPECT_EQ(run(R"(at 0: server deferrable 1/10
                     at 0: server deferrable 3/20
                     at 0: create S served: S 2; end
                     at 1: activate S; at 5: server-state 1; at 5: server-state 2; until 9)"),
              "S 1-3 | left 1 exhausted 0 tasks 0 | left 1 exhausted 0 tasks 1");
}

TEST(DeferrableServer, IsNotChargedForATaskThatRunsWhenItIsReplenished) {
    // H runs from 8 to 11; the request of 8 waits for it, and its budget is new at 10.
    EXPECT_EQ(run(R"(at 0: server deferrable 2/10
                     at 0: start H fixed 3/8+8: each H 3
                     at 0: create S served: S 1; end
                     at 8: activate S; at 15: server-state 1; until 15)"),
              "H 8-11 | S 11-12 | left 1 exhausted 0 tasks 1");
}

TEST(AperiodicServer, HasAPlaceInATableThatIsFull) {
    EXPECT_EQ(hosted::run([] {
                  for (std::size_t i = 0; i < kernel::kServersMax; ++i) {
                      play("server polling 1/100");
                  }
                  const auto created = kernel::server_create({"S", ServerKind::polling, ms(1), ms(100)});
                  note(created.ok() ? "ok" : lib::error_name(created.error()));
                  play("remove-server 1");
                  play("server polling 1/100");
              }),
              "no space");
}

} // namespace served_test
