// SPDX-License-Identifier: MIT
// Tests that no call leaves an absence of records that the trace does not state: pauses and filters.
#include "tests/support/tracer/fixture.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/record/record_path.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <limits>
#include <ucontext.h>
#include <utility>

namespace ftrace_statements_test {

using testing::ElementsAre;
using tests::main_records;
using tests::TracerFixture;

constexpr WORD kEvent = FTrace_EVT_ipoint;
constexpr WORD kStart = FTrace_EVT_trace_start;
constexpr WORD kStop = FTrace_EVT_trace_stop;
constexpr WORD kMark = FTrace_EVT_user_event_3;
constexpr WORD kTask = FTrace_filter_task;
constexpr WORD kTimer = FTrace_filter_timer;
constexpr WORD kContext = 5;

class Statements : public testing::Test {
  protected:
    using Lines = std::vector<std::pair<WORD, WORD>>; // code, par1

    Statements() {
        m_fixture.tracer().instructions.set_hooks({.context = [] { return kContext; },
                                                   .is_task = nullptr,
                                                   .set = nullptr,
                                                   .code = nullptr,
                                                   .gap = [] { ++gaps(); },
                                                   .begin = nullptr});
        gaps() = 0;
        m_number = select_new(32, FTRACE_CHUNK_FLAG_STOP);
    }

    static int& gaps() {
        static int count = 0;
        return count;
    }

    static int select_new(int records, FTrace_flags mode) {
        const int number =
            FTrace_chunk_create(records * 16, 32, static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
        EXPECT_EQ(FTrace_actual_chunk_select(number), 0);
        return number;
    }

    static int arm(int action, WORD type = kMark) {
        return FTrace_trigger_arm(action, type, FTRACE_ANY, FTRACE_ANY, 0);
    }

    static void log(WORD type, WORD par1) { TRACER_LOGEVENT(type, par1, 0); }

    // Begins with a record, so that what follows is a pause of something.
    static void begin() {
        EXPECT_EQ(FTrace_enable(), 0);
        log(kEvent, 1);
    }

    Lines lines(int number) {
        Lines result;
        for (const tracer::Record& record : main_records(*m_fixture.tracer().store.find(number).value())) {
            result.emplace_back(record.code, record.par1);
            EXPECT_EQ(record.par2, record.code == kStart || record.code == kStop ? 1'000'000U : 0U);
        }
        return result;
    }

    Lines lines() { return lines(m_number); }

    TracerFixture m_fixture;
    int m_number = 0;
};

TEST_F(Statements, TheFirstEnableStatesFiltersAndLeavesTheRestToTheCaller) {
    FTrace_set_filter(FTrace_filter_task, 1);
    FTrace_set_filter(FTrace_filter_mutex, 1);
    FTrace_set_filter(FTrace_filter_mutex, 0);
    begin();
    EXPECT_EQ(FTrace_enable(), 0) << "it is on";
    EXPECT_THAT(lines(), ElementsAre(std::pair(kTask, 1), std::pair(kEvent, 1)));
    EXPECT_EQ(gaps(), 1);
}

TEST_F(Statements, EnablingAgainStatesThePauseAndTheFilters) {
    begin();
    FTrace_set_filter(FTrace_filter_timer, 1);
    FTrace_disable();
    FTrace_set_filter(FTrace_filter_timer, 0);
    FTrace_set_filter(FTrace_filter_task, 1);
    log(kEvent, 2);
    EXPECT_EQ(FTrace_enable(), 0);
    log(kEvent, 3);
    FTrace_disable();
    EXPECT_EQ(FTrace_enable(), 0);
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kTimer, 1), std::pair(kStart, kContext),
                                     std::pair(kTask, 1), std::pair(kTimer, 0), std::pair(kEvent, 3),
                                     std::pair(kStart, kContext), std::pair(kTask, 1)));
    EXPECT_EQ(gaps(), 3);
    EXPECT_EQ(m_fixture.tracer().control.totals().refused, 0U) << "what is logged while it is off is filtered";
}

TEST_F(Statements, AFilterOfTheGeneralFamilyHidesNoPause) {
    begin();
    FTrace_set_filter(FTrace_filter_trace_Events, 1);
    FTrace_disable();
    EXPECT_EQ(FTrace_enable(), 0);
    constexpr WORD kGeneral = FTrace_filter_trace_Events;
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kGeneral, 1), std::pair(kStart, kContext),
                                     std::pair(kGeneral, 1)));
}

TEST_F(Statements, AnotherChunkBeginsWithThem) {
    begin();
    FTrace_set_filter(FTrace_filter_task, 1);
    FTrace_disable();
    const int next = select_new(32, FTRACE_CHUNK_FLAG_CYC);
    EXPECT_EQ(FTrace_enable(), 0);
    EXPECT_THAT(lines(next), ElementsAre(std::pair(kStart, kContext), std::pair(kTask, 1)));
}

