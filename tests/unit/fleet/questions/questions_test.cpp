// SPDX-License-Identifier: MIT
// Tests each question to a store that was made by hand, and what it must find; and of verify, each kind of gap.
#include "fleet/questions/question.hpp"

#include "fleet/network/network.hpp"
#include "tests/support/fleet_fields.hpp"
#include "tests/support/fleet_run.hpp"

#include <gtest/gtest.h>

namespace host::fleet::questions {

namespace {

using support::FleetRow;
using support::FleetRun;
using support::rows_of;
using Lines = std::vector<std::string>;

// Of a machine that counted so many records, all of which are listed.
FleetRow totals(std::int64_t chunks, std::int64_t records) {
    return {{"listed_chunks", chunks},
            {"listed_records", records},
            {"announced_chunks", chunks},
            {"announced_records", records},
            {"committed", records},
            {"tracer_made", 0},
            {"dropped", 0},
            {"refused", 0},
            {"overwritten", 0}};
}

FleetRow with(FleetRow columns, const FleetRow& others) {
    for (const auto& [key, value] : others) {
        columns[key] = value;
    }
    return columns;
}

class QuestionTest : public testing::Test {
  protected:
    QuestionTest() {
        auto opened = open_store(m_scratch / "fleet", {}, OpenMode::write);
        EXPECT_TRUE(opened) << opened.error().text;
        m_store = opened.value();
    }

    void store(FleetRun& run) { run.store(*m_store, m_scratch); }

    Findings find(const Question& question, const Asked& asked = {}) {
        auto found = ask(question, asked, *m_store);
        EXPECT_TRUE(found) << found.error().text;
        return std::move(found.value());
    }

