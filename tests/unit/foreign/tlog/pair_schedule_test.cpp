// SPDX-License-Identifier: MIT
// Tests pairs of tlog files as a schedule: what runs after each record, and what rests.
#include "foreign/tlog/tlog_stream.hpp"
#include "host/text/format.hpp"

#include <gmock/gmock.h>

namespace host::formats::tlog {

namespace pair_schedule_test {

using testing::ElementsAre;

class PairScheduleTest : public testing::Test {
  protected:
    // The name of the task that runs from here on, with "rests" if the one before it does; "-": nothing changes.
    std::string take(std::uint8_t type, std::uint16_t process = 0, Table table = Table::nine_pairs) {
        const auto meaning = m_schedule.take({.process = process, .type = type}, kind_of(table, type), m_names);
        if (!meaning) {
            return "-";
        }
        EXPECT_EQ(meaning->code, trace::kCodeOf<"context_switch">);
        return std::string(m_names.find(tracer::Unit::context, meaning->par1)) +
               (meaning->par2 == trace::kLeaverRests ? " rests" : "");
    }

    PairSchedule m_schedule;
    trace::Names m_names;
};

TEST_F(PairScheduleTest, APairRunsFromItsInToItsOut) {
    EXPECT_EQ(take(1, 3), "node 3");
    EXPECT_EQ(take(10, 3), "3 EVENT_1");
    EXPECT_EQ(take(33, 3), "-") << "a single event";
    EXPECT_EQ(take(26, 3), "3 EVENT_9");
    EXPECT_EQ(take(27, 3), "3 EVENT_1 rests");
    EXPECT_EQ(take(11, 3), "node 3 rests");
    EXPECT_EQ(take(2, 3), "idle rests");
}

TEST_F(PairScheduleTest, ProcessesDoNotShareTasks) {
    EXPECT_EQ(take(10, 0), "0 EVENT_1");
    EXPECT_EQ(take(10, 1), "1 EVENT_1");
    EXPECT_EQ(take(11, 0), "node 0 rests");
    EXPECT_EQ(take(12, 1), "1 EVENT_2");
    EXPECT_EQ(m_names.tasks().size(), 4U);
}

TEST_F(PairScheduleTest, WrongNestingIsFollowed) {
    EXPECT_EQ(take(11), "-") << "never begun";
    EXPECT_EQ(take(10), "0 EVENT_1");
    EXPECT_EQ(take(12), "0 EVENT_2");
    EXPECT_EQ(take(11), "node 0 rests") << "what is inside ends with it";
    EXPECT_EQ(take(13), "-");
    for (int depth = 0; depth < 64; ++depth) {
        EXPECT_EQ(take(10), "0 EVENT_1");
    }
    EXPECT_EQ(take(10), "-") << "too deep";
    EXPECT_EQ(take(2), "idle rests");
    EXPECT_EQ(take(11), "-") << "END has closed all";
}

TEST_F(PairScheduleTest, OtherTablesHaveTheirNames) {
    EXPECT_EQ(take(38, 0, Table::fifteen_pairs), "0 EVENT_15");
    EXPECT_EQ(take(11, 1, Table::openmp), "1 PARALLEL");
    EXPECT_EQ(take(12, 1, Table::openmp), "node 1 rests");
}

TEST_F(PairScheduleTest, TasksBeyondTheLastContextAreLeftOut) {
    for (unsigned process = 0; process < 0xFFFF; ++process) {
        ASSERT_NE(take(1, static_cast<std::uint16_t>(process)), "-");
    }
    EXPECT_FALSE(m_schedule.overfull());
    EXPECT_EQ(take(10, 0), "-");
    EXPECT_TRUE(m_schedule.overfull());
    EXPECT_EQ(take(1, 0), "node 0") << "those that have one keep it";
}

} // namespace pair_schedule_test

} // namespace host::formats::tlog
