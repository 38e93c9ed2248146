// SPDX-License-Identifier: MIT
// Tests the words in which viewers are shown the schedule.
#include "convert/schedule_words.hpp"

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

TEST(ScheduleWords, AWaitNamesWhatItIsFor) {
    trace::Names names;
    names.set(tracer::Unit::mutex, 1, "bus");
    names.set(tracer::Unit::semaphore, 1, "items");
    names.set(tracer::Unit::condition, 1, "rea\tdy");
    names.set(tracer::Unit::port, 1, "mail");
    EXPECT_EQ(wait_label(names, TaskState::mutex, 1), "mutex bus");
    EXPECT_EQ(wait_label(names, TaskState::mutex, 2), "mutex 2");
    EXPECT_EQ(wait_label(names, TaskState::semaphore, 1), "semaphore items");
    EXPECT_EQ(wait_label(names, TaskState::condition, 1), "condition rea\\x09dy");
    EXPECT_EQ(wait_label(names, TaskState::receive, 1), "receive mail");
    EXPECT_EQ(wait_label(names, TaskState::send, 1), "send mail");
    EXPECT_EQ(wait_label(names, TaskState::delay, 1), "delay");
    EXPECT_EQ(wait_label(names, TaskState::signal, 1), "signal");
    EXPECT_EQ(wait_label(names, TaskState::suspended, 1), "suspended");
}

TEST(ScheduleWords, VectorsAndLevelsAreThoseOfTheNames) {
    trace::Names names;
    names.set(tracer::Unit::vector, 32, "timer");
    EXPECT_EQ(vector_label(names, 32), "timer");
    EXPECT_EQ(vector_label(names, 33), "vector-33");
    names.set(tracer::Unit::context, 2, "two");
    EXPECT_EQ(level_of(names, 2), 0xFFFF) << "its parameters are not stated";
    EXPECT_EQ(level_of(names, 3), 0xFFFF);
    EXPECT_EQ(level_of(names, kUnknownContext), 0xFFFF);
    EXPECT_FALSE(is_idle(names, 2));
    EXPECT_FALSE(is_idle(names, kContexts + 2));
}

} // namespace

} // namespace host::convert
