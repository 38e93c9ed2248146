// SPDX-License-Identifier: MIT
// Tests triggers: windows exact to the record in every mode, across chunks, and at every instruction boundary of the
// record that fires the trigger.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/stepper.hpp"

namespace triggers_test {

using tests::main_records;
using tests::Stepper;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::TriggerAction;
using tracer::TriggerState;

constexpr std::uint8_t kOrdinary = tracer::event_code("ipoint");
constexpr std::uint8_t kMarked = tracer::event_code("user_event_3");
constexpr std::uint16_t kMark = 77;

std::vector<std::uint32_t> serials(const Chunk& chunk) {
    std::vector<std::uint32_t> result;
    for (const tracer::Record& record : main_records(chunk)) {
        result.push_back(record.par2);
    }
    return result;
}

std::vector<std::uint32_t> range(std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = first; i <= last; ++i) {
        result.push_back(i);
    }
    return result;
}

class Triggers : public testing::Test {
  protected:
    void log(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            tracer::detail::record(kOrdinary, 1, m_serial++);
        }
    }

    void mark(std::uint16_t par1 = kMark) { tracer::detail::record(kMarked, par1, m_serial++); }

    lib::Result<void> arm(TriggerAction action, std::uint32_t after) {
        return m_fixture.tracer().control.arm(
            {.action = action, .code = kMarked, .par1 = kMark, .par2 = {}, .records_after = after});
    }

    [[nodiscard]] TriggerState state() { return m_fixture.tracer().control.trigger_state(); }

    [[nodiscard]] tracer::Totals totals() { return m_fixture.tracer().control.totals(); }

    static constexpr std::uint32_t kOuter = 1000; // serial of the interrupted record

    // In a new chunk: `prepare`, then a record that fires the trigger, with `interrupter` at one of its instruction
    // boundaries, then ten more; repeated for each boundary.
    template <typename Prepare, typename Interrupter>
    void interrupt_the_mark(Prepare prepare, Interrupter interrupter, const std::vector<std::uint32_t>& expected) {
        bool met = true;
        for (int boundary = 0; met; ++boundary) {
            Chunk& chunk = m_fixture.chunk(32, 0, tracer::kFlagStop);
            m_fixture.select_and_enable(chunk);
            prepare();
            m_serial = 0;
            met = false;
            Stepper({.boundary = boundary,
                     .interrupter =
                         [&](Stepper&) {
                             met = true;
                             interrupter();
                         }})
                .record(kMarked, kMark, kOuter);
            log(10);
            if (met) {
                EXPECT_EQ(serials(chunk), expected) << "boundary " << boundary;
            }
            m_fixture.tracer().control.disarm();
            m_fixture.tracer().control.disable();
        }
    }

    TracerFixture m_fixture;
    std::uint32_t m_serial = 0;
};

TEST_F(Triggers, StopKeepsExactlySoManyRecordsAfter) {
    for (const std::uint32_t after : {0U, 1U, 5U, 6U}) {
        Chunk& chunk = m_fixture.chunk(16, 0, tracer::kFlagStop);
        m_fixture.select_and_enable(chunk);
        m_serial = 0;
        const tracer::Totals before = totals();
        ASSERT_TRUE(arm(TriggerAction::stop, after).ok());
        log(3);
        mark(kMark + 1); // another parameter: does not match
        EXPECT_EQ(state(), TriggerState::armed);
        mark();
        EXPECT_EQ(state(), after == 0 ? TriggerState::done : TriggerState::fired);
        log(10);
        EXPECT_EQ(state(), TriggerState::done);
        EXPECT_EQ(serials(chunk), range(0, 4 + after));
        EXPECT_EQ(totals().refused - before.refused, 10 - after);
        m_fixture.tracer().control.disarm();
        EXPECT_EQ(state(), TriggerState::idle);
        log(1); // continues
        EXPECT_EQ(serials(chunk).size(), 6 + after);
        m_fixture.tracer().control.disable();
    }
}

