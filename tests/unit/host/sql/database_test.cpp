// SPDX-License-Identifier: MIT
// Tests what a statement gives back: names, values of each type, and of one that is refused the reason and the place.
#include "host/sql/database.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SqlDatabase : public support::SqlQuestion {
  protected:
    SqlDatabase() {
        support::ChunkBuilder chunk;
        chunk.name("task", 1, "idle").event(1000, "context_switch", 1).event(1100, "interrupt_start", 32);
        chunk.event(1200, "interrupt_end", 32).event(1300, "context_switch", 2);
        write(chunk.bytes());
        m_source = std::move(Source::open({.path = m_path}, [](std::string_view) {}).value());
        m_database = std::move(Database::open(*m_source).value());
    }

    // Text and offset; empty: it succeeds.
    std::string refusal(std::string_view statement) {
        const auto failure = m_database->run(statement, m_receiver);
        return failure ? failure->text + " at " + std::to_string(failure->offset) : "";
    }

    std::unique_ptr<Source> m_source;
    std::unique_ptr<Database> m_database;
    std::vector<std::string> m_begun;
    std::vector<std::string> m_rows;
    std::size_t m_rows_max = 1000;
    Database::Receiver m_receiver = {
        .begin = [this](std::span<const std::string> names) { m_begun.assign(names.begin(), names.end()); },
        .row =
            [this](std::span<const Value> values) {
                std::string& row = m_rows.emplace_back();
                for (const Value& value : values) {
                    row += literal(value) + ' ';
                }
                return m_rows.size() < m_rows_max;
            }};
};

TEST_F(SqlDatabase, ValuesHaveTheirTypesAndColumnsTheirNames) {
    EXPECT_EQ(refusal("select null as none, 7, -9223372036854775808, 1.5, 2.0, 'text', '', x'0001', x''"), "");
    EXPECT_THAT(m_begun,
                ElementsAre("none", "7", "-9223372036854775808", "1.5", "2.0", "'text'", "''", "x'0001'", "x''"));
    EXPECT_THAT(m_rows, ElementsAre("NULL 7 -9223372036854775808 1.5 2.0 'text' '' blob of 2 blob of 0 "));
}

TEST_F(SqlDatabase, ABlobHasItsBytes) {
    std::string bytes;
    m_receiver.row = [&](std::span<const Value> values) {
        bytes = values.front().text;
        return true;
    };
    EXPECT_EQ(refusal("select x'6100ff'"), "");
    EXPECT_EQ(bytes, std::string("a\0\xFF", 3));
}

TEST_F(SqlDatabase, NamesComeBeforeTheRowsAlsoIfThereAreNone) {
    EXPECT_EQ(refusal("select ticks, cpu as c from events where ticks = 5"), "");
    EXPECT_THAT(m_begun, ElementsAre("ticks", "c"));
    EXPECT_THAT(m_rows, IsEmpty());
}

TEST_F(SqlDatabase, RowsEndWhenNoMoreIsWanted) {
    m_rows_max = 2;
    EXPECT_EQ(refusal("select ticks from events"), "");
    EXPECT_THAT(m_rows, ElementsAre("1000 ", "1100 "));
}

TEST_F(SqlDatabase, AFailureNamesItsPlace) {
    EXPECT_EQ(refusal("select absent from events"), "no such column: absent at 7");
    EXPECT_EQ(refusal("select 1 from"), "incomplete input at -1");
    EXPECT_EQ(refusal("select json('{')"), "malformed JSON at -1") << "of the run";
    EXPECT_THAT(m_rows, IsEmpty());
    EXPECT_EQ(refusal("select 1"), "") << "the next statement runs";
}

TEST_F(SqlDatabase, OneStatementRunsAtATime) {
    EXPECT_EQ(refusal("select 1; select 2"), "one statement at a time: a second one begins here at 9");
    EXPECT_EQ(refusal("select 1;x"), "one statement at a time: a second one begins here at 9");
    EXPECT_THAT(m_rows, IsEmpty());
    EXPECT_THAT(m_begun, IsEmpty());
    EXPECT_EQ(refusal(""), "there is no statement at -1");
    EXPECT_EQ(refusal("-- a comment"), "there is no statement at -1");
    EXPECT_EQ(refusal("select 1; -- a comment"), "");
    EXPECT_EQ(refusal("select 2 ; "), "");
    EXPECT_THAT(m_rows, ElementsAre("1 ", "2 "));
}

TEST_F(SqlDatabase, AStatementEndsWithItsView) {
    EXPECT_EQ(refusal(std::string_view("select 12345").substr(0, 9)), "");
    EXPECT_EQ(refusal(std::string_view("select 1; select 2").substr(0, 9)), "");
    EXPECT_THAT(m_rows, ElementsAre("12 ", "1 "));
}

