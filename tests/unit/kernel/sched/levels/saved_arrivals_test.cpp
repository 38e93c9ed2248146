// SPDX-License-Identifier: MIT
// Tests activations that find their task busy, and which release a job has that follows one.
#include "kernel/sched/levels/level_parts.hpp"

#include "kernel/config.hpp"
#include "kernel/sched/server.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace saved_arrivals_test {

using namespace hosted;
using kernel::Overlap;

class SavedArrivalsTest : public testing::Test {
  protected:
    SavedArrivalsTest() { task.pid = {3}; }

    lib::Result<void> save(std::uint64_t at) { return arrivals.add(task, Overlap::save, {at}); }

    std::uint64_t taken() { return arrivals.take(task).value_or(lib::Ticks{}).value; }

    kernel::Task task;
    kernel::SavedArrivals arrivals;
};

TEST_F(SavedArrivalsTest, AreTakenInTheirOrder) {
    for (std::uint64_t at = 1; at <= 3 * kernel::kSavedArrivalsMax; at += 2) {
        EXPECT_TRUE(save(at).ok());
        EXPECT_TRUE(save(at + 1).ok());
        EXPECT_EQ(taken(), at);
        EXPECT_EQ(taken(), at + 1);
    }
    EXPECT_FALSE(arrivals.take(task).has_value());
    EXPECT_EQ(task.jobs.skipped, 0U);
}

TEST_F(SavedArrivalsTest, AreCountedWhereTheyAreNotKept) {
    EXPECT_EQ(arrivals.add(task, Overlap::refuse, {1}).error(), lib::Error::busy);
    EXPECT_EQ(task.jobs.skipped, 0U);
    EXPECT_TRUE(arrivals.add(task, Overlap::skip, {1}).ok());
    EXPECT_EQ(task.jobs.skipped, 1U);
    for (std::uint64_t at = 1; at <= kernel::kSavedArrivalsMax; ++at) {
        EXPECT_TRUE(save(at).ok());
    }
    EXPECT_EQ(save(100).error(), lib::Error::no_space);
    EXPECT_EQ(task.jobs.skipped, 2U);
    EXPECT_EQ(taken(), 1U);
    EXPECT_TRUE(save(100).ok());
}

TEST_F(SavedArrivalsTest, OfOneTaskAreNotAnothers) {
    kernel::Task other;
    other.pid = {4};
    must(save(5));
    EXPECT_FALSE(arrivals.take(other).has_value());
    arrivals.drop_all(other);
    EXPECT_EQ(taken(), 5U);
    must(save(6));
    arrivals.drop_all(task);
    EXPECT_FALSE(arrivals.take(task).has_value());
}

kernel::Pid s_first;

void note_release() {
    const kernel::IrqGuard off;
    note("released at " +
         std::to_string((kernel::find_task(s_first, off)->released_at.value - at(0).value) / 1'000'000));
}

// Three milliseconds of work; activations at 1 and 2 find it.
std::string releases_of(kernel::TaskModel (*model)()) {
    static kernel::TaskModel (*s_model)();
    s_model = model;
    return hosted::run([] {
        s_first = start("A", periodic<'A', 3>, s_model());
        for (const std::uint64_t when : {1U, 2U}) {
            at_time(when, [](void*) { must(kernel::task_activate(s_first)); });
        }
        for (const std::uint64_t when : {2U, 5U, 8U}) {
            at_time(when, [](void*) { note_release(); });
        }
        pause_until(20);
    });
}

TEST(Release, OfAJobThatWasSavedIsItsActivation) {
    const std::string expected = "A 0-2 | released at 0 | A 2-5 | released at 1 | A 5-8 | released at 2 | A 8-9";
    EXPECT_EQ(releases_of([]() -> kernel::TaskModel { return kernel::NrtModel{.overlap = Overlap::save}; }), expected);
    EXPECT_EQ(releases_of([]() -> kernel::TaskModel { return kernel::SoftModel{ms(3), ms(10)}; }), expected);
    EXPECT_EQ(releases_of([]() -> kernel::TaskModel {
                  const auto server = must(kernel::server_create(
                      {.name = "S", .kind = kernel::ServerKind::deferrable, .budget = ms(9), .period = ms(100)}));
                  return kernel::ServedModel{.server = server, .overlap = Overlap::save};
              }),
              expected);
}

TEST(Release, OfAPeriodicJobIsOnTheGridHoweverLateItBegins) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", "A 12; end; each a 1", hard(1, 5, 0, 1));
                  for (const std::uint64_t when : {12U, 14U, 17U}) {
                      at_time(when, [](void*) { note_release(); });
                  }
                  pause_until(18);
              }),
              "A 1-12 | released at 1 | A 12-13 | a 13-14 | released at 11 | a 14-15 | a 16-17 | released at 16");
}

TEST(Release, OfAnActivationAMomentAgoIsThatMoment) {
    // A HARD task's work that came longer ago than kActivationLagMax counts from now.
    EXPECT_EQ(hosted::run([] {
                  at_time(5, [](void*) { // no task runs before all have been activated
                      constexpr std::uint64_t kLag = kernel::kActivationLagMax.value;
                      for (const std::uint64_t ago_ns : {kLag / 2, kLag, kLag + 1}) {
                          s_first = create("A", once<'A', 1>, hard(1, 100));
                          must(kernel::task_activate_at(s_first, {at(5).value - ago_ns}));
                          const kernel::IrqGuard off;
                          note(std::to_string(at(5).value - kernel::find_task(s_first, off)->released_at.value));
                      }
                  });
                  pause_until(20);
              }),
              "50000 | 100000 | 0 | A 5-8");
}

} // namespace saved_arrivals_test
