// SPDX-License-Identifier: MIT
// Tests how the time of one processor is divided among tasks and handlers, record by record.
#include "host/schedule/processor_time.hpp"

#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace host::schedule::processor_time_test {

namespace {

using ::testing::ElementsAre;

std::string text_of(const ProcessorTime::Stretch& stretch) {
    return fmt::format("{}{} {}..{}", stretch.task ? std::to_string(*stretch.task) : "?",
                       stretch.handler ? fmt::format(" in {}", *stretch.handler) : "", stretch.begin.value,
                       stretch.end.value);
}

class Division {
  public:
    explicit Division(std::string_view text) { play(text); }

    Division& play(std::string_view text) {
        for (const trace::Event& event : m_reader.read(text)) {
            const ProcessorTime::Stretch ended = m_time.take(event);
            if (ended.length().value != 0) {
                m_texts.push_back(text_of(ended));
            }
            EXPECT_EQ(m_time.last(), event.ticks);
        }
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
    support::SceneReader m_reader;
    ProcessorTime m_time;
    std::vector<std::string> m_texts;
};

TEST(ProcessorTimeDivision, BelongsToTheInnermostHandlerElseToTheTask) {
    Division time("10 switch 3; 20 irq 32; 30 irq 33; 40 iret 33; 50 iret 32; 60 switch 4; 70 ipoint");
    EXPECT_THAT(time.finish(),
                ElementsAre("3 10..20", "3 in 32 20..30", "3 in 33 30..40", "3 in 32 40..50", "3 50..60", "4 60..70"));
}

TEST(ProcessorTimeDivision, ASwitchWithinAHandlerEndsTheStretchAndNotTheHandler) {
    Division time("10 switch 3; 20 irq 32; 30 switch 4; 40 iret 32; 50 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "4 in 32 30..40", "4 40..50"));
}

// The handler of the timer is inside of its interrupt, where that is recorded.
TEST(ProcessorTimeDivision, BelongsToTheTimerOnlyWhereInterruptsAreNotRecorded) {
    Division time("10 switch 3; 20 timer; 30 timer_end; 40 irq 32; 50 timer; 60 timer_end; 70 iret 32; 80 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", fmt::format("3 in {} 20..30", kTimerHandler), "3 30..40",
                                           "3 in 32 40..50", "3 in 32 50..60", "3 in 32 60..70", "3 70..80"));
}

TEST(ProcessorTimeDivision, AHandlerThatEndsHasEndedAllThatAreNestedInIt) {
    Division time("10 switch 3; 20 irq 32; 30 irq 33; 40 irq 34; 50 iret 33; 60 iret 32; 70 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "3 in 33 30..40", "3 in 34 40..50",
                                           "3 in 32 50..60", "3 60..70"));
}

TEST(ProcessorTimeDivision, AnEndOfAnotherHandlerEndsNone) {
    Division time("10 switch 3; 20 irq 32; 30 iret 99; 40 iret 32; 50 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "3 in 32 30..40", "3 40..50"));
}

// The trace begins inside of the handler.
TEST(ProcessorTimeDivision, BeforeAnEndWithoutItsBeginNothingIsKnown) {
    Division time("10 switch 3; 30 iret 32; 40 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("? 10..30", "3 30..40"));
}

TEST(ProcessorTimeDivision, HandlersDeeperThanItRemembersAreLeftOut) {
    Division time("1 switch 3");
    for (std::uint16_t i = 0; i < 40; ++i) {
        time.play(fmt::format("2 irq {}", 32 + i));
    }
    time.play("10 iret 63; 20 ipoint");
    EXPECT_THAT(time.finish(), ElementsAre("3 1..2", "3 in 63 2..10", "3 in 62 10..20"));
}

// It begins at the record before the one that counts what is missing; a blackout that is announced, at its record.
TEST(ProcessorTimeDivision, OfAGapIsNobodys) {
    for (const std::string_view gap : {"blackout_end", "trace_start"}) {
        Division time(fmt::format("10 switch 3; 20 irq 32; 30 ipoint; 50 {}; 60 switch 4; 70 ipoint", gap));
        EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "? 30..60", "4 60..70")) << gap;
    }
    Division time("10 switch 3; 20 irq 32; 30 blackout; 50 lost 0; 60 switch 4");
    EXPECT_THAT(time.finish(), ElementsAre("3 10..20", "3 in 32 20..30", "? 30..60"));
}

TEST(ProcessorTimeDivision, BeginsWithTheFirstRecord) {
    EXPECT_THAT(Division("100 ipoint; 110 switch 3; 120 ipoint").finish(), ElementsAre("? 100..110", "3 110..120"));
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

} // namespace host::schedule::processor_time_test
