// SPDX-License-Identifier: MIT
// What is written as tlog comes back as it was, and is always in order and nested.
#include "host/formats/trace.hpp"

#include "host/formats/tlog/native.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/tlog_files.hpp"

namespace host::cli {

namespace {

using support::ChunkBuilder;
using support::TlogFile;
using trace::Event;

struct Read {
    std::int64_t time_ns;
    std::uint16_t number;
    std::uint32_t arg1;
    std::uint32_t arg2;

    friend bool operator==(const Read&, const Read&) = default;
};

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
        for (Event event; opened.value()->next(event);) {
            read.push_back({event.time_ns, event.number, event.words[0], event.words[1]});
        }
        EXPECT_EQ(lines, "");
        EXPECT_EQ(std::filesystem::file_size(output) % 1024, 0U);
        return read;
    }

    int m_status = 0;
};

TEST_F(TlogConvert, KeepsCountOrderTimesAndArguments) {
    const auto read = convert(sample().bytes());
    EXPECT_EQ(m_status, 0) << m_err;
    const std::vector<Read> expected = {{0, 1, 0, 0},           {0, 31, 12, 0},    {100, 10, 0, 32}, {200, 11, 0, 32},
                                        {300, 31, 12, 12},      {310, 31, 12, 0},  {320, 32, 12, 0}, {400, 34, 12, 1},
                                        {1000, 38, 12, 0xDEAD}, {1100, 31, 12, 0}, {1100, 2, 0, 0}};
    EXPECT_EQ(read, expected);
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
    // START; 9 events; a job closed with its interrupt; two open pairs closed at the end; END.
    EXPECT_EQ(read.size(), 14U);
    EXPECT_EQ(read[1].number, formats::tlog::kSingleInterrupt);
}

TEST_F(TlogConvert, LossIsAnEvent) {
    const auto read = convert(ChunkBuilder().event(0, "blackout_start").event(9, "blackout_end", 0, 77).bytes());
    ASSERT_EQ(read.size(), 4U);
    EXPECT_EQ(read[2], (Read{9, formats::tlog::kSingleLoss, 0, 77}));
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
