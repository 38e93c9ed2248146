// SPDX-License-Identifier: MIT
// Tests what a processor executes at each moment, and what of it is remembered.
#include "host/schedule/executor.hpp"

#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace host::schedule::executor_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const Executor& executor) {
    return fmt::format("{} {}", by_name(executor.by),
                       executor.who == kUnknownContext ? "?" : std::to_string(executor.who));
}

class Executing : public testing::Test {
  protected:
    // What executes after the last event of the scene.
    std::string after(std::string_view text) {
        for (const trace::Event& event : m_reader.read(text)) {
            static_cast<void>(m_schedule.take(event));
            if (event.cpu == 0) {
                const Executor before = m_history.now();
                EXPECT_EQ(m_history.take(event, m_schedule, event.ticks), !(m_history.now() == before)) << text;
            }
        }
        return text_of(m_history.now());
    }

    [[nodiscard]] std::vector<std::string> within(std::uint64_t begin, std::uint64_t end) const {
        std::vector<std::string> texts;
        m_history.within({begin}, {end}, [&](const ExecutorHistory::Stretch& stretch) {
            texts.push_back(
                fmt::format("{} {}..{}", text_of(stretch.executor), stretch.begin.value, stretch.end.value));
        });
        return texts;
    }

    support::SceneReader m_reader;
    Schedule m_schedule;
    ExecutorHistory m_history;
};

TEST_F(Executing, FromTheRecordOfLeavingToTheSwitchIsTheKernel) {
    EXPECT_EQ(after("1 ipoint"), "unknown ?");
    EXPECT_EQ(after("2 switch 3"), "task 3");
    EXPECT_EQ(after("3 leave 3"), "kernel 3");
    EXPECT_EQ(after("4 task_schedule 4"), "kernel 3");
    EXPECT_EQ(after("5 task_dispatch 4"), "kernel 3");
    EXPECT_EQ(after("6 switch 4"), "task 4");
    EXPECT_EQ(after("7 leave 4"), "kernel 4");
    EXPECT_EQ(after("8 task_dispatch 4"), "task 4") << "without a switch the same task continues";
    EXPECT_EQ(after("9 task_dispatch 5"), "task 4") << "it has not left";
}

TEST_F(Executing, AHandlerPrecedesTheKernelAndTheTaskAndTheInnermostTheOthers) {
    EXPECT_EQ(after("1 switch 3; 2 timer"), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(after("3 irq 32"), "interrupt 32");
    EXPECT_EQ(after("4 irq 33"), "interrupt 33");
    EXPECT_EQ(after("5 iret 33"), "interrupt 32");
    EXPECT_EQ(after("6 leave 3"), "interrupt 32");
    EXPECT_EQ(after("7 iret 32"), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(after("8 timer_end"), "kernel 3");
}

TEST_F(Executing, TimerHandlersNestAndAnEndWithoutABeginIsNone) {
    EXPECT_EQ(after("1 switch 3; 2 timer_end"), "task 3");
    EXPECT_EQ(after("3 timer; 4 timer; 5 timer_end"), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(after("6 timer_end"), "task 3");
}

TEST_F(Executing, ASectionLastsAcrossTheKernelUntilInterruptsAreOn) {
    EXPECT_EQ(after("1 switch 3; 2 cli"), "section 3");
    EXPECT_EQ(after("3 leave 3"), "kernel 3");
    EXPECT_EQ(after("4 switch 4"), "section 4");
    EXPECT_EQ(after("5 sti"), "task 4");
}

TEST_F(Executing, AGapEndsSectionHandlersAndKernel) {
    for (const std::string_view gap : {"blackout_start", "blackout_end", "trace_start"}) {
        EXPECT_EQ(after(fmt::format("!1 switch 3; 2 cli; 3 timer; 4 timer; 5 leave 3; 6 {}", gap)), "unknown ?") << gap;
        EXPECT_EQ(after("7 leave 3"), "kernel 3") << gap;
        EXPECT_EQ(after("8 task_dispatch 3"), "task 3") << gap;
    }
}

TEST_F(Executing, AProcessorWhoseTaskAnotherOneRunsIsUnknown) {
    EXPECT_EQ(after("1 switch 3; 2 switch 3 @1; 3 ipoint"), "unknown ?");
}

TEST_F(Executing, WhatIsRememberedIsCutToWhatIsAskedFor) {
    EXPECT_THAT(within(0, 100), ElementsAre("unknown ? 0..100")) << "no record yet";
    after("10 switch 3; 20 switch 4; 20 cli; 20 sti; 30 switch 5");
    EXPECT_THAT(within(5, 40), ElementsAre("unknown ? 5..10", "task 3 10..20", "task 4 20..30", "task 5 30..40"));
    EXPECT_THAT(within(10, 20), ElementsAre("task 3 10..20"));
    EXPECT_THAT(within(12, 25), ElementsAre("task 3 12..20", "task 4 20..25"));
    EXPECT_THAT(within(20, 30), ElementsAre("task 4 20..30"));
    EXPECT_THAT(within(33, 35), ElementsAre("task 5 33..35"));
    EXPECT_THAT(within(0, 10), ElementsAre("unknown ? 0..10"));
    EXPECT_THAT(within(15, 15), IsEmpty());
}

TEST_F(Executing, TheLatestStretchesAreRemembered) {
    constexpr std::uint64_t kRemembered = 4096;
    constexpr std::uint64_t kSwitches = 5000;
    for (std::uint64_t i = 1; i <= kSwitches; ++i) {
        after(fmt::format("{} switch {}", 10 * i, 1 + i % 2));
    }
    constexpr std::uint64_t kFirst = 10 * (kSwitches - kRemembered);
    EXPECT_THAT(within(kFirst - 15, kFirst + 15), ElementsAre(fmt::format("unknown ? {}..{}", kFirst - 15, kFirst),
                                                              fmt::format("task 1 {}..{}", kFirst, kFirst + 10),
                                                              fmt::format("task 2 {}..{}", kFirst + 10, kFirst + 15)));
}

TEST_F(Executing, RecordsAreCountedAfterTheBeginAndUpToTheEnd) {
    for (const std::uint64_t stamp : {10U, 20U, 20U, 30U, 40U}) {
        after(fmt::format("{} ipoint", stamp));
    }
    EXPECT_EQ(m_history.records(), 5U);
    EXPECT_EQ(m_history.records_within({0}, {50}), 5U);
    EXPECT_EQ(m_history.records_within({10}, {20}), 2U);
    EXPECT_EQ(m_history.records_within({20}, {30}), 1U);
    EXPECT_EQ(m_history.records_within({19}, {29}), 2U);
    EXPECT_EQ(m_history.records_within({40}, {50}), 0U);
}

TEST_F(Executing, RecordsAreCountedAsFarAsTheirStampsAreRemembered) {
    constexpr std::uint64_t kRemembered = 4096;
    for (std::uint64_t i = 1; i <= kRemembered; ++i) {
        after(fmt::format("{} ipoint", i));
    }
    EXPECT_EQ(m_history.records_within({0}, {kRemembered}), kRemembered);
    after(fmt::format("{} ipoint", kRemembered + 1));
    EXPECT_EQ(m_history.records_within({0}, {kRemembered + 1}), kRemembered);
    EXPECT_EQ(m_history.records_within({0}, {2}), 1U);
    EXPECT_EQ(m_history.records(), kRemembered + 1);
}

} // namespace

} // namespace host::schedule::executor_test
