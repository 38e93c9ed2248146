// SPDX-License-Identifier: MIT
// Each rule has a trace that keeps it and one that breaks it; each gap relaxes what it makes undecidable.
#include "host/analyse/structure_check.hpp"

#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/random_events.hpp"

#include <gmock/gmock.h>

namespace host::analyse::structure_check_test {

namespace {

using support::ChunkBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StructureChecking : public testing::Test {
  protected:
    // The names of the rules that were violated, in order, each with its text in m_texts.
    std::vector<std::string> check(const support::Bytes& bytes) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(m_directory.write("0trace.dat", bytes), {}, diagnostics);
        std::vector<std::string> rules;
        StructureCheck check([&](const Violation& violation) {
            rules.emplace_back(rule_name(violation.rule));
            m_texts.push_back(violation.text);
            m_records.push_back(violation.event != nullptr ? violation.event->record : 0);
        });
        schedule::Schedule schedule;
        opened.value()->for_each([&](const trace::Event& event) {
            check.add(event, opened.value()->facts(), schedule);
            static_cast<void>(schedule.take(event));
        });
        check.finish(opened.value()->facts());
        m_relaxations = check.relaxations();
        return rules;
    }

    std::vector<std::string> check(const ChunkBuilder& chunk) { return check(chunk.bytes()); }

