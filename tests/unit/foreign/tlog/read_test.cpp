// SPDX-License-Identifier: MIT
// Tests reading tlog files: every byte, the merge, and what the format promises and a file may break.
#include "host/formats/trace.hpp"

#include "foreign/tlog/process.hpp"
#include "host/formats/input_kind.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/tlog_files.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace host::formats {

namespace read_test {

using support::TlogFile;
using testing::ElementsAre;
using testing::HasSubstr;

struct Seen {
    std::uint64_t time_ns;
    std::uint16_t cpu;
    std::uint16_t number;
    std::uint32_t arg1;
    std::uint32_t arg2;
    trace::EventState state;

    friend bool operator==(const Seen&, const Seen&) = default;
};

class TlogRead : public testing::Test {
  protected:
    std::vector<Seen> read(const support::Bytes& bytes, trace::InputKind kind = trace::InputKind::detect) {
        const std::string path = m_directory.write("trace.log", bytes);
        m_lines.clear();
        m_diagnostics = std::make_unique<trace::Diagnostics>([this](std::string_view line) {
            m_lines += line;
            m_lines += '\n';
        });
        std::vector<Seen> seen;
        auto trace = Trace::open(path, {.kind = kind}, *m_diagnostics);
        if (!trace) {
            return seen;
        }
        m_kind = trace.value()->kind();
        trace.value()->for_each([&](const trace::Event& event) {
            EXPECT_EQ(event.words.size(), 2U);
            EXPECT_EQ(event.ticks.value, static_cast<std::uint64_t>(event.time_ns));
            seen.push_back({event.ticks.value, event.cpu, event.number, event.words[0], event.words[1], event.state});
        });
        m_diagnostics->finish();
        m_usable = trace.value()->facts().usable_events;
        return seen;
    }

    std::uint64_t count(trace::Code code) const { return m_diagnostics->count(code); }

