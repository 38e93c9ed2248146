// SPDX-License-Identifier: MIT
// Tests the line for each decision, word by word, and which records make none.
#include "host/analyse/narrator.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::narrator_test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t wait_word(lib::WaitKind kind, std::uint32_t object) {
    return static_cast<std::uint32_t>(kind) << 16 | object;
}

class Narration {
  public:
    Narration() {
        m_names.set(tracer::Unit::context, 12, "motor");
        m_names.set(tracer::Unit::context, 13, "logger");
        m_names.set(tracer::Unit::mutex, 1, "bus");
        m_names.set(tracer::Unit::semaphore, 7, "data");
        m_names.set(tracer::Unit::server, 3, "soft");
    }

    Narration& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0,
                  std::uint16_t cpu = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        event.ticks = {stamp};
        event.time_ns = static_cast<std::int64_t>(stamp);
        event.timed = true;
        event.cpu = cpu;
        event.names = &m_names;
        m_narrator.add(event);
        return *this;
    }

    std::vector<std::string> take() { return std::exchange(m_lines, {}); }

  private:
    trace::Names m_names;
    std::vector<std::string> m_lines;
    Narrator m_narrator{[this](const Decision& decision) {
        m_lines.push_back(fmt::format("{} {}: {}", decision.event.ticks.value, decision.context, decision.text));
    }};
};

TEST(Narrator, SaysWhatBecomesOfTasksAndJobs) {
    Narration lines;
    lines.at(1, "task_create", 12).at(2, "job_release", 12).at(3, "task_end_cycle", 12).at(4, "task_disable", 12);
    lines.at(5, "task_deadline_miss", 12).at(6, "task_wcet_violation", 12).at(7, "job_abort", 12);
    lines.at(8, "job_skipped", 12).at(9, "job_queued", 12, 2).at(10, "deadline_change", 12, 700);
    lines.at(11, "activation_violation", 12).at(12, "slice_end", 12).at(13, "task_unblock", 12);
    lines.at(14, "signal", 12, 9).at(15, "task_end", 12).at(16, "task_create", 99);
    EXPECT_THAT(
        lines.take(),
        ElementsAre(
            "1 12: motor        is created", "2 12: motor        is released", "3 12: motor        completes its job",
            "4 12: motor        sleeps until it is activated", "5 12: motor        MISSES ITS DEADLINE",
            "6 12: motor        exceeds its worst-case execution time", "7 12: motor        has its job aborted",
            "8 12: motor        is busy: the activation is dropped", "9 12: motor        is busy: the activation waits",
            "10 12: motor        gets a relative deadline of 700 us", "11 12: motor        is activated too early",
            "12 12: motor        has used up its slice", "13 12: motor        is ready again",
            "14 12: motor        takes signal 9", "15 12: motor        ends", "16 99: #99          is created"));
}

TEST(Narrator, NamesMutexes) {
    Narration lines;
    lines.at(1, "set_mutex_acquire", 12, 1).at(2, "set_mutex_unlock", 12, 1).at(3, "set_mutex_block", 13, 2);
    lines.at(4, "set_mutex_deadlock", 13, 2).at(5, "set_mutex_timeout", 13, 2).at(6, "set_mutex_owner_died", 12, 1);
    EXPECT_THAT(lines.take(),
                ElementsAre("1 12: motor        locks bus", "2 12: motor        unlocks bus",
                            "3 13: logger       is held up by #2", "4 13: logger       is refused #2: a deadlock",
                            "5 13: logger       gives up waiting for #2",
                            "6 12: motor        ends as the owner of bus"));
}

