// SPDX-License-Identifier: MIT
// Tests polling and deferrable servers: schedules computed by hand. Everything is set up in one interrupt at time 0, so
// that the servers' periods begin with the schedule.
#include "kernel/sched/server.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <array>

namespace served_test {

using namespace hosted;
using kernel::ServerKind;

kernel::ServerId s_server;
kernel::Pid s_request;
kernel::Pid s_other;
kernel::Mutex s_shared;
std::array<std::uint64_t, 4> s_lengths{};
std::size_t s_next = 0;

// Each request is as long as the list says.
void requests(void*) {
    for (;;) {
        work("S", s_lengths[s_next++]);
        kernel::task_endcycle();
    }
}

void at_begin(kernel::TimerHandler set_up) {
    must(kernel::kern_event_post(at(0), set_up, nullptr));
}

void make_server(ServerKind kind, std::uint64_t budget_ms, std::uint64_t period_ms) {
    s_server =
        must(kernel::server_create({.name = "S", .kind = kind, .budget = ms(budget_ms), .period = ms(period_ms)}));
}

kernel::Pid served(const char* name, kernel::TaskBody body) {
    return hosted::create(name, body, kernel::ServedModel{.server = s_server});
}

void request_at(std::uint64_t when) {
    at_time(when, [](void*) { must(kernel::task_activate(s_request)); });
}

void other_at(std::uint64_t when) {
    at_time(when, [](void*) { must(kernel::task_activate(s_other)); });
}

// Tasks (1, 4) and (1, 8), a server (2, 5), and requests of 2 at 2, 1 at 8, 2 at 12, 1 at 19.
template <ServerKind Kind>
void textbook() {
    s_lengths = {2, 1, 2, 1};
    at_begin([](void*) {
        make_server(Kind, 2, 5);
        hosted::start("A", periodic<'A', 1>, fixed(1, 4));
        hosted::start("B", periodic<'B', 1>, fixed(1, 8));
        s_request = served("S", &requests);
        for (const std::uint64_t when : {2U, 8U, 12U, 19U}) {
            request_at(when);
        }
    });
    pause_until(22);
}

TEST(PollingServer, FollowsTheTextbookExample) {
    EXPECT_EQ(hosted::run(&textbook<ServerKind::polling>),
              "A 0-1 | B 1-2 | A 4-5 | S 5-7 | A 8-9 | B 9-10 | S 10-11 | A 12-13 | S 15-16 | A 16-17 | S 17-18 | "
              "B 18-19 | A 20-21 | S 21-22");
}

TEST(DeferrableServer, FollowsTheTextbookExample) {
    EXPECT_EQ(hosted::run(&textbook<ServerKind::deferrable>),
              "A 0-1 | B 1-2 | S 2-4 | A 4-5 | A 8-9 | S 9-10 | B 10-11 | A 12-13 | S 13-15 | A 16-17 | B 17-18 | "
              "S 19-20 | A 20-21");
}

TEST(DeferrableServer, SpendsTwoBudgetsInARowAndNoMore) {
    // A request of 6 at 3: 2 at the end of the first period, 2 at the start of the second, the rest in the third.
    EXPECT_EQ(hosted::run([] {
                  s_lengths = {6};
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 2, 5);
                      s_request = served("S", &requests);
                      request_at(3);
                  });
                  pause_until(20);
                  const auto info = must(kernel::server_info(s_server));
                  note("exhausted " + std::to_string(info.exhausted) + " tasks " + std::to_string(info.tasks) +
                       " left " + std::to_string(info.budget.value / 1'000'000));
              }),
              "S 3-7 | S 10-12 | exhausted 3 tasks 1 left 2");
}

TEST(PollingServer, LosesWhatIsLeftOfABudgetWhenRequestsEnd) {
    // The second request comes at 3, in the period whose budget the first has left: it waits for the next.
    EXPECT_EQ(hosted::run([] {
                  s_lengths = {1, 1};
                  at_begin([](void*) {
                      make_server(ServerKind::polling, 4, 5);
                      s_request = served("S", &requests);
                      request_at(1);
                      request_at(7);
                  });
                  pause_until(20);
              }),
              "S 5-6 | S 10-11");
}

TEST(PollingServer, LosesWhatIsLeftOfABudgetWhenItsRequestIsKilled) {
    EXPECT_EQ(hosted::run([] {
                  s_lengths = {3};
                  at_begin([](void*) {
                      make_server(ServerKind::polling, 4, 5);
                      s_request = served("S", &requests);
                      s_other = served("O", periodic<'O', 1>);
                      request_at(1);
                      at_time(6, [](void*) { must(kernel::task_kill(s_request)); });
                      other_at(7);
                  });
                  pause_until(20);
              }),
              "S 5-6 | O 10-11");
}