    support::TemporaryDirectory m_directory;
    std::vector<std::string> m_texts;
    std::vector<std::uint64_t> m_records;
    std::vector<std::string> m_relaxations;
};

ChunkBuilder correct() {
    ChunkBuilder chunk;
    chunk.event(0, "trace_start", 0, 1'000'000);
    chunk.event(10, "task_create", 12, 2).event(11, "task_create", 13, 3).event(12, "set_mutex_create", 12, 1);
    chunk.event(20, "interrupt_start", 32).event(21, "timer_wakeup_start");
    chunk.event(22, "interrupt_start", 33).event(23, "interrupt_end", 33);
    chunk.event(24, "timer_wakeup_end", 1).event(25, "interrupt_end", 32);
    chunk.event(30, "task_schedule", 12, 12).event(31, "task_dispatch", 12).event(32, "task_begin_cycle", 12);
    chunk.event(33, "context_switch", 12).event(40, "set_mutex_lock", 12, 1);
    chunk.event(50, "task_epilogue", 12).event(51, "task_schedule", 13, 13).event(52, "task_dispatch", 13);
    chunk.event(53, "task_begin_cycle", 13).event(54, "context_switch", 13).event(60, "set_mutex_lock", 13, 1);
    chunk.event(61, "inheritance", 12, 13).event(62, "task_schedule", 12, 13).event(63, "task_dispatch", 12);
    chunk.event(64, "context_switch", 12).event(70, "set_mutex_unlock", 12, 1);
    chunk.event(71, "task_schedule", 13, 13).event(72, "task_dispatch", 13).event(73, "context_switch", 13);
    chunk.event(80, "set_mutex_unlock", 13, 1).event(90, "task_end_cycle", 13);
    return chunk;
}

TEST_F(StructureChecking, AcceptsInheritanceNestingAndPreemption) {
    EXPECT_THAT(check(correct()), IsEmpty()) << testing::PrintToString(m_texts);
    EXPECT_THAT(m_relaxations, IsEmpty());
}

TEST_F(StructureChecking, NamesTheRecordAtWhichAStampFalls) {
    ChunkBuilder chunk = correct();
    chunk.unordered(89, "ipoint", 1);
    EXPECT_THAT(check(chunk), ElementsAre("stamps-rise"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("from 90 to 89"));
    EXPECT_EQ(m_records.at(0), chunk.description().preamble_slots + chunk.records() - 1);
}

TEST_F(StructureChecking, MissesTheStartOfAHandlerThatEnds) {
    EXPECT_THAT(check(correct().event(100, "interrupt_end", 32)), ElementsAre("interrupt-pairs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("vector 32 ends, but none is open"));
}

TEST_F(StructureChecking, SeesHandlersThatEndInTheWrongOrder) {
    ChunkBuilder chunk;
    chunk.event(1, "interrupt_start", 32).event(2, "interrupt_start", 33).event(3, "interrupt_end", 32);
    EXPECT_THAT(check(chunk), ElementsAre("interrupt-pairs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("vector 32 ends inside that of vector 33"));
}

TEST_F(StructureChecking, ReportsAMissingEndOfAHandlerOnce) {
    ChunkBuilder chunk;
    chunk.event(1, "interrupt_start", 32).event(2, "interrupt_start", 33).event(3, "interrupt_end", 32);
    chunk.event(4, "interrupt_end", 34).event(5, "interrupt_start", 32).event(6, "interrupt_end", 32);
    EXPECT_THAT(check(chunk), ElementsAre("interrupt-pairs"));
}

TEST_F(StructureChecking, RelaxesThePairsOfHandlersThatNestTooDeeply) {
    ChunkBuilder chunk;
    for (std::uint64_t i = 0; i < 66; ++i) {
        chunk.event(i, i < 33 ? "interrupt_start" : "interrupt_end", 32);
    }
    EXPECT_THAT(check(chunk), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("nest too deeply")));
}

TEST_F(StructureChecking, JudgesTheDeepestNestThatIsFollowed) {
    ChunkBuilder chunk;
    for (std::uint64_t i = 0; i < 65; ++i) {
        chunk.event(i, i < 32 ? "interrupt_start" : "interrupt_end", 32);
    }
    EXPECT_THAT(check(chunk), ElementsAre("interrupt-pairs"));
    EXPECT_THAT(m_relaxations, IsEmpty());
}

TEST_F(StructureChecking, DoesNotAccuseAcrossAnEmptySlot) {
    ChunkBuilder chunk;
    chunk.event(1, "timer_wakeup_start").raw({}).event(9, "timer_wakeup_start").event(10, "timer_wakeup_end");
    EXPECT_THAT(check(chunk), ElementsAre("counts"));
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("records are missing")));
    chunk.event(11, "timer_wakeup_end");
    EXPECT_THAT(check(chunk), ElementsAre("timer-pairs", "counts")); // after the hole it judges again
}

TEST_F(StructureChecking, DoesNotAccuseInAChunkWhoseChecksumIsWrong) {
    ChunkBuilder chunk;
    chunk.event(1, "timer_wakeup_start").event(9, "timer_wakeup_start").event(10, "ipoint");
    support::Bytes bytes = support::sealed(chunk.bytes());
    EXPECT_THAT(check(bytes), testing::Contains("timer-pairs"));
    bytes.back() ^= std::byte{1};
    EXPECT_THAT(check(bytes), testing::Not(testing::Contains("timer-pairs")));
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("the checksum of")));
}

TEST_F(StructureChecking, DoesNotAccuseAcrossTheCutEndOfAChunk) {
    ChunkBuilder first;
    first.event(1, "timer_wakeup_start").event(2, "timer_wakeup_end");
    ChunkBuilder second;
    second.begin.chunk = 1;
    second.event(9, "timer_wakeup_start").event(10, "timer_wakeup_end");
    support::Bytes bytes = first.bytes();
    bytes.resize(bytes.size() - tracer::kRecordBytes);
    const support::Bytes rest = second.bytes();
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    EXPECT_THAT(check(bytes), ElementsAre("counts")); // the chunk announces more than it holds
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("records of it are missing"), HasSubstr("records are missing")));
}

TEST_F(StructureChecking, SeesTimerWakeupsThatNestOrEndTwice) {
    EXPECT_THAT(check(correct().event(100, "timer_wakeup_end", 1)), ElementsAre("timer-pairs"));
    EXPECT_THAT(check(correct().event(100, "timer_wakeup_start").event(101, "timer_wakeup_start")),
                ElementsAre("timer-pairs"));
}

