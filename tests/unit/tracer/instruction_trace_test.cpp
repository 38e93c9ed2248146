// SPDX-License-Identifier: MIT
// Tests the records that steps leave: on one processor, and on two that step at the same time.
#include "tracer/record/instruction_trace.hpp"

#include "tests/support/tracer/fixture.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tracer {

namespace instruction_trace_test {

using tests::TracerFixture;

// A program of one-byte instructions, except for a jump of two bytes and a repeated one of two.
constexpr std::uint64_t kBase = 0x10'0000;
constexpr std::uint64_t kJump = kBase + 8;
constexpr std::uint64_t kRepeated = kBase + 12;
constexpr std::uint64_t kSti = kBase + 14;
constexpr std::uint64_t kAfterSti = kSti + 1; // a call of kBase

const std::uint8_t* code_at(std::uint64_t address) {
    static constexpr std::array<std::uint8_t, 64> kCode = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, // nop
                                                           0xEB, 0xF6, 0x90, 0x90,                         // jmp kBase
                                                           0xF3, 0xA4,                                     // rep movsb
                                                           0xFB, 0xE8, 0xEC, 0xFF, 0xFF, 0xFF,             // sti, call
                                                           0x90, 0x90, 0x90};
    return kCode.data() + (address - kBase);
}

// The part of a record that these tests compare.
struct Seen {
    std::uint16_t par1;
    std::uint32_t par2;

    friend bool operator==(const Seen&, const Seen&) = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
    *out << seen.par1 << " at +" << seen.par2 - kBase;
}

Seen seen(Flow flow, std::uint64_t address) {
    return {static_cast<std::uint16_t>(flow), static_cast<std::uint32_t>(address)};
}

Seen block(Flow flow, unsigned instructions, std::uint64_t address) {
    return {static_cast<std::uint16_t>(static_cast<unsigned>(flow) << kBlockFlowShift | instructions),
            static_cast<std::uint32_t>(address)};
}

// A processor with a tracer and a chunk of its own.
class Cpu {
  public:
    Cpu()
        : m_fixture(1U << 20, TracerFixture::Attempts::uncounted)
        , m_chunk(m_fixture.chunk(500, 8, kFlagStop)) {
        m_fixture.select_and_enable(m_chunk);
    }

    void enter() { m_fixture.enter(); }

    [[nodiscard]] const CpuSteps& steps() { return m_fixture.tracer().cpu.steps; }

    // The instruction or block records, in order.
    [[nodiscard]] std::vector<Seen> records() const {
        std::vector<Seen> found;
        for (const Record& record : tests::main_records(m_chunk)) {
            if (record.event_code() == event_code("instruction") || record.event_code() == event_code("block")) {
                found.push_back({record.par1, record.par2});
            }
        }
        return found;
    }

  private:
    TracerFixture m_fixture;
    Chunk& m_chunk;
};

class InstructionTraceTest : public testing::Test {
  protected:
    InstructionTraceTest() { trace.set_hooks({.code = &code_at}); }

    tracer::SteppedTasks tasks;
    InstructionTrace trace{&tasks};
};

TEST_F(InstructionTraceTest, RecordsEachInstructionAndItsFlow) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    for (const std::uint64_t address : {kBase + 6, kBase + 7, kJump, kBase, kBase + 1}) {
        EXPECT_TRUE(trace.step(5, address));
    }
    const std::vector<Seen> expected = {seen(Flow::resumed, kBase + 6), seen(Flow::next, kBase + 7),
                                        seen(Flow::next, kJump), seen(Flow::jump, kBase), seen(Flow::next, kBase + 1)};
    EXPECT_EQ(cpu.records(), expected);
    EXPECT_EQ(cpu.steps().taken, 5U);
}

TEST_F(InstructionTraceTest, ARepeatedInstructionIsRecordedOnce) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    for (const std::uint64_t address : {kRepeated, kRepeated, kRepeated, kRepeated + 2}) {
        trace.step(5, address);
    }
    const std::vector<Seen> expected = {seen(Flow::resumed, kRepeated), seen(Flow::next, kRepeated + 2)};
    EXPECT_EQ(cpu.records(), expected);
    EXPECT_EQ(cpu.steps().taken, 2U);
}

// The trace is the same whether the processor reports the step after STI or one instruction later.
TEST_F(InstructionTraceTest, TheInstructionAfterStiIsRecorded) {
    const std::vector<Seen> expected = {seen(Flow::resumed, kSti), seen(Flow::next, kAfterSti), seen(Flow::call, kBase),
                                        seen(Flow::next, kBase + 1)};
    for (const bool delayed : {false, true}) {
        Cpu cpu;
        ASSERT_TRUE(trace.add(5, Grain::instructions));
        trace.step(5, kSti);
        if (!delayed) {
            trace.step(5, kAfterSti);
        }
        trace.step(5, kBase);
        trace.step(5, kBase + 1);
        EXPECT_EQ(cpu.records(), expected) << delayed;
        ASSERT_TRUE(trace.remove(5));
    }
}

TEST_F(InstructionTraceTest, TheInstructionAfterStiCountsInItsBlock) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::blocks));
    trace.step(5, kSti);
    trace.step(5, kBase);
    const std::vector<Seen> expected = {block(Flow::resumed, 0, kSti), block(Flow::call, 2, kBase)};
    EXPECT_EQ(cpu.records(), expected);
}

// The record path is one step together with its call, or with a tail call to it.
TEST_F(InstructionTraceTest, ARecordLooksLikeNoCall) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    trace.step(5, kAfterSti);
    trace.step(5, kAfterSti + 5, true);
    trace.step(5, kJump);
    trace.step(5, kBase + 3, true);
    const std::vector<Seen> expected = {seen(Flow::resumed, kAfterSti), seen(Flow::next, kAfterSti + 5),
                                        seen(Flow::resumed, kJump), seen(Flow::ret, kBase + 3)};
    EXPECT_EQ(cpu.records(), expected);
}

