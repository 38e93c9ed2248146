// SPDX-License-Identifier: MIT
// What a processor executes at each moment, and what of it is remembered.
#include "host/schedule/executor.hpp"

#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kTimer = 32;
constexpr std::uint16_t kDevice = 33;

std::string text_of(const Executor& executor) {
    return fmt::format("{} {}", by_name(executor.by),
                       executor.who == kUnknownContext ? "?" : std::to_string(executor.who));
}

class Executing : public testing::Test {
  protected:
    // What executes from there on.
    std::string at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint16_t cpu = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1});
        event.cpu = cpu;
        event.ticks = {stamp};
        static_cast<void>(m_schedule.take(event));
        if (cpu == 0) {
            const Executor before = m_history.now();
            EXPECT_EQ(m_history.take(event, m_schedule, {stamp}), !(m_history.now() == before)) << name;
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

    Schedule m_schedule;
    ExecutorHistory m_history;
};

TEST_F(Executing, FromTheRecordOfLeavingToTheSwitchIsTheKernel) {
    EXPECT_EQ(at(1, "ipoint"), "unknown ?");
    EXPECT_EQ(at(2, "context_switch", 3), "task 3");
    EXPECT_EQ(at(3, "task_epilogue", 3), "kernel 3");
    EXPECT_EQ(at(4, "task_schedule", 4), "kernel 3");
    EXPECT_EQ(at(5, "task_dispatch", 4), "kernel 3");
    EXPECT_EQ(at(6, "context_switch", 4), "task 4");
    EXPECT_EQ(at(7, "task_epilogue", 4), "kernel 4");
    EXPECT_EQ(at(8, "task_dispatch", 4), "task 4") << "without a switch the same task continues";
    EXPECT_EQ(at(9, "task_dispatch", 5), "task 4") << "it has not left";
}

TEST_F(Executing, AHandlerPrecedesTheKernelAndTheTaskAndTheInnermostTheOthers) {
    static_cast<void>(at(1, "context_switch", 3));
    EXPECT_EQ(at(2, "timer_wakeup_start"), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(at(3, "interrupt_start", kTimer), "interrupt 32");
    EXPECT_EQ(at(4, "interrupt_start", kDevice), "interrupt 33");
    EXPECT_EQ(at(5, "interrupt_end", kDevice), "interrupt 32");
    EXPECT_EQ(at(6, "task_epilogue", 3), "interrupt 32");
    EXPECT_EQ(at(7, "interrupt_end", kTimer), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(at(8, "timer_wakeup_end"), "kernel 3");
}

TEST_F(Executing, TimerHandlersNestAndAnEndWithoutABeginIsNone) {
    static_cast<void>(at(1, "context_switch", 3));
    EXPECT_EQ(at(2, "timer_wakeup_end"), "task 3");
    static_cast<void>(at(3, "timer_wakeup_start"));
    static_cast<void>(at(4, "timer_wakeup_start"));
    EXPECT_EQ(at(5, "timer_wakeup_end"), fmt::format("interrupt {}", kTimerHandler));
    EXPECT_EQ(at(6, "timer_wakeup_end"), "task 3");
}

TEST_F(Executing, ASectionLastsAcrossTheKernelUntilInterruptsAreOn) {
    static_cast<void>(at(1, "context_switch", 3));
    EXPECT_EQ(at(2, "CLI"), "section 3");
    EXPECT_EQ(at(3, "task_epilogue", 3), "kernel 3");
    EXPECT_EQ(at(4, "context_switch", 4), "section 4");
    EXPECT_EQ(at(5, "STI"), "task 4");
}

TEST_F(Executing, AGapEndsSectionHandlersAndKernel) {
    for (const std::string_view gap : {"blackout_start", "blackout_end", "trace_start"}) {
        static_cast<void>(at(1, "context_switch", 3));
        static_cast<void>(at(2, "CLI"));
        static_cast<void>(at(3, "timer_wakeup_start"));
        static_cast<void>(at(4, "timer_wakeup_start"));
        static_cast<void>(at(5, "task_epilogue", 3));
        EXPECT_EQ(at(6, gap), "unknown ?") << gap;
        EXPECT_EQ(at(7, "task_epilogue", 3), "kernel 3") << gap;
        EXPECT_EQ(at(8, "task_dispatch", 3), "task 3") << gap;
    }
}

TEST_F(Executing, AProcessorWhoseTaskAnotherOneRunsIsUnknown) {
    static_cast<void>(at(1, "context_switch", 3));
    static_cast<void>(at(2, "context_switch", 3, 1));
    EXPECT_EQ(at(3, "ipoint"), "unknown ?");
}

TEST_F(Executing, WhatIsRememberedIsCutToWhatIsAskedFor) {
    EXPECT_THAT(within(0, 100), ElementsAre("unknown ? 0..100")) << "no record yet";
    static_cast<void>(at(10, "context_switch", 3));
    static_cast<void>(at(20, "context_switch", 4));
    static_cast<void>(at(20, "CLI"));
    static_cast<void>(at(20, "STI"));
    static_cast<void>(at(30, "context_switch", 5));
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
        static_cast<void>(at(10 * i, "context_switch", static_cast<std::uint16_t>(1 + i % 2)));
    }
    constexpr std::uint64_t kFirst = 10 * (kSwitches - kRemembered);
    EXPECT_THAT(within(kFirst - 15, kFirst + 15), ElementsAre(fmt::format("unknown ? {}..{}", kFirst - 15, kFirst),
                                                              fmt::format("task 1 {}..{}", kFirst, kFirst + 10),
                                                              fmt::format("task 2 {}..{}", kFirst + 10, kFirst + 15)));
}

TEST_F(Executing, RecordsAreCountedAfterTheBeginAndUpToTheEnd) {
    for (const std::uint64_t stamp : {10U, 20U, 20U, 30U, 40U}) {
        static_cast<void>(at(stamp, "ipoint"));
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
        static_cast<void>(at(i, "ipoint"));
    }
    EXPECT_EQ(m_history.records_within({0}, {kRemembered}), kRemembered);
    static_cast<void>(at(kRemembered + 1, "ipoint"));
    EXPECT_EQ(m_history.records_within({0}, {kRemembered + 1}), kRemembered);
    EXPECT_EQ(m_history.records_within({0}, {2}), 1U);
    EXPECT_EQ(m_history.records(), kRemembered + 1);
}

} // namespace

} // namespace host::schedule
