// SPDX-License-Identifier: MIT
// Tests remora why: its text stays within twenty lines and is harmless whatever the trace calls its tasks, what it
// refuses, and what a script gets.
#include "host/trace/json.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/host_command_line.hpp"

#include <algorithm>
#include <cstdint>
#include <gmock/gmock.h>
#include <regex>
#include <string>

namespace host::cli {

namespace why_command_test {

using support::ChunkBuilder;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using trace::Json;

constexpr auto kSemaphore = static_cast<std::uint32_t>(lib::WaitKind::semaphore);

class WhyCommand : public support::CommandLine {
  protected:
    // Two jobs of a task that is preempted by another one; the second job is 400 ns late.
    static ChunkBuilder trace_of(std::string_view name, std::string_view other) {
        ChunkBuilder chunk;
        chunk.build("control", 7).name("task", 3, name).name("task", 4, other).name("level", 0, "RM");
        chunk.parameters({.context = 3, .level = 0, .wcet_ns = 500, .period_ns = 5'000, .deadline_ns = 1'000});
        chunk.parameters({.context = 4, .level = 0, .wcet_ns = 100, .period_ns = 5'000, .deadline_ns = 800});
        chunk.event(5'000, "trace_start").event(5'000, "context_switch", 3);
        chunk.event(5'000, "job_release", 3, 5'000).event(5'000, "job_deadline", 3, 6'000);
        chunk.event(5'300, "task_end_cycle", 3);
        chunk.event(10'000, "job_release", 3, 10'000).event(10'000, "job_deadline", 3, 11'000);
        chunk.event(10'100, "job_release", 4, 10'100).event(10'100, "job_deadline", 4, 10'900);
        chunk.event(10'100, "context_switch", 4).event(11'100, "task_end_cycle", 4);
        chunk.event(11'100, "context_switch", 3).event(11'400, "task_end_cycle", 3);
        return chunk;
    }

    // The text with its long lines in one piece.
    [[nodiscard]] std::string unwrapped() const { return std::regex_replace(m_out, std::regex("\n    (?! )"), " "); }
};

TEST_F(WhyCommand, NamesTheCauseAndWhatWouldHaveBeenNeeded) {
    const std::string path = write(trace_of("sensor", "greedy").bytes());
    ASSERT_EQ(remora({"why", path, "--task", "sensor"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("sensor job 2: released at"));
    EXPECT_THAT(m_out, HasSubstr("response time 1.40 us = execution 400 ns + interference 1.00 us\n"));
    EXPECT_THAT(m_out, HasSubstr("cause: an overrun: greedy declares 100 ns and executed 1.00 us\n"));
    EXPECT_THAT(unwrapped(),
                HasSubstr("without the 900 ns executed beyond that within the job: on time, with 500 ns to spare\n"));
    ASSERT_EQ(remora({"why", path, "--task", "3", "--job", "1"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("on time, with 700 ns to spare"));
    EXPECT_THAT(m_out, Not(HasSubstr("cause:")));
}

TEST_F(WhyCommand, GivesTheSameToScripts) {
    const std::string path = write(trace_of("sensor", "greedy").bytes());
    ASSERT_EQ(remora({"why", path, "--task", "sensor", "--json"}), 0) << m_err;
    const Json json = Json::parse(m_out);
    EXPECT_EQ(json["cause"], "others_overrun");
    EXPECT_EQ(json["jobs"], 2);
    EXPECT_EQ(json["jobs_late"], 1);
    EXPECT_EQ(json["job"]["job"], 2);
    EXPECT_EQ(json["job"]["residue_ticks"], 0);
    EXPECT_EQ(json["job"]["lateness_ticks"], 400);
    EXPECT_EQ(json["job"]["findings"][0]["gain_ns"], 900);
    EXPECT_EQ(json["job"]["findings"][0]["who"], 4);
    EXPECT_TRUE(json["job"]["findings"][0]["from"].is_object()) << json["job"]["findings"][0];
    EXPECT_TRUE(json["first_of_row"].is_null());
    ASSERT_EQ(remora({"why", path, "--task", "sensor", "--job", "1", "--json"}), 0) << m_err;
    EXPECT_TRUE(Json::parse(m_out)["cause"].is_null());
}

// It waits for semaphore 9 and is killed while the other one runs; then the same, but that one posts.
TEST_F(WhyCommand, SaysThatNothingEndedAWaitAndWhoRanMeanwhile) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    chunk.event(20'000, "job_release", 3, 20'000).event(20'000, "job_deadline", 3, 21'000);
    chunk.event(21'000, "task_block", 3, kSemaphore << 16 | 9).event(21'000, "context_switch", 1);
    chunk.event(23'000, "context_switch", 4).event(30'000, "task_end", 3).event(30'100, "context_switch", 1);
    const std::string path = write(chunk.bytes());
    ASSERT_EQ(remora({"why", path, "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_THAT(unwrapped(),
                HasSubstr("for 9.00 us it waited for the semaphore #9, which nothing ended before greedy ended the "
                          "task; meanwhile greedy ran 7.00 us, context 1 ran 2.00 us\n"));
    chunk = trace_of("sensor", "greedy");
    chunk.event(20'000, "job_release", 3, 20'000).event(20'000, "job_deadline", 3, 21'000);
    chunk.event(21'000, "task_block", 3, kSemaphore << 16 | 9).event(21'000, "context_switch", 4);
    chunk.event(30'000, "task_unblock", 3).event(30'000, "context_switch", 3).event(30'100, "task_end", 3);
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_THAT(unwrapped(),
                HasSubstr("for 9.00 us it waited for the semaphore #9, until greedy ended that; meanwhile"));
}

// It waits for a mutex whose holder waits, while tasks with long names take turns.
TEST_F(WhyCommand, CutsNoSentenceHoweverMuchRanDuringAWait) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    chunk.name("task", 5, std::string(40, 'h')).name("mutex", 1, std::string(40, 'm')).name("level", 1, "RR");
    chunk.parameters({.context = 5, .level = 1, .wcet_ns = 0, .period_ns = 0, .deadline_ns = 0});
    for (std::uint16_t task = 6; task < 30; ++task) {
        chunk.name("task", task, std::string(38, 't') + std::to_string(task));
        chunk.parameters({.context = task, .level = 1, .wcet_ns = 0, .period_ns = 0, .deadline_ns = 0});
    }
    chunk.event(20'000, "context_switch", 5).event(20'100, "set_mutex_acquire", 5, 1);
    chunk.event(20'200, "task_block", 5, kSemaphore << 16 | 9).event(20'200, "context_switch", 6);
    chunk.event(21'000, "job_release", 3, 21'000).event(21'000, "job_deadline", 3, 22'000);
    chunk.event(21'000, "context_switch", 3).event(21'100, "set_mutex_block", 3, 1);
    std::uint64_t now = 21'100;
    for (std::uint16_t task = 6; task < 30; ++task, now += 500) {
        chunk.event(now, "context_switch", task)
            .event(now + 10, "interrupt_start", 64)
            .event(now + 60, "interrupt_end", 64);
    }
    chunk.event(now, "task_unblock", 5).event(now, "context_switch", 5).event(now + 100, "set_mutex_unlock", 5, 1);
    chunk.event(now + 100, "context_switch", 3).event(now + 100, "set_mutex_acquire", 3, 1);
    chunk.event(now + 200, "task_end_cycle", 3).event(now + 200, "context_switch", 5);
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_LE(std::ranges::count(m_out, '\n'), 20) << m_out;
    const std::string text = unwrapped();
    const std::string held = std::string(40, 'h') + " held the mutex " + std::string(40, 'm') + " and waited for ";
    EXPECT_THAT(text,
                ContainsRegex("\ncause: a lock held across a wait: for [0-9.]+ us " + held + "the semaphore #9\n"));
    EXPECT_THAT(text, ContainsRegex("\nwithout the [0-9.]+ us for which " + held +
                                    "the semaphore #9: on time, with [0-9.]+ ns to spare\n"));
    EXPECT_THAT(text, ContainsRegex("\nmore: remora print [^\n]+ --from [0-9]+ --to [0-9]+\n$"));
    const std::string passage = "waited for the mutex " + std::string(40, 'm') + " of ";
    EXPECT_EQ(text.find(passage, text.find(passage) + 1), std::string::npos) << text;
}

// Tasks with long names preempt it, each for a while: every passage takes several lines.
TEST_F(WhyCommand, StaysShortHoweverManyTasksPreemptTheJob) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    for (std::uint16_t task = 6; task < 30; ++task) {
        chunk.name("task", task, std::string(38, 't') + std::to_string(task));
        chunk.parameters({.context = task, .level = 0, .wcet_ns = 200, .period_ns = 5'000, .deadline_ns = 500});
    }
    chunk.event(20'000, "job_release", 3, 20'000).event(20'000, "job_deadline", 3, 21'000);
    std::uint64_t now = 20'100;
    for (std::uint16_t task = 6; task < 30; ++task, now += 500) {
        const auto low = static_cast<std::uint32_t>(now);
        chunk.event(now, "job_release", task, low).event(now, "job_deadline", task, low + 500);
        chunk.event(now, "context_switch", task).event(now + 400, "task_end_cycle", task);
        chunk.event(now + 400, "context_switch", 3);
    }
    chunk.event(now, "task_end_cycle", 3).event(now, "context_switch", 1);
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_LE(std::ranges::count(m_out, '\n'), 20) << m_out;
    EXPECT_THAT(unwrapped(), ContainsRegex("\n(cause|without|only)[^\n]+\n"));
    EXPECT_THAT(unwrapped(), ContainsRegex("\nmore: remora print [^\n]+ --from [0-9]+ --to [0-9]+\n$"));
}

TEST_F(WhyCommand, RefusesWhatIsNotThere) {
    const std::string path = write(trace_of("sensor", "greedy").bytes());
    EXPECT_EQ(remora({"why", path, "--task", "senso"}), 1);
    EXPECT_THAT(m_err, HasSubstr("did you mean sensor?"));
    EXPECT_EQ(remora({"why", path, "--task", "sensor", "--job", "3"}), 1);
    EXPECT_THAT(m_err, HasSubstr("task sensor has no job 3: the last one is job 2"));
    EXPECT_EQ(remora({"why", path, "--worst"}), 1);
    EXPECT_THAT(m_err, HasSubstr("--worst needs --task"));
    EXPECT_EQ(remora({"why", path, "--crash", "--task", "sensor"}), 1);
    EXPECT_EQ(remora({"why", path, "--task", "sensor", "--job", "1", "--first-miss"}), 1);
    EXPECT_EQ(m_out, "");
}

TEST_F(WhyCommand, ExplainsTheFirstMissOfAnyTask) {
    ASSERT_EQ(remora({"why", write(trace_of("sensor", "greedy").bytes())}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("greedy job 1: released at")) << "it ended first";
    ChunkBuilder chunk;
    chunk.build("control", 7).name("task", 3, "sensor").name("level", 0, "RM");
    chunk.event(5'000, "trace_start")
        .event(5'000, "context_switch", 3)
        .event(5'000, "job_release", 3, 5'000)
        .event(5'300, "task_end_cycle", 3);
    ASSERT_EQ(remora({"why", write(chunk.bytes())}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("no job missed its deadline"));
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--json"}), 0) << m_err;
    EXPECT_TRUE(Json::parse(m_out)["job"].is_null());
}

TEST_F(WhyCommand, SaysHowTheRunEnded) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--crash"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("no panic, hang, failure or killed task is in the trace"));
    chunk.event(20'000, "panic", 3, 14).event(20'001, "fault_instruction", 0, 0x1234);
    const std::string path = write(chunk.bytes());
    ASSERT_EQ(remora({"why", path, "--crash"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("panic in task sensor: exception 14 (at "));
    EXPECT_THAT(m_out, HasSubstr("  where        0x1234\n"));
    ASSERT_EQ(remora({"why", path, "--crash", "--json"}), 0) << m_err;
    EXPECT_EQ(Json::parse(m_out)["crashes"][0]["stack"][0]["address"], 0x1234);
    ASSERT_EQ(remora({"why", path}), 0) << m_err;
    EXPECT_EQ(m_out.find("panic in task sensor"), 0U) << "before the job that was late:" << m_out;
    EXPECT_THAT(m_out, HasSubstr("greedy job 1: released at"));
    ASSERT_EQ(remora({"summary", path}), 0) << m_err;
    EXPECT_EQ(m_out.find("panic in task sensor"), 0U) << m_out;
    EXPECT_THAT(m_out, HasSubstr("; but the run ended badly\n"));
    constexpr std::string_view kConsole = "REMORA: panic: a.cpp:1: x\n  called from 0x10\n";
    ASSERT_EQ(remora({"why", write(std::as_bytes(std::span(kConsole))), "--crash"}), 0) << m_err;
    EXPECT_EQ(m_out, "panic: a.cpp:1: x\n  where        0x10\n\n");
}

// It waits for a mutex of a task that waits for one of another task, which sleeps: the sentence names all of them.
TEST_F(WhyCommand, NamesTheWholeChainOfMutexes) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    chunk.name("task", 5, "outer").name("task", 6, "inner").name("mutex", 1, "a").name("mutex", 2, "b");
    chunk.name("task", 1, "idle");
    chunk.event(20'000, "context_switch", 6).event(20'010, "set_mutex_acquire", 6, 2);
    chunk.event(20'020, "context_switch", 5).event(20'030, "set_mutex_acquire", 5, 1);
    chunk.event(20'040, "set_mutex_block", 5, 2).event(20'040, "context_switch", 6);
    chunk.event(20'050, "task_block", 6, static_cast<std::uint32_t>(lib::WaitKind::delay) << 16);
    chunk.event(20'050, "context_switch", 1).event(21'000, "job_release", 3, 21'000);
    chunk.event(21'000, "job_deadline", 3, 22'000).event(21'000, "context_switch", 3);
    chunk.event(21'100, "set_mutex_block", 3, 1).event(21'100, "context_switch", 1);
    chunk.event(25'100, "task_unblock", 6).event(25'100, "context_switch", 6);
    chunk.event(25'200, "set_mutex_unlock", 6, 2).event(25'200, "set_mutex_acquire", 5, 2);
    chunk.event(25'200, "context_switch", 5).event(25'300, "set_mutex_unlock", 5, 1);
    chunk.event(25'300, "set_mutex_acquire", 3, 1).event(25'300, "context_switch", 3);
    chunk.event(25'400, "task_end_cycle", 3);
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_THAT(unwrapped(), HasSubstr("waited for the mutex a of outer, while inner slept"));
    EXPECT_THAT(unwrapped(),
                HasSubstr("cause: a lock held across a wait: for 4.00 us inner held the mutex b and slept; "
                          "the job waited for the mutex a of outer, which waited for the mutex b\n"));
    EXPECT_THAT(unwrapped(),
                HasSubstr("a critical section: it waited 100 ns for the mutex a of outer, which waited for "
                          "the mutex b, while inner ran"));
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3", "--json"}), 0) << m_err;
    EXPECT_EQ(Json::parse(m_out)["job"]["findings"][0]["mutex"], 2);
    EXPECT_EQ(Json::parse(m_out)["job"]["findings"][0]["chain"][1]["holder"], 6);
}

// It is suspended by another task, and a signal is delivered to it.
TEST_F(WhyCommand, NamesWhoSuspendedATaskAndWhatItHandled) {
    ChunkBuilder chunk = trace_of("sensor", "greedy");
    chunk.event(20'000, "job_release", 3, 20'000).event(20'000, "job_deadline", 3, 21'000);
    chunk.event(20'100, "signal", 3, 5).event(20'700, "context_switch", 4);
    chunk.event(20'800, "task_block", 3, static_cast<std::uint32_t>(lib::WaitKind::suspended) << 16);
    chunk.event(29'800, "task_unblock", 3).event(29'800, "context_switch", 3).event(30'000, "task_end_cycle", 3);
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "sensor", "--job", "3"}), 0) << m_err;
    EXPECT_THAT(unwrapped(), HasSubstr("9.00 us  was suspended  ("));
    EXPECT_THAT(unwrapped(), HasSubstr("a wait: for 9.00 us it was suspended by greedy, until greedy ended that"));
    EXPECT_THAT(unwrapped(), HasSubstr("the job executed 900 ns and declares 500 ns; with what handled signal 5"));
}

TEST_F(WhyCommand, SaysWhatAJobDidThatDoesNotEnd) {
    ChunkBuilder chunk;
    chunk.build("control", 7).name("task", 3, "stuck").name("semaphore", 9, "data").name("level", 0, "RM");
    chunk.event(5'000, "trace_start").event(5'000, "context_switch", 3).event(5'000, "job_release", 3, 5'000);
    chunk.event(5'300, "task_block", 3, kSemaphore << 16 | 9).event(5'300, "context_switch", 1);
    chunk.event(9'300, "ipoint", 1, 1);
    EXPECT_EQ(remora({"why", write(chunk.bytes()), "--task", "stuck"}), 1);
    EXPECT_THAT(m_err, HasSubstr("the only job of task stuck does not end in the trace, or lacks records; the last "
                                 "that is known of job 1: waited for the semaphore data, for "));
    ASSERT_EQ(remora({"why", write(chunk.bytes()), "--task", "stuck", "--job", "1"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("\nthe last that is known of job 1: waited for the semaphore data, for "));
}

TEST_F(WhyCommand, KeepsHostileNamesHarmlessAndTheTextShort) {
    const std::string name = "\x1b[31mevil\n" + std::string(30, 'x');
    const std::string path = write(trace_of(name, "\x1b]0;title\x07").bytes());
    ASSERT_EQ(remora({"why", path, "--task", "3"}), 0) << m_err;
    EXPECT_THAT(m_out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(m_out, HasSubstr("\\x1b"));
    EXPECT_LE(std::ranges::count(m_out, '\n'), 20);
    ASSERT_EQ(remora({"why", path, "--task", "3", "--json"}), 0) << m_err;
    EXPECT_THAT(m_out, Not(HasSubstr("\x1b")));
    EXPECT_EQ(Json::parse(m_out)["cause"], "others_overrun");
}

} // namespace why_command_test

} // namespace host::cli