TEST_F(StructureChecking, SeesAnUnlockByATaskThatIsNotTheOwner) {
    ChunkBuilder chunk;
    chunk.event(1, "set_mutex_create", 12, 1).event(2, "set_mutex_lock", 12, 1).event(3, "set_mutex_unlock", 13, 1);
    EXPECT_THAT(check(chunk), ElementsAre("lock-pairs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("context 13 unlocks mutex 1, which context 12 owns"));
}

TEST_F(StructureChecking, KnowsThatTheOnlyWaiterBecomesTheOwner) {
    ChunkBuilder chunk;
    chunk.event(1, "set_mutex_create", 12, 1).event(2, "set_mutex_lock", 12, 1).event(3, "set_mutex_lock", 13, 1);
    chunk.event(4, "set_mutex_unlock", 12, 1).event(5, "set_mutex_lock", 12, 1).event(6, "set_mutex_unlock", 12, 1);
    EXPECT_THAT(check(chunk), ElementsAre("lock-pairs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("which context 13 owns"));
}

TEST_F(StructureChecking, KnowsTheOwnerByItsAcquisition) {
    ChunkBuilder chunk; // 12 is kept out by another mutex's ceiling, so 13 gets it
    chunk.event(1, "set_mutex_create", 12, 1).event(2, "set_mutex_lock", 12, 1).event(3, "set_mutex_lock", 13, 1);
    chunk.event(4, "set_mutex_acquire", 13, 1).event(5, "set_mutex_unlock", 13, 1);
    EXPECT_THAT(check(chunk), IsEmpty());
    chunk.event(6, "set_mutex_lock", 13, 1).event(7, "set_mutex_acquire", 13, 1).event(8, "set_mutex_unlock", 12, 1);
    EXPECT_THAT(check(chunk), ElementsAre("lock-pairs"));
}

TEST_F(StructureChecking, KnowsThatAttemptsEndByLimitsAndDeadOwners) {
    ChunkBuilder chunk;
    chunk.event(1, "set_mutex_create", 12, 1).event(2, "set_mutex_lock", 12, 1).event(3, "set_mutex_acquire", 12, 1);
    chunk.event(4, "set_mutex_lock", 13, 1).event(5, "set_mutex_timeout", 13, 1);
    chunk.event(6, "set_mutex_owner_died", 12, 1).event(7, "set_mutex_lock", 14, 1);
    chunk.event(8, "set_mutex_acquire", 14, 1).event(9, "set_mutex_unlock", 14, 1);
    EXPECT_THAT(check(chunk), IsEmpty());
    chunk.event(10, "set_mutex_unlock", 13, 1); // it gave up
    EXPECT_THAT(check(chunk), ElementsAre("lock-pairs"));
}

TEST_F(StructureChecking, SeesAnUnlockWithoutALock) {
    EXPECT_THAT(check(correct().event(100, "set_mutex_unlock", 13, 1)), ElementsAre("lock-pairs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("without having locked it"));
}

TEST_F(StructureChecking, SeesJobsThatOverlapOrEndTwice) {
    EXPECT_THAT(check(correct().event(100, "task_begin_cycle", 12)), ElementsAre("cycle-pairs"));
    EXPECT_THAT(check(correct().event(100, "task_end_cycle", 13)), ElementsAre("cycle-pairs"));
}

// A deadline that passes before the first dispatch: the job ends without having begun.
TEST_F(StructureChecking, AcceptsTheEndOfAnAbortedJobThatHasNotBegun) {
    EXPECT_THAT(check(correct().event(100, "job_abort", 13).event(101, "task_end_cycle", 13)), IsEmpty());
    EXPECT_THAT(
        check(correct().event(100, "job_abort", 13).event(101, "task_end_cycle", 13).event(102, "task_end_cycle", 13)),
        ElementsAre("cycle-pairs"));
    EXPECT_THAT(check(correct().event(100, "filter_job", 1).event(101, "task_end_cycle", 13)), IsEmpty());
}

TEST_F(StructureChecking, SeesASwitchToATaskThatWasNotDispatched) {
    EXPECT_THAT(check(correct().event(100, "context_switch", 12)), ElementsAre("one-runs"));
    EXPECT_THAT(m_texts.at(0), HasSubstr("context 12, but context 13 was dispatched"));
}

TEST_F(StructureChecking, SeesATaskThatActsWhileAnotherRuns) {
    EXPECT_THAT(check(correct().event(100, "set_mutex_wait", 12, 5)), ElementsAre("one-runs"));
}

TEST_F(StructureChecking, SeesADispatchThatTheScheduleDidNotChoose) {
    EXPECT_THAT(check(correct().event(100, "task_schedule", 12, 12).event(101, "task_dispatch", 13)),
                ElementsAre("dispatch-follows-schedule"));
}

TEST_F(StructureChecking, SeesAChunkThatIsShorterThanItSays) {
    support::Bytes bytes = correct().bytes();
    bytes.resize(bytes.size() - tracer::kRecordBytes);
    EXPECT_THAT(check(bytes), ElementsAre("counts"));
}

TEST_F(StructureChecking, TakesWhatIsOpenAtTheStartForAnUnknownStart) {
    ChunkBuilder chunk;
    chunk.begin.overwritten = 1000;
    chunk.event(1, "interrupt_end", 32).event(2, "timer_wakeup_end", 1).event(3, "set_mutex_unlock", 12, 1);
    chunk.event(4, "task_end_cycle", 12).event(5, "context_switch", 13);
    EXPECT_THAT(check(chunk), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("starts in the middle (1000 records overwritten)")));
}

TEST_F(StructureChecking, RelaxesTheFamilyOfAFilterAndNoOther) {
    ChunkBuilder chunk = correct();
    chunk.event(100, "filter_interrupt", 1).event(101, "interrupt_end", 32).event(102, "task_end_cycle", 13);
    EXPECT_THAT(check(chunk), ElementsAre("cycle-pairs"));
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("filter_interrupt")));
}

// The schedule forgets at a filter which handlers are open, and follows none as long as states are hidden.
TEST_F(StructureChecking, DoesNotAccuseHandlersWhereAFilterHidesStates) {
    for (const std::string_view filter : {"filter_mutex", "filter_server"}) {
        ChunkBuilder chunk = correct();
        chunk.event(100, "interrupt_start", 32).event(101, filter, 1).event(102, "interrupt_end", 32);
        chunk.event(103, "interrupt_start", 32).event(104, "interrupt_end", 32).event(105, filter, 0);
        EXPECT_THAT(check(chunk), IsEmpty()) << filter;
    }
}

TEST_F(StructureChecking, RelaxesAllPairsWhenRecordsWereDropped) {
    ChunkBuilder chunk = correct();
    chunk.begin.dropped = 5;
    chunk.event(100, "interrupt_end", 32).event(101, "task_end_cycle", 13);
    EXPECT_THAT(check(chunk), IsEmpty());
    EXPECT_THAT(m_relaxations, ElementsAre(HasSubstr("5 records were dropped")));
}

TEST_F(StructureChecking, StartsAnewAfterARestartOfTracingInsideAHandler) {
    ChunkBuilder chunk = correct();
    chunk.event(100, "interrupt_start", 32).event(101, "trace_stop").event(200, "trace_start", 1, 1'000'000);
    chunk.event(201, "interrupt_end", 34).event(202, "interrupt_end", 32).event(203, "context_switch", 12);
    EXPECT_THAT(check(chunk), IsEmpty());
}

TEST_F(StructureChecking, StartsAnewAfterABlackout) {
    ChunkBuilder chunk = correct();
    chunk.event(100, "blackout_start").event(200, "blackout_end", 0, 7).event(201, "interrupt_end", 32);
    EXPECT_THAT(check(chunk), IsEmpty());
}

// --- gaps
// --------------------------------------------------------------------------------------------------------------

support::Bytes with_total(const ChunkBuilder& chunk, std::uint64_t dropped) {
    support::Bytes bytes = chunk.bytes();
    const support::Bytes end = support::export_end({1, tracer::RunResult::completed, chunk.records(), dropped, 0, 0});
    bytes.insert(bytes.end(), end.begin(), end.end());
    return bytes;
}

TEST_F(StructureChecking, TakesAGapThatIsRecordedWhole) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_end", 0, 7).event(30, "ipoint", 1);
    EXPECT_THAT(check(with_total(chunk, 7)), IsEmpty());
}

TEST_F(StructureChecking, SeesLossesThatNoBlackoutRecords) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_end", 0, 7).event(30, "ipoint", 1);
    EXPECT_THAT(check(with_total(chunk, 8)), ElementsAre("blackouts"));
    EXPECT_THAT(m_texts.back(), HasSubstr("8 records were lost, but blackouts report only 7"));
}

TEST_F(StructureChecking, SeesMoreRecordedThanWasLost) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_end", 0, 7);
    EXPECT_THAT(check(with_total(chunk, 6)), ElementsAre("blackouts"));
}