TEST(Narrator, NamesWhatATaskWaitsFor) {
    Narration lines;
    lines.at(1, "task_block", 12, wait_word(lib::WaitKind::semaphore, 7));
    lines.at(2, "task_block", 12, wait_word(lib::WaitKind::mutex, 1));
    lines.at(3, "task_block", 12, wait_word(lib::WaitKind::semaphore, 0));
    lines.at(4, "task_block", 12, wait_word(lib::WaitKind::mutex, 0));
    lines.at(5, "task_block", 12, wait_word(lib::WaitKind::delay, 0));
    lines.at(6, "task_block", 12, wait_word(lib::WaitKind::delay, 5));
    EXPECT_THAT(lines.take(),
                ElementsAre("1 12: motor        waits for semaphore data", "2 12: motor        waits for mutex bus",
                            "3 12: motor        waits: semaphore", "4 12: motor        waits: mutex",
                            "5 12: motor        waits: delay", "6 12: motor        waits: delay 5"));
}

TEST(Narrator, NamesTheTaskThatAServerServes) {
    Narration lines;
    lines.at(1, "server_exhaust", 0, 3).at(2, "server_attach", 3, 12).at(3, "server_exhaust", 0, 3);
    lines.at(4, "server_replenish", 0, 3).at(5, "server_reclaiming", 0, 3).at(6, "server_replenish", 0, 4);
    lines.at(7, "server_attach", 3, 13).at(8, "server_replenish", 0, 3);
    EXPECT_THAT(lines.take(), ElementsAre("1 0: -            has exhausted server soft",
                                          "3 12: motor        has exhausted server soft",
                                          "4 12: motor        has a new budget in server soft",
                                          "5 12: motor        leaves the bandwidth of server soft to others",
                                          "6 0: -            has a new budget in server 4",
                                          "8 13: logger       has a new budget in server soft"));
}

TEST(Narrator, SaysADispatchOnceUntilTheTaskOrItsPlaceIsAnother) {
    Narration lines;
    const auto runs = [&lines](std::uint64_t stamp, std::uint16_t shadow, std::uint16_t exec, std::uint16_t cpu = 0) {
        lines.at(stamp, "task_schedule", shadow, exec, cpu).at(stamp + 1, "task_dispatch", shadow, 0, cpu);
        return lines.take();
    };
    EXPECT_THAT(runs(10, 12, 12), ElementsAre("11 12: motor        runs"));
    EXPECT_THAT(runs(20, 12, 12), IsEmpty());
    EXPECT_THAT(runs(30, 12, 13), ElementsAre("31 12: motor        runs in the place of logger"));
    EXPECT_THAT(runs(40, 12, 13), IsEmpty());
    EXPECT_THAT(runs(50, 13, 13), ElementsAre("51 13: logger       runs"));
    EXPECT_THAT(runs(60, 13, 13, 1), ElementsAre("61 13: logger       runs")) << "on another processor";
    lines.at(70, "blackout_start").at(75, "blackout_end", 0, 4);
    EXPECT_THAT(runs(80, 13, 13), ElementsAre("81 13: logger       runs")) << "after a gap";
    EXPECT_THAT(runs(90, 13, 13, 1), IsEmpty());
}

TEST(Narrator, HasNoLineForOtherRecords) {
    Narration lines;
    lines.at(1, "ipoint", 12).at(2, "interrupt_start", 32).at(3, "context_switch", 12).at(4, "set_mutex_lock", 12, 1);
    lines.at(5, "task_activate", 12).at(6, "job_deadline", 12, 900).at(7, "server_budget", 3, 10);
    EXPECT_THAT(lines.take(), IsEmpty());
}

TEST(Narrator, CutsTimesToTheResolution) {
    EXPECT_EQ(schedule_line(0, 100'000, "x"), "       0.000 ms  x");
    EXPECT_EQ(schedule_line(12'345'678, 1, "motor runs"), "      12.345 ms  motor runs");
    EXPECT_EQ(schedule_line(12'345'678, 100'000, "motor runs"), "      12.300 ms  motor runs");
    EXPECT_EQ(schedule_line(12'399'999, 100'000, "x"), "      12.300 ms  x");
    EXPECT_EQ(schedule_line(1'234'567'012'000, 1'000, "x"), " 1234567.012 ms  x");
}

} // namespace

} // namespace host::analyse::narrator_test
