// SPDX-License-Identifier: MIT
// Tables are filled by one walk over the trace, which the watch sees and can end.
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

#include <random>

namespace host::sql {

namespace {

using support::ChunkBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SqlTables : public support::SqlQuestion {
  protected:
    // Two processors in turn, four tasks with jobs, nested interrupts, a wait now and then.
    static ChunkBuilder busy(std::uint64_t steps) {
        ChunkBuilder chunk;
        chunk.name("task", 1, "one").name("task", 2, "two").name("task", 3, "two").name("task", 4, "four");
        chunk.event(1000, "trace_start");
        std::mt19937 random(1);
        std::uint64_t stamp = 1000;
        for (std::uint64_t i = 0; i < steps; ++i) {
            const auto task = static_cast<std::uint16_t>(1 + random() % 4);
            stamp += random() % 50;
            chunk.event(stamp, "job_release", task, static_cast<std::uint32_t>(stamp));
            chunk.event(stamp, "job_deadline", task, static_cast<std::uint32_t>(stamp + 60));
            chunk.event(stamp += random() % 30, "interrupt_start", 32).event(stamp += 5, "interrupt_start", 33);
            chunk.event(stamp += 5, "interrupt_end", 33).event(stamp += 5, "interrupt_end", 32);
            chunk.event(stamp += random() % 30, "context_switch", task);
            chunk.event(stamp += random() % 30, i % 3 == 0 ? "task_block" : "task_end_cycle", task, 1U << 16 | 7);
        }
        return chunk;
    }
};

TEST_F(SqlTables, AJoinReadsTheTraceOnce) {
    const ChunkBuilder chunk = busy(300);
    write(chunk.bytes());
    const auto answer = ask("select jobs.task, job, count(*) from jobs join running on running.context = jobs.context "
                            "and running.begin_ns < jobs.end_ns and running.end_ns > release_ns group by jobs.rowid");
    EXPECT_GT(answer.rows.size(), 100U);
    EXPECT_LT(answer.statistics.visited, 2 * chunk.records());
}

TEST_F(SqlTables, RowsThatOverlapATimeAreFoundAmongNestedOnes) {
    ChunkBuilder chunk;
    chunk.event(1000, "interrupt_start", 32).event(1100, "interrupt_start", 33).event(1200, "interrupt_end", 33);
    chunk.event(1300, "interrupt_start", 34).event(1400, "interrupt_end", 34).event(1500, "interrupt_end", 32);
    chunk.event(1600, "interrupt_start", 33).event(1700, "interrupt_end", 33);
    write(chunk.bytes());
    EXPECT_THAT(ask("select vector from interrupts where begin_ns <= 350 and end_ns >= 350 order by vector").rows,
                ElementsAre("32 ", "34 "));
    EXPECT_THAT(ask("select vector from interrupts where begin_ns <= 250 and end_ns >= 250").rows, ElementsAre("32 "));
    EXPECT_THAT(ask("select vector from interrupts where cpu = 0 and begin_ns < 550 and end_ns > 550").rows, SizeIs(0));
}

TEST_F(SqlTables, TheWatchEndsAQueryThatHasNoEnd) {
    write(busy(10).bytes());
    int asked = 0;
    m_watch = [&](std::uint64_t) { return ++asked < 5; };
    const auto answer = ask("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n");
    EXPECT_TRUE(answer.stopped);
    EXPECT_NE(answer.failure, "");
    EXPECT_EQ(asked, 5);
}

TEST_F(SqlTables, TheWatchSeesHowFarAWalkHasComeAndEndsIt) {
    const ChunkBuilder chunk = busy(20'000);
    write(chunk.bytes());
    ASSERT_GT(chunk.records(), 2U << 16);
    for (const std::string statement :
         {"select count(*) from intervals", "select count(*) from events where task = 'x'",
          "select event, count(*) from events group by event", "select * from names"}) {
        std::vector<std::uint64_t> seen;
        m_watch = [&](std::uint64_t events) {
            seen.push_back(events);
            return events < 2U << 16;
        };
        const auto answer = ask(statement);
        EXPECT_TRUE(answer.stopped) << statement;
        EXPECT_EQ(answer.failure, "interrupted") << statement;
        EXPECT_THAT(answer.rows, SizeIs(0)) << statement;
        EXPECT_THAT(seen, testing::Contains(testing::AllOf(testing::Ge(1U << 16), testing::Lt(2U << 16)))) << statement;
        EXPECT_LT(answer.statistics.visited, chunk.records()) << statement;
    }
}

TEST_F(SqlTables, ColumnsCanBeAskedForAndSettingsCannot) {
    write(busy(10).bytes());
    EXPECT_THAT(ask("select name, type from pragma_table_info('losses')").rows,
                ElementsAre("cpu INTEGER ", "begin_ns INTEGER ", "end_ns INTEGER ", "records INTEGER "));
    EXPECT_THAT(ask("select name from pragma_table_info('events')").rows, testing::Contains("time_ns "));
    EXPECT_THAT(ask("select name from pragma_table_list where name = 'misses'").rows, ElementsAre("misses "));
    for (const char* const statement : {"select * from pragma_journal_mode", "select * from pragma_user_version",
                                        "pragma journal_mode = off", "select * from pragma_database_list"}) {
        EXPECT_THAT(ask(statement).failure, HasSubstr("not authorized")) << statement;
    }
}

} // namespace

} // namespace host::sql
