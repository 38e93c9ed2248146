// SPDX-License-Identifier: MIT
// Tests which of two tasks precedes the other by its own parameters, and which server keeps a task from running. One
// tick is one nanosecond.
#include "host/schedule/base_priority.hpp"

#include "host/text/format.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/scene.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace host::schedule::base_priority_test {

namespace {

using lib::ServerKind;

constexpr std::uint32_t kKhz = 1'000'000;

class BasePriority : public testing::Test {
  protected:
    BasePriority() { m_times.take(support::event_of(0, "trace_start"), kKhz); } // nothing is missing before it

    void level(std::uint16_t number, std::string_view name) { m_names.set(tracer::Unit::level, number, name); }

    void task(std::uint16_t context, std::uint16_t level, std::uint64_t deadline_ns = 0, std::uint64_t period_ns = 0) {
        m_names.set_parameters(
            {.context = context, .level = level, .period_ns = period_ns, .deadline_ns = deadline_ns});
    }

    void play(std::string_view text) {
        for (trace::Event event : m_reader.read(text)) {
            event.names = &m_names;
            m_times.take(event, kKhz);
            m_priorities.take(event, m_times);
        }
    }

    [[nodiscard]] Order order(std::uint32_t a, std::uint32_t b) const { return m_priorities.order(a, b); }

    support::SceneReader m_reader;
    trace::Names m_names;
    trace::RecordedTimes m_times;
    BasePriorities m_priorities;
};

TEST_F(BasePriority, IsThatOfTheLevelFirst) {
    level(0, "EDF");
    level(1, "RM");
    level(2, "RR");
    level(3, "background");
    m_names.set(tracer::Unit::context, 15, "idle");
    for (const std::uint16_t number : std::to_array<std::uint16_t>({0, 1, 2, 3})) {
        task(static_cast<std::uint16_t>(10 + number), number, 100);
    }
    task(15, 3);
    play("1 ipoint");
    const std::vector<std::uint32_t> tasks = {10, 11, 12, 13, 15};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        for (std::size_t j = i + 1; j < tasks.size(); ++j) {
            EXPECT_EQ(order(tasks[i], tasks[j]), Order::higher) << tasks[i] << " and " << tasks[j];
            EXPECT_EQ(order(tasks[j], tasks[i]), Order::lower) << tasks[j] << " and " << tasks[i];
        }
    }
}

TEST_F(BasePriority, OfGuestsIsThatOfTheLevelThatTakesThemIn) {
    level(1, "RM");
    level(2, "EDF");
    level(31, "EDF"); // the first of a name counts
    std::uint16_t context = 20;
    for (const std::string_view name : {"CBS", "GRUB"}) {
        level(context, name);
        task(context, context, 100);
        ++context;
    }
    for (const std::string_view name : {"PS", "DS", "polling", "deferrable", "SERVED"}) {
        level(context, name);
        task(context, context, 100);
        ++context;
    }
    task(1, 1, 100);
    task(2, 2, 100);
    level(3, "RR");
    task(3, 3);
    play("1 ipoint");
    for (std::uint16_t guest = 20; guest < 22; ++guest) {
        EXPECT_EQ(order(guest, 1), Order::lower) << guest;
        EXPECT_EQ(order(guest, 2), Order::unknown) << "no job of it has a deadline yet";
        EXPECT_EQ(order(guest, 3), Order::higher) << guest;
    }
    for (std::uint16_t guest = 22; guest < context; ++guest) {
        EXPECT_EQ(order(guest, 1), Order::equal) << guest;
        EXPECT_EQ(order(guest, 2), Order::higher) << guest;
    }
}

TEST_F(BasePriority, OfGuestsWithoutAHostIsTheirOwnLevel) {
    level(1, "CBS");
    level(2, "background");
    level(3, "SERVED");
    level(32, "EDF"); // no kernel has so many levels
    level(32, "RM");
    for (const std::uint16_t number : std::to_array<std::uint16_t>({1, 2, 3})) {
        task(number, number);
    }
    play("1 ipoint");
    EXPECT_EQ(order(1, 2), Order::higher);
    EXPECT_EQ(order(3, 2), Order::lower);
}

TEST_F(BasePriority, TheLastLevelOfAllMayBeTheHost) {
    level(31, "EDF");
    level(1, "CBS");
    level(2, "background");
    task(1, 1);
    task(2, 2);
    play("1 ipoint");
    EXPECT_EQ(order(1, 2), Order::lower);
}