TEST_F(Triggers, ACyclicChunkKeepsWhatWasBeforeAndExactlySoManyAfter) {
    for (const std::uint32_t before : {0U, 3U, 7U, 8U, 30U}) {
        for (const std::uint32_t after : {0U, 1U, 7U, 8U, 9U, 20U}) {
            Chunk& chunk = m_fixture.chunk(8, 0, tracer::kFlagCyclic);
            m_fixture.select_and_enable(chunk);
            m_serial = 0;
            ASSERT_TRUE(arm(TriggerAction::stop, after).ok());
            log(before);
            mark();
            log(40);
            const std::uint32_t last = before + after;
            const std::uint32_t written = last + 1;
            const std::uint32_t kept = written <= 8 || written % 8 == 0 ? std::min(written, 8U) : 7U;
            EXPECT_EQ(serials(chunk), range(written - kept, last)) << before << " before, " << after << " after";
            m_fixture.tracer().control.disarm();
            m_fixture.tracer().control.disable();
        }
    }
}

TEST_F(Triggers, TheWindowGoesAlongIntoTheNextChunk) {
    Chunk& first = m_fixture.chunk(4, 0, tracer::kFlagJumpToNext);
    Chunk& second = m_fixture.chunk(4, 0, tracer::kFlagJumpToNext);
    Chunk& third = m_fixture.chunk(4, 0, tracer::kFlagCyclic);
    m_fixture.link(first, second);
    m_fixture.link(second, third);
    m_fixture.select_and_enable(first);
    ASSERT_TRUE(arm(TriggerAction::stop, 6).ok());
    log(5);
    EXPECT_EQ(state(), TriggerState::armed);
    mark(); // the second record of the second chunk
    log(20);
    EXPECT_EQ(serials(first), range(0, 3));
    EXPECT_EQ(serials(second), range(4, 7));
    EXPECT_EQ(serials(third), range(8, 11));
    EXPECT_EQ(totals().refused, 14U);
}

