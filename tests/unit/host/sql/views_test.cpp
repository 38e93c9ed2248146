// SPDX-License-Identifier: MIT
// Tests a schedule computed by hand. One tick is a nanosecond, the trace begins at tick 1000:
//
//            0  50  100 110      210      500 510 520   600    700 750 760  800 810      900 910  1000
//   low      |run------|         |run---------|
//   worker 2         |r|run------|wait for bus|r|run----deadline------|end
//   worker 3                                                                 |r|run------|end
//   idle                                                               |run----|          |run----|
//   bus         |low--------------------------|     |worker 2----|
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>

namespace host::sql {

namespace {

using support::ChunkBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

class SqlViews : public support::SqlQuestion {
  protected:
    static ChunkBuilder named() {
        ChunkBuilder chunk;
        chunk.name("task", 1, "idle").name("task", 2, "worker").name("task", 3, "worker").name("task", 4, "low");
        chunk.name("mutex", 7, "bus").event(1000, "trace_start");
        return chunk;
    }

    static ChunkBuilder schedule() {
        ChunkBuilder chunk = named();
        chunk.event(1000, "context_switch", 4).event(1050, "set_mutex_acquire", 4, 7);
        chunk.event(1100, "job_release", 2, 1100).event(1100, "job_deadline", 2, 1600);
        chunk.event(1110, "context_switch", 2).event(1120, "task_begin_cycle", 2);
        chunk.event(1200, "set_mutex_block", 2, 7).event(1210, "context_switch", 4);
        chunk.event(1500, "set_mutex_unlock", 4, 7).event(1510, "context_switch", 2);
        chunk.event(1520, "set_mutex_acquire", 2, 7).event(1700, "set_mutex_unlock", 2, 7);
        chunk.event(1750, "task_end_cycle", 2).event(1760, "context_switch", 1);
        chunk.event(1800, "job_release", 3, 1800).event(1800, "job_deadline", 3, 2800);
        chunk.event(1810, "context_switch", 3).event(1820, "task_begin_cycle", 3);
        chunk.event(1900, "task_end_cycle", 3).event(1910, "context_switch", 1).event(2000, "ipoint");
        return chunk;
    }
};

TEST_F(SqlViews, TwoTasksOfOneNameRemainTwo) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select task, context, jobs, least_ns, greatest_ns, missed from responses").rows,
                ElementsAre("worker 2 1 650 650 1 ", "worker 3 1 100 100 0 "));
}

TEST_F(SqlViews, HoldsBeginWithTheAcquisitionAndEndWithTheUnlock) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select * from holds").rows,
                ElementsAre("bus 7 low 4 50 500 450 unlocked ", "bus 7 worker 2 520 700 180 unlocked "));
}

TEST_F(SqlViews, HoldsEndWithTheirTaskAtAGapAndAtTheEnd) {
    ChunkBuilder chunk = named();
    chunk.event(1000, "context_switch", 2).event(1100, "set_mutex_acquire", 2, 7);
    chunk.event(1200, "set_mutex_owner_died", 2, 7).event(1300, "set_mutex_acquire", 3, 7);
    chunk.event(1400, "set_mutex_acquire", 4, 7).event(1450, "ipoint");
    chunk.event(1500, "blackout_start").event(1600, "blackout_end", 0, 5);
    chunk.event(1700, "set_mutex_acquire", 2, 7).event(2000, "ipoint");
    write(chunk.bytes());
    EXPECT_THAT(ask("select context, begin_ns, end_ns, reason from holds").rows,
                ElementsAre("2 100 200 owner died ", "3 300 400 taken by another ", "4 400 500 records lost ",
                            "2 700 1000 end of the trace "));
}

TEST_F(SqlViews, BlockingNamesTheHolder) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select * from blocking").rows, ElementsAre("worker 2 bus low 4 210 500 290 "));
}

TEST_F(SqlViews, BlockingByAHolderThatIsNotRecordedNamesNone) {
    ChunkBuilder chunk = named();
    chunk.event(1000, "context_switch", 2).event(1100, "set_mutex_block", 2, 7).event(1110, "context_switch", 1);
    chunk.event(1200, "ipoint");
    write(chunk.bytes());
    EXPECT_THAT(ask("select mutex, ifnull(holder, 'NULL'), begin_ns from blocking").rows, ElementsAre("bus NULL 110 "));
}

TEST_F(SqlViews, AMissNamesWhatRanInTheJobsPlaceAndHowLong) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select * from misses").rows, ElementsAre("worker 2 1 100 600 750 150 completed low 4 0 310 "));
}

TEST_F(SqlViews, AMissAloneOnTheProcessorIsARowToo) {
    ChunkBuilder chunk = named();
    chunk.event(1000, "context_switch", 2).event(1100, "job_release", 2, 1100).event(1100, "job_deadline", 2, 1200);
    chunk.event(1110, "task_begin_cycle", 2).event(1300, "task_end_cycle", 2).event(1310, "context_switch", 1);
    chunk.event(1400, "ipoint");
    write(chunk.bytes());
    EXPECT_THAT(ask("select task, job, late_ns, ifnull(ran, 'NULL'), ifnull(ran_ns, 'NULL') from misses").rows,
                ElementsAre("worker 1 100 NULL NULL "));
    EXPECT_THAT(ask("select * from jobs where missed and end_ns <= deadline_ns").rows, IsEmpty());
}