TEST_F(StructureChecking, TakesABlackoutThatIsOpenAtTheEnd) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_end", 0, 7).event(30, "blackout_start");
    EXPECT_THAT(check(with_total(chunk, 9)), IsEmpty());
}

TEST_F(StructureChecking, SeesABlackoutInsideAnother) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_start").event(30, "blackout_end", 0, 7);
    EXPECT_THAT(check(with_total(chunk, 7)), ElementsAre("blackouts"));
}

TEST_F(StructureChecking, TakesABlackoutWhoseEndMayBeOverwrittenOrMissing) {
    ChunkBuilder before(0);
    before.event(10, "blackout_start");
    for (const bool is_cyclic : {true, false}) {
        ChunkBuilder after(is_cyclic ? 1 : 2);
        after.begin.overwritten = is_cyclic ? 5 : 0;
        after.event(20, "ipoint", 1).event(30, "blackout_start").event(40, "blackout_end", 0, 7);
        support::Bytes bytes = before.bytes();
        const support::Bytes more = after.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
        EXPECT_THAT(check(bytes), IsEmpty()) << is_cyclic;
    }
}

// The hole may hold a blackout and its end.
TEST_F(StructureChecking, ComparesNoLossesIfRecordsAreMissing) {
    ChunkBuilder chunk;
    chunk.event(10, "ipoint", 1).raw(tracer::Record{}).event(30, "ipoint", 1);
    EXPECT_THAT(check(with_total(chunk, 7)), testing::Not(testing::Contains("blackouts")));
}

