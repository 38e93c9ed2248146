// SPDX-License-Identifier: MIT
// Which conditions and groupings of a statement the tables answer themselves, and which costs SQLite gets to know. A
// plan of `events` is two letters for each condition, and one for each column of a grouping, from A; so is one of the
// other tables (row_table.cpp).
#include "host/sql/constraints.hpp"
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

namespace host::sql {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// --- `events`: what plan_walk makes of a trace with a thousand records ---

struct Walk {
    std::string plan;
    std::vector<int> places; // of the value of each condition, from 1; 0: it is SQLite's alone
    double cost = 0;
    sqlite3_int64 rows = 0;
    bool ordered = false;
    bool omits = false; // a check of SQLite

    friend bool operator==(const Walk&, const Walk&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Walk& walk) {
        out << "{\"" << walk.plan << "\", {";
        for (const int place : walk.places) {
            out << place << ", ";
        }
        out << "}, " << walk.cost << ", " << walk.rows << ", " << walk.ordered << ", " << walk.omits << '}';
        return out;
    }
};

class EventPlans : public testing::Test {
  protected:
    EventPlans() {
        EXPECT_EQ(sqlite3_open(":memory:", &m_database), SQLITE_OK);
        m_module.xConnect = [](sqlite3* database, void* given, int, const char* const*, sqlite3_vtab** table, char**) {
            std::string columns;
            for (const ColumnRow& column : kEventColumnRows) {
                columns += (columns.empty() ? "CREATE TABLE x(" : ", ") + std::string(column.name);
            }
            auto* const made = new Probe();
            made->plans = static_cast<EventPlans*>(given);
            *table = made;
            return sqlite3_declare_vtab(database, (columns + ")").c_str());
        };
        m_module.xDisconnect = [](sqlite3_vtab* table) {
            delete static_cast<Probe*>(table);
            return SQLITE_OK;
        };
        m_module.xBestIndex = [](sqlite3_vtab* table, sqlite3_index_info* info) {
            EventPlans& plans = *static_cast<Probe*>(table)->plans;
            const int code = plan_walk(*info, plans.m_records);
            Walk& walk = plans.m_walks.emplace_back();
            walk.plan = info->idxStr;
            for (int i = 0; i < info->nConstraint; ++i) {
                walk.places.push_back(info->aConstraintUsage[i].argvIndex);
                walk.omits = walk.omits || info->aConstraintUsage[i].omit != 0;
            }
            walk.cost = info->estimatedCost;
            walk.rows = info->estimatedRows;
            walk.ordered = info->orderByConsumed != 0;
            return code;
        };
        EXPECT_EQ(sqlite3_create_module(m_database, "events", &m_module, this), SQLITE_OK);
    }

    ~EventPlans() override { sqlite3_close(m_database); }

    std::vector<Walk> walks(const std::string& statement) {
        m_walks.clear();
        sqlite3_stmt* prepared = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(m_database, statement.c_str(), -1, &prepared, nullptr), SQLITE_OK)
            << sqlite3_errmsg(m_database);
        sqlite3_finalize(prepared);
        return m_walks;
    }

    // Of a statement with one.
    Walk walk(const std::string& rest) {
        const auto all = walks("select ticks from events " + rest);
        EXPECT_EQ(all.size(), 1U) << rest;
        return all.empty() ? Walk{} : all.front();
    }

    struct Probe : sqlite3_vtab {
        EventPlans* plans = nullptr;
    };

    sqlite3* m_database = nullptr;
    sqlite3_module m_module{};
    std::uint64_t m_records = 1000;
    std::vector<Walk> m_walks;
};

TEST_F(EventPlans, AWalkOverEverythingCostsItsRecordsAndItsRows) {
    EXPECT_EQ(walk(""), (Walk{"", {}, 5100, 1001}));
    m_records = 0;
    EXPECT_EQ(walk(""), (Walk{"", {}, 105, 2}));
    m_records = 1;
    EXPECT_EQ(walk(""), (Walk{"", {}, 105, 2}));
}

TEST_F(EventPlans, BoundsOfStampsAndTimesAreAnswered) {
    EXPECT_EQ(walk("where ticks > 1"), (Walk{"k>", {1}, 1600, 301}));
    EXPECT_EQ(walk("where ticks >= 1"), (Walk{"kg", {1}, 1600, 301}));
    EXPECT_EQ(walk("where ticks < 1"), (Walk{"k<", {1}, 1600, 301}));
    EXPECT_EQ(walk("where time_ns <= 1"), (Walk{"tl", {1}, 1600, 301}));
    EXPECT_EQ(walk("where ticks = 1"), (Walk{"k=", {1}, 150, 11}));
    EXPECT_EQ(walk("where time_ns between 1 and 2"), (Walk{"tgtl", {1, 2}, 150, 11}));
    EXPECT_EQ(walk("where ticks > 1 and time_ns < 2"), (Walk{"k>t<", {1, 2}, 150, 11}));
    EXPECT_EQ(walk("where ticks > 1 and time_ns >= 2"), (Walk{"k>tg", {1, 2}, 1600, 301}));
    EXPECT_EQ(walk("where ticks < 1 and time_ns <= 2"), (Walk{"k<tl", {1, 2}, 1600, 301}));
}

