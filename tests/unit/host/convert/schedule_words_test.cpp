// SPDX-License-Identifier: MIT
// The words in which viewers are shown the schedule.
#include "host/convert/schedule_words.hpp"

#include <gtest/gtest.h>

namespace host::convert {

namespace {

TEST(ScheduleWords, TheIdleTaskIsThreadZero) {
    trace::Names names;
    names.set(tracer::Unit::context, 1, "idle");
    names.set(tracer::Unit::context, 2, "fast");
    EXPECT_EQ(tid_of(names, 1), 0U);
    EXPECT_EQ(tid_of(names, 2), 2U);
    EXPECT_EQ(tid_of(names, 0), kContextZeroTid);
    EXPECT_EQ(tid_of(names, kUnknownContext), kUnknownTid);
    EXPECT_EQ(task_label(names, 2), "fast");
    EXPECT_EQ(task_label(names, 9), "context-9");
    EXPECT_EQ(task_label(names, kUnknownContext), "unknown");
}

TEST(ScheduleWords, LinuxKnowsFourStatesOfATaskThatLeaves) {
    EXPECT_EQ(linux_state(TaskState::ready, 16), 0U);
    EXPECT_EQ(linux_state(TaskState::unknown, 16), 0U);
    EXPECT_EQ(linux_state(TaskState::job, 16), 1U);
    EXPECT_EQ(linux_state(TaskState::semaphore, 16), 1U);
    EXPECT_EQ(linux_state(TaskState::mutex, 16), 2U);
    EXPECT_EQ(linux_state(TaskState::ended, 16), 16U);
}

} // namespace

} // namespace host::convert