TEST_F(StructureChecking, RelaxesABlackoutWithoutItsStart) {
    ChunkBuilder chunk;
    chunk.event(10, "ipoint", 1).event(20, "blackout_end", 0, 7);
    EXPECT_THAT(check(with_total(chunk, 7)), IsEmpty());
    EXPECT_THAT(m_relaxations.back(), HasSubstr("7 records were lost before 20 ticks without a blackout_start"));
}

// Records are missing now and then, a filter is used or not, a checksum is wrong.
TEST(StructureCheck, CountsWhatItFindsInRandomEvents) {
    constexpr std::uint64_t kSeeds = 12;
    constexpr int kEvents = 1000;
    std::uint64_t found = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        support::RandomEvents events(seed);
        trace::TraceFacts facts;
        facts.chunks.resize(2);
        for (trace::ChunkReport& chunk : facts.chunks) {
            chunk.described = true;
        }
        std::array<std::uint64_t, kRules.size()> rules{};
        StructureCheck check([&](const Violation& violation) { ++rules.at(static_cast<std::size_t>(violation.rule)); });
        schedule::Schedule schedule;
        std::array<lib::Ticks, 2> stamps{}; // the latest of each chunk
        std::uint64_t taken = 0;
        std::uint64_t falls = 0;
        bool is_filtered = false;
        for (int i = 0; i < kEvents; ++i) {
            facts.chunks[1].damaged = seed % 4 == 1 && i > kEvents / 2;
            trace::Event event = events.event(2);
            event.after_hole = (seed % 4 == 0 && i % 100 == 0) || facts.chunks[event.source].damaged;
            if (trace::kSetsFilter[event.code] && (seed % 3 != 0 || i < kEvents / 2)) {
                continue;
            }
            is_filtered = is_filtered || trace::kSetsFilter[event.code];
            falls += event.ticks < stamps.at(event.source) ? 1U : 0U;
            stamps.at(event.source) = event.ticks;
            ++taken;
            check.add(event, facts, schedule);
            static_cast<void>(schedule.take(event));
        }
        check.finish(facts);
        EXPECT_EQ(check.events(), taken);
        for (const RuleRow& row : kRules) {
            EXPECT_EQ(check.violations(row.rule), rules.at(static_cast<std::size_t>(row.rule))) << row.name;
        }
        EXPECT_EQ(check.violations(Rule::stamps_rise), falls);
        const std::string relaxed = fmt::format("{}", fmt::join(check.relaxations(), "\n"));
        EXPECT_EQ(relaxed.find("records are missing in") != std::string::npos, seed % 4 == 0) << relaxed;
        EXPECT_EQ(relaxed.find("the checksum of") != std::string::npos, seed % 4 == 1) << relaxed;
        EXPECT_EQ(relaxed.find(" was used: ") != std::string::npos, is_filtered) << relaxed;
        found += check.violations();
    }
    EXPECT_GT(found, kSeeds * 10);
}

} // namespace

} // namespace host::analyse::structure_check_test
