// SPDX-License-Identifier: MIT
// Tests the whole command line in process: golden lines, exit statuses, what a script depends on.
#include "host/cli/command/commands.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/wrap.hpp"
#include "host/trace/json.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/tlog_files.hpp"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <span>
#include <sys/stat.h>

namespace host::cli {

namespace command_test {

using support::Bytes;
using support::ChunkBuilder;
using testing::HasSubstr;
using testing::Not;
using trace::Json;
using tracer::RunResult;

constexpr std::uint32_t kKilledForItsBudget = std::uint32_t{static_cast<std::uint8_t>(lib::TaskException::wcet)} << 16 |
                                              static_cast<std::uint32_t>(lib::Reaction::kill);

class Commands : public support::CommandLine {};

TEST_F(Commands, PrintOneLinePerEventWithNames) {
    ASSERT_EQ(remora({"print", write(sample().bytes())}), 0);
    EXPECT_EQ(m_err, "");
    EXPECT_EQ(m_out, "            0 ns  cpu0  task_activate        context=12 (sensor)\n"
                     "          100 ns  cpu0  interrupt_start      vector=32 (timer)\n"
                     "          200 ns  cpu0  interrupt_end        vector=32 (timer)\n"
                     "          300 ns  cpu0  task_schedule        exec_shadow=12 (sensor) exec=12 (sensor)\n"
                     "          310 ns  cpu0  task_dispatch        context=12 (sensor) level=0 (EDF)\n"
                     "          320 ns  cpu0  context_switch       context=12 (sensor)\n"
                     "          400 ns  cpu0  set_mutex_lock       context=12 (sensor) mutex=1 (bus)\n"
                     "         1000 ns  cpu0  ipoint               context=12 (sensor) number=12 par2=57005\n"
                     "         1100 ns  cpu0  task_end_cycle       context=12 (sensor) level=0 (EDF)\n");
}

TEST_F(Commands, PrintOnlyWhatWasAskedFor) {
    const std::string path = write(sample().bytes());
    ASSERT_EQ(remora({"print", path, "--event", "task_dispatch", "--ticks"}), 0);
    EXPECT_EQ(m_out, "         5310 ticks  cpu0  task_dispatch        context=12 (sensor) level=0 (EDF)\n");
    ASSERT_EQ(remora({"print", path, "--family", "interrupt", "--limit", "1"}), 0);
    EXPECT_EQ(m_out, "          100 ns  cpu0  interrupt_start      vector=32 (timer)\n");
    ASSERT_EQ(remora({"print", path, "--task", "sensor", "--limit", "1"}), 0);
    EXPECT_THAT(m_out, HasSubstr("task_activate"));
    ASSERT_EQ(remora({"print", path, "--task", "sensor", "--event", "timer_post"}), 0);
    EXPECT_EQ(m_out, "");
    for (const char* const unknown : {"stranger", "13"}) {
        ASSERT_EQ(remora({"print", path, "--task", unknown}), 1);
        EXPECT_EQ(m_out, "");
        EXPECT_THAT(m_err, HasSubstr("the trace names no task"));
    }
    ASSERT_EQ(remora({"print", path, "--all", "--limit", "1"}), 0);
    EXPECT_THAT(m_out, HasSubstr("chunk_begin          chunk=0 cpu=0"));
}

TEST_F(Commands, ShowTheSamePartOfATrace) {
    const std::string path = write(sample().bytes());
    ASSERT_EQ(remora({"print", path, "--from", "310", "--to", "0.311us", "--task", "sensor"}), 0);
    EXPECT_EQ(m_out, "          310 ns  cpu0  task_dispatch        context=12 (sensor) level=0 (EDF)\n");
    ASSERT_EQ(remora({"print", path, "--from-time", "311", "--event", "task_dispatch"}), 0);
    EXPECT_EQ(m_out, "");
    const std::string csv = m_directory / "cut.csv";
    ASSERT_EQ(remora({"convert", path, csv, "--to", "csv", "--from-time", "310", "--to-time", "311"}), 0);
    EXPECT_EQ(support::read_text(csv), "ticks,time_ns,cpu,family,code,event,state,words,task,parameters\n"
                                       "5310,310,0,2,0x22,task_dispatch,ok,0x0000000c 0x00000000,sensor,"
                                       "context=12 (sensor) level=0 (EDF)\n");
    ASSERT_EQ(remora({"summary", path, "--from", "310", "--to", "311"}), 0);
    EXPECT_THAT(m_out, HasSubstr("part       from 310 ns, before 311 ns"));
    EXPECT_THAT(m_out, Not(HasSubstr("\n  interrupt")));
    ASSERT_EQ(remora({"schedule", path, "--task", "12", "--from", "1100ns"}), 0);
    EXPECT_THAT(m_out, HasSubstr("sensor       completes its job"));
    EXPECT_THAT(m_out, Not(HasSubstr("sensor       runs")));
    EXPECT_EQ(remora({"verify", path, "--from", "310"}), 1);
    EXPECT_THAT(m_err, HasSubstr("310 is none of"));
    EXPECT_EQ(remora({"print", path, "--from", "kv"}), 1);
    EXPECT_THAT(m_err, HasSubstr("did you mean kev?"));
    EXPECT_EQ(remora({"print", path, "--to", "1h"}), 1);
    EXPECT_THAT(m_err, HasSubstr("must be a time since the start of the trace"));
}

TEST_F(Commands, RefuseAPartThatCannotBeShown) {
    const std::string path = write(sample().bytes());
    for (const char* const command : {"print", "schedule", "summary", "check"}) {
        EXPECT_EQ(remora({command, path, "--from", "12", "--to", "10"}), 1) << command;
        EXPECT_THAT(m_err, HasSubstr("--to must be later than --from\n")) << command;
    }
    const std::string output = m_directory / "cut.csv";
    EXPECT_EQ(remora({"convert", path, output, "--to", "csv", "--from-time", "12", "--to-time", "10"}), 1);
    EXPECT_THAT(m_err, HasSubstr("--to-time must be later than --from-time"));
    for (const char* const format : {"dat", "compact"}) {
        EXPECT_EQ(remora({"convert", path, output, "--to", format, "--task", "sensor"}), 1);
        EXPECT_THAT(m_err, HasSubstr("holds whole chunks"));
    }
    EXPECT_FALSE(std::filesystem::exists(output));
    ASSERT_EQ(remora({"convert", path, output, "--to", "csv"}), 0);
    const std::string whole = support::read_text(output);
    EXPECT_EQ(remora({"convert", path, output, "--to", "csv", "--from-time", "1s"}), 1);
    EXPECT_THAT(m_err, HasSubstr("nothing is at 1000000000 ns or later"));
    EXPECT_EQ(support::read_text(output), whole);
    EXPECT_EQ(remora({"convert", path, "--to", "csv", "-o", ""}), 1);
    EXPECT_THAT(m_err, HasSubstr("must be a name"));
}

// The light mode records that a handler ran, not for how long.
TEST_F(Commands, SummariseNoTimeOfInterruptsThatWereOnlyCounted) {
    ChunkBuilder chunk;
    chunk.event(5'000, "interrupt_hit", 7).event(5'100, "interrupt_count", 7, 9);
    chunk.event(5'200, "interrupt_start", 8).event(5'250, "interrupt_end", 8);
    const std::string path = write(chunk.bytes());
    ASSERT_EQ(remora({"summary", path}), 0) << m_err;
    EXPECT_THAT(m_out, testing::ContainsRegex("vector 7 +10 +- +- +-\n"));
    EXPECT_THAT(m_out, testing::ContainsRegex("vector 8 +1 +50 ns +50 ns +50 ns\n"));
    ASSERT_EQ(remora({"summary", path, "--json"}), 0);
    const Json json = Json::parse(m_out);
    for (const char* const key : {"total_ns", "mean_ns", "greatest_ns"}) {
        EXPECT_TRUE(json.at("interrupts").at(0).at(key).is_null()) << key;
        EXPECT_EQ(json.at("interrupts").at(1).at(key), 50) << key;
    }
}

TEST_F(Commands, SummariseTheTimeOfATaskAsInTheWholeTrace) {
    const std::string path = write(sample().bytes());
    ASSERT_EQ(remora({"summary", path, "--json"}), 0);
    const Json whole = Json::parse(m_out);
    EXPECT_FALSE(whole.contains("part"));
    ASSERT_EQ(remora({"summary", path, "--json", "--task", "sensor"}), 0);
    const Json part = Json::parse(m_out);
    EXPECT_EQ(part["part"], "task sensor");
    ASSERT_EQ(part["tasks"].size(), 1U);
    EXPECT_NE(part["tasks"][0]["cpu_time_ns"], 0);
    EXPECT_NE(std::ranges::find(whole["tasks"], part["tasks"][0]), whole["tasks"].end());
}

TEST_F(Commands, SayThatATaskDoesNotExist) {
    const std::string path = write(sample().bytes());
    for (const char* const command : {"print", "schedule", "summary", "check"}) {
        EXPECT_EQ(remora({command, path, "--task", "sensr"}), 1) << command;
        EXPECT_EQ(m_err, std::string("remora ") + command + ": the trace names no task sensr; did you mean sensor?\n");
        EXPECT_EQ(remora({command, path, "--event", "task_dispach"}), 1) << command;
        EXPECT_THAT(m_err, HasSubstr("no event is called task_dispach; did you mean task_dispatch?")) << command;
    }
    const std::string output = m_directory / "cut.csv";
    EXPECT_EQ(remora({"convert", path, "--to", "csv", "-o", output, "--task", "sensr"}), 1);
    EXPECT_EQ(m_err, "remora convert: the trace names no task sensr; did you mean sensor?\n");
    EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(Commands, PrintJsonThatParses) {
    ASSERT_EQ(remora({"print", write(sample().bytes()), "--json", "--event", "task_dispatch"}), 0);
    const Json json = Json::parse(m_out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << m_out;
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["time_ns"], 310);
    EXPECT_EQ(json["event"], "task_dispatch");
    EXPECT_EQ(json["parameters"]["context_name"], "sensor");
    EXPECT_EQ(json["parameters"]["level"], 0);
}

TEST_F(Commands, NeverLetANameReachTheTerminalRaw) {
    ChunkBuilder chunk;
    chunk.name("task", 12, "a\x1b[2J\n\"b\x9b\xff").event(1, "task_activate", 12);
    const std::string path = write(chunk.bytes());
    for (const char* const command : {"print", "summary", "verify"}) {
        for (const bool json : {false, true}) {
            remora(json ? std::vector<std::string>{command, path, "--json"} : std::vector<std::string>{command, path});
            EXPECT_THAT(m_out, Not(HasSubstr("\x1b"))) << command;
            EXPECT_THAT(m_out, Not(HasSubstr("\xff"))) << command;
            EXPECT_TRUE(!json || Json::accept(m_out)) << m_out;
        }
    }
    ASSERT_EQ(remora({"print", path}), 0);
    EXPECT_THAT(m_out, HasSubstr(R"((a\x1b[2J\x0a"b\x9b\xff))"));
}

TEST_F(Commands, RefuseWhatIsInNoKnownFormatUnlessOneIsNamed) {
    const std::string text = "# A title\n\nA paragraph of a document, which is no trace of anything.\n\n- a point\n";
    const auto bytes_of = [](std::string_view characters) {
        const auto bytes = std::as_bytes(std::span(characters));
        return Bytes(bytes.begin(), bytes.end());
    };
    const std::string path = write(bytes_of(text));
    for (const char* const command : {"print", "summary", "verify", "check", "count"}) {
        EXPECT_EQ(remora({command, path}), 3) << command;
        EXPECT_THAT(m_err, HasSubstr("no known trace format (most of its records have codes of no event)")) << command;
        EXPECT_EQ(m_out, "") << command;
    }
    remora({"print", path, "--from", "records"});
    EXPECT_THAT(m_err, Not(HasSubstr("no known trace format")));
    ASSERT_EQ(remora({"print", write(bytes_of("\x17\x08\x44tracing" + std::string(64, 'x')))}), 3);
    EXPECT_THAT(m_err, HasSubstr("a file of trace-cmd"));
    ASSERT_EQ(remora({"print", "/bin/true"}), 3);
    EXPECT_THAT(m_err, HasSubstr("a program or library"));
}

TEST_F(Commands, RefuseAFormatForASession) {
    write(sample().bytes());
    ASSERT_EQ(remora({"adopt", m_directory.path()}), 0);
    EXPECT_EQ(remora({"print", m_directory.path(), "--from", "kev"}), 1);
    EXPECT_THAT(m_err, HasSubstr("a directory is a session, not a kev file: leave out --from"));
    EXPECT_EQ(remora({"print", m_directory.path(), "--from", "records"}), 0);
}

TEST_F(Commands, VerifyTheOrderOfATlogFile) {
    support::TlogFile nested;
    EXPECT_EQ(remora({"verify", write(nested.small_process(0, 0).bytes())}), 6) << m_out << m_err;
    support::TlogFile crossed;
    crossed.record(0, 1, 0).record(0, 10, 1).record(0, 12, 2).record(0, 11, 3).record(0, 13, 4).record(0, 2, 5).pad();
    EXPECT_EQ(remora({"verify", write(crossed.bytes())}), 2);
    EXPECT_THAT(m_out, HasSubstr("foreign-order"));
    EXPECT_THAT(m_out, Not(HasSubstr("the structure holds")));
}

// Each would be waited for, or read, without end.
TEST_F(Commands, ReadRegularFilesOfASessionAlone) {
    const std::string path = write(sample().bytes());
    ASSERT_EQ(remora({"adopt", m_directory.path()}), 0);
    for (const bool fifo : {false, true}) {
        std::filesystem::remove(path);
        if (fifo) {
            ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
        } else {
            std::filesystem::create_symlink("/dev/zero", path);
        }
        for (const char* const command : {"print", "summary", "verify", "check", "count"}) {
            EXPECT_GE(remora({command, m_directory.path()}), 2) << command;
            EXPECT_THAT(m_err, HasSubstr("0trace.dat:0x0 E-IO not a regular file")) << command;
        }
        EXPECT_EQ(remora({"adopt", m_directory.path(), "--force"}), 1);
        EXPECT_THAT(m_err, HasSubstr("not a regular file"));
    }
}

TEST_F(Commands, SummariseWithinTheColumnsOfATerminalAndSayWhetherAnythingIsMissing) {
    ASSERT_EQ(remora({"summary", write(sample().bytes())}), 0);
    EXPECT_THAT(m_out, HasSubstr("control   seed 7"));
    EXPECT_THAT(m_out, HasSubstr("icount, 1,000,000 kHz from hpet"));
    EXPECT_THAT(m_out, HasSubstr("whether chunks are missing is not known"));
    EXPECT_THAT(m_out, HasSubstr("sensor"));
    EXPECT_THAT(m_out, Not(HasSubstr("host's clock")));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = m_out.find('\n', begin)) != std::string::npos; begin = end + 1) {
        EXPECT_LE(end - begin, text::kColumns) << m_out.substr(begin, end - begin);
    }
}

// The second one is dropped; which of them the run recorded, no tool knows.
TEST_F(Commands, CallNothingWholeOfWhichAPartWasNotUsed) {
    ChunkBuilder other = sample();
    other.event(7000, "ipoint", 1);
    Bytes both = sample().bytes();
    const Bytes second = other.bytes();
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(remora({"summary", write(both)}), 2);
    EXPECT_THAT(m_out,
                HasSubstr("verdict    incomplete: a part of the input is damaged or was not used: E-CONFLICT\n"));
    EXPECT_EQ(remora({"verify", write(both)}), 2);
    EXPECT_THAT(m_out, Not(HasSubstr("closed: ")));
}

TEST_F(Commands, ExplainAShareAboveTheWhole) {
    ChunkBuilder two = sample();
    two.begin.cpu = 1;
    two.begin.chunk = 1;
    Bytes both = sample().bytes();
    const Bytes second = two.bytes();
    both.insert(both.end(), second.begin(), second.end());
    remora({"summary", write(both)});
    EXPECT_THAT(m_out, HasSubstr("  cpu above 100 %: by the records the task ran on several processors at once\n"));
    remora({"summary", write(sample().bytes())});
    EXPECT_THAT(m_out, Not(HasSubstr("cpu above 100 %")));
}

TEST_F(Commands, SummariseAnEmulatedClockWithAWarning) {
    ChunkBuilder chunk = sample();
    chunk.begin.clock_mode = tracer::ClockMode::emulated;
    const std::string path = write(chunk.bytes());
    ASSERT_EQ(remora({"summary", path}), 0);
    EXPECT_THAT(m_out, HasSubstr("the clock is emulated: times show the host's clock"));
    ASSERT_EQ(remora({"summary", path, "--json"}), 0);
    EXPECT_EQ(Json::parse(m_out)["clock"]["exact"], false);
}

TEST_F(Commands, SummariseLossAsIncompleteWithStatusTwo) {
    Bytes bytes = sample().bytes();
    bytes.resize(bytes.size() - 32);
    EXPECT_EQ(remora({"summary", write(bytes)}), 2);
    EXPECT_THAT(m_out, HasSubstr("incomplete: 2 records are missing"));
    EXPECT_EQ(remora({"summary", write(bytes), "--json"}), 2);
    EXPECT_EQ(Json::parse(m_out)["records"]["missing"], 2);
}

TEST_F(Commands, SummariseWhatWasSentAgainstWhatArrived) {
    Bytes bytes = sample().bytes();
    const Bytes end = support::export_end({1, tracer::RunResult::completed, 11, 0, 0, 0});
    bytes.insert(bytes.end(), end.begin(), end.end());
    static_cast<void>(remora({"summary", write(bytes)}));
    EXPECT_THAT(m_out, HasSubstr("sent 11 records, received 9, lost 2\n"));
}

TEST_F(Commands, VerifyNamesRuleRecordTimeAndTask) {
    ChunkBuilder chunk = sample();
    EXPECT_EQ(remora({"verify", write(chunk.bytes())}), 6) << m_out;
    EXPECT_THAT(m_out, HasSubstr("the structure holds"));
    chunk.event(7000, "task_schedule", 12, 12).event(7001, "task_dispatch", 13);
    EXPECT_EQ(remora({"verify", write(chunk.bytes())}), 2);
    EXPECT_THAT(m_out, HasSubstr("dispatch-follows-schedule"));
    EXPECT_THAT(m_out, HasSubstr("2001 ns  cpu0  context 13: context 13 is dispatched"));
    EXPECT_EQ(remora({"verify", write(chunk.bytes()), "--json"}), 2);
    EXPECT_EQ(Json::parse(m_out)["violations"][0]["rule"], "dispatch-follows-schedule");
}

// A panic, a hang and a failure end the run; a killed task is shown and changes no status.
TEST_F(Commands, JudgeARunThatEndedBadlyAndSayThatFirst) {
    const auto judged = [this](const std::string& command, ChunkBuilder chunk, RunResult result,
                               std::string_view said) {
        Bytes bytes = chunk.bytes();
        const Bytes end = support::export_end({1, result, 9, 0, 0, 0});
        bytes.insert(bytes.end(), end.begin(), result != RunResult::unknown ? end.end() : end.begin());
        const int status = remora({command, write(bytes), "--junit", m_directory / "junit.xml"});
        EXPECT_EQ(m_out.find(said), 0U) << command << m_out;
        EXPECT_EQ(m_out.find('['), std::string::npos) << "the findings are no JSON: " << m_out;
        return status;
    };
    ChunkBuilder panic = sample();
    panic.event(7000, "panic", 12, 14);
    ChunkBuilder kill = sample();
    kill.event(7000, "task_exception", 12, kKilledForItsBudget);
    for (const std::string command : {"verify", "check"}) {
        const int well = judged(command, sample(), RunResult::completed, "");
        EXPECT_THAT(m_out, Not(HasSubstr("ended badly")));
        EXPECT_EQ(judged(command, panic, RunResult::unknown, "panic in task sensor: exception 14 (at 0.002 ms"), 8);
        EXPECT_THAT(m_out, HasSubstr(command == "check" ? "nothing was decided; but the run ended badly\n"
                                                        : "the structure holds; but the run ended badly\n"));
        EXPECT_THAT(support::read_text(m_directory / "junit.xml"),
                    HasSubstr("name=\"run\">\n      <failure message=\"panic in task sensor: exception 14\">"));
        EXPECT_EQ(judged(command, sample(), RunResult::failed, "the application failed\n"), 8);
        EXPECT_EQ(judged(command, kill, RunResult::unknown, "task sensor was killed: "), well);
        EXPECT_EQ(remora({command, write(panic.bytes()), "--json"}), 8);
        EXPECT_EQ(Json::parse(m_out)["crashes"][0]["kind"], "panic");
    }
    panic.event(7100, "task_dispatch", 13);
    EXPECT_EQ(judged("verify", panic, RunResult::unknown, "panic in task sensor"), 2) << "before the violation";
}

// The record is all that there is of a machine that died.
TEST_F(Commands, PrintHowARunEndedBadlyFirst) {
    ChunkBuilder chunk = sample();
    chunk.event(7000, "panic", 12, 14);
    ASSERT_EQ(remora({"print", write(chunk.bytes()), "--limit", "1"}), 0);
    EXPECT_EQ(m_err.find("panic in task sensor: exception 14"), 0U) << m_err;
    const support::StandardInput input(write(chunk.bytes()));
    ASSERT_EQ(remora({"print", "-"}), 0);
    EXPECT_THAT(m_err, HasSubstr("panic in task sensor: exception 14")) << "which can be read only once";
    ChunkBuilder killed = sample();
    killed.event(7000, "task_exception", 12, kKilledForItsBudget);
    ASSERT_EQ(remora({"print", write(killed.bytes())}), 0);
    EXPECT_EQ(m_err.find("task sensor was killed: "), 0U) << m_err;
}

TEST_F(Commands, AdoptFilesFromAFatImageAndNoticeWhenOneChangesLater) {
    m_directory.write("0TRACE.DAT", sample().bytes());
    ChunkBuilder second(1);
    second.event(9000, "ipoint", 1);
    m_directory.write("1TRACE.DAT", second.bytes());
    ASSERT_EQ(remora({"adopt", m_directory.path()}), 0) << m_err;
    EXPECT_EQ(remora({"adopt", m_directory.path()}), 1);
    EXPECT_THAT(m_err, HasSubstr("--force"));
    ASSERT_EQ(remora({"verify", m_directory.path()}), 6) << m_out << m_err;
    ASSERT_EQ(remora({"summary", m_directory.path()}), 0);
    EXPECT_THAT(m_out, HasSubstr("complete: nothing lost"));

    Bytes changed = second.bytes();
    changed.back() ^= std::byte{1};
    m_directory.write("1TRACE.DAT", changed);
    EXPECT_EQ(remora({"verify", m_directory.path()}), 2);
    EXPECT_THAT(m_out, HasSubstr("checksums"));
}

TEST_F(Commands, AdoptSaysWhichFileIsMissing) {
    m_directory.write("0trace.dat", sample().bytes());
    m_directory.write("2trace.dat", sample().bytes());
    EXPECT_EQ(remora({"adopt", m_directory.path()}), 2);
    EXPECT_THAT(m_out, HasSubstr("1trace.dat is missing"));
}

// Two tasks, each with two jobs, which run for the given times.
ChunkBuilder two_tasks(std::uint64_t first, std::uint64_t second) {
    ChunkBuilder chunk;
    chunk.build("control", 7).name("task", 3, "one").name("task", 4, "other").name("level", 0, "RM");
    chunk.event(10'000'000, "trace_start");
    for (const std::uint64_t begin : {10'000'000U, 20'000'000U}) {
        std::uint64_t now = begin;
        for (const auto& [context, length] : {std::pair{3, first}, std::pair{4, second}}) {
            const auto task = static_cast<std::uint16_t>(context);
            chunk.event(now, "job_release", task, static_cast<std::uint32_t>(now)).event(now, "context_switch", task);
            now += length;
            chunk.event(now, "task_end_cycle", task);
        }
    }
    return chunk;
}

TEST_F(Commands, CompareTheSelectedTaskAndSpanAlone) {
    const std::string before = write(two_tasks(1'000'000, 500'000).bytes());
    const std::string after = m_directory.write("after.dat", two_tasks(2'000'000, 900'000).bytes());
    EXPECT_EQ(remora({"diff", before, after, "--times"}), 7);
    EXPECT_THAT(m_out, HasSubstr("\none "));
    EXPECT_THAT(m_out, HasSubstr("\nother "));
    EXPECT_EQ(remora({"diff", before, after, "--times", "--task", "other"}), 7);
    EXPECT_THAT(m_out, HasSubstr("\nother            -      2"));
    EXPECT_THAT(m_out, Not(HasSubstr("\none ")));
    EXPECT_EQ(remora({"diff", before, after, "--times", "--task", "4", "--from-time", "5ms"}), 7);
    EXPECT_THAT(m_out, HasSubstr("\nother            -      1"));
}

TEST_F(Commands, CompareNoRunsInSilenceOfWhichOneEndedBadly) {
    const std::string well = write(sample().bytes());
    ChunkBuilder panic = sample();
    panic.event(7000, "panic", 12, 14);
    const std::string badly = m_directory.write("badly.dat", panic.bytes());
    EXPECT_EQ(remora({"diff", badly, well}), 8);
    EXPECT_EQ(m_out.find(fmt::format("  - {}: panic in task sensor: exception 14\n", badly)), 0U) << m_out;
    EXPECT_EQ(remora({"diff", well, badly, "--json"}), 8);
    EXPECT_EQ(Json::parse(m_out)["crashes"][1][0]["kind"], "panic");
}

// A machine that was reset after an export left no other end.
TEST_F(Commands, DoNotClaimTheEndOfARunThatIsNotKnown) {
    Bytes bytes = sample().bytes();
    const Bytes end = support::export_end({1, RunResult::unknown, 9, 0, 0, 0});
    bytes.insert(bytes.end(), end.begin(), end.end());
    EXPECT_EQ(remora({"summary", write(bytes)}), 0);
    EXPECT_THAT(m_out, HasSubstr("  ended      not known"));
    EXPECT_THAT(m_out, HasSubstr("every announced record is here; how the run ended is not known\n"));
}

// Nothing is concluded from its records, not even that all is well.
TEST_F(Commands, KnowNoLateJobAndNoCrashOfADamagedChunk) {
    ChunkBuilder chunk = sample();
    chunk.event(7000, "job_release", 12, 6990).event(7100, "task_end_cycle", 12, 0).event(7200, "panic", 12, 14);
    Bytes bytes = support::sealed(chunk.bytes());
    bytes[bytes.size() - 1] ^= std::byte{1};
    const std::string trace = write(bytes);
    EXPECT_EQ(remora({"why", trace}), 2);
    EXPECT_THAT(m_out, HasSubstr("whether a job missed its deadline is not known: damaged: the checksum"));
    EXPECT_THAT(m_out, Not(HasSubstr("panic")));
    EXPECT_EQ(remora({"sql", trace, "select response_ticks, execution_ticks from jobs", "--csv"}), 2);
    EXPECT_EQ(m_out, "response_ticks,execution_ticks\n,\n");
    EXPECT_EQ(remora({"summary", trace}), 2);
    EXPECT_THAT(m_out, Not(HasSubstr("response times")));
    EXPECT_THAT(m_out, Not(HasSubstr("panic in task")));
}

TEST_F(Commands, SayWhyASessionIsEmpty) {
    formats::dat::Manifest manifest;
    manifest.reason = "no packet came";
    ASSERT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
    EXPECT_EQ(remora({"print", m_directory.path()}), 3);
    EXPECT_THAT(m_err, HasSubstr("no record of a known event: no packet came"));
    EXPECT_EQ(remora({"sql", m_directory.path(), "select * from events"}), 3);
    EXPECT_THAT(m_err, HasSubstr("no record of a known event: no packet came"));
}

TEST_F(Commands, KnowNoLateJobWhereAFilterHidesStates) {
    ChunkBuilder chunk = sample();
    const std::string trace = write(chunk.event(7000, "filter_mutex", 1).event(7100, "filter_mutex", 0).bytes());
    EXPECT_EQ(remora({"why", trace}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("no job that is whole missed its deadline, but filters hid records: filter_mutex\n"));
    EXPECT_EQ(remora({"summary", trace}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("unknown    filters hid records: filter_mutex\n"));
    EXPECT_EQ(remora({"diff", trace, trace}), 0) << m_err;
    EXPECT_THAT(m_err, HasSubstr(": filters hid records: filter_mutex: the runs may differ because of that\n"));
}

TEST_F(Commands, PrintARowOfManyColumnsAsABlock) {
    const std::string trace = write(two_tasks(1'000'000, 500'000).bytes());
    ASSERT_EQ(remora({"sql", trace, "select * from jobs limit 2"}), 0) << m_err;
    EXPECT_THAT(m_out, testing::ContainsRegex("^task +one\ncontext +3\n"));
    EXPECT_THAT(m_out, HasSubstr("\n\ntask "));
    ASSERT_EQ(remora({"sql", trace, "select task, job from jobs limit 1"}), 0) << m_err;
    EXPECT_EQ(m_out, "task  job\none     1\n");
}

TEST_F(Commands, ListEveryEvent) {
    ASSERT_EQ(remora({"events"}), 0);
    for (const tracer::EventRow& row : tracer::kEvents) {
        EXPECT_THAT(m_out, HasSubstr(fmt::format("  {}", row.name)));
    }
    ASSERT_EQ(remora({"events", "--json"}), 0);
    EXPECT_EQ(Json::parse(m_out)["version"], 1);
    EXPECT_EQ(Json::parse(m_out)["events"].size(), tracer::kEvents.size());
}

TEST_F(Commands, RefuseWrongUsageWithStatusOne) {
    EXPECT_EQ(remora({}), 1);
    EXPECT_EQ(remora({"dance"}), 1);
    EXPECT_EQ(remora({"print", "x", "--family", "none"}), 1);
    EXPECT_EQ(remora({"print", m_directory / "absent"}), 1);
    EXPECT_EQ(remora({"record", "--out", m_directory / "s", "--listen", "nonsense"}), 1);
    EXPECT_THAT(m_err, HasSubstr("ADDR:PORT"));
    EXPECT_EQ(remora({"--help"}), 0);
    EXPECT_THAT(m_out, HasSubstr("summary"));
}

TEST_F(Commands, EndWithStatusThreeWhenNothingIsUsable) {
    EXPECT_EQ(remora({"summary", write({})}), 3);
    EXPECT_EQ(remora({"print", write(Bytes(64))}), 3);
    EXPECT_THAT(m_err, HasSubstr("E-NOTHING"));
}

TEST_F(Commands, EndWithStatusFourWhenTheOutputIsFull) {
    std::FILE* const full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    const std::string path = write(sample().bytes());
    const std::vector<const char*> argv{"remora", "print", path.c_str()};
    EXPECT_EQ(run(static_cast<int>(argv.size()), argv.data(), full, stderr, kWholeProgram), 4);
    std::fclose(full);
}

TEST_F(Commands, RecordEndsWithAMessageWhenNothingIsSent) {
    EXPECT_EQ(remora({"record", "--out", m_directory / "session", "--listen", "127.0.0.1:0", "--timeout", "0.2",
                      "--ready-file", m_directory / "ready"}),
              2);
    EXPECT_THAT(m_out, HasSubstr("incomplete: no packet came"));
    EXPECT_THAT(support::read_text(m_directory / "ready"), HasSubstr("127.0.0.1:"));
    EXPECT_EQ(remora({"record", "--out", m_directory / "session", "--listen", "127.0.0.1:0", "--timeout", "0.2"}), 2)
        << "what is replaced holds nothing";
}

TEST(Escaping, KeepsUtf8AndEscapesTheRest) {
    EXPECT_EQ(text::escaped("plain \xC3\xA9 \xE2\x82\xAC"), "plain \xC3\xA9 \xE2\x82\xAC");
    EXPECT_EQ(text::escaped("\x1b\x7f\\"), "\\x1b\\x7f\\\\");
    EXPECT_EQ(text::escaped("\xC2\x9B"), "\\xc2\\x9b");
    EXPECT_EQ(text::escaped("\xC0\x80\xED\xA0\x80"), "\\xc0\\x80\\xed\\xa0\\x80");
    EXPECT_EQ(text::escaped(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(text::escaped(std::string(300, 'a')).size(), 259U);
    EXPECT_EQ(text::made_printable(text::escaped("\x1b\\ \xC3\xA9")), text::escaped("\x1b\\ \xC3\xA9"));
    EXPECT_EQ(text::made_printable("\x1b\\\xC0"), "\\x1b\\\\xc0");
    EXPECT_EQ(text::made_printable(std::string(300, 'a')).size(), 300U);
}

} // namespace command_test

} // namespace host::cli