TEST(AperiodicServer, ServesRequestsFirstInFirstOut) {
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 3, 5);
                      s_request = served("R", periodic<'R', 2>);
                      s_other = served("O", periodic<'O', 2>);
                      must(kernel::task_activate(s_other));
                      must(kernel::task_activate(s_request));
                      must(kernel::task_activate(s_other)); // saved: after both
                  });
                  pause_until(20);
              }),
              "O 0-2 | R 2-3 | R 5-6 | O 6-8");
}

TEST(AperiodicServer, LetsTheNextRequestGoFirstWhenOneWaits) {
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 4, 5);
                      s_request = served("R", [](void*) {
                          work("R", 1);
                          pause_until(2);
                          work("R", 1);
                      });
                      s_other = served("O", periodic<'O', 2>);
                      request_at(0);
                      other_at(0);
                  });
                  pause_until(20);
              }),
              "R 0-1 | O 1-3 | R 3-4");
}

void suspended_from_11_to_12() {
    at_time(11, [](void*) { must(kernel::task_suspend(s_request)); });
    at_time(12, [](void*) { must(kernel::task_resume(s_request)); });
}

// R for 2, then O for 3, are requested at 10.
template <std::uint64_t Budget>
void the_first_of_two_is_suspended() {
    at_begin([](void*) {
        make_server(ServerKind::deferrable, Budget, 10);
        s_request = served("R", periodic<'R', 2>);
        s_other = served("O", periodic<'O', 3>);
        request_at(10);
        other_at(10);
        suspended_from_11_to_12();
    });
    pause_until(40);
}

TEST(AperiodicServer, ServesTheNextRequestWhileTheFirstIsSuspended) {
    EXPECT_EQ(hosted::run(&the_first_of_two_is_suspended<8>), "R 10-11 | O 11-12 | R 12-13 | O 13-15");
}

TEST(AperiodicServer, PaysForWhatItsRequestsUseAroundASuspension) {
    EXPECT_EQ(hosted::run(&the_first_of_two_is_suspended<2>), "R 10-11 | O 11-12 | R 20-21 | O 21-22 | O 30-31");
}

void alone_and_suspended() {
    at_begin([](void*) {
        make_server(ServerKind::polling, 4, 10);
        s_request = served("R", periodic<'R', 2>);
        request_at(5);
        suspended_from_11_to_12();
    });
    pause_until(30);
}

TEST(PollingServer, LosesItsBudgetWhenItsOnlyRequestIsSuspended) {
    EXPECT_EQ(hosted::run(&alone_and_suspended), "R 10-11 | R 20-21");
}

TEST(DeferrableServer, ServesAtOnceARequestThatCameWhileItsTaskWasSuspended) {
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 4, 10);
                      s_request = served("R", periodic<'R', 2>);
                      must(kernel::task_suspend(s_request));
                      request_at(1);
                      at_time(2, [](void*) { must(kernel::task_resume(s_request)); });
                  });
                  pause_until(30);
              }),
              "R 2-4");
}

TEST(AperiodicServer, PassesOverASuspendedRequestWhoseMutexAWaiterGaveUp) {
    EXPECT_EQ(hosted::run([] {
                  must(kernel::mutex_init(s_shared, {.name = "shared"}));
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 4, 10);
                      s_request = served("R", [](void*) {
                          must(kernel::mutex_lock(s_shared));
                          work("R", 2);
                      });
                      s_other = served("O", periodic<'O', 1>);
                      request_at(0);
                      at_time(1, [](void*) { must(kernel::task_suspend(s_request)); });
                      other_at(4);
                  });
                  pause_until(2);
                  note_result(kernel::mutex_timedlock(s_shared, ms(1)));
                  pause_until(30);
              }),
              "R 0-1 | timeout | O 4-5");
}

TEST(AperiodicServer, RunsAtThePriorityOfItsPeriod) {
    EXPECT_EQ(hosted::run([] {
                  s_lengths = {2};
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 2, 10);
                      hosted::start("A", periodic<'A', 2>, fixed(2, 9));
                      hosted::start("C", periodic<'C', 2>, fixed(2, 30));
                      hosted::start("E", periodic<'E', 1>, hard(1, 30, 9));
                      s_request = served("S", &requests);
                      request_at(0);
                  });
                  pause_until(8);
              }),
              "A 0-2 | S 2-4 | C 4-6 | E 6-7");
}

