// SPDX-License-Identifier: MIT
// Queries for a range of time: they find what a walk over everything finds, and read little of the trace.
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

namespace host::sql {

namespace {

using support::ChunkBuilder;
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