TEST_F(Statements, AFullChunkTakesThePauseIntoItsEmergencyArea) {
    const int full = select_new(1, FTRACE_CHUNK_FLAG_STOP);
    begin();
    log(kEvent, 2);
    FTrace_disable();
    EXPECT_EQ(FTrace_enable(), 0);
    const auto contents = tracer::ChunkStore::contents(*m_fixture.tracer().store.find(full).value());
    ASSERT_EQ(contents.emergency.size(), 2 * tracer::kRecordBytes) << "blackout_start is the first";
    EXPECT_EQ(tracer::decode_record(contents.emergency.subspan(tracer::kRecordBytes)).code, kStart);
}

TEST_F(Statements, ACompactChunkTakesThem) {
    const int compact = select_new(128, FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_COMPR);
    begin();
    FTrace_disable();
    const std::uint64_t before = m_fixture.tracer().control.totals().committed;
    FTrace_set_filter(FTrace_filter_task, 1);
    EXPECT_EQ(FTrace_enable(), 0);
    EXPECT_EQ(m_fixture.tracer().control.totals().committed, before + 2) << compact;
}

TEST_F(Statements, TheRemovalOfATriggerThatStoppedStatesThePause) {
    begin();
    ASSERT_EQ(arm(FTRACE_TRIGGER_STOP), 0);
    log(kMark, 2);
    FTrace_set_filter(FTrace_filter_task, 1); // its record is refused
    log(kEvent, 3);
    EXPECT_EQ(FTrace_trigger_disarm(), 0);
    log(kEvent, 4);
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kMark, 2), std::pair(kStart, kContext),
                                     std::pair(kTask, 1), std::pair(kEvent, 4)));
    EXPECT_EQ(gaps(), 2);
}

TEST_F(Statements, AFilterThatEndsWhileATriggerHasStoppedIsStatedLater) {
    begin();
    FTrace_set_filter(FTrace_filter_task, 1);
    ASSERT_EQ(arm(FTRACE_TRIGGER_STOP), 0);
    log(kMark, 2);
    FTrace_set_filter(FTrace_filter_task, 0);
    FTrace_disable();
    EXPECT_EQ(FTrace_enable(), 0); // the trigger continues to refuse
    EXPECT_EQ(FTrace_trigger_disarm(), 0);
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kTask, 1), std::pair(kMark, 2),
                                     std::pair(kStart, kContext), std::pair(kTask, 0)));
}

TEST_F(Statements, TriggersThatRefusedNothingLeaveNothing) {
    begin();
    for (const int action : {FTRACE_TRIGGER_STOP, FTRACE_TRIGGER_FREEZE}) {
        ASSERT_EQ(arm(action), 0);
        EXPECT_EQ(FTrace_trigger_disarm(), 0) << "armed";
    }
    ASSERT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, kMark, FTRACE_ANY, FTRACE_ANY, 5), 0);
    log(kMark, 2);
    EXPECT_EQ(FTrace_trigger_disarm(), 0) << "in its window";
    const int rest = FTrace_chunk_create(16 * 16, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_EQ(FTrace_chunk_link(m_number, rest), 0);
    ASSERT_EQ(arm(FTRACE_TRIGGER_FREEZE), 0);
    log(kMark, 3);
    log(kEvent, 4);
    EXPECT_EQ(FTrace_trigger_disarm(), 0) << "recording continues in the next chunk";
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kMark, 2), std::pair(kMark, 3)));
    EXPECT_THAT(lines(rest), ElementsAre(std::pair(kEvent, 4)));
}

TEST_F(Statements, ATriggerOfStartStatesThePauseBeforeIt) {
    begin();
    ASSERT_EQ(arm(FTRACE_TRIGGER_START), 0);
    log(kEvent, 2);
    FTrace_set_filter(FTrace_filter_task, 1);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_ARMED);
    log(kMark, 3);
    log(kEvent, 4);
    EXPECT_EQ(FTrace_trigger_disarm(), 0) << "nothing is refused any more";
    EXPECT_EQ(gaps(), 1) << "what is recorded of a gap would be refused";
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kStop, kContext), std::pair(kTask, 1),
                                     std::pair(kMark, 3), std::pair(kEvent, 4)));
}

TEST_F(Statements, ATriggerOfStartThatIsRemovedUnfiredEndsThePause) {
    begin();
    ASSERT_EQ(arm(FTRACE_TRIGGER_START), 0);
    log(kEvent, 2);
    EXPECT_EQ(FTrace_trigger_disarm(), 0);
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kStop, kContext), std::pair(kStart, kContext)));
}