    support::TemporaryDirectory m_directory;
    std::unique_ptr<trace::Diagnostics> m_diagnostics;
    std::string m_lines;
    trace::InputKind m_kind = trace::InputKind::detect;
    std::uint64_t m_usable = 0;
};

constexpr auto kOk = trace::EventState::ok;

TEST_F(TlogRead, EveryByteOfARecordCounts) {
    TlogFile file;
    file.record(0x0100, 1, 0).record(0x0100, 39, 1.000000001, 0xFE, 0x80010203).record(0x0100, 2, 2.5).pad();
    ASSERT_EQ(std::to_integer<int>(file.bytes()[0]), 1);
    EXPECT_THAT(read(file.bytes()),
                ElementsAre(Seen{0, 256, 1, 0, 0, kOk}, Seen{1'000'000'001, 256, 39, 0xFE, 0x80010203, kOk},
                            Seen{2'500'000'000, 256, 2, 0, 0, kOk}));
    EXPECT_EQ(m_kind, trace::InputKind::tlog);
    EXPECT_EQ(m_lines, "");
    EXPECT_EQ(m_usable, 3U);
}

TEST_F(TlogRead, ProcessesAreMergedByTime) {
    const auto seen = read(TlogFile().small_process(0, 0).small_process(1, 0.25).small_process(7, 0.6).bytes());
    ASSERT_EQ(seen.size(), 15U);
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_LE(seen[i - 1].time_ns, seen[i].time_ns);
    }
    EXPECT_EQ(seen[1].cpu, 1);
    EXPECT_EQ(m_lines, "");
}

TEST_F(TlogRead, UnusedSlotsAreSkippedAnywhere) {
    TlogFile file;
    file.record(0, 1, 0).unused(70).record(0, 31, 1).unused(1).record(0, 2, 1).pad().unused(64);
    file.record(1, 1, 0).unused(3).record(1, 2, 1).pad();
    EXPECT_EQ(read(file.bytes()).size(), 5U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(TlogRead, ABlockPerProcessIsNotNeededForEvents) {
    TlogFile file;
    for (unsigned process = 0; process < 300; ++process) {
        file.small_process(static_cast<std::uint16_t>(process), process * 1e-3);
    }
    EXPECT_EQ(read(file.bytes()).size(), 1500U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(TlogRead, StartMustBeFirstAndEndLast) {
    read(TlogFile().record(0, 31, 0).record(0, 1, 1).record(0, 2, 2).record(0, 31, 3).pad().bytes(),
         trace::InputKind::tlog);
    EXPECT_EQ(count("W-ORDER"), 4U) << m_lines;
    EXPECT_THAT(m_lines, HasSubstr("trace.log:0x10 cpu 0 W-ORDER record 1: START is not the first"));
    EXPECT_THAT(m_lines, HasSubstr("trace.log:0x30 cpu 0 W-ORDER record 3: END was not the last"));
    EXPECT_THAT(m_lines, HasSubstr("record 3: the last is not END"));
}

TEST_F(TlogRead, TimeThatFallsInAProcessIsLate) {
    const auto seen = read(TlogFile().record(0, 1, 0).record(0, 31, 2).record(0, 32, 1).record(0, 2, 3).pad().bytes(),
                           trace::InputKind::tlog);
    ASSERT_EQ(seen.size(), 4U);
    EXPECT_EQ(seen[2], (Seen{1'000'000'000, 0, 32, 0, 0, trace::EventState::late}));
    EXPECT_THAT(m_lines, HasSubstr("0x20 cpu 0 W-TIME record 2: time goes back from 2000000000 ns to 1000000000 ns"));
}

TEST_F(TlogRead, AProcessThatComesAgainIsStillRead) {
    TlogFile file;
    file.small_process(0, 0).small_process(1, 0).small_process(0, 10);
    EXPECT_EQ(read(file.bytes()).size(), 15U);
    EXPECT_THAT(m_lines, HasSubstr("trace.log:0x800 W-ORDER process 0 comes again"));
}

TEST_F(TlogRead, TwoProcessesInABlockAreReported) {
    EXPECT_EQ(read(TlogFile().record(0, 1, 0).record(0, 2, 1).record(1, 1, 0).record(1, 2, 1).pad().bytes(),
                   trace::InputKind::tlog)
                  .size(),
              4U);
    EXPECT_THAT(m_lines, HasSubstr("0x20 W-ORDER process 1 begins inside a block of process 0"));
}

TEST_F(TlogRead, PairsMustNest) {
    TlogFile file;
    file.record(0, 1, 0).record(0, 13, 1).record(0, 10, 2).record(0, 12, 3).record(0, 11, 4).record(0, 14, 5);
    read(file.record(0, 2, 6).pad().bytes(), trace::InputKind::tlog);
    EXPECT_EQ(count("W-NESTING"), 3U) << m_lines;
    EXPECT_THAT(m_lines, HasSubstr("0x10 cpu 0 W-NESTING record 1: EVENT_2_OUT closes what is not open"));
    EXPECT_THAT(m_lines, HasSubstr("record 4: EVENT_1_OUT comes while EVENT_2_IN is open"));
    EXPECT_THAT(m_lines, HasSubstr("1 pair is still open at the end, the innermost is EVENT_3_IN"));
}

TEST_F(TlogRead, DepthIsBounded) {
    TlogFile file;
    file.record(0, 1, 0);
    for (int i = 0; i < 1000; ++i) {
        file.record(0, 10, 1);
    }
    EXPECT_EQ(read(file.record(0, 2, 2).pad().bytes()).size(), 1002U);
    EXPECT_EQ(count("W-NESTING"), 1000U - tlog::ProcessCheck::kDepthMax + 1) << m_lines;
}

TEST_F(TlogRead, ATimeThatIsNoneIsReportedAndTheEventIsNotUsed) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {std::nan(""), -std::nan(""), infinity, -infinity, -1.0, -1e-300, 1e300, 9.3e9}) {
        const auto seen =
            read(TlogFile().record(0, 1, 0).record(0, 31, 1).record(0, 32, bad).record(0, 2, 2).pad().bytes(),
                 trace::InputKind::tlog);
        ASSERT_EQ(seen.size(), 4U);
        EXPECT_EQ(seen[2], (Seen{1'000'000'000, 0, 32, 0, 0, trace::EventState::malformed})) << bad;
        EXPECT_EQ(count("E-LINE"), 1U);
        EXPECT_EQ(m_usable, 3U);
        EXPECT_TRUE(m_diagnostics->damaged());
    }
    read(TlogFile().record(0, 1, -0.0).record(0, 2, 0).pad().bytes());
    EXPECT_EQ(m_lines, "");
}

TEST_F(TlogRead, TypesOfNoTableAreCounted) {
    EXPECT_EQ(read(TlogFile().record(0, 1, 0).record(0, 77, 1).record(0, 200, 1).record(0, 2, 2).pad().bytes(),
                   trace::InputKind::tlog)
                  .size(),
              4U);
    EXPECT_EQ(count("W-UNKNOWN"), 2U) << m_lines;
    EXPECT_EQ(m_usable, 2U);
}

TEST_F(TlogRead, FifteenPairsAreTakenForSuch) {
    TlogFile file;
    file.record(0, 1, 0).record(0, 30, 1).record(0, 38, 2).record(0, 39, 3).record(0, 31, 4).record(0, 2, 5).pad();
    read(file.bytes());
    EXPECT_EQ(m_lines, "");
}

TEST_F(TlogRead, EmptyAndShortFilesAreErrors) {
    EXPECT_TRUE(read({}, trace::InputKind::tlog).empty());
    EXPECT_EQ(count("E-EMPTY"), 1U);
    EXPECT_EQ(m_diagnostics->exit_status(false), trace::ExitStatus::nothing);
    EXPECT_TRUE(read(support::Bytes(15), trace::InputKind::tlog).empty());
    EXPECT_EQ(count("E-TRUNC"), 1U);
    EXPECT_TRUE(read(support::Bytes(2048), trace::InputKind::tlog).empty());
    EXPECT_EQ(m_usable, 0U);
}

TEST_F(TlogRead, EveryTruncationIsReportedAndReadAsFarAsItGoes) {
    const support::Bytes whole = TlogFile().small_process(0, 0).small_process(1, 0).bytes();
    for (std::size_t size = 1; size < whole.size(); ++size) {
        const auto seen =
            read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, trace::InputKind::tlog);
        EXPECT_EQ(seen.size(), std::min<std::size_t>(size / 16, 5) +
                                   (size > 1024 ? std::min<std::size_t>((size - 1024) / 16, 5) : 0));
        EXPECT_EQ(count("E-TRUNC"), size % 1024 != 0 ? 1U : 0U) << size;
    }
}

TEST_F(TlogRead, EverySingleBitFlipIsSurvived) {
    support::Bytes bytes = TlogFile().small_process(0, 0).small_process(1, 0).bytes();
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        if (bit / 8 % 1024 >= 96) {
            continue; // the padding is alike
        }
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_LE(read(bytes, trace::InputKind::tlog).size(), 11U);
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
}

TEST_F(TlogRead, TooManyRunsAreReadInTheOrderOfTheFile) {
    TlogFile file;
    constexpr unsigned kRecords = 70'000;
    for (unsigned i = 0; i < kRecords; ++i) {
        file.record(static_cast<std::uint16_t>(i % 2), i < 2 ? 1 : i + 2 < kRecords ? 31 : 2, i);
    }
    const auto seen = read(file.pad().bytes(), trace::InputKind::tlog);
    ASSERT_EQ(seen.size(), kRecords);
    EXPECT_EQ(count("W-CAP"), 1U);
    EXPECT_EQ(count("W-TIME"), 0U);
    EXPECT_EQ(seen[12345].time_ns, 12345'000'000'000U);
}

TEST_F(TlogRead, EveryProcessNumberMayOccur) {
    TlogFile file;
    for (unsigned process = 0; process < 65'536; ++process) {
        file.record(static_cast<std::uint16_t>(process), 1, 1);
    }
    EXPECT_EQ(read(file.bytes(), trace::InputKind::tlog).size(), 65'536U);
    EXPECT_EQ(count("W-CAP"), 1U); // one more than there are contexts
    EXPECT_THAT(m_lines, HasSubstr("the schedule leaves out those that come later"));
}

TEST_F(TlogRead, APipeSaysTheSame) {
    support::TemporaryDirectory directory;
    const std::string path = directory.write("t", TlogFile().small_process(0, 0).small_process(1, 0.3).bytes());
    const support::StandardInput input(path);
    trace::Diagnostics diagnostics([](std::string_view) {});
    auto trace = Trace::open("-", {}, diagnostics);
    ASSERT_TRUE(trace.ok());
    std::size_t events = 0;
    trace.value()->for_each([&](const trace::Event&) { ++events; });
    EXPECT_EQ(events, 10U);
}

TEST_F(TlogRead, TheOlderLayoutIsKnownAndNamed) {
    TlogFile file;
    file.openmp(0, 2, 0).openmp(0, 11, 0.5, 0x1234, 5).openmp(0, 12, 1).openmp(0, 1, 2).pad();
    file.openmp(3, 2, 0).openmp(3, 18, 0.25).openmp(3, 1, 2).pad();
    const auto seen = read(file.bytes());
    EXPECT_EQ(m_kind, trace::InputKind::tlog_old);
    EXPECT_EQ(m_lines, "");
    ASSERT_EQ(seen.size(), 7U);
    EXPECT_EQ(seen[3], (Seen{500'000'000, 0, 11, 0x1234, 5, kOk}));
}

// --- detection
// ---------------------------------------------------------------------------------------------------------

trace::InputKind kind(const support::Bytes& bytes) {
    return kind_of(std::span(bytes).first(std::min(bytes.size(), kKindBytes)));
}

TEST(TlogDetection, TakesNoRecordsForTlog) {
    EXPECT_EQ(kind(support::Bytes(1024)), trace::InputKind::records);
    for (const tracer::EventRow& row : tracer::kEvents) {
        for (unsigned first = 0; first < 256 && row.code != 0; ++first) {
            support::Bytes one;
            support::Bytes many;
            for (unsigned i = 0; i < 64; ++i) {
                // par1 and the stamp's low byte are chosen as tlog would have them: type START, a plausible exponent.
                const auto record = tracer::make_record(row.code, i == 0 ? 1 : 31, 0x3F + i,
                                                        {(std::uint64_t{i} << 32) | (first << 8) | 0x3F});
                support::append_record(many, record);
                if (i == 0) {
                    support::append_record(one, record);
                }
            }
            EXPECT_EQ(kind(many), trace::InputKind::records) << row.name << first;
            EXPECT_EQ(kind(one), trace::InputKind::records) << row.name << first;
        }
    }
}

TEST(TlogDetection, KnowsTlogBySmallEvidence) {
    EXPECT_EQ(kind(TlogFile().record(0, 1, 0).bytes()), trace::InputKind::tlog);
    EXPECT_EQ(kind(TlogFile().record(0, 1, 0).record(0, 2, 1e-9).bytes()), trace::InputKind::tlog);
    EXPECT_EQ(kind(TlogFile().record(255, 1, 0.1).record(255, 2, 99).pad().bytes()), trace::InputKind::tlog);
    EXPECT_EQ(kind(TlogFile().unused(5).record(9, 1, 0.1).record(9, 2, 99).pad().bytes()), trace::InputKind::tlog);
    EXPECT_EQ(kind(TlogFile().openmp(0, 2, 0.1).openmp(0, 1, 99).pad().bytes()), trace::InputKind::tlog_old);
}

} // namespace read_test

} // namespace host::formats
