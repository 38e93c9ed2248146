// SPDX-License-Identifier: MIT
// What is written as tlog comes back as it was, and is always in order and nested.
#include "host/formats/trace.hpp"

#include "foreign/tlog/native.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/tlog_files.hpp"

namespace host::cli {

namespace {

using support::ChunkBuilder;
using support::TlogFile;
using trace::Event;

struct Read {
    std::uint16_t node;
    std::int64_t time_ns;
    std::uint16_t number;
    std::uint32_t arg1;
    std::uint32_t arg2;

    friend bool operator==(const Read&, const Read&) = default;
};

constexpr std::uint32_t kNone = 65'537; // no task is known

class TlogConvert : public support::CommandLine {
  protected:
    // Converts, and reads back; the format's promises must hold.
    std::vector<Read> convert(const support::Bytes& bytes) {
        const std::string output = m_directory / "out.log";
        m_status = remora({"convert", write(bytes), "--to", "tlog", "-o", output});
        std::string lines;
        trace::Diagnostics diagnostics([&](std::string_view line) { lines += line; });
        std::vector<Read> read;
        auto opened = formats::Trace::open(output, {.kind = trace::InputKind::tlog}, diagnostics);
        if (!opened) {
            return read;
        }
        opened.value()->for_each([&](const Event& event) {
            read.push_back({event.cpu, event.time_ns, event.number, event.words[0], event.words[1]});
        });
        EXPECT_EQ(lines, "");
        EXPECT_EQ(std::filesystem::file_size(output) % 1024, 0U);
        return read;
    }

