// SPDX-License-Identifier: MIT
// Tests what is said of a run that ended badly, by the records and by the lines of the console, and that nothing is
// said of one that ended well.
#include "host/analyse/crash.hpp"

#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::crash_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSymbols = R"json({"format": "remora-formats", "version": 1, "image": "1", "formats": [],
    "functions": [{"address": 4096, "size": 16, "name": "lib::assert_failed(char const*)"},
                  {"address": 8192, "size": 64, "name": "work(int)"},
                  {"address": 12288, "size": 0, "name": "entry"}]})json";

class Ending {
  public:
    Ending() {
        m_names.set(tracer::Unit::context, support::kLow, "low\x1b");
        m_names.set(tracer::Unit::vector, 32, "timer");
        declare(1, "panic_reason", {"text"});
        declare(2, "verdict_failed", {"what", "why"});
    }

    Ending& play(std::string_view text, bool is_doubtful = false) {
        for (trace::Event event : m_reader.read(text)) {
            event.doubtful = is_doubtful;
            take(event);
        }
        return *this;
    }

    Ending& typed(std::uint16_t id, std::initializer_list<std::string_view> texts) {
        std::string payload{static_cast<char>(id), '\0'};
        for (const std::string_view text : texts) {
            payload += static_cast<char>(text.size());
            payload += text;
        }
        trace::Event event = support::event_of(0, "typed_event");
        event.payload = std::as_bytes(std::span(payload));
        take(event);
        return *this;
    }

    [[nodiscard]] std::vector<Crash> end(tracer::RunResult result) {
        const auto symbols = trace::KernelImage::parse(kSymbols);
        tracer::ExportEnd end;
        end.result = result;
        return m_watch.finish(end, &symbols.value());
    }

    [[nodiscard]] std::vector<std::string> sentences(tracer::RunResult result) {
        std::vector<std::string> texts;
        for (const Crash& crash : end(result)) {
            texts.push_back(sentence(crash));
        }
        return texts;
    }

  private:
    void take(trace::Event& event) {
        event.names = &m_names;
        m_watch.take(event);
    }

    void declare(std::uint16_t id, std::string_view name, std::initializer_list<std::string_view> fields) {
        tracer::EventDeclaration declaration{.id = id, .name = {name}};
        for (const std::string_view field : fields) {
            tracer::FieldDeclaration& item = declaration.items.at(declaration.field_count++);
            item.type = tracer::FieldType::text;
            item.detail = 160;
            item.name = {field};
        }
        m_names.declare(declaration);
    }

    trace::Names m_names;
    support::SceneReader m_reader;
    CrashWatch m_watch;
};

TEST(CrashWatch, SaysWhatWhereAndHowOfAPanic) {
    Ending run;
    run.play("1000000 switch idle; 2000000 switch low; 2500000 irq 32; 2600000 iret 32; 3000000 panic low 0");
    run.typed(1, {"a.cpp:7: x != 0"}).play("3000001 fault_instruction 0 4100, fault_instruction 0 8200");
    run.play("3000002 fault_instruction 0 12290, fault_instruction 0 77");
    const std::vector<Crash> crashes = run.end(tracer::RunResult::panicked);
    ASSERT_EQ(crashes.size(), 1U);
    EXPECT_EQ(crashes[0].context, support::kLow);
    EXPECT_THAT(lines_of(crashes[0]),
                ElementsAre("panic in task low\\x1b: a.cpp:7: x != 0 (at 3.000 ms, record 4 of chunk 0)",
                            "  where        work(int)+0x8", "  called from  entry+0x2", "  called from  0x4d",
                            "  before      1.000 ms     1.000 ms  context 1",
                            "              2.000 ms     0.500 ms  low\\x1b",
                            "              2.500 ms     0.100 ms  interrupt 32 (timer)",
                            "              2.600 ms     0.400 ms  low\\x1b"));
}