TEST_F(SqlDatabase, WhatOnlyReadsIsAllowed) {
    for (const char* const statement :
         {"explain query plan select * from events", "pragma table_info(jobs)", "pragma table_xinfo(events)",
          "pragma table_list", "pragma compile_options", "select * from pragma_compile_options",
          "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select * from n",
          "select upper('x'), count(*) from events", "select name from sqlite_schema", "values (1)"}) {
        EXPECT_EQ(refusal(statement), "") << statement;
    }
}

TEST_F(SqlDatabase, WhatWritesOrChangesIsRefused) {
    for (const char* const statement :
         {"create table t(x)", "create temp table t(x)", "create view v as select 1", "drop view misses",
          "delete from events", "begin", "vacuum", "attach 'x' as y", "pragma cache_size", "pragma user_version = 3",
          "create virtual table t using events", "savepoint s"}) {
        EXPECT_NE(refusal(statement), "") << statement;
    }
    EXPECT_EQ(refusal("select load_extension('x')"), "not authorized to use function: load_extension at 7");
    EXPECT_EQ(refusal("pragma journal_mode"), "not authorized at -1");
    EXPECT_THAT(m_rows, IsEmpty());
}

TEST_F(SqlDatabase, AValueHasAtMost64MiB) {
    EXPECT_EQ(refusal("select length(zeroblob(67108864))"), "");
    EXPECT_THAT(m_rows, ElementsAre("67108864 "));
    EXPECT_EQ(refusal("select length(zeroblob(67108865))"),
              "a value or a row has more than 64 MiB: ask for a part of it, or for less at -1");
}

TEST_F(SqlDatabase, RowsThatAreKnownAreNotReadAgain) {
    EXPECT_EQ(refusal("select task, cpu from intervals"), "");
    const std::vector<std::string> rows = m_rows;
    const std::uint64_t visited = m_source->statistics().visited;
    m_rows.clear();
    EXPECT_EQ(refusal("select task, cpu from intervals"), "");
    EXPECT_EQ(m_rows, rows);
    EXPECT_EQ(m_source->statistics().visited, visited);
    EXPECT_EQ(refusal("select * from interrupts"), "");
    EXPECT_GT(m_source->statistics().visited, visited) << "the first statement did not name it";
    const std::uint64_t both = m_source->statistics().visited;
    EXPECT_EQ(refusal("select count(*) from utilisation(100)"), "");
    const std::uint64_t windows = m_source->statistics().visited;
    EXPECT_GT(windows, both);
    EXPECT_EQ(refusal("select count(*) from utilisation(100)"), "");
    EXPECT_EQ(m_source->statistics().visited, windows);
    EXPECT_EQ(refusal("select count(*) from utilisation(200)"), "");
    EXPECT_GT(m_source->statistics().visited, windows);
}

TEST_F(SqlDatabase, AnEventHasOneNumber) {
    EXPECT_EQ(refusal("select count(distinct rowid), count(rowid) from events"), "");
    EXPECT_EQ(refusal("select count(*) from events where ticks = 1100 or time_ns = 100 or code = 3"), "");
    EXPECT_EQ(refusal("select count(*) from events as a join events as b on a.rowid = b.rowid where b.ticks > 1100"),
              "");
    EXPECT_THAT(m_rows, ElementsAre("4 4 ", "1 ", "2 "));
}

TEST_F(SqlDatabase, AFunctionTakesItsArgument) {
    EXPECT_EQ(refusal("select count(*) from utilisation where window > 3"), "");
    EXPECT_EQ(refusal("select count(*) from utilisation where window is null"), "");
    EXPECT_EQ(refusal("select count(*) from utilisation(null)"), "");
    EXPECT_EQ(refusal("select count(*) from utilisation(1000) where window = 1000"), "");
    EXPECT_EQ(refusal("select count(*) from utilisation(1000) where window = 999"), "");
    EXPECT_EQ(refusal("select distinct u.window from (select 1000 as w) join utilisation(w) as u"), "");
    EXPECT_THAT(m_rows, ElementsAre("0 ", "2 ", "0 ", "2 ", "0 ", "1000 "));
    EXPECT_EQ(refusal("select * from utilisation(0)"), "utilisation(0): a positive number of nanoseconds at -1");
}

TEST_F(SqlDatabase, AnExplanationReadsNothing) {
    const std::uint64_t visited = m_source->statistics().visited;
    EXPECT_EQ(refusal("explain query plan select * from jobs"), "");
    EXPECT_EQ(m_source->statistics().visited, visited);
}

TEST_F(SqlDatabase, ARowIsNumberedFromOneInItsTable) {
    EXPECT_EQ(refusal("select rowid, context from intervals"), "");
    EXPECT_EQ(refusal("select rowid, context from intervals where context = 2"), "");
    EXPECT_THAT(m_rows, ElementsAre("1 1 ", "2 1 ", "3 2 ", "3 2 "));
}

} // namespace

} // namespace host::sql