    int m_status = 0;
};

TEST_F(TlogConvert, KeepsCountOrderTimesAndArguments) {
    const auto read = convert(sample().bytes());
    EXPECT_EQ(m_status, 0) << m_err;
    // Node 0 is the task of context 12, node 1 the processor.
    const std::vector<Read> expected = {{0, 0, 1, 0, 12},         {0, 0, 31, 0, 0},       {1, 0, 1, 1, 0},
                                        {1, 100, 10, 0, 32},      {1, 200, 11, 0, 32},    {0, 300, 31, 0, 12},
                                        {0, 310, 31, 0, 0},       {0, 320, 14, 0, kNone}, {0, 400, 34, 0, 1},
                                        {0, 1000, 36, 0, 0xDEAD}, {0, 1100, 31, 0, 0},    {0, 1100, 15, 0, kNone},
                                        {0, 1100, 2, 0, 0},       {1, 1100, 2, 0, 0}};
    EXPECT_EQ(read, expected);
}

// One bit makes it 36 years: its event has no time of its own, and the end of the trace is where it was.
TEST_F(TlogConvert, ADamagedStampMovesNoOtherTime) {
    const auto with_damage_at = [](std::uint64_t damaged) {
        ChunkBuilder chunk;
        for (std::uint64_t i = 0; i < 100; ++i) {
            chunk.unordered(1'000 * (i + 1) + (i == damaged ? std::uint64_t{1} << 60 : 0), "user_event_0", 0,
                            static_cast<std::uint32_t>(i));
        }
        return support::sealed(chunk.bytes());
    };
    const auto whole = convert(with_damage_at(100));
    EXPECT_EQ(m_err, "");
    EXPECT_EQ(whole.back().time_ns, 99'000);
    for (const std::uint64_t damaged : {0U, 1U, 50U, 98U, 99U}) {
        SCOPED_TRACE(damaged);
        const auto read = convert(with_damage_at(damaged));
        const std::size_t warning = m_err.find("W-TIME");
        EXPECT_NE(warning, std::string::npos);
        EXPECT_EQ(m_err.find("W-TIME", warning + 1), std::string::npos) << m_err;
        EXPECT_EQ(read.back().time_ns, damaged == 0 || damaged == 99 ? 98'000 : 99'000);
        for (const Read& event : read) {
            EXPECT_GE(event.time_ns, 0);
            EXPECT_LE(event.time_ns, 99'000);
        }
    }
}

TEST_F(TlogConvert, EachTaskHasANodeOnWhichItRunsAndStops) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 5).event(10, "task_begin_cycle", 5, 0).event(20, "context_switch", 6);
    chunk.event(30, "context_switch", 5).event(40, "context_switch", 5).event(50, "task_end_cycle", 5, 0);
    chunk.event(60, "context_switch", 1).event(70, "user_event_0", 0, 9);
    const std::vector<Read> expected = {{0, 0, 1, 0, 5},   {0, 0, 14, 0, kNone}, {1, 0, 1, 0, 6},   {2, 0, 1, 0, 1},
                                        {0, 10, 31, 0, 0}, {0, 20, 15, 0, 6},    {1, 20, 14, 0, 5}, {0, 30, 14, 0, 6},
                                        {1, 30, 15, 0, 5}, {0, 40, 32, 0, 0},    {0, 50, 31, 0, 0}, {0, 60, 15, 0, 1},
                                        {2, 60, 14, 0, 5}, {0, 70, 2, 0, 0},     {1, 70, 2, 0, 0},  {2, 70, 36, 0, 9},
                                        {2, 70, 15, 0, 5}, {2, 70, 2, 0, 0}};
    EXPECT_EQ(convert(chunk.bytes()), expected);
}

TEST_F(TlogConvert, NothingIsSaidToRunInAGap) {
    ChunkBuilder chunk;
    chunk.event(0, "context_switch", 5).event(10, "blackout_start").event(20, "blackout_end", 0, 3);
    chunk.event(30, "context_switch", 5);
    const std::vector<Read> expected = {
        {0, 0, 1, 0, 5},   {0, 0, 14, 0, kNone},  {1, 0, 1, 1, 0},       {0, 10, 15, 0, kNone}, {1, 10, 39, 0, 0},
        {1, 20, 39, 0, 3}, {0, 30, 14, 0, kNone}, {0, 30, 15, 0, kNone}, {0, 30, 2, 0, 0},      {1, 30, 2, 0, 0}};
    EXPECT_EQ(convert(chunk.bytes()), expected);
}

TEST_F(TlogConvert, WarnsWhereTheOriginalReaderHasNoRoom) {
    const auto events = [](unsigned number) { // and START and END
        ChunkBuilder chunk;
        for (unsigned i = 0; i < number; ++i) {
            chunk.event(i, "user_event_1", 0, i);
        }
        return chunk.bytes();
    };
    convert(events(262'142));
    EXPECT_EQ(m_err, "");
    convert(events(262'143));
    EXPECT_EQ(m_status, 0);
    EXPECT_NE(m_err.find("node 0 has 262145 events, more than the 262144"), std::string::npos) << m_err;
    EXPECT_NE(m_err.find("out.log"), std::string::npos) << m_err;
}

TEST_F(TlogConvert, TimesAreExactToTheNanosecond) {
    ChunkBuilder chunk;
    std::uint64_t ticks = 0;
    chunk.event(0, "user_event_0");
    for (unsigned i = 1; i < 2000; ++i) {
        ticks += 499'999'999'937ULL + i; // to 10^6 s
        chunk.event(ticks, "user_event_0", 0, i);
    }
    const auto read = convert(chunk.bytes());
    ASSERT_EQ(read.size(), 2002U);
    ticks = 0;
    for (unsigned i = 1; i < 2000; ++i) {
        ticks += 499'999'999'937ULL + i;
        EXPECT_EQ(read[i + 1].time_ns, static_cast<std::int64_t>(ticks));
    }
}

TEST_F(TlogConvert, PairsNestWhateverTheTraceSays) {
    ChunkBuilder chunk;
    chunk.event(0, "interrupt_end", 3).event(1, "task_begin_cycle", 5, 0).event(2, "interrupt_start", 3);
    chunk.event(3, "task_begin_cycle", 6, 0).event(4, "interrupt_end", 3).event(5, "task_end_cycle", 6, 0);
    chunk.event(6, "timer_wakeup_start").event(7, "timer_wakeup_end", 5).event(8, "interrupt_start", 4);
    const auto read = convert(chunk.bytes());
    // Three nodes; 9 events; the last handler is closed at the end.
    EXPECT_EQ(read.size(), 2U * 3 + 9 + 1);
    EXPECT_EQ(read[1], (Read{0, 0, formats::tlog::kSingleInterrupt, 0, 3}));
}

TEST_F(TlogConvert, LossIsAnEvent) {
    const auto read = convert(ChunkBuilder().event(0, "blackout_start").event(9, "blackout_end", 0, 77).bytes());
    ASSERT_EQ(read.size(), 4U);
    EXPECT_EQ(read[2], (Read{0, 9, formats::tlog::kSingleLoss, 0, 77}));
}

TEST_F(TlogConvert, NestedDeeperThanIsFollowedStaysLegal) {
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 200; ++i) {
        chunk.event(i, "interrupt_start", static_cast<std::uint16_t>(i));
    }
    for (unsigned i = 200; i-- > 0;) {
        chunk.event(400 - i, "interrupt_end", static_cast<std::uint16_t>(i));
    }
    EXPECT_EQ(convert(chunk.bytes()).size(), 402U);
}

TEST_F(TlogConvert, ATlogFileComesBackByteForByte) {
    const auto bytes = TlogFile().small_process(0, 0).small_process(1, 0.25).small_process(700, 3).bytes();
    convert(bytes);
    EXPECT_EQ(support::read_text(m_directory / "out.log"),
              std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST_F(TlogConvert, LongProcessesAreSpooled) {
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 5000; ++i) {
        chunk.event(i, "user_event_1", 0, i);
    }
    const auto read = convert(chunk.bytes());
    ASSERT_EQ(read.size(), 5002U);
    for (unsigned i = 0; i < 5000; ++i) {
        EXPECT_EQ(read[i + 1].arg2, i);
    }
}

TEST_F(TlogConvert, AClockOfUnknownRateIsRefused) {
    convert(ChunkBuilder().event(0, "user_event_1").plain());
    EXPECT_EQ(m_status, 1);
    EXPECT_NE(m_err.find("--tsc-khz"), std::string::npos) << m_err;
}

} // namespace

} // namespace host::cli
