// SPDX-License-Identifier: MIT
// Queries for a range of time: they find what a walk over everything finds, and read little of the trace.
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace host::sql {

namespace {

using support::ChunkBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

using Answer = support::SqlAnswer;

class SqlRange : public support::SqlQuestion {
  protected:
    // The same rows with and without a search.
    Answer same(const std::string& statement) {
        Answer answer = ask(statement);
        EXPECT_EQ(answer.failure, "");
        EXPECT_EQ(answer.rows, ask(statement, true).rows) << statement;
        return answer;
    }

    static ChunkBuilder rising(std::uint16_t number, std::uint16_t cpu, std::uint64_t begin, std::uint64_t records) {
        ChunkBuilder chunk(number);
        chunk.begin.cpu = cpu;
        chunk.name("task", 5, "task of " + std::to_string(number));
        for (std::uint64_t i = 0; i < records; ++i) {
            chunk.event(begin + 10 * i, i % 2 == 0 ? "ipoint" : "task_activate", 5, static_cast<std::uint32_t>(i));
        }
        return chunk;
    }

    static support::Bytes joined(support::Bytes bytes, const support::Bytes& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return bytes;
    }
};

TEST_F(SqlRange, ReadsFewRecordsAndFindsAllOfThem) {
    write(rising(0, 0, 1000, 50'000).bytes());
    const Answer answer = same("select * from events where time_ns between 250000 and 250100");
    EXPECT_EQ(answer.rows.size(), 11U);
    EXPECT_EQ(answer.statistics.searched, 1U);
    EXPECT_LT(answer.statistics.visited, 300U);
    EXPECT_GT(ask("select * from events where time_ns between 250000 and 250100", true).statistics.visited, 50'000U);
}

TEST_F(SqlRange, BoundsAreExactAtEveryRecordAndBetween) {
    write(rising(0, 0, 1000, 40).bytes());
    for (int begin = -15; begin < 420; begin += 5) {
        same("select ticks from events where time_ns >= " + std::to_string(begin));
        same("select ticks from events where time_ns < " + std::to_string(begin));
        same("select ticks from events where ticks > " + std::to_string(begin + 1000) + " and ticks <= 1200.5");
        same("select ticks from events where time_ns = " + std::to_string(begin));
    }
}

// What is read, exactly: by the index the head, both ends and the last record again; by a search all metadata, the head
// for its checksum, probes, and the events.
TEST_F(SqlRange, ReadsTheHeadTheProbesAndTheRange) {
    const ChunkBuilder chunk = rising(0, 0, 1000, 16);
    write(chunk.bytes());
    const std::uint64_t head = support::metadata("chunk_begin", chunk.begin, {0}).size();
    const std::uint64_t index = head + 3;
    const auto asked = [&](const std::string& condition) {
        const auto statistics = ask("select ticks from events where " + condition).statistics;
        return std::vector<std::uint64_t>{statistics.visited - index, statistics.searched, statistics.skipped,
                                          statistics.scanned};
    };
    constexpr std::uint64_t kMetadata = 4; // chunk_begin, the rate, a name, the number of records
    EXPECT_EQ(asked("ticks = 1050"), (std::vector<std::uint64_t>{kMetadata + head + 4 + 4 + 1, 1, 0, 0}));
    EXPECT_EQ(asked("ticks <= 1000"), (std::vector<std::uint64_t>{kMetadata + head + 5 + 5 + 1, 1, 0, 0}));
    EXPECT_EQ(asked("ticks >= 1150"), (std::vector<std::uint64_t>{kMetadata + head + 4 + 4 + 1, 1, 0, 0}));
    EXPECT_EQ(asked("ticks < 999"), (std::vector<std::uint64_t>{kMetadata, 0, 1, 0}));
    EXPECT_EQ(asked("ticks > 1151"), (std::vector<std::uint64_t>{kMetadata, 0, 1, 0}));
    EXPECT_EQ(asked("ticks between 1050 and 1070 and cpu = 1"), (std::vector<std::uint64_t>{kMetadata, 0, 1, 0}));
    EXPECT_EQ(asked("ticks between 1051 and 1059"), (std::vector<std::uint64_t>{kMetadata + head + 4 + 4, 0, 1, 0}));
    const auto names = ask("select name from names").statistics;
    EXPECT_EQ(names.visited, index + kMetadata);
    EXPECT_EQ(names.skipped, 1U);
    ChunkBuilder with_emergency = rising(0, 0, 1000, 16);
    write(with_emergency.unordered(5000, "blackout_start").bytes());
    EXPECT_EQ(ask("select name from names").statistics.visited, index + 1 + kMetadata);
    EXPECT_EQ(ask("select ticks from events where ticks > 1151").statistics.visited, index + 1 + kMetadata + head + 1);
}

TEST_F(SqlRange, MergesManyChunksInTheOrderOfTheirStamps) {
    support::Bytes bytes;
    for (std::uint16_t i = 0; i < 9; ++i) {
        bytes = joined(bytes, rising(i, i, 1000 + (i * 7) % 9, 40).bytes());
    }
    write(bytes);
    const Answer answer = same("select ticks, cpu, record from events where ticks between 1100 and 1300");
    EXPECT_EQ(answer.rows.size(), 9 * 20U + 1) << "one chunk has a record at both ends";
    EXPECT_EQ(answer.statistics.searched, 9U);
}

// Names of a table are compared as they are, declared ones as they are shown.
TEST_F(SqlRange, MergesChunksThatAdvanceUnevenly) {
    support::Bytes bytes;
    const std::array<std::vector<std::uint64_t>, 4> stamps{
        {{1000, 1001, 1002, 1900}, {1005, 1500, 1510}, {1006, 1007, 1008, 1520}, {1009, 1010, 1800, 1810}}};
    std::uint16_t cpu = 0;
    for (const std::vector<std::uint64_t>& of : stamps) {
        ChunkBuilder chunk(cpu);
        chunk.begin.cpu = cpu++;
        for (const std::uint64_t stamp : of) {
            chunk.event(stamp, "ipoint", 1);
        }
        bytes = joined(std::move(bytes), chunk.bytes());
    }
    write(bytes);
    EXPECT_THAT(same("select ticks from events where time_ns between 1 and 5000").rows,
                ElementsAre("1001 ", "1002 ", "1005 ", "1006 ", "1007 ", "1008 ", "1009 ", "1010 ", "1500 ", "1510 ",
                            "1520 ", "1800 ", "1810 ", "1900 "));
}

TEST_F(SqlRange, FindsEventsByTheNameThatIsShown) {
    ChunkBuilder chunk;
    tracer::EventDeclaration declaration{.id = 9, .name = {"tab\there"}, .field_count = 1};
    declaration.items[0] = {.type = tracer::FieldType::u8, .detail = 0, .name = {"x"}};
    chunk.declare(declaration).event(1000, "ipoint");
    for (const tracer::Record& slot : support::combined(
             trace::kCodeOf<"typed_event">, std::vector<std::byte>{std::byte{5}, {}, std::byte{9}, {}, {}}, {1010})) {
        chunk.raw(slot);
    }
    chunk.event(1020, "context_switch", 1);
    write(chunk.bytes());
    EXPECT_EQ(ask("select event from events").rows,
              (std::vector<std::string>{"ipoint ", "tab\\x09here ", "context_switch "}));
    EXPECT_EQ(ask("select ticks from events where event = 'tab\\x09here'").rows, std::vector<std::string>{"1010 "});
    EXPECT_EQ(ask("select ticks from events where event = 'ipoint'").rows, std::vector<std::string>{"1000 "});
    EXPECT_EQ(ask("select count(*) from events where event = 'other'").rows, std::vector<std::string>{"0 "});
    EXPECT_EQ(ask("select ticks from events where code = 30").rows, std::vector<std::string>{"1010 "});
}

TEST_F(SqlRange, MergesProcessorsAndSkipsChunksOutside) {
    support::Bytes bytes = rising(0, 0, 1000, 1000).bytes();
    for (const support::Bytes& more : {rising(1, 1, 1005, 1000).bytes(), rising(2, 0, 20'000, 1000).bytes()}) {
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    write(bytes);
    const Answer answer = same("select ticks, cpu, chunk, record, task from events where ticks between 2000 and 2100");
    EXPECT_EQ(answer.rows.size(), 21U);
    EXPECT_EQ(answer.statistics.searched, 2U);
    EXPECT_EQ(answer.statistics.skipped, 1U);
    EXPECT_EQ(same("select count(*) from events where cpu = 1").rows.front(), "1000 ");
    EXPECT_EQ(same("select count(*) from events where event = 'ipoint' and ticks < 3000").rows.front(), "200 ");
}

TEST_F(SqlRange, FindsRecordsOfTheEmergencyArea) {
    ChunkBuilder chunk = rising(0, 0, 1000, 1000);
    chunk.unordered(10'500, "task_deadline_miss", 5).unordered(30'000, "blackout_start");
    write(chunk.bytes());
    EXPECT_EQ(same("select event from events where ticks between 10496 and 10504").rows,
              (std::vector<std::string>{"ipoint ", "task_deadline_miss "}));
    EXPECT_EQ(same("select event from events where ticks > 20000").rows.size(), 1U);
}

TEST_F(SqlRange, ReadsAChunkWhoseStampsFallFromEndToEnd) {
    ChunkBuilder chunk = rising(0, 0, 100'000, 100);
    for (std::uint64_t i = 0; i < 100; ++i) {
        chunk.unordered(50'000 + i, "ipoint", 1);
    }
    write(chunk.bytes());
    const Answer answer = same("select * from events where ticks between 50010 and 50019");
    EXPECT_EQ(answer.rows.size(), 10U);
    EXPECT_EQ(answer.statistics.scanned, 1U);
    EXPECT_EQ(answer.status, trace::ExitStatus::clean);
    EXPECT_THAT(m_lines, HasSubstr("W-TIME"));
}

TEST_F(SqlRange, CompactAndPlainChunksAreReadWhole) {
    const ChunkBuilder chunk = rising(0, 0, 1000, 500);
    write(chunk.compact(tracer::compact::Layout::a));
    EXPECT_EQ(same("select * from events where ticks between 2000 and 2100").rows.size(), 11U);
    write(chunk.plain());
    EXPECT_EQ(same("select * from events where ticks between 2000 and 2100").rows.size(), 11U);
}

TEST_F(SqlRange, NamesAreThoseOfTheChunk) {
    support::Bytes bytes = rising(0, 0, 1000, 10).bytes();
    const support::Bytes second = rising(1, 0, 5000, 10).bytes();
    bytes.insert(bytes.end(), second.begin(), second.end());
    write(bytes);
    EXPECT_EQ(same("select distinct task from events where event = 'task_activate' and ticks < 2000").rows,
              std::vector<std::string>{"task of 0 "});
    EXPECT_EQ(same("select distinct task from events where event = 'task_activate' and ticks > 2000").rows,
              std::vector<std::string>{"task of 1 "});
}

TEST_F(SqlRange, SaysWhatIsDamagedAndRefusesToWrite) {
    support::Bytes bytes = rising(0, 0, 1000, 10).bytes();
    bytes.resize(bytes.size() - 16);
    write(bytes);
    const Answer answer = ask("select count(*) from events");
    EXPECT_EQ(answer.rows.front(), "9 ");
    EXPECT_EQ(answer.status, trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("W-SHORT"));
    for (const char* const statement : {"create table t(x)", "attach 'x' as y", "pragma user_version = 3", ""}) {
        EXPECT_NE(ask(statement).failure, "") << statement;
    }
    EXPECT_THAT(ask("select 1; select 2").failure, HasSubstr("one statement"));
}

// --- chunks that are not what they seem: the same rows, messages and exit status as of everything ---

TEST_F(SqlRange, AChunkThatIsThereTwiceIsReadOnce) {
    const support::Bytes chunk = rising(0, 0, 1000, 1000).bytes();
    write(joined(chunk, chunk));
    const Answer answer = same("select ticks from events where ticks between 2000 and 2100");
    EXPECT_EQ(answer.rows.size(), 11U);
    EXPECT_EQ(answer.statistics.searched, 1U);
    EXPECT_THAT(m_lines, HasSubstr("W-DUP"));
}

TEST_F(SqlRange, AChunkOfAnotherRunIsLeftOutAndReported) {
    ChunkBuilder other = rising(1, 0, 1005, 1000);
    other.begin.boot_id = 0x07BE4;
    write(joined(rising(0, 0, 1000, 1000).bytes(), other.bytes()));
    const Answer answer = ask("select ticks from events where ticks between 2000 and 2100");
    EXPECT_EQ(answer.rows.size(), 11U);
    EXPECT_EQ(answer.status, trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("E-BOOT"));
    same("select ticks, chunk from events where ticks between 2000 and 2100");
}

TEST_F(SqlRange, AWrongChecksumIsReportedByAnyReaderOfTheChunk) {
    support::Bytes bytes = support::sealed(rising(0, 0, 1000, 1000).bytes());
    write(bytes);
    const std::string range = "select ticks, par1, par2 from events where ticks between 2000 and 2100";
    const Answer sound = same(range);
    EXPECT_EQ(sound.statistics.searched, 1U);
    EXPECT_EQ(sound.status, trace::ExitStatus::clean);
    EXPECT_EQ(m_lines, "");
    bytes[bytes.size() - 13] ^= std::byte{1}; // of a parameter of the last record
    write(bytes);
    const Answer answer = ask(range);
    EXPECT_EQ(answer.rows, sound.rows);
    EXPECT_EQ(answer.status, trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("W-CRC"));
    EXPECT_EQ(ask("select * from events where ticks > 20000").status, trace::ExitStatus::clean) << "nothing is read";
}

TEST_F(SqlRange, EmptySlotsOfAChunkWithAChecksumAreReported) {
    support::Bytes bytes = support::sealed(rising(0, 0, 1000, 1000).bytes());
    const std::ptrdiff_t hole = 16 * 100; // before the end: no probe of the index meets it
    std::fill_n(bytes.end() - hole, 32, std::byte{0});
    write(bytes);
    const Answer answer = ask("select ticks from events where ticks between 2000 and 2100");
    EXPECT_EQ(answer.rows.size(), 11U);
    EXPECT_EQ(answer.status, trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("W-SHORT"));
    EXPECT_THAT(m_lines, HasSubstr("W-CRC")) << "no manifest says that they were lost, and nothing else";
}

TEST_F(SqlRange, AWrongChecksumConcernsTheEmergencyAreaToo) {
    ChunkBuilder chunk = rising(0, 0, 1000, 1000);
    chunk.unordered(30'000, "blackout_start", 1);
    support::Bytes bytes = support::sealed(chunk.bytes());
    bytes[bytes.size() - 13] ^= std::byte{1};
    write(bytes);
    EXPECT_EQ(ask("select event from events where ticks > 20000").status, trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("W-CRC"));
}

TEST_F(SqlRange, ALargeValueIsRefused) {
    write(rising(0, 0, 1000, 10).bytes());
    EXPECT_EQ(ask("select length(zeroblob(1000000))").rows.front(), "1000000 ");
    EXPECT_THAT(ask("select zeroblob(900000000)").failure, HasSubstr("more than 64 MiB"));
}

} // namespace

} // namespace host::sql