TEST(AperiodicServer, IsRemovedOnlyWhenNoTaskIsAttached) {
    EXPECT_EQ(hosted::run([] {
                  const auto note_result = [](const lib::Result<void>& result) {
                      note(result.ok() ? "ok" : lib::error_name(result.error()));
                  };
                  make_server(ServerKind::polling, 4, 5);
                  s_request = served("S", &requests);
                  note_result(kernel::server_remove(s_server));
                  must(kernel::task_kill(s_request));
                  note_result(kernel::server_remove(s_server));
                  note_result(kernel::server_remove(s_server));
                  note_result(kernel::server_remove({}));
                  const auto orphan = kernel::task_create({.name = "S",
                                                           .body = &requests,
                                                           .argument = nullptr,
                                                           .model = kernel::ServedModel{.server = s_server}});
                  note(orphan.ok() ? "ok" : lib::error_name(orphan.error()));
              }),
              "busy | ok | not found | not found | not found");
}

TEST(AperiodicServer, ServesAsBeforeAfterARefusedRemoval) {
    s_lengths = {3, 2};
    s_next = 0;
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 2, 5);
                      s_request = served("S", &requests);
                      EXPECT_FALSE(kernel::server_remove(s_server).ok());
                      request_at(1);
                      at_time(2, [](void*) { EXPECT_FALSE(kernel::server_remove(s_server).ok()); });
                      request_at(11);
                  });
                  pause_until(14);
              }),
              "S 1-3 | S 5-6 | S 11-13");
}

TEST(AperiodicServer, IsNotReplenishedAfterItsRemoval) {
    static int interrupts;
    EXPECT_EQ(hosted::run([] {
                  make_server(ServerKind::polling, 4, 5);
                  pause_until(0);
                  must(kernel::server_remove(s_server));
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
    EXPECT_EQ(hosted::run([] {
                  const auto note_task = [] {
                      const auto created = kernel::task_create(
                          {.name = "A", .body = periodic<'A', 5>, .argument = nullptr, .model = fixed(5, 10)});
                      note(created.ok() ? "ok" : lib::error_name(created.error()));
                  };
                  make_server(ServerKind::polling, 6, 10);
                  note_task();
                  must(kernel::server_remove(s_server));
                  note_task();
              }),
              "refused | ok");
}

void note_server(kernel::ServerId server) {
    const kernel::ServerInfo info = must(kernel::server_info(server));
    note("left " + std::to_string(info.budget.value / 1'000'000) + " exhausted " + std::to_string(info.exhausted) +
         " tasks " + std::to_string(info.tasks));
}

TEST(AperiodicServer, SpendsItsOwnBudgetBesideOthers) {
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 1, 10);
                      const kernel::ServerId first = s_server;
                      make_server(ServerKind::deferrable, 3, 20);
                      static kernel::ServerId both[2];
                      both[0] = first;
                      both[1] = s_server;
                      s_lengths = {2};
                      s_request = served("S", &requests);
                      request_at(1);
                      at_time(5, [](void*) {
                          note_server(both[0]);
                          note_server(both[1]);
                      });
                  });
                  pause_until(9);
              }),
              "S 1-3 | left 1 exhausted 0 tasks 0 | left 1 exhausted 0 tasks 1");
}

TEST(DeferrableServer, IsNotChargedForATaskThatRunsWhenItIsReplenished) {
    // H runs from 8 to 11; the request of 8 waits for it, and its budget is new at 10.
    EXPECT_EQ(hosted::run([] {
                  at_begin([](void*) {
                      make_server(ServerKind::deferrable, 2, 10);
                      hosted::start("H", periodic<'H', 3>, fixed(3, 8, 0, 8));
                      s_lengths = {1};
                      s_request = served("S", &requests);
                      request_at(8);
                      at_time(15, [](void*) { note_server(s_server); });
                  });
                  pause_until(15);
              }),
              "H 8-11 | S 11-12 | left 1 exhausted 0 tasks 1");
}

TEST(AperiodicServer, HasAPlaceInATableThatIsFull) {
    EXPECT_EQ(hosted::run([] {
                  for (std::size_t i = 0; i < kernel::kServersMax; ++i) {
                      make_server(ServerKind::polling, 1, 100);
                  }
                  const auto created = kernel::server_create({"S", ServerKind::polling, ms(1), ms(100)});
                  note(created.ok() ? "ok" : lib::error_name(created.error()));
                  must(kernel::server_remove(s_server));
                  make_server(ServerKind::polling, 1, 100);
              }),
              "no space");
}

} // namespace served_test