TEST_F(Triggers, StartRefusesWhatComesBefore) {
    Chunk& chunk = m_fixture.chunk(8, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    ASSERT_TRUE(arm(TriggerAction::start, 0).ok());
    log(5);
    mark();
    EXPECT_EQ(state(), TriggerState::done);
    log(3);
    EXPECT_EQ(serials(chunk), range(5, 8));
    EXPECT_EQ(totals().refused, 5U);
}

TEST_F(Triggers, FiringChangesNoOtherFlag) {
    constexpr std::uint64_t kFlags = 0xFFFF'FFFF & ~std::uint64_t{TRACER_WORD_POSITION_MASK};
    for (const auto& [action, fired] : {std::pair{TriggerAction::start, 0}, {TriggerAction::stop, TRACER_WORD_FIRED}}) {
        Chunk& chunk = m_fixture.chunk(8, 0, tracer::kFlagStop);
        m_fixture.select_and_enable(chunk);
        ASSERT_TRUE(arm(action, fired != 0 ? 5 : 0).ok());
        EXPECT_EQ(chunk.control.word & kFlags, std::uint64_t{TRACER_WORD_ARMED});
        mark();
        EXPECT_EQ(chunk.control.word & kFlags, static_cast<std::uint64_t>(fired));
        m_fixture.tracer().control.disarm();
        m_fixture.tracer().control.disable();
    }
}

TEST_F(Triggers, FreezeClosesTheChunkAndContinuesInTheNext) {
    Chunk& first = m_fixture.chunk(8, 0, tracer::kFlagCyclic);
    Chunk& second = m_fixture.chunk(64, 0, tracer::kFlagStop);
    m_fixture.link(first, second);
    m_fixture.select_and_enable(first);
    ASSERT_TRUE(arm(TriggerAction::freeze, 3).ok());
    log(20);
    mark();
    log(20);
    EXPECT_EQ(serials(first), range(16, 23)); // eight were the whole lap
    EXPECT_EQ(serials(second), range(24, 40));
    EXPECT_EQ(state(), TriggerState::done);
    EXPECT_EQ(totals().dropped, 0U);
    EXPECT_EQ(totals().refused, 0U);
}

TEST_F(Triggers, FreezeWithoutANextChunkDropsAndCounts) {
    Chunk& chunk = m_fixture.chunk(8, 2, tracer::kFlagCyclic);
    m_fixture.select_and_enable(chunk);
    ASSERT_TRUE(arm(TriggerAction::freeze, 1).ok());
    mark();
    log(4);
    EXPECT_EQ(serials(chunk), range(0, 1));
    EXPECT_EQ(totals().dropped, 3U);
    EXPECT_EQ(tests::emergency_records(chunk).size(), 1U); // blackout_start
}

TEST_F(Triggers, GoAlongWithASelection) {
    Chunk& first = m_fixture.chunk(8, 0, tracer::kFlagStop);
    Chunk& second = m_fixture.chunk(8, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(first);
    ASSERT_TRUE(arm(TriggerAction::stop, 3).ok());
    mark();
    log(1);
    ASSERT_TRUE(m_fixture.tracer().control.select(second).ok());
    log(10);
    EXPECT_EQ(serials(first), range(0, 1));
    EXPECT_EQ(serials(second), range(2, 3));
}

TEST_F(Triggers, GoAlongWithASelectionWhileNothingIsRecorded) {
    for (const bool fired : {false, true}) {
        Chunk& first = m_fixture.chunk(8, 0, tracer::kFlagStop);
        Chunk& second = m_fixture.chunk(8, 0, tracer::kFlagStop);
        m_fixture.select_and_enable(first);
        ASSERT_TRUE(arm(TriggerAction::stop, 3).ok());
        m_serial = 0;
        if (fired) {
            mark();
        }
        log(1);
        m_fixture.tracer().control.disable();
        ASSERT_TRUE(m_fixture.tracer().control.select(second).ok());
        EXPECT_EQ(state(), fired ? TriggerState::fired : TriggerState::armed);
        ASSERT_TRUE(m_fixture.tracer().control.enable().ok());
        if (!fired) {
            mark();
        }
        log(10);
        EXPECT_EQ(serials(second), fired ? range(2, 3) : range(1, 4)) << fired;
        EXPECT_EQ(state(), TriggerState::done);
        m_fixture.tracer().control.disarm();
        m_fixture.tracer().control.disable();
    }
}

TEST_F(Triggers, CompareTheParametersThatAreGivenAndNoOthers) {
    struct Row {
        std::optional<std::uint16_t> par1;
        std::optional<std::uint32_t> par2;
    };

    constexpr std::uint16_t kOne = 0x8001;
    constexpr std::uint32_t kTwo = 0x9000'0002;
    for (const Row& row : {Row{}, Row{kOne, {}}, Row{{}, kTwo}, Row{kOne, kTwo}, Row{0, 0}}) {
        for (const std::uint16_t par1 : {std::uint16_t{0}, std::uint16_t{1}, kOne}) {
            for (const std::uint32_t par2 : {std::uint32_t{0}, std::uint32_t{2}, std::uint32_t{0x9000'0000}, kTwo}) {
                Chunk& chunk = m_fixture.chunk(2, 0, tracer::kFlagStop);
                m_fixture.select_and_enable(chunk);
                ASSERT_TRUE(m_fixture.tracer()
                                .control
                                .arm({.action = TriggerAction::stop,
                                      .code = kMarked,
                                      .par1 = row.par1,
                                      .par2 = row.par2,
                                      .records_after = 0})
                                .ok());
                tracer::detail::record(kMarked, par1, par2);
                const bool meets = row.par1.value_or(par1) == par1 && row.par2.value_or(par2) == par2;
                EXPECT_EQ(state(), meets ? TriggerState::done : TriggerState::armed) << par1 << ' ' << par2;
                m_fixture.tracer().control.disarm();
                m_fixture.tracer().control.disable();
                ASSERT_TRUE(m_fixture.tracer().store.set_flags(chunk, tracer::kFlagFree).ok());
                ASSERT_TRUE(m_fixture.tracer().store.remove(chunk).ok());
            }
        }
    }
}

TEST_F(Triggers, ALongEventEndsTheWindowIfItDoesNotFitWhole) {
    Chunk& chunk = m_fixture.chunk(16, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    ASSERT_TRUE(arm(TriggerAction::freeze, 2).ok());
    mark();
    const std::array<tracer::Record, 3> slots{
        {{.code = 0x101C, .par2 = 50}, {.code = 0x201C, .par2 = 50}, {.code = 0x301C, .par2 = 50}}};
    tracer::detail::record_long(slots.data(), 3);
    log(1);
    EXPECT_EQ(serials(chunk), range(0, 0));
    EXPECT_EQ(totals().dropped, 4U);
}

TEST_F(Triggers, AStopEndsBeforeALongEventThatDoesNotFitWhole) {
    Chunk& chunk = m_fixture.chunk(16, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    ASSERT_TRUE(arm(TriggerAction::stop, 2).ok());
    mark();
    const std::array<tracer::Record, 3> slots{
        {{.code = 0x101E, .par2 = 50}, {.code = 0x201E, .par2 = 50}, {.code = 0x301E, .par2 = 50}}};
    tracer::detail::record_long(slots.data(), 3);
    log(1); // would fit
    EXPECT_EQ(serials(chunk), range(0, 0));
    EXPECT_EQ(totals().refused, 4U);
    EXPECT_EQ(state(), TriggerState::done);
}

TEST_F(Triggers, NothingChangesBeforeAStart) {
    Chunk& small = m_fixture.chunk(4, 2, tracer::kFlagStop);
    m_fixture.select_and_enable(small);
    ASSERT_TRUE(arm(TriggerAction::start, 0).ok());
    std::array<tracer::Record, 6> slots{};
    for (std::size_t i = 0; i < slots.size(); ++i) {
        slots[i].code = static_cast<std::uint16_t>(0x1E | static_cast<std::uint16_t>(tracer::combine_of(i, 6)));
    }
    tracer::detail::record_long(slots.data(), 6); // larger than the chunk
    log(10);
    mark();
    log(2);
    EXPECT_EQ(serials(small), range(10, 12));
    EXPECT_EQ(totals(), (tracer::Totals{.committed = 3, .refused = 16}));
}

TEST_F(Triggers, AreForgottenWithTheSelection) {
    Chunk& chunk = m_fixture.chunk(8, 0, tracer::kFlagStop);
    ASSERT_TRUE(m_fixture.tracer().control.select(chunk).ok());
    ASSERT_TRUE(arm(TriggerAction::start, 0).ok());
    ASSERT_TRUE(m_fixture.tracer().store.set_flags(chunk, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP).ok());
    EXPECT_EQ(state(), TriggerState::idle);
}

TEST_F(Triggers, ALongEventMayBeTheTrigger) {
    Chunk& chunk = m_fixture.chunk(16, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    ASSERT_TRUE(
        m_fixture.tracer()
            .control.arm({.action = TriggerAction::stop, .code = 0x1E, .par1 = {}, .par2 = {}, .records_after = 1})
            .ok());
    log(1);
    const std::array<tracer::Record, 2> slots{{{.code = 0x101E, .par2 = 50}, {.code = 0x301E, .par2 = 50}}};
    tracer::detail::record_long(slots.data(), 2);
    log(5);
    EXPECT_EQ(serials(chunk), (std::vector<std::uint32_t>{0, 50, 50, 1}));
}

TEST_F(Triggers, RefuseWhatCannotBeMet) {
    auto& control = m_fixture.tracer().control;
    EXPECT_EQ(arm(TriggerAction::stop, 0).error(), lib::Error::refused); // no chunk
    m_fixture.select_and_enable(m_fixture.chunk(8, 0, tracer::kFlagStop));
    const auto refusal = [&](const tracer::TriggerRequest& request) { return control.arm(request).error(); };
    EXPECT_EQ(refusal({.action = TriggerAction::none, .code = kMarked, .par1 = {}, .par2 = {}}),
              lib::Error::invalid_argument);
    EXPECT_EQ(refusal({.code = 0x00, .par1 = {}, .par2 = {}}), lib::Error::invalid_argument); // empty
    EXPECT_EQ(refusal({.code = 0x43, .par1 = {}, .par2 = {}}), lib::Error::invalid_argument); // no such event
    EXPECT_EQ(refusal({.code = 0xFF, .par1 = {}, .par2 = {}}), lib::Error::invalid_argument); // consumed
    EXPECT_EQ(refusal({.code = 0x1E, .par1 = 3, .par2 = {}}), lib::Error::invalid_argument);  // long: no parameters
    EXPECT_EQ(refusal({.code = 0x50, .par1 = {}, .par2 = {}}), lib::Error::invalid_argument); // the tracer's own
    EXPECT_EQ(refusal({.code = 0x1C, .par1 = {}, .par2 = {}}), lib::Error::invalid_argument); // the exporter's
    EXPECT_EQ(refusal({.action = TriggerAction::start, .code = kMarked, .par1 = {}, .par2 = {}, .records_after = 1}),
              lib::Error::invalid_argument);
    ASSERT_TRUE(control.set_filter(0xF9, true).ok());
    EXPECT_EQ(refusal({.code = kMarked, .par1 = {}, .par2 = {}}), lib::Error::busy);
    EXPECT_EQ(state(), TriggerState::idle);
}

// The record that fires the trigger is interrupted by two ordinary ones at each boundary: they come before it, and the
// window after it remains exact.
TEST_F(Triggers, AreExactAtEveryInstructionBoundary) {
    interrupt_the_mark([&] { ASSERT_TRUE(arm(TriggerAction::stop, 4).ok()); }, [&] { log(2); },
                       {0, 1, kOuter, 2, 3, 4, 5});
}

// Two records that both match: the one that commits first fires the trigger.
TEST_F(Triggers, FireOnceWhenTheInterrupterMeetsThemFirst) {
    interrupt_the_mark([&] { ASSERT_TRUE(arm(TriggerAction::stop, 2).ok()); }, [&] { mark(); }, {0, kOuter, 1});
}

// A control call interrupts the record.
TEST_F(Triggers, ArmMeetsARecordHalfWay) {
    interrupt_the_mark([] {}, [&] { ASSERT_TRUE(arm(TriggerAction::stop, 1).ok()); }, {kOuter, 0});
}

void arm_the_mark() {
    const auto armed = TracerFixture::current()->control.arm(
        {.action = TriggerAction::stop, .code = kMarked, .par1 = kMark, .par2 = {}, .records_after = 0});
    EXPECT_TRUE(armed.ok());
}

void disarm() {
    TracerFixture::current()->control.disarm();
}

// Records interrupt a control call and move on to the next chunk, whose number is lower: it is looked at first.
class TriggerCalls : public testing::Test {
  protected:
    // Whether the call has so many instructions.
    bool interrupted(void (*call)(), int instruction) {
        return Stepper::interrupt_call(call, instruction, [] {
            for (std::uint32_t i = 0; i < 3; ++i) {
                tracer::detail::record(kOrdinary, 1, i);
            }
        });
    }

    void SetUp() override {
        m_next = &m_fixture.chunk(64, 0, tracer::kFlagStop);
        m_first = &m_fixture.chunk(2, 0, tracer::kFlagJumpToNext);
    }

    void begin() {
        auto& tracer = m_fixture.tracer();
        tracer.control.disarm();
        tracer.control.disable();
        for (Chunk* const chunk : {m_first, m_next}) {
            ASSERT_TRUE(tracer.store
                            .set_flags(*chunk, static_cast<tracer::ChunkFlags>((chunk->flags & tracer::kModeMask) |
                                                                               tracer::kFlagFree))
                            .ok());
        }
        m_fixture.link(*m_first, *m_next);
        m_fixture.select_and_enable(*m_first);
    }

    [[nodiscard]] bool moved_on() { return m_fixture.tracer().cpu.active == &m_next->control; }

    static constexpr int kInstructions = 300; // enough for the two chunks

    TracerFixture m_fixture;
    Chunk* m_next = nullptr;
    Chunk* m_first = nullptr;
};

TEST_F(TriggerCalls, DisarmIsCompleteThoughRecordsMoveOnAtAnyInstruction) {
    for (int instruction = 0; instruction < kInstructions; ++instruction) {
        begin();
        arm_the_mark();
        ASSERT_TRUE(interrupted(&disarm, instruction));
        ASSERT_TRUE(moved_on());
        for (const Chunk* const chunk : {m_first, m_next}) {
            EXPECT_EQ(chunk->control.word & (TRACER_WORD_ARMED | TRACER_WORD_FIRED), 0U) << instruction;
        }
        EXPECT_EQ(m_fixture.tracer().control.trigger_state(), TriggerState::idle);
    }
}

TEST_F(TriggerCalls, ArmWatchesWhereRecordsGoThoughTheyMoveOnAtAnyInstruction) {
    bool met = true;
    for (int instruction = 0; met && instruction < kInstructions; ++instruction) {
        begin();
        met = interrupted(&arm_the_mark, instruction);
        tracer::detail::record(kOrdinary, kMark, 0);
        EXPECT_EQ(m_fixture.tracer().control.trigger_state(), TriggerState::armed) << instruction;
        tracer::detail::record(kMarked, kMark, 0);
        EXPECT_EQ(m_fixture.tracer().control.trigger_state(), TriggerState::done) << instruction;
    }
}

TEST_F(Triggers, ThePublishedCallsReportWhatIsWrong) {
    const auto reported = [](std::string_view argument, long long value) {
        const FTrace_Error error = FTrace_last_error();
        return error.function == std::string_view("FTrace_trigger_arm") && error.argument == argument &&
               error.value == value && error.text != nullptr;
    };
    m_fixture.select_and_enable(m_fixture.chunk(8, 0, tracer::kFlagStop));
    EXPECT_EQ(FTrace_trigger_arm(0, FTrace_EVT_user_event_3, FTRACE_ANY, FTRACE_ANY, 1), -1);
    EXPECT_TRUE(reported("action", 0));
    EXPECT_EQ(FTrace_trigger_arm(4, FTrace_EVT_user_event_3, FTRACE_ANY, FTRACE_ANY, 1), -1);
    EXPECT_TRUE(reported("action", 4));
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, 0x100, FTRACE_ANY, FTRACE_ANY, 1), -1);
    EXPECT_TRUE(reported("type", 0x100));
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_user_event_3, 65536, FTRACE_ANY, 1), -1);
    EXPECT_TRUE(reported("par1", 65536));
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_user_event_3, -2, FTRACE_ANY, 1), -1);
    EXPECT_TRUE(reported("par1", -2));
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_user_event_3, 0, 0x1'0000'0000, 1), -1);
    EXPECT_TRUE(reported("par2", 0x1'0000'0000));
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_IDLE);
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_user_event_3, FTRACE_ANY, FTRACE_ANY, 1), 0);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_ARMED);
    EXPECT_EQ(FTrace_trigger_disarm(), 0);
    EXPECT_EQ(FTrace_trigger_state(), FTRACE_TRIGGER_IDLE);
}

} // namespace triggers_test
