// SPDX-License-Identifier: MIT
// What an index answers is what SQLite finds by itself (a + before a column keeps a condition from the table), and one
// pass over the trace is enough.
#include "host/text/format.hpp"
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

    void expect_same(const std::string& with_index, const std::string& without) {
        const auto answer = ask(with_index);
        EXPECT_EQ(answer.failure, "") << with_index;
        EXPECT_FALSE(answer.rows.empty()) << with_index;
        EXPECT_EQ(answer.rows, ask(without).rows) << with_index;
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

TEST_F(SqlTables, ConditionsFindTheSameRowsWithAndWithoutAnIndex) {
    write(busy(300).bytes());
    for (const std::string condition :
         {"context = 2", "task = 'two' and state = 'running'", "begin_ns > 5000", "begin_ns between 4000 and 9000.5",
          "end_ns > 8000 and begin_ns < 8100 and context = 3", "end_ns >= 20000", "end_ns = 629 or begin_ns = 629",
          "context = 2.0", "task in ('two', 'one')", "task = 'TWO' collate nocase",
          "state = 'ready' and begin_ns <= 7000", "cpu = 0 and task > 'one'"}) {
        const std::string columns = "select task, context, begin_ns, end_ns, state from intervals where ";
        std::string hidden = condition;
        for (const std::string column : {"context", "task", "state", "begin_ns", "end_ns", "cpu"}) {
            for (std::size_t at = hidden.find(column); at != std::string::npos; at = hidden.find(column, at + 2)) {
                hidden.insert(at, "+");
            }
        }
        const std::string order = " order by +begin_ns, +end_ns, +context, +state";
        expect_same(fmt::format("{}{}{}", columns, condition, order), fmt::format("{}{}{}", columns, hidden, order));
    }
    expect_same("select * from intervals where context = '2'", "select * from intervals where context = 2");
    EXPECT_THAT(ask("select * from intervals where context = null").rows, SizeIs(0));
    EXPECT_THAT(ask("select * from intervals where begin_ns > null").rows, SizeIs(0));
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

TEST_F(SqlTables, GroupsAreThoseOfASort) {
    write(busy(300).bytes());
    for (const std::string columns : {"task", "context", "state, task", "task, context, cpu", "reason"}) {
        std::string hidden = "+" + columns;
        for (std::size_t at = hidden.find(", "); at != std::string::npos; at = hidden.find(", ", at + 1)) {
            hidden.insert(at + 2, "+");
        }
        for (const std::string condition : {"1", "state = 'running'", "state = 'running' and begin_ns > 3000",
                                            "context = '2'", "task in ('two', 'four')"}) {
            for (const std::string question :
                 {"select {0}, count(*), sum(duration_ns) from intervals where {1} group by {2}",
                  "select distinct {0} from intervals where {1} order by {2}"}) {
                expect_same(fmt::format(fmt::runtime(question), columns, condition, columns),
                            fmt::format(fmt::runtime(question), columns, condition, hidden));
            }
        }
    }
}

// A walk that is left before its end leaves nothing for the next one.
TEST_F(SqlTables, ASubqueryBeginsAnewForEachRow) {
    write(busy(100).bytes());
    const std::string query = "select i.context, i.state, (select group_concat(c) from (select j.context as c from "
                              "intervals as j where ";
    const std::string rest = " = i.state and j.cpu = i.cpu order by j.context, j.reason limit 2)) from intervals as i";
    expect_same(query + "j.state" + rest, query + "+j.state" + rest);
    expect_same(query + "j.begin_ns < 300 and j.state" + rest, query + "+j.begin_ns < 300 and +j.state" + rest);
}

TEST_F(SqlTables, EventsInGroupsAreThoseOfASort) {
    ChunkBuilder chunk = busy(50);
    chunk.raw(tracer::make_record(0x2E, 1, 7, {90'000})).raw(tracer::make_record(0xF7, 1, 7, {90'001}));
    write(chunk.bytes());
    for (const std::string columns : {"event", "cpu, code", "family, event", "code, event, family"}) {
        std::string hidden = "+" + columns;
        for (std::size_t at = hidden.find(", "); at != std::string::npos; at = hidden.find(", ", at + 1)) {
            hidden.insert(at + 2, "+");
        }
        for (const std::string condition :
             {"1", "event = 'context_switch'", "time_ns > 2000", "code = 21 or cpu = 0"}) {
            const auto question = [&](const std::string& groups) {
                return fmt::format("select {}, count(*) from events where {} group by {}", columns, condition, groups);
            };
            expect_same(question(columns), question(hidden));
        }
    }
    EXPECT_THAT(ask("select event, count(*) from events where event = 'context_switch' group by event").rows,
                ElementsAre("context_switch 50 "));
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
        const auto answer = ask(statement, true);
        EXPECT_TRUE(answer.stopped) << statement;
        EXPECT_EQ(answer.failure, "interrupted") << statement;
        EXPECT_THAT(answer.rows, SizeIs(0)) << statement;
        EXPECT_THAT(seen, testing::Contains(1U << 16)) << statement;
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