// The first address of an exception is the instruction itself: the first one of a function belongs to it.
TEST(CrashWatch, TakesTheInstructionOfAnExceptionAsItIs) {
    const auto where = [](std::uint32_t reason, std::string_view text) {
        Ending run;
        run.play(fmt::format("10 panic low {}", reason)).typed(1, {text}).play("11 fault_instruction 0 8192");
        const std::vector<Crash> crashes = run.end(tracer::RunResult::panicked);
        return crashes[0].where() != nullptr ? text_of(*crashes[0].where()) : "";
    };
    EXPECT_EQ(where(14, "page fault"), "work(int)+0x0");
    EXPECT_EQ(where(0, "divide error"), "work(int)+0x0");
    EXPECT_EQ(where(0, "a.cpp:7: x"), "0x2000") << "a call that does not return may be the last of a function";
}

TEST(CrashWatch, DistinguishesHangsFailuresAndKills) {
    using tracer::RunResult;
    EXPECT_THAT(Ending().play("1 switch low").sentences(RunResult::completed), IsEmpty());
    EXPECT_THAT(Ending().sentences(RunResult::unknown), IsEmpty());
    EXPECT_THAT(Ending().sentences(RunResult::failed), ElementsAre("the application failed"));
    EXPECT_THAT(Ending().typed(2, {"jobs", "3, expected 4"}).sentences(RunResult::failed),
                ElementsAre("the application failed: jobs: 3, expected 4"));
    EXPECT_THAT(Ending().sentences(RunResult::panicked), ElementsAre("panic: its record is not in the trace"));
    EXPECT_THAT(Ending().play("1 panic low 2").typed(1, {"watchdog: a loop"}).sentences(RunResult::panicked),
                ElementsAre("hang in task low\\x1b: watchdog: a loop"));
    EXPECT_THAT(Ending()
                    .play("1 task_fault low 14, fault_address 0 8, panic low 14")
                    .typed(1, {"page fault"})
                    .sentences(RunResult::panicked),
                ElementsAre("panic in task low\\x1b: page fault at address 0x8"));
    EXPECT_THAT(Ending().play("1 panic low 14").sentences(RunResult::panicked),
                ElementsAre("panic in task low\\x1b: exception 14"));
    // A fault that counts, a fault that kills, and a budget that kills another task.
    Ending run;
    run.play("1 task_fault low 13, fault_instruction 0 8200, task_exception low 0x40000");
    run.play("2 task_fault low 14, fault_instruction 0 12288, fault_address 1 8, task_exception low 0x40002");
    run.play("3 task_exception 9 0x20002");
    const std::vector<Crash> crashes = run.end(RunResult::completed);
    ASSERT_EQ(crashes.size(), 2U);
    EXPECT_EQ(sentence(crashes[0]), "task low\\x1b was killed: fault (exception 14, address 0x100000008)");
    EXPECT_EQ(lines_of(crashes[0]).at(1), "  where        entry+0x0");
    EXPECT_EQ(sentence(crashes[1]), "task context 9 was killed: wcet");
}

// One bit makes another event of a record, or another reaction to an exception.
TEST(CrashWatch, SaysNothingByADamagedChunk) {
    Ending ending;
    ending.play("1 panic low 14; 2 task_exception low 0x20001", true);
    EXPECT_THAT(ending.sentences(tracer::RunResult::unknown), IsEmpty());
}

TEST(CrashOfConsole, ReadsThePanicWithItsAddresses) {
    const auto symbols = trace::KernelImage::parse(kSymbols);
    const auto crash =
        crash_of_console("REMORA: running app\r\nREMORA: panic: watchdog: interrupts are off (200 ms)\r\n"
                         "  rip 0x2000 rsp 0x2809d18 interrupts off\r\n  task main pid 1 context 2\r\n"
                         "  called from 0x3003\r\n  stack 0x1: 0x2\r\nREMORA: result panic\r\n"
                         "  called from 0x3003\r\n",
                         &symbols.value());
    ASSERT_TRUE(crash);
    EXPECT_THAT(lines_of(*crash), ElementsAre("hang in task main: watchdog: interrupts are off (200 ms)",
                                              "  where        work(int)+0x0", "  called from  entry+0x3"));
    EXPECT_FALSE(crash_of_console("REMORA: result ok\n", nullptr));
}

} // namespace

} // namespace host::analyse::crash_test