TEST_F(EventPlans, EqualityOfProcessorEventAndCodeIsAnswered) {
    EXPECT_EQ(walk("where cpu = 1"), (Walk{"p=", {1}, 2600, 501}));
    EXPECT_EQ(walk("where event = 'x'"), (Walk{"e=", {1}, 1300, 51}));
    EXPECT_EQ(walk("where code = 1"), (Walk{"c=", {1}, 1300, 51}));
    EXPECT_EQ(walk("where code = 1 and event = 'x' and cpu = 2 and ticks = 3"),
              (Walk{"c=e=p=k=", {1, 2, 3, 4}, 106, 1}));
}

TEST_F(EventPlans, OtherConditionsAreSQLitesAlone) {
    const Walk all{"", {0}, 5100, 1001};
    for (const std::string condition :
         {"cpu > 1", "code < 1", "event >= 'x'", "record = 1", "chunk = 1", "ticks is null", "ticks != 1",
          "time_ns is not null", "event = 'x' collate nocase", "rowid = 1"}) {
        EXPECT_EQ(walk("where " + condition), all) << condition;
    }
    EXPECT_EQ(walk("where +ticks = 1"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(walk("where record = 1 and ticks > 2 and cpu > 3 and cpu = 4"), (Walk{"k>p=", {0, 1, 0, 2}, 850, 151}));
}

TEST_F(EventPlans, AValueThatIsNotKnownYetIsNotUsed) {
    const auto both = walks("select a.ticks from events as a, events as b where a.ticks = b.ticks");
    std::vector<std::string> plans;
    for (const Walk& walk : both) {
        plans.push_back(walk.plan);
        EXPECT_THAT(walk.places, testing::Each(walk.plan.empty() ? 0 : 1));
    }
    EXPECT_THAT(plans, testing::Contains("k="));
    EXPECT_THAT(plans, testing::Contains(""));
}

TEST_F(EventPlans, GroupsOfWhatEventsAreCountedByComeInOrder) {
    const auto one = [&](const std::string& statement) {
        const auto all = walks(statement);
        EXPECT_EQ(all.size(), 1U) << statement;
        return all.front();
    };
    EXPECT_EQ(one("select event, count(*) from events group by event"), (Walk{"H", {}, 5100, 1001, true}));
    EXPECT_EQ(one("select count(*) from events group by cpu, family, code"), (Walk{"CFG", {}, 5100, 1001, true}));
    EXPECT_EQ(one("select count(*) from events where cpu = 1 group by code"), (Walk{"p=G", {1}, 2600, 501, true}));
    EXPECT_EQ(one("select count(*) from events"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(one("select event from events order by event desc"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(one("select event from events order by cpu, event desc"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(one("select event from events order by rowid"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(one("select event from events order by record"), (Walk{"", {}, 5100, 1001}));
    EXPECT_EQ(one("select event, ticks from events order by event"), (Walk{"", {}, 5100, 1001}));
}

// --- the other tables: what SQLite says that it does ---

class RowPlans : public support::SqlQuestion {
  protected:
    RowPlans() {
        support::ChunkBuilder chunk;
        chunk.event(1000, "context_switch", 1).event(1100, "job_release", 2, 1100).event(1110, "context_switch", 2);
        chunk.event(1200, "task_end_cycle", 2).event(1210, "context_switch", 1);
        write(chunk.bytes());
    }

    // A line for each table and each sort.
    std::vector<std::string> steps(const std::string& statement) {
        std::vector<std::string> all = ask("explain query plan " + statement).rows;
        for (std::string& step : all) {
            for (int i = 0; i < 3; ++i) {
                step.erase(0, step.find(' ') + 1);
            }
            const std::string index = " VIRTUAL TABLE INDEX 0:";
            const std::size_t at = step.find(index);
            step = at != std::string::npos ? step.replace(at, index.size(), " ") : step;
            step.pop_back();
        }
        return all;
    }

    std::string plan(const std::string& condition, const std::string& table = "intervals") {
        const auto all = steps("select 1 from " + table + " where " + condition);
        EXPECT_EQ(all.size(), 1U) << condition;
        const std::string begin = "SCAN " + table + ' ';
        EXPECT_EQ(all.front().substr(0, begin.size()), begin);
        return all.front().substr(begin.size());
    }
};

TEST_F(RowPlans, EqualityOfAColumnThatIsNoTimeIsLookedUp) {
    EXPECT_EQ(plan("task = 'x'"), "eA");
    EXPECT_EQ(plan("context = 2"), "eB");
    EXPECT_EQ(plan("cpu = 0 and state = 'ready' and reason = 'x'"), "eCeDeH");
    EXPECT_EQ(plan("holder_context = 2"), "eJ");
    for (const std::string condition : {"duration_ns = 3", "context > 2", "context is null", "task like 'x'",
                                        "task = 'X' collate nocase", "rowid = 1", "+context = 2"}) {
        EXPECT_EQ(plan(condition), "") << condition;
    }
    EXPECT_EQ(plan("release_ticks = 3", "jobs"), "");
    EXPECT_EQ(plan("job = 3", "jobs"), "eC");
    EXPECT_EQ(plan("share = 1", "utilisation"), "") << "a fraction";
    EXPECT_EQ(plan("name = 'x'", "names"), "eC");
}

TEST_F(RowPlans, BoundsOfBeginAndEndAreLookedUp) {
    EXPECT_EQ(plan("begin_ns > 1"), "b>");
    EXPECT_EQ(plan("begin_ns = 1"), "b=");
    EXPECT_EQ(plan("begin_ns between 1 and 2"), "bgbl");
    EXPECT_EQ(plan("end_ns > 1"), "n>");
    EXPECT_EQ(plan("end_ns >= 1"), "ng");
    EXPECT_EQ(plan("end_ns = 1"), "n=");
    EXPECT_EQ(plan("end_ns < 1"), "") << "an end has no least begin";
    EXPECT_EQ(plan("end_ns <= 1"), "");
    EXPECT_EQ(plan("release_ns > 1 and end_ns > 2", "jobs"), "b>n>");
    EXPECT_EQ(plan("ticks > 1", "shares"), "") << "no times";
    EXPECT_EQ(plan("begin_ns < 5 and end_ns > 3 and context = 2"), "b<n>eB");
}

TEST_F(RowPlans, OrderByKeysIsThatOfAnIndex) {
    EXPECT_THAT(steps("select task, state, count(*) from intervals group by task, state"),
                ElementsAre("SCAN intervals AD"));
    EXPECT_THAT(steps("select * from intervals where context = 2 order by cpu"), ElementsAre("SCAN intervals eBC"));
    EXPECT_THAT(steps("select * from intervals order by task desc"),
                ElementsAre("SCAN intervals ", "USE TEMP B-TREE FOR ORDER BY"));
    EXPECT_THAT(steps("select * from intervals order by begin_ns"),
                ElementsAre("SCAN intervals ", "USE TEMP B-TREE FOR ORDER BY"));
    for (const std::string statement :
         {"select * from intervals order by rowid", "select * from utilisation order by window"}) {
        EXPECT_THAT(steps(statement), testing::Contains("USE TEMP B-TREE FOR ORDER BY")) << statement;
    }
    EXPECT_THAT(steps("select * from intervals order by task, begin_ns"),
                ElementsAre("SCAN intervals ", "USE TEMP B-TREE FOR ORDER BY"));
}

TEST_F(RowPlans, AFunctionTakesItsArgument) {
    EXPECT_EQ(plan("window = 5 and cpu = 0", "utilisation"), "a=eA");
    EXPECT_THAT(steps("select * from utilisation(5) where cpu = 0"), ElementsAre("SCAN utilisation eAa="));
    EXPECT_THAT(ask("select count(*) from utilisation where window > 3").rows, ElementsAre("0 "));
    EXPECT_THAT(ask("select count(*) from utilisation where cpu = 0 and window > 3").rows, ElementsAre("0 "))
        << "the whole trace has no window";
    EXPECT_THAT(ask("select count(*) from utilisation where cpu = 0 and window is null").rows, ElementsAre("2 "));
    EXPECT_THAT(ask("select * from utilisation(null)").rows, IsEmpty());
}

// Jobs are fewer than intervals, and of those with an index few remain: so the condition decides which table is first.
TEST_F(RowPlans, AJoinBeginsWithTheTableOfWhichLessRemains) {
    const std::string join = "select 1 from intervals as i, intervals as j where i.context = j.context and ";
    EXPECT_THAT(steps(join + "i.task = 'x'"), ElementsAre("SCAN i eA", "SCAN j eB"));
    EXPECT_THAT(steps(join + "j.task = 'x'"), ElementsAre("SCAN j eA", "SCAN i eB"));
    EXPECT_THAT(steps(join + "i.begin_ns > 5 and j.task = 'x'"), ElementsAre("SCAN j eA", "SCAN i eBb>"));
    EXPECT_THAT(steps(join + "j.begin_ns > 5 and i.end_ns > 7"), ElementsAre("SCAN i n>", "SCAN j b>eB"));
}

} // namespace

} // namespace host::sql
