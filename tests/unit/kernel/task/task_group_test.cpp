// SPDX-License-Identifier: MIT
// Tests groups of tasks, and what NRT tasks may choose: FIFO, and what becomes of activations while they are busy.
#include "kernel/task/task.hpp"
#include "kernel/task/task_group.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <array>

namespace task_group_test {

using namespace hosted;

kernel::TaskOptions member(const char* name, kernel::TaskBody body, const kernel::TaskModel& model) {
    return {.name = name, .body = body, .argument = nullptr, .model = model, .group = 7};
}

std::array<kernel::Pid, 3> s_pids{};

TEST(TaskGroup, IsActivatedForOneInstant) {
    // From the main task, which has no other chance: were A activated alone, it would run before B is released.
    EXPECT_EQ(hosted::run([] {
                  const std::array options{member("A", periodic<'A', 2>, hard(2, 20, 10)),
                                           member("B", periodic<'B', 2>, hard(2, 20, 5)),
                                           member("N", periodic<'N', 2>, kernel::NrtModel{})};
                  must(kernel::task_group_create(options, s_pids));
                  pause_until(0);
                  note(std::to_string(must(kernel::task_group_activate(7))));
                  pause_until(19);
              }),
              "B 0-2 | A 2-4 | 3 | N 4-6");
}

TEST(TaskGroup, LeavesThoseAloneThatAreActive) {
    EXPECT_EQ(hosted::run([] {
                  const std::array options{member("A", periodic<'A', 1>, hard(1, 20)),
                                           member("B", periodic<'B', 1>, hard(1, 20))};
                  must(kernel::task_group_create(options, s_pids));
                  must(kernel::task_activate_at(s_pids[0], hosted::at(0)));
                  note(std::to_string(must(kernel::task_group_activate_at(7, hosted::at(3)))));
                  pause_until(19);
              }),
              "1 | A 0-1 | B 3-4");
}

TEST(TaskGroup, IsApartFromGroupsWithNumbersBesideIt) {
    EXPECT_EQ(hosted::run([] {
                  std::array options{
                      member("below", periodic<'b', 1>, hard(1, 20)), member("A", periodic<'A', 1>, hard(1, 20)),
                      member("above", periodic<'a', 1>, hard(1, 20)), member("B", periodic<'B', 1>, hard(1, 20))};
                  std::array<kernel::Pid, 4> pids{};
                  options[0].group = 6;
                  options[2].group = 8;
                  must(kernel::task_group_create(options, pids));
                  note(std::to_string(must(kernel::task_group_activate_at(7, hosted::at(0)))));
                  pause_until(9);
                  note(std::to_string(must(kernel::task_group_kill(7))));
                  for (const std::uint16_t group : {std::uint16_t{6}, std::uint16_t{7}, std::uint16_t{8}}) {
                      note(std::to_string(kernel::task_group_size(group)));
                  }
              }),
              "2 | A 0-1 | B 1-2 | 2 | 1 | 0 | 1");
}

TEST(TaskGroup, IsCreatedAsAWholeOrNotAtAll) {
    EXPECT_EQ(hosted::run([] {
                  const std::array options{member("A", periodic<'A', 1>, hard(1, 2)),
                                           member("B", periodic<'B', 1>, hard(1, 2)),
                                           member("C", periodic<'C', 1>, hard(1, 2))};
                  note_result(kernel::task_group_create(options, s_pids));
                  note(std::to_string(kernel::task_group_size(7)));
                  must(kernel::task_group_create(std::span(options).first(2), s_pids));
                  note(std::to_string(kernel::task_group_size(7)));
                  note_result(kernel::task_group_create(options, std::span(s_pids).first(2)));
              }),
              "refused | 0 | 2 | invalid argument");
}

TEST(TaskGroup, IsKilledInWhateverStateItsTasksAre) {
    EXPECT_EQ(hosted::run([] {
                  const std::array options{member("A", periodic<'A', 1>, hard(1, 20)),
                                           member("B", periodic<'B', 9>, kernel::NrtModel{}),
                                           member("C", periodic<'C', 1>, kernel::NrtModel{})};
                  must(kernel::task_group_create(options, s_pids));
                  must(kernel::task_activate_at(s_pids[0], hosted::at(0)));
                  must(kernel::task_activate_at(s_pids[1], hosted::at(0)));
                  at_time(3, [](void*) { note(std::to_string(must(kernel::task_group_kill(7)))); });
                  pause_until(30);
                  note(std::to_string(kernel::task_group_size(7)));
              }),
              "A 0-1 | B 1-3 | 3 | 0");
}

TEST(TaskGroup, KillsTheCallerLast) {
    EXPECT_EQ(hosted::run([] {
                  const std::array options{member(
                                               "A", [](void*) { must(kernel::task_group_kill(7)); }, hard(1, 20)),
                                           member("B", periodic<'B', 9>, kernel::NrtModel{})};
                  must(kernel::task_group_create(options, s_pids));
                  must(kernel::task_group_activate(7));
                  note(std::to_string(kernel::task_group_size(7)));
              }),
              "0");
}

TEST(TaskGroup, RefusesWhatIsNoGroup) {
    EXPECT_EQ(hosted::run([] {
                  note_result(kernel::task_group_activate(0));
                  note_result(kernel::task_group_kill(0));
                  note_result(kernel::task_group_activate(8));
                  note_result(kernel::task_group_kill(8));
              }),
              "invalid argument | invalid argument | not found | not found");
}

TEST(NrtPolicy, FifoRunsUntilItsJobIsComplete) {
    EXPECT_EQ(hosted::run([] {
                  const kernel::NrtModel fifo{.slice = ms(2), .policy = kernel::NrtPolicy::fifo};
                  start("A", periodic<'A', 5>, fifo);
                  start("B", periodic<'B', 5>, kernel::NrtModel{.slice = ms(2)});
                  start("C", periodic<'C', 3>, fifo);
                  pause_until(40);
              }),
              "A 0-5 | B 5-7 | C 7-10 | B 10-13");
}

kernel::Pid s_first;

void activate_first_at(std::uint64_t when) {
    at_time(when, [](void*) { note_result(kernel::task_activate(s_first)); });
}

template <kernel::Overlap Choice>
void busy_nrt() {
    s_first = start("A", periodic<'A', 2>, kernel::NrtModel{.overlap = Choice});
    activate_first_at(1);
    pause_until(20);
    const auto jobs = kernel::task_info(s_first).value().jobs;
    note("completed " + std::to_string(jobs.completed) + " skipped " + std::to_string(jobs.skipped));
}

TEST(NrtArrivals, AreRefusedSkippedOrSaved) {
    EXPECT_EQ(hosted::run(&busy_nrt<kernel::Overlap::refuse>), "A 0-1 | busy | A 1-2 | completed 1 skipped 0");
    EXPECT_EQ(hosted::run(&busy_nrt<kernel::Overlap::skip>), "A 0-1 | ok | A 1-2 | completed 1 skipped 1");
    EXPECT_EQ(hosted::run(&busy_nrt<kernel::Overlap::save>), "A 0-1 | ok | A 1-4 | completed 2 skipped 0");
}

} // namespace task_group_test
