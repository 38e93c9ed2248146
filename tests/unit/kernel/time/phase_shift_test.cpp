// SPDX-License-Identifier: MIT
// Tests the words shift= and event_shift=: what is valid, and what they delay.
#include "kernel/time/phase_shift.hpp"

#include "kernel/task/task.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace phase_shift_test {

using namespace hosted;

// Runs the scenario with these shifts, in milliseconds of its time; they are gone afterwards.
template <typename Scenario>
std::string run_shifted(const std::string& tasks, lib::Ticks events, Scenario scenario) {
    arch::IrqGuard guard;
    kernel::set_phase_shifts(tasks, events, guard);
    std::string order = hosted::run(scenario);
    kernel::set_phase_shifts({}, {}, guard);
    return order;
}

std::string shift_ms(const char* name, std::uint64_t ms) {
    return std::string(name) + ":" + std::to_string(kernel::to_ticks(lib::milliseconds(ms)).value);
}

TEST(PhaseShift, AcceptsNamesWithTicksAndNothingElse) {
    for (const char* const text : {"a:0", "a:4294967295", "a:1,b:2", "a b:c:7"}) {
        EXPECT_TRUE(kernel::phase_shifts_valid(text)) << text;
    }
    for (const char* const text : {"", "a", "a:", ":1", "a:-1", "a:1x", "a:4294967296", "a:1,", ",a:1", "a:1,,b:2"}) {
        EXPECT_FALSE(kernel::phase_shifts_valid(text)) << text;
    }
    std::string many = "a:1";
    for (std::size_t i = 1; i < kernel::kPhaseShiftsMax; ++i) {
        many += ",a:1";
    }
    EXPECT_TRUE(kernel::phase_shifts_valid(many));
    EXPECT_FALSE(kernel::phase_shifts_valid(many + ",a:1"));
}

TEST(PhaseShift, DelaysEveryReleaseOfTheTaskThatIsNamed) {
    const auto scenario = [] {
        const kernel::Pid a = must(
            kernel::task_create({.name = "A", .body = periodic<'A', 1>, .argument = nullptr, .model = hard(1, 10)}));
        const kernel::Pid b = must(
            kernel::task_create({.name = "B", .body = periodic<'B', 1>, .argument = nullptr, .model = hard(1, 10)}));
        must(kernel::task_activate_at(a, at(0)));
        must(kernel::task_activate_at(b, at(0)));
        pause_until(19);
    };
    EXPECT_EQ(hosted::run(scenario), "A 0-1 | B 1-2 | A 10-11 | B 11-12");
    EXPECT_EQ(run_shifted(shift_ms("A", 3), {}, scenario), "B 0-1 | A 3-4 | B 10-11 | A 13-14");
}

TEST(PhaseShift, DelaysTheMembersOfAGroup) {
    const auto scenario = [] {
        const std::array options{
            kernel::TaskOptions{
                .name = "A", .body = periodic<'A', 1>, .argument = nullptr, .model = hard(1, 20), .group = 7},
            kernel::TaskOptions{
                .name = "B", .body = periodic<'B', 1>, .argument = nullptr, .model = hard(1, 20), .group = 7}};
        std::array<kernel::Pid, 2> pids{};
        must(kernel::task_group_create(options, pids));
        must(kernel::task_group_activate_at(7, at(0)));
        pause_until(19);
    };
    EXPECT_EQ(run_shifted(shift_ms("A", 3), {}, scenario), "B 0-1 | A 3-4");
}

TEST(PhaseShift, DelaysPeriodicEventsAndNoOthers) {
    const auto scenario = [] {
        static const auto say = [](void* text) { stamp(static_cast<const char*>(text)); };
        static std::string periodic_name = "p";
        static std::string once_name = "o";
        must(kernel::kern_event_post_periodic(at(0), lib::milliseconds(10), say, periodic_name.data()));
        must(kernel::kern_event_post(at(5), say, once_name.data()));
        pause_until(19);
    };
    EXPECT_EQ(run_shifted("", kernel::to_ticks(lib::milliseconds(2)), scenario), "p@2 | o@5 | p@12");
}

TEST(PhaseShift, ReplacesTheShiftsOfBeforeAndTakesTheFirstOfAName) {
    const auto scenario = [] {
        {
            static const std::string s_former = "C:1," + shift_ms("B", 5) + "," + shift_ms("A", 7);
            static const std::string s_tasks = shift_ms("B", 2) + "," + shift_ms("B", 4);
            const arch::IrqGuard guard;
            kernel::set_phase_shifts(s_former, kernel::to_ticks(lib::milliseconds(4)), guard);
            kernel::set_phase_shifts(s_tasks, {}, guard);
        }
        start("A", periodic<'A', 1>, hard(1, 10));
        start("B", periodic<'B', 1>, hard(1, 10));
        must(kernel::kern_event_post_periodic(
            at(1), lib::milliseconds(20), [](void*) { stamp("event"); }, nullptr));
        pause_until(9);
    };
    EXPECT_EQ(hosted::run(scenario), "A 0-1 | event@1 | B 2-3");
}

TEST(PhaseShift, NamesAShiftThatNoActivationUsed) {
    const std::string noted = run_shifted(shift_ms("A", 1) + "," + shift_ms("C", 1), {}, [] {
        const kernel::Pid a = must(
            kernel::task_create({.name = "A", .body = once<'A', 1>, .argument = nullptr, .model = kernel::NrtModel{}}));
        must(kernel::task_activate(a));
        pause_until(5);
        note(std::string(kernel::unused_phase_shift()));
    });
    EXPECT_EQ(noted, "A 0-1 | C");
    EXPECT_EQ(run_shifted(shift_ms("C", 1) + ",A:0", {}, [] { note(std::string(kernel::unused_phase_shift())); }), "C");
    EXPECT_EQ(kernel::unused_phase_shift(), "");
}

} // namespace phase_shift_test