TEST_F(InstructionTraceTest, ARecordChangesNoOtherFlow) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    trace.step(5, kBase);
    trace.step(5, kBase + 1, true);
    const std::vector<Seen> expected = {seen(Flow::resumed, kBase), seen(Flow::next, kBase + 1)};
    EXPECT_EQ(cpu.records(), expected);
}

TEST_F(InstructionTraceTest, OtherTasksRunFreely) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    EXPECT_TRUE(trace.wants(5));
    for (const std::uint16_t other : {std::uint16_t{4}, std::uint16_t{6}, std::uint16_t{5 + 64}}) {
        EXPECT_FALSE(trace.wants(other));
        EXPECT_FALSE(trace.step(other, kBase));
    }
    EXPECT_EQ(cpu.records(), std::vector<Seen>{});
    EXPECT_EQ(cpu.steps().taken, 0U);
}

// The task ran freely meanwhile; the instructions of the block before still count.
TEST_F(InstructionTraceTest, AResumedTaskComesFromElsewhere) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::blocks));
    trace.step(5, kBase);
    trace.step(5, kBase + 1);
    trace.resumes(5);
    trace.step(5, kBase + 2);
    trace.step(5, kBase + 3);
    const std::vector<Seen> expected = {block(Flow::resumed, 0, kBase), block(Flow::resumed, 2, kBase + 2)};
    EXPECT_EQ(cpu.records(), expected);
}

// The kernel let the task run freely for a while: the next instruction does not continue the block.
TEST_F(InstructionTraceTest, AStraightLineHasNoGaps) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    for (const std::uint64_t address : {kBase, kBase + 15, kBase + 31, kBase + 30}) {
        trace.step(5, address);
    }
    const std::vector<Seen> expected = {seen(Flow::resumed, kBase), seen(Flow::next, kBase + 15),
                                        seen(Flow::call, kBase + 31), seen(Flow::resumed, kBase + 30)};
    EXPECT_EQ(cpu.records(), expected);
}

TEST_F(InstructionTraceTest, ATaskThatBeginsAgainComesFromElsewhere) {
    Cpu cpu;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    trace.step(5, kRepeated);
    ASSERT_TRUE(trace.remove(5));
    EXPECT_FALSE(trace.step(5, kRepeated));
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    trace.step(5, kRepeated);
    trace.step(5, kRepeated + 2);
    const std::vector<Seen> expected = {seen(Flow::resumed, kRepeated), seen(Flow::resumed, kRepeated),
                                        seen(Flow::next, kRepeated + 2)};
    EXPECT_EQ(cpu.records(), expected);
}

TEST_F(InstructionTraceTest, TheMachineIsNotifiedWhenTheFirstTaskBegins) {
    static constinit int notified = 0;
    Cpu cpu;
    trace.set_hooks({.code = &code_at, .begin = [] { ++notified; }});
    EXPECT_FALSE(trace.remove(5));
    EXPECT_EQ(notified, 0) << "not before";
    ASSERT_TRUE(trace.add(5, Grain::blocks));
    EXPECT_EQ(notified, 1);
    ASSERT_TRUE(trace.add(6, Grain::blocks));
    EXPECT_FALSE(trace.add(6, Grain::blocks));
    ASSERT_TRUE(trace.remove(5));
    ASSERT_TRUE(trace.add(5, Grain::blocks));
    EXPECT_EQ(notified, 1) << "a task ran in steps all the time";
    ASSERT_TRUE(trace.remove(5));
    ASSERT_TRUE(trace.remove(6));
    ASSERT_TRUE(trace.add(6, Grain::blocks));
    EXPECT_EQ(notified, 2);
}

// Alternating steps: one processor records each instruction, the other blocks.
TEST_F(InstructionTraceTest, TwoProcessorsStepWithoutDisturbingEachOther) {
    constexpr std::array<std::uint64_t, 5> kFirst = {kBase + 6, kBase + 7, kJump, kBase, kBase + 1};
    constexpr std::array<std::uint64_t, 5> kSecond = {kJump, kBase, kBase + 1, kBase + 2, kBase + 3};
    std::array<Cpu, 2> cpus;
    ASSERT_TRUE(trace.add(5, Grain::instructions));
    ASSERT_TRUE(trace.add(6, Grain::blocks));
    for (std::size_t i = 0; i < kFirst.size(); ++i) {
        cpus[0].enter();
        EXPECT_TRUE(trace.step(5, kFirst.at(i)));
        cpus[1].enter();
        EXPECT_TRUE(trace.step(6, kSecond.at(i)));
    }
    EXPECT_TRUE(trace.step(6, kJump));
    EXPECT_TRUE(trace.step(6, kBase));
    const std::vector<Seen> instructions = {seen(Flow::resumed, kBase + 6), seen(Flow::next, kBase + 7),
                                            seen(Flow::next, kJump), seen(Flow::jump, kBase),
                                            seen(Flow::next, kBase + 1)};
    const std::vector<Seen> blocks = {block(Flow::resumed, 0, kJump), block(Flow::jump, 1, kBase),
                                      block(Flow::jump, 5, kBase)};
    EXPECT_EQ(cpus[0].records(), instructions);
    EXPECT_EQ(cpus[1].records(), blocks);
    EXPECT_EQ(cpus[0].steps().taken, 5U);
    EXPECT_EQ(cpus[1].steps().taken, 7U);
}

} // namespace instruction_trace_test

} // namespace tracer