TEST_F(BasePriority, OfFixedPrioritiesIsTheShorterDeadlineElsePeriod) {
    level(0, "RM");
    task(1, 0, 2000, 9000);
    task(2, 0, 3000, 1000);
    task(3, 0, 0, 2500);
    task(4, 0, 2500, 0);
    play("1 ipoint");
    EXPECT_EQ(order(1, 2), Order::higher);
    EXPECT_EQ(order(2, 1), Order::lower);
    EXPECT_EQ(order(3, 1), Order::lower) << "without a deadline its period counts";
    EXPECT_EQ(order(3, 2), Order::higher);
    EXPECT_EQ(order(3, 4), Order::equal);
}

TEST_F(BasePriority, IsUnknownWithoutParametersOrAKnownLevel) {
    level(0, "RM");
    level(1, "RR");
    level(2, "a level of its own");
    m_names.set(tracer::Unit::context, 6, "named");
    task(1, 0, 100);
    task(2, 1);
    task(3, 1);
    task(4, 2, 100);
    task(7, 1);
    play("1 ipoint");
    EXPECT_EQ(order(2, 3), Order::equal) << "round robin";
    for (const std::uint32_t other : {4U, 5U, 6U, 8U, 0x1'0001U}) {
        EXPECT_EQ(order(1, other), Order::unknown) << other;
        EXPECT_EQ(order(other, 1), Order::unknown) << other;
    }
}

// A task called idle is the idle task only in the level that has it.
TEST_F(BasePriority, OnlyTheIdleTaskOfTheLastLevelPrecedesNone) {
    level(1, "RR");
    level(2, "background");
    task(1, 1);
    task(2, 2);
    m_names.set(tracer::Unit::context, 1, "idle");
    m_names.set(tracer::Unit::context, 2, "idler");
    play("1 ipoint");
    EXPECT_EQ(order(1, 2), Order::higher);
}

TEST_F(BasePriority, ParametersThatComeLaterCount) {
    level(0, "RM");
    task(1, 0, 100);
    play("1 ipoint");
    EXPECT_EQ(order(1, 2), Order::unknown);
    task(2, 0, 50);
    m_names.set(tracer::Unit::context, 2, "late");
    play("2 ipoint");
    EXPECT_EQ(order(1, 2), Order::lower);
}

TEST_F(BasePriority, ALongerDeadlineHoldsAtOnceAShorterOneFromTheNextReleaseOn) {
    level(0, "RM");
    task(1, 0, 2000);
    task(2, 0, 3000);
    task(3, 0, 5000);
    play("1 deadline_change 1 4"); // microseconds
    EXPECT_EQ(order(1, 2), Order::lower);
    EXPECT_EQ(order(1, 3), Order::higher);
    play("2 deadline_change 1 3");
    EXPECT_EQ(order(1, 2), Order::lower) << "still 4 us";
    play("3 release 1");
    EXPECT_EQ(order(1, 2), Order::equal);
    play("4 deadline_change 2 3");
    EXPECT_EQ(order(1, 2), Order::equal);
    play("5 release 1, release 2");
    EXPECT_EQ(order(1, 2), Order::equal) << "a release changes nothing by itself";
}

TEST_F(BasePriority, ByDeadlineIsTheEarlierOneOfTheJob) {
    level(0, "EDF");
    task(1, 0);
    task(2, 0);
    constexpr std::uint64_t kNow = 0x5'0000'0000;
    play(fmt::format("{} release 1 due {}", kNow, kNow + 500));
    EXPECT_EQ(order(1, 2), Order::unknown);
    play(fmt::format("{} release 2 due {}", kNow, kNow + 501));
    EXPECT_EQ(order(1, 2), Order::higher);
    EXPECT_EQ(order(2, 1), Order::lower);
    play(fmt::format("{} due 1 {}", kNow + 1, kNow + 501));
    EXPECT_EQ(order(1, 2), Order::equal);
}

// The release of 1 was long ago: its deadline is past.
TEST_F(BasePriority, OfADeadlineFollowsTheRelease) {
    level(0, "EDF");
    task(1, 0);
    task(2, 0);
    constexpr std::uint64_t kNow = 0x5'0000'0000;
    constexpr std::uint64_t kRelease = kNow - 0x9000'0000;
    play(fmt::format("{} release 2 at {} due {}, release 1 at {} due {}", kNow, kNow - 20, kNow - 10, kRelease,
                     kRelease + 1000));
    EXPECT_EQ(order(1, 2), Order::higher);
}

TEST_F(BasePriority, OfJobsAndBudgetsIsForgottenWhereRecordsAreMissing) {
    level(0, "EDF");
    level(1, "RM");
    task(1, 0);
    task(2, 0);
    task(3, 1, 100);
    play("0 server 9 polling period 500 for 3, budget 9 0");
    constexpr std::uint64_t kNow = 0x5'0000'0000;
    play(fmt::format("{} release 1 due {}, release 2 due {}", kNow, kNow, kNow));
    EXPECT_EQ(order(1, 2), Order::equal);
    EXPECT_EQ(m_priorities.throttled_by(3), 9U);
    m_priorities.forget();
    EXPECT_EQ(order(1, 2), Order::unknown);
    EXPECT_EQ(m_priorities.throttled_by(3), std::nullopt);
    m_times.forget();
    play(fmt::format("{} due 1 {}, due 2 {}", kNow, kNow + 1000, kNow));
    EXPECT_EQ(order(1, 2), Order::unknown) << "of which release it is, is not known";
    play(fmt::format("{} budget 9 0", kNow));
    EXPECT_EQ(m_priorities.throttled_by(3), 9U) << "its kind and its task are";
}

TEST_F(BasePriority, OfANewTaskIsNotThatOfTheOldOne) {
    level(0, "RM");
    level(1, "EDF");
    task(1, 0, 2000);
    task(2, 0, 3000);
    task(3, 1);
    task(4, 1);
    play("0 server 9 polling period 1 for 2, budget 9 0; 1 deadline_change 1 4; 2 deadline_change 1 5");
    constexpr std::uint64_t kNow = 0x5'0000'0000;
    play(fmt::format("{} release 3 due {}, release 4 due {}", kNow, kNow, kNow));
    EXPECT_EQ(order(1, 2), Order::lower);
    for (const std::uint16_t context : std::to_array<std::uint16_t>({1, 2, 3})) {
        play(fmt::format("{} create {}", kNow + 1, context));
    }
    EXPECT_EQ(order(1, 2), Order::higher);
    EXPECT_EQ(order(3, 4), Order::unknown);
    EXPECT_EQ(m_priorities.throttled_by(2), std::nullopt);
    play(fmt::format("{} release 1 at {}", kNow + 2, kNow));
    EXPECT_EQ(order(1, 2), Order::higher) << "nor does its change wait";
    play(fmt::format("{} due 3 {}", kNow + 2, kNow + 1000));
    EXPECT_EQ(order(3, 4), Order::unknown) << "nor its release";
}

TEST_F(BasePriority, OfAServedTaskIsThePeriodOfAPollingOrDeferrableServer) {
    level(0, "RM");
    task(1, 0, 2000);
    task(2, 0, 3000);
    for (const ServerKind kind : {ServerKind::polling, ServerKind::deferrable}) {
        play(fmt::format("0 server 9 {} period 1000 for 2", lib::word(kind)));
        EXPECT_EQ(order(1, 2), Order::lower);
    }
    for (const ServerKind kind : {ServerKind::cbs, ServerKind::grub}) {
        play(fmt::format("0 server 9 {} period 1000 for 2", lib::word(kind)));
        EXPECT_EQ(order(1, 2), Order::higher);
    }
    play("0 server_attach 10 2");
    EXPECT_EQ(order(1, 2), Order::higher) << "of a server that no record describes";
    play("0 server_attach 9 0x1'0001"); // no context: it would be that of task 1
    play("0 server_kind 3 9");
    EXPECT_EQ(order(1, 2), Order::higher);
}

TEST_F(BasePriority, AServerWithoutBudgetKeepsItsTaskFromRunning) {
    task(1, 0);
    for (const ServerKind kind : {ServerKind::polling, ServerKind::deferrable}) {
        play(fmt::format("!0 server 9 {} period 1000 for 1", lib::word(kind)));
        EXPECT_EQ(m_priorities.throttled_by(1), std::nullopt) << "its budget is not known";
        play("1 budget 9 0");
        EXPECT_EQ(m_priorities.throttled_by(1), 9U);
        play("2 budget 9 1");
        EXPECT_EQ(m_priorities.throttled_by(1), std::nullopt);
        play("3 budget 9 0");
    }
    play("!0 server 9 CBS period 1000 for 1; 4 budget 9 0");
    EXPECT_EQ(m_priorities.throttled_by(1), std::nullopt) << "it postpones a deadline instead";
    EXPECT_EQ(m_priorities.throttled_by(2), std::nullopt);
    EXPECT_EQ(m_priorities.throttled_by(0x1'0001), std::nullopt);
}

} // namespace

} // namespace host::schedule::base_priority_test