TEST_F(Statements, StatementsFireNoTrigger) {
    FTrace_set_filter(FTrace_filter_task, 1);
    ASSERT_EQ(arm(FTRACE_TRIGGER_START, kTask), 0);
    begin();
    FTrace_disable();
    EXPECT_EQ(FTrace_enable(), 0);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_ARMED);
    ASSERT_EQ(arm(FTRACE_TRIGGER_STOP, kStart), 0);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_ARMED);
    EXPECT_THAT(lines(), ElementsAre(std::pair(kTask, 1), std::pair(kStop, kContext), std::pair(kTask, 1),
                                     std::pair(kStart, kContext), std::pair(kTask, 1)));
    ASSERT_EQ(arm(FTRACE_TRIGGER_START, kTimer), 0);
    FTrace_set_filter(FTrace_filter_timer, 1);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_DONE) << "the record of a call is an event like any other";
    EXPECT_EQ(lines().back(), std::pair(kTimer, WORD{1}));
}

TEST_F(Statements, ATriggerThatReplacesOneThatStoppedStatesThePause) {
    begin();
    ASSERT_EQ(arm(FTRACE_TRIGGER_STOP), 0);
    log(kMark, 2);
    log(kEvent, 3);
    ASSERT_EQ(arm(FTRACE_TRIGGER_FREEZE), 0);
    ASSERT_EQ(arm(FTRACE_TRIGGER_STOP), 0) << "in place of one that refuses nothing";
    log(kMark, 4);
    log(kEvent, 5);
    ASSERT_EQ(arm(FTRACE_TRIGGER_START), 0);
    EXPECT_EQ(arm(FTRACE_TRIGGER_START, 0x0C), -1) << "a refused call leaves nothing";
    EXPECT_THAT(lines(), ElementsAre(std::pair(kEvent, 1), std::pair(kMark, 2), std::pair(kStart, kContext),
                                     std::pair(kMark, 4), std::pair(kStop, kContext)));
}

int s_steps = 0;
int s_interrupt_at = 0;

// Is an interrupt that records, and rewinds the record path like every entry stub.
void on_step(int, siginfo_t*, void* context) {
    if (s_steps++ != s_interrupt_at) {
        return;
    }
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    constexpr greg_t kTrapFlag = 0x100;
    registers[REG_EFL] &= ~kTrapFlag;
    TRACER_LOGEVENT(kMark, 9, 0);
    const auto address = reinterpret_cast<const char*>(registers[REG_RIP]);
    if (address >= &tracer_region_begin && address < &tracer_region_end && address != &tracer_region_exit) {
        registers[REG_RIP] = reinterpret_cast<greg_t>(&tracer_region_restart);
    }
}

// Makes the call, with an interrupt after so many instructions. Returns false if there are fewer.
bool interrupted(int instructions, int (*call)()) {
    struct sigaction action = {};
    struct sigaction former = {};
    action.sa_sigaction = &on_step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &former);
    s_steps = 0;
    s_interrupt_at = instructions;
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "cc", "memory");
    call();
    asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "cc", "memory");
    sigaction(SIGTRAP, &former, nullptr);
    return s_steps > instructions;
}

// Between what was recorded before a pause and what is recorded after it, the pause is stated. The sanitizers make the
// call many times as long, and each try is of its length: the number of tries is the same.
TEST_F(Statements, PrecedeTheRecordsOfAnInterruptThatComesMeanwhile) {
    static constexpr int kTries = 41; // odd: no instruction alone decides it
    const auto precedes = [this](const char* what, auto before, int (*call)()) {
        int stride = 0; // the first try is not interrupted, and finds the length
        for (int instructions = std::numeric_limits<int>::max(), tries = 0;; instructions += stride, ++tries) {
            const int former = std::exchange(m_number, select_new(32, FTRACE_CHUNK_FLAG_STOP));
            ASSERT_EQ(FTrace_chunk_delete(former), 0);
            begin();
            before();
            const std::size_t kept = lines().size();
            const bool is_interrupted = interrupted(instructions, call);
            const Lines all = lines();
            ASSERT_GT(all.size(), kept);
            ASSERT_EQ(all[kept], std::pair(kStart, kContext)) << what << instructions;
            FTrace_disable();
            if (stride == 0) {
                stride = s_steps / kTries | 1;
                instructions = -stride;
            } else if (!is_interrupted) {
                ASSERT_GE(tries, kTries);
                break;
            }
        }
    };
    FTrace_set_filter(FTrace_filter_task, 1);
    precedes(
        "enable ", [] { FTrace_disable(); }, &FTrace_enable);
    precedes(
        "disarm ",
        [] {
            ASSERT_EQ(arm(FTRACE_TRIGGER_STOP, kEvent), 0);
            log(kEvent, 1);
        },
        &FTrace_trigger_disarm);
}

} // namespace ftrace_statements_test