    // Two nodes that ran control, one that runs something still.
    void store_three() {
        FleetRun one("lab", "pi-1", 0xA1, 1'000);
        one.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended(totals(1, 10));
        one.job("control", 1, 1'000, 100, 112)
            .job("control", 2, 1'010, 200, 208)
            .job("control", 3, 1'100, 900, 912, true);
        one.job("log", 1, 1'020, 50, 50);
        store(one);
        FleetRun two("lab", "pi-2", 0xB1, 5'000);
        two.chunk(0, 0, 0, 20).lost(3, 1, 0).listed(0, 0, 0, 20);
        two.ended(with(totals(1, 20), {{"dropped", 3}, {"refused", 1}, {"complete", 0}, {"reason", "it was reset"}}));
        two.job("control", 1, 5'000, 300, 304).job("control", 2, 5'010, 800, 800, true);
        store(two);
        FleetRun three("lab", "pi-2", 0xB2, 6'000);
        three.chunk(0, 0, 0, 5).lost(7, 0, 2).chunk(1, 1, 0, 5).lost(2, 0, 0).chunk(0, 2, 0, 5).lost(9, 0, 1);
        three.store_chunks(*m_store);
    }

    support::TemporaryDirectory m_scratch;
    std::shared_ptr<Store> m_store;
};

TEST_F(QuestionTest, NodesSaysWhatRunsWhereAndWhatIsStored) {
    store_three();
    EXPECT_EQ(rows_of(find(kNodes).listings[0]),
              (Lines{"site=lab node=pi-1 runs=1 first_s=1000 last_s=1000 application=control kernel=remora 1 "
                     "stored_chunks=1 listed_chunks=1 events=10 lost=0 not_complete=0 not_ended=0 state=complete",
                     "site=lab node=pi-2 runs=2 first_s=5000 last_s=6000 application= kernel= stored_chunks=4 "
                     "listed_chunks=4 events=35 lost=18 not_complete=1 not_ended=1 state=1 not complete, 1 not ended"}))
        << "of a run that has not ended, each processor's latest chunk counts what was dropped";
    EXPECT_EQ(find(kNodes, {.limit = 1}).listings[0].rows.size(), 1U);
    EXPECT_TRUE(find(kNodes, {.limit = 1}).listings[0].cut);
}

TEST_F(QuestionTest, MissesCountsByTaskNodeAndTime) {
    store_three();
    EXPECT_EQ(rows_of(find(kMisses).listings[0]),
              (Lines{"site=lab node=pi-1 task=control jobs=3 missed=1 missed_share=0.333 worst_ns=900",
                     "site=lab node=pi-2 task=control jobs=2 missed=1 missed_share=0.500 worst_ns=800",
                     "site=lab node=pi-1 task=log jobs=1 missed=0 missed_share=0.000 worst_ns=50"}));
    EXPECT_EQ(rows_of(find(kMisses, {.by = "node"}).listings[0]),
              (Lines{"site=lab node=pi-1 jobs=4 missed=1 missed_share=0.250 worst_ns=900",
                     "site=lab node=pi-2 jobs=2 missed=1 missed_share=0.500 worst_ns=800"}));
    EXPECT_EQ(rows_of(find(kMisses, {.by = "application"}).listings[0]),
              (Lines{"application=control jobs=6 missed=2 missed_share=0.333 worst_ns=900"}));
    EXPECT_EQ(rows_of(find(kMisses, {.by = "minute"}).listings[0]),
              (Lines{"time_s=960 jobs=2 missed=0 missed_share=0.000 worst_ns=200",
                     "time_s=1020 jobs=1 missed=0 missed_share=0.000 worst_ns=50",
                     "time_s=1080 jobs=1 missed=1 missed_share=1.000 worst_ns=900",
                     "time_s=4980 jobs=2 missed=1 missed_share=0.500 worst_ns=800"}));
    EXPECT_EQ(rows_of(find(kMisses, {.limit = 1, .by = "hour"}).listings[0]),
              (Lines{"time_s=3600 jobs=2 missed=1 missed_share=0.500 worst_ns=800"}))
        << "the latest";
    EXPECT_EQ(rows_of(find(kMisses, {.only = {.task = "log", .since_s = 0, .until_s = 2'000}}).listings[0]),
              (Lines{"site=lab node=pi-1 task=log jobs=1 missed=0 missed_share=0.000 worst_ns=50"}));
}

TEST_F(QuestionTest, WorstNamesTheLongestResponsesAndHowToLookAtThem) {
    store_three();
    Asked asked{.place = "out/my fleet", .only = {}, .limit = 2, .by = {}, .a = {}, .b = {}};
    const Findings found = find(kWorst, asked);
    EXPECT_EQ(rows_of(found.listings[0], {"node", "task", "job", "response_ns", "missed", "outcome"}),
              (Lines{"node=pi-1 task=control job=3 response_ns=900 missed=1 outcome=completed",
                     "node=pi-2 task=control job=2 response_ns=800 missed=1 outcome=completed"}));
    EXPECT_TRUE(found.listings[0].cut);
    EXPECT_EQ(found.lines, (Lines{"to look at the first of them:",
                                  "  remora why 'out/my fleet/lab/pi-1/00000000000000a1.rpk' --task control --job 3"}));
    asked.place = "clickhouse://store/remora";
    EXPECT_EQ(find(kWorst, asked).lines[1], "  remora load --from nats://HOST --to runs --until-empty");
    EXPECT_EQ(find(kWorst, asked).lines[2], "  remora why runs/lab/pi-1/00000000000000a1.rpk --task control --job 3");
}

TEST_F(QuestionTest, CompareShowsBothSidesAndWhatChanged) {
    store_three();
    Asked asked;
    asked.a.node = "pi-1";
    asked.b.node = "pi-2";
    const Findings found = find(kCompare, asked);
    EXPECT_EQ(rows_of(found.listings[1]),
              (Lines{"task=control a_jobs=3 a_missed=1 a_missed_share=0.333 a_p50_ns=208 a_p99_ns=900 a_p999_ns=900 "
                     "a_worst_ns=900 b_jobs=2 b_missed=1 b_missed_share=0.500 b_p50_ns=304 b_p99_ns=800 b_p999_ns=800 "
                     "b_worst_ns=800 ratio_missed=1.500 ratio_p50=1.462 ratio_p99=0.889 ratio_p999=0.889 "
                     "ratio_worst=0.889",
                     "task=log a_jobs=1 a_missed=0 a_missed_share=0.000 a_p50_ns=50 a_p99_ns=50 a_p999_ns=50 "
                     "a_worst_ns=50 b_jobs=0 b_missed=0"}))
        << "tasks of one side come last";
    EXPECT_EQ(found.listings[0].rows.size(), 6U) << "three lines of each";
}

TEST_F(QuestionTest, CompareBeginsWithTheLargestChange) {
    FleetRun one("lab", "pi-1", 0xA1, 1'000);
    one.job("same", 1, 1'000, 100, 112).job("slower", 1, 1'000, 100, 112).job("faster", 1, 1'000, 300, 304).ended({});
    store(one);
    FleetRun two("lab", "pi-2", 0xB1, 1'000);
    two.job("same", 1, 1'000, 100, 112).job("slower", 1, 1'000, 200, 208).job("faster", 1, 1'000, 100, 112).ended({});
    store(two);
    Asked asked;
    asked.a.node = "pi-1";
    asked.b.node = "pi-2";
    EXPECT_EQ(rows_of(find(kCompare, asked).listings[1], {"task", "ratio_worst"}),
              (Lines{"task=faster ratio_worst=0.333", "task=slower ratio_worst=2.000", "task=same ratio_worst=1.000"}));
}

TEST_F(QuestionTest, LossesSaysWhoLostWhat) {
    store_three();
    FleetRun four("lab", "pi-3", 0xC1, 7'000);
    four.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).listed(0, 1, 0, 30);
    four.row(Table::listed, {{"position", 2}, {"file", "2trace.dat"}, {"records", 4}});
    four.ended(with(totals(3, 44), {{"missing_records", 6}, {"lost_packets", 2}}));
    store(four);
    const Findings found = find(kLosses);
    EXPECT_EQ(rows_of(found.listings[0]),
              (Lines{"site=lab node=pi-2 boot=00000000000000b1 started_s=5000 dropped=3 refused=1 overwritten=0 "
                     "missing_records=0 lost_packets=0 nameless_chunks=0 not_stored_chunks=0 not_stored_records=0",
                     "site=lab node=pi-2 boot=00000000000000b2 started_s=6000 dropped=11 refused=0 overwritten=3 "
                     "missing_records=0 lost_packets=0 nameless_chunks=0 not_stored_chunks=0 not_stored_records=0",
                     "site=lab node=pi-3 boot=00000000000000c1 started_s=7000 dropped=0 refused=0 overwritten=0 "
                     "missing_records=6 lost_packets=2 nameless_chunks=1 not_stored_chunks=1 not_stored_records=30"}));
    EXPECT_EQ(rows_of(found.listings[1]),
              (Lines{"runs=4 lossy_runs=3 dropped=14 refused=1 overwritten=3 missing_records=6 lost_packets=2 "
                     "nameless_chunks=1 not_stored_chunks=1 not_stored_records=30"}));
}

class VerifyTest : public QuestionTest {
  protected:
    static FleetRun run(std::uint64_t boot = 0xA1) { return FleetRun("lab", "pi-1", boot, 1'000); }

    // The lines below the table.
    Lines judged(Verdict expected) {
        const Findings found = find(kVerify);
        EXPECT_EQ(found.verdict, expected);
        return found.lines;
    }
};

TEST_F(VerifyTest, ARunWhoseChunksAreAllStoredIsClosed) {
    FleetRun whole = run();
    whole.chunk(0, 0, 0, 10).chunk(1, 1, 0, 20).listed(0, 0, 0, 10).listed(1, 1, 0, 20);
    whole.ended(with(totals(2, 30), {{"committed", 27}, {"tracer_made", 5}, {"overwritten", 2}, {"dropped", 4}}));
    store(whole);
    EXPECT_EQ(judged(Verdict::closed), (Lines{"1 runs: 1 closed, 0 with something missing, 0 open"}));
    EXPECT_EQ(rows_of(find(kVerify).listings[0], {"attempts", "committed", "sent_records", "stored_records", "state"}),
              (Lines{"attempts=31 committed=27 sent_records=30 stored_records=30 state=closed"}));
}

TEST_F(VerifyTest, NamesTheFirstChunkThatIsNotStored) {
    FleetRun gap = run();
    gap.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).listed(1, 7, 3, 10).listed(0, 1, 0, 10).ended(totals(3, 30));
    store(gap);
    EXPECT_EQ(judged(Verdict::missing),
              (Lines{"lab/pi-1/00000000000000a1: missing: 2 listed chunks are not stored; the first is 1trace.dat "
                     "(processor 1, chunk 7, generation 3)",
                     "1 runs: 0 closed, 1 with something missing, 0 open"}));
    EXPECT_EQ(rows_of(find(kVerify).listings[0], {"missing_chunks", "first_missing_file", "first_missing_cpu",
                                                  "first_missing_chunk", "first_missing_generation"}),
              (Lines{"missing_chunks=2 first_missing_file=1trace.dat first_missing_cpu=1 first_missing_chunk=7 "
                     "first_missing_generation=3"}));
}

TEST_F(VerifyTest, AnotherGenerationOfAChunkIsAnotherChunk) {
    FleetRun gap = run();
    gap.chunk(0, 0, 1, 10).listed(0, 0, 0, 10).ended(totals(1, 10));
    store(gap);
    EXPECT_EQ(judged(Verdict::missing)[0],
              "lab/pi-1/00000000000000a1: missing: 1 listed chunk is not stored; the first is 0trace.dat (processor 0, "
              "chunk 0, generation 0)");
}

TEST_F(VerifyTest, AChunkWithOtherContentsIsNotTheListedOne) {
    FleetRun other = run();
    other.chunk(0, 0, 0, 10, 5).chunk(0, 1, 0, 11, 1).listed(0, 0, 0, 10, 6).listed(0, 1, 0, 10, 1);
    other.ended(totals(2, 20));
    store(other);
    EXPECT_EQ(judged(Verdict::missing)[0],
              "lab/pi-1/00000000000000a1: missing: 2 chunks are stored with other contents than listed; the first is "
              "0trace.dat (processor 0, chunk 0, generation 0)");
}

TEST_F(VerifyTest, WhatTheNetworkLostIsMissing) {
    FleetRun lossy = run();
    lossy.chunk(0, 0, 0, 10).listed(0, 0, 0, 10);
    lossy.row(Table::listed, {{"position", 1}, {"file", "1trace.dat"}, {"records", 4}});
    lossy.ended(
        with(totals(2, 14), {{"missing_records", 6}, {"lost_packets", 2}, {"complete", 0}, {"reason", "loss"}}));
    store(lossy);
    EXPECT_EQ(
        judged(Verdict::missing)[0],
        "lab/pi-1/00000000000000a1: missing: 1 file of the session without the head of a chunk: only the recorder "
        "has it; 6 records are missing in its chunks; 2 packets were lost; its session is not complete: loss");
}

TEST_F(VerifyTest, WhatTheMachineSentAndTheManifestDoesNotListIsMissing) {
    FleetRun short_list = run();
    short_list.chunk(0, 0, 0, 10)
        .listed(0, 0, 0, 10)
        .ended(with(totals(2, 30), {{"listed_chunks", 1}, {"listed_records", 10}}));
    store(short_list);
    EXPECT_EQ(judged(Verdict::missing)[0],
              "lab/pi-1/00000000000000a1: missing: chunks sent: the machine counts 2, 1 are listed; records sent: the "
              "machine counts 30, 10 are listed");
}

TEST_F(VerifyTest, WhatTheMachineCommittedAndDidNotSendIsMissing) {
    FleetRun unsent = run();
    unsent.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended(with(totals(1, 10), {{"committed", 12}}));
    store(unsent);
    EXPECT_EQ(judged(Verdict::missing)[0],
              "lab/pi-1/00000000000000a1: missing: records committed, and not overwritten: the machine counts 12, and "
              "sent 10");
}

TEST_F(VerifyTest, PiecesOfCompactStreamsAreNoRecords) {
    FleetRun compact = run();
    compact.chunk(0, 0, 0, 10).compact().listed(0, 0, 0, 10).ended(with(totals(1, 10), {{"committed", 25}}));
    store(compact);
    EXPECT_EQ(judged(Verdict::closed).size(), 1U);
}

TEST_F(VerifyTest, ARunThatHasNotEndedIsOpen) {
    FleetRun open = run();
    open.chunk(0, 0, 0, 10).store_chunks(*m_store);
    EXPECT_EQ(judged(Verdict::open),
              (Lines{"lab/pi-1/00000000000000a1: open: its session has not ended, or its end was not published",
                     "1 runs: 0 closed, 0 with something missing, 1 open"}));
}

TEST_F(VerifyTest, AMachineThatDidNotCountIsOpen) {
    FleetRun without = run();
    without.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended({{"listed_chunks", 1}, {"listed_records", 10}});
    store(without);
    EXPECT_EQ(judged(Verdict::open)[0],
              "lab/pi-1/00000000000000a1: open: the machine's totals did not come with the session");
    FleetRun uncounted = run();
    FleetRow some = totals(1, 10);
    some.erase("committed");
    some.erase("tracer_made");
    uncounted.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended(some);
    store(uncounted);
    EXPECT_EQ(judged(Verdict::open)[0],
              "lab/pi-1/00000000000000a1: open: the machine did not say how many records it committed");
}

TEST_F(VerifyTest, WithoutItsChunksTheRecordsOfARunAreNotJudged) {
    FleetRun nothing = run();
    nothing.listed(0, 0, 0, 10).ended(with(totals(1, 10), {{"committed", 25}})); // perhaps compact
    store(nothing);
    EXPECT_EQ(judged(Verdict::missing)[0],
              "lab/pi-1/00000000000000a1: missing: 1 listed chunk is not stored; the first is 0trace.dat (processor 0, "
              "chunk 0, generation 0)");
}

TEST_F(VerifyTest, SaysFirstWhichRunsEndedBadly) {
    FleetRun panicked = run(0xA2);
    panicked.chunk(0, 0, 0, 10).listed(0, 0, 0, 10);
    panicked.ended(with(totals(1, 10), {{"result", "panicked"}}));
    store(panicked);
    const std::string said = "lab/pi-1/00000000000000a2: the run ended badly: panicked; `remora why --crash` of its "
                             "session says more";
    EXPECT_EQ(judged(Verdict::closed), (Lines{said, "1 runs: 1 closed, 0 with something missing, 0 open"}));
    EXPECT_EQ(rows_of(find(kVerify).listings[0], {"state", "result"}), (Lines{"state=closed result=panicked"}));
    for (const std::string result : {"completed", "unknown"}) {
        FleetRun gap = run(0xA1);
        gap.listed(0, 0, 0, 10).ended(with(totals(1, 10), {{"result", result}}));
        store(gap);
        const Lines lines = judged(Verdict::missing);
        EXPECT_EQ(lines.size(), 3U);
        EXPECT_EQ(lines.front(), said);
    }
    EXPECT_TRUE(find(kVerify).badly);
}

TEST_F(VerifyTest, MissingRunsComeFirstAndAnEmptyStoreIsClosed) {
    EXPECT_EQ(judged(Verdict::closed), (Lines{"0 runs: 0 closed, 0 with something missing, 0 open"}));
    FleetRun whole = run(0xA1);
    whole.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended(totals(1, 10));
    store(whole);
    FleetRun open = run(0xA2);
    open.chunk(0, 0, 0, 10).store_chunks(*m_store);
    FleetRun gap = run(0xA3);
    gap.listed(0, 0, 0, 10).ended(totals(1, 10));
    store(gap);
    const Findings found = find(kVerify);
    EXPECT_EQ(found.verdict, Verdict::missing);
    EXPECT_EQ(rows_of(found.listings[0], {"boot", "state"}),
              (Lines{"boot=00000000000000a3 state=missing", "boot=00000000000000a2 state=open",
                     "boot=00000000000000a1 state=closed"}));
}

} // namespace

} // namespace host::fleet::questions
