// SPDX-License-Identifier: MIT
// How the time of one processor is divided among tasks and handlers, record by record.
#include "host/schedule/processor_time.hpp"

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

std::string text_of(const ProcessorTime::Stretch& stretch) {
    return fmt::format("{}{} {}..{}", stretch.task ? std::to_string(*stretch.task) : "?",
                       stretch.handler ? fmt::format(" in {}", *stretch.handler) : "", stretch.begin.value,
                       stretch.end.value);
}

class Division {
  public:
    Division& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1});
        event.ticks = {stamp};
        const ProcessorTime::Stretch ended = m_time.take(event);
        if (ended.length().value != 0) {
            m_texts.push_back(text_of(ended));
        }
        EXPECT_EQ(m_time.last().value, stamp);
        return *this;
    }

    [[nodiscard]] std::vector<std::string> finish() {
        const ProcessorTime::Stretch ended = m_time.finish();
        if (ended.length().value != 0) {
            m_texts.push_back(text_of(ended));
        }
        return m_texts;
    }

  private:
    ProcessorTime m_time;
    std::vector<std::string> m_texts;
};

TEST(ProcessorTimeDivision, BelongsToTheInnermostHandlerElseToTheTask) {
    Division time;
    time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "interrupt_start", 33);
    time.at(40, "interrupt_end", 33).at(50, "interrupt_end", 32).at(60, "context_switch", 4).at(70, "ipoint");
    EXPECT_THAT(time.finish(),
                ElementsAre("3 10..20", "3 in 32 20..30", "3 in 33 30..40", "3 in 32 40..50", "3 50..60", "4 60..70"));
}

TEST(ProcessorTimeDivision, ASwitchWithinAHandlerEndsTheStretchAndNotTheHandler) {
    Division time;
    time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "context_switch", 4);
    time.at(40, "interrupt_end", 32).at(50, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "4 in 32 30..40", "4 40..50"));
}

// The handler of the timer is inside of its interrupt, where that is recorded.
TEST(ProcessorTimeDivision, BelongsToTheTimerOnlyWhereInterruptsAreNotRecorded) {
    Division time;
    time.at(10, "context_switch", 3).at(20, "timer_wakeup_start").at(30, "timer_wakeup_end");
    time.at(40, "interrupt_start", 32).at(50, "timer_wakeup_start").at(60, "timer_wakeup_end");
    time.at(70, "interrupt_end", 32).at(80, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", fmt::format("3 in {} 20..30", kTimerHandler), "3 30..40",
                                           "3 in 32 40..50", "3 in 32 50..60", "3 in 32 60..70", "3 70..80"));
}

TEST(ProcessorTimeDivision, AHandlerThatEndsHasEndedAllThatAreNestedInIt) {
    Division time;
    time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "interrupt_start", 33);
    time.at(40, "interrupt_start", 34).at(50, "interrupt_end", 33).at(60, "interrupt_end", 32).at(70, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "3 in 33 30..40", "3 in 34 40..50",
                                           "3 in 32 50..60", "3 60..70"));
}

TEST(ProcessorTimeDivision, AnEndOfAnotherHandlerEndsNone) {
    Division time;
    time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "interrupt_end", 99);
    time.at(40, "interrupt_end", 32).at(50, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "3 in 32 30..40", "3 40..50"));
}

// The trace begins inside of the handler.
TEST(ProcessorTimeDivision, BeforeAnEndWithoutItsBeginNothingIsKnown) {
    Division time;
    time.at(10, "context_switch", 3).at(30, "interrupt_end", 32).at(40, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("? 10..30", "3 30..40"));
}

TEST(ProcessorTimeDivision, HandlersDeeperThanItRemembersAreLeftOut) {
    Division time;
    time.at(1, "context_switch", 3);
    for (std::uint16_t i = 0; i < 40; ++i) {
        time.at(2, "interrupt_start", static_cast<std::uint16_t>(32 + i));
    }
    time.at(10, "interrupt_end", 63).at(20, "ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 1..2", "3 in 63 2..10", "3 in 62 10..20"));
}

// It begins at the record before the one that counts what is missing; a blackout that is announced, at its record.
TEST(ProcessorTimeDivision, OfAGapIsNobodys) {
    for (const std::string_view gap : {"blackout_end", "trace_start"}) {
        Division time;
        time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "ipoint").at(50, gap);
        time.at(60, "context_switch", 4).at(70, "ipoint");
        EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "? 30..60", "4 60..70")) << gap;
    }
    Division time;
    time.at(10, "context_switch", 3).at(20, "interrupt_start", 32).at(30, "blackout_start").at(50, "blackout_end");
    time.at(60, "context_switch", 4);
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "? 30..60"));
}

TEST(ProcessorTimeDivision, BeginsWithTheFirstRecord) {
    Division time;
    EXPECT_THAT(time.at(100, "ipoint").at(110, "context_switch", 3).at(120, "ipoint").finish(),
                ElementsAre("? 100..110", "3 110..120"));
}

TEST(ProcessorTimeDivision, EndsStretchesAtTheseRecordsAlone) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        const bool ends = row.name == "context_switch" || row.name.starts_with("blackout_") ||
                          row.name == "trace_start" || row.name == "interrupt_start" || row.name == "interrupt_end" ||
                          row.name.starts_with("timer_wakeup_");
        EXPECT_EQ(ProcessorTime::kEndsStretch[row.code], ends) << row.name;
    }
}

} // namespace

} // namespace host::schedule