TEST_F(SqlViews, UtilisationDividesTheTimeOfAProcessor) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select kind, task, context, ran_ticks, share, begin_ns, end_ns from utilisation").rows,
                ElementsAre("task worker 2 350 0.35 0 1000 ", "task worker 3 100 0.1 0 1000 ",
                            "task low 4 410 0.41 0 1000 ", "idle idle 1 140 0.14 0 1000 "));
}

TEST_F(SqlViews, UtilisationIsAFunctionOfTheLengthOfWindows) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select begin_ns, task, context, ran_ns, share from utilisation(400)").rows,
                ElementsAre("0 worker 2 100 0.25 ", "0 low 4 300 0.75 ", "400 worker 2 250 0.625 ",
                            "400 low 4 110 0.275 ", "400 idle 1 40 0.1 ", "800 worker 3 100 0.5 ",
                            "800 idle 1 100 0.5 "));
    EXPECT_THAT(ask("select count(distinct begin_ns), sum(ran_ns) from utilisation(7)").rows, ElementsAre("143 1000 "));
    EXPECT_THAT(ask("select window, count(*) from utilisation where window = 400").rows, ElementsAre("400 7 "));
    EXPECT_THAT(ask("select j.job, count(*) from jobs as j, utilisation(j.response_ns) as u group by j.job").rows,
                ElementsAre("1 21 "))
        << "a length that another table has";
    EXPECT_EQ(ask("select * from utilisation(0)").failure, "utilisation(0): a positive number of nanoseconds");
}

TEST_F(SqlViews, SharesOfAJobAddUpToItsResponse) {
    write(schedule().bytes());
    EXPECT_THAT(ask("select part, culprit, who, mutex, holder, inversion, ticks from shares where context = 2").rows,
                ElementsAre("interference task low    20 ", "execution self     340 ",
                            "blocking task low bus low bounded 290 "));
    EXPECT_THAT(ask("select response_ticks, execution_ticks, interference_ticks, blocking_ticks, bounded_ns, "
                    "suspension_ticks, residue_ticks, dispatches, preemptions from jobs where context = 2")
                    .rows,
                ElementsAre("650 340 20 290 290 0 0 2 0 "));
}

TEST_F(SqlViews, PreemptionsEndWhenTheJobRunsAgain) {
    ChunkBuilder chunk = named();
    chunk.event(1000, "context_switch", 1).event(1010, "job_release", 4, 1010).event(1020, "context_switch", 4);
    chunk.event(1100, "job_release", 2, 1100).event(1110, "context_switch", 2).event(1200, "task_end_cycle", 2);
    chunk.event(1210, "context_switch", 4).event(1300, "context_switch", 1).event(1400, "ipoint");
    write(chunk.bytes());
    EXPECT_THAT(ask("select * from preemptions").rows,
                ElementsAre("low 4 1 worker 2 0 110 210 100 1110 100 ", "low 4 1 idle 1 0 300   1300  "));
}

TEST_F(SqlViews, APreemptionWhoseStampsFallHasNoLength) {
    for (const auto& [end, length] : {std::pair(1110U, "0 0 "), {1111U, "1 1 "}, {1109U, "  "}}) {
        ChunkBuilder chunk = named();
        chunk.event(1000, "context_switch", 1).event(1010, "job_release", 4, 1010).event(1020, "context_switch", 4);
        chunk.event(1100, "job_release", 2, 1100).event(1110, "context_switch", 2);
        chunk.unordered(end, "context_switch", 4).event(1300, "task_end_cycle", 4).event(1400, "context_switch", 1);
        write(chunk.bytes());
        EXPECT_THAT(ask("select duration_ns, duration_ticks from preemptions where context = 4").rows,
                    ElementsAre(length))
            << end;
    }
}

TEST_F(SqlViews, AContextHasTheNameOfItsTaskUntilItPassesOn) {
    for (const bool passes_on : {false, true}) {
        ChunkBuilder first;
        first.name("task", 2, "old").event(1000, "context_switch", 2).event(1100, "context_switch", 3);
        ChunkBuilder second(1);
        second.name("task", 2, "new").event(1200, passes_on ? "task_create" : "ipoint", 2, 9);
        second.event(1300, "context_switch", 2).event(1400, "context_switch", 3).event(1500, "ipoint");
        support::Bytes bytes = first.bytes();
        const support::Bytes more = second.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
        write(bytes);
        EXPECT_THAT(ask("select task, begin_ns from running where context = 2").rows,
                    ElementsAre("old 0 ", passes_on ? "new 300 " : "old 300 "));
    }
}

TEST_F(SqlViews, PercentileIsByTheNearestRank) {
    write(schedule().bytes());
    EXPECT_THAT(
        ask("select percentile(response_ns, 50), percentile(response_ns, 51), percentile(share, 100) from jobs, "
            "utilisation")
            .rows,
        ElementsAre("100 650 0.41 "));
    EXPECT_THAT(ask("select percentile(ns, 50) from shares where ns < 0").rows, ElementsAre(" "));
    EXPECT_EQ(ask("select percentile(job, 101) from jobs").failure,
              "percentile(value, percent): numbers, percent from 0 to 100");
}

} // namespace

} // namespace host::sql
