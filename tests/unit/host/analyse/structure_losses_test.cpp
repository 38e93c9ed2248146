// SPDX-License-Identifier: MIT
// Tests what blackouts report against what the export counts, over several processors and chunks; then each sentence of
// the structure check, whole.
#include "host/analyse/structure_check.hpp"

#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gmock/gmock.h>

namespace host::analyse::structure_losses_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

class StructureLosses : public testing::Test {
  protected:
    // "rule @stamp of task: text"; without a stamp "rule in file: text", the file without its folder.
    std::vector<std::string> check(const Bytes& bytes) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(m_directory.write("0trace.dat", bytes), {}, diagnostics);
        std::vector<std::string> lines;
        StructureCheck check([&](const Violation& violation) {
            std::string line(rule_name(violation.rule));
            line += violation.event != nullptr ? fmt::format(" @{}", violation.event->ticks.value) : "";
            line += violation.task ? fmt::format(" of {}", *violation.task) : "";
            line += violation.file.empty() ? "" : " in " + violation.file.substr(violation.file.rfind('/') + 1);
            lines.push_back(line + ": " + violation.text);
        });
        schedule::Schedule schedule;
        opened.value()->for_each([&](const trace::Event& event) {
            check.add(event, opened.value()->facts(), schedule);
            static_cast<void>(schedule.take(event));
        });
        check.finish(opened.value()->facts());
        EXPECT_EQ(check.violations(), lines.size());
        m_relaxations = check.relaxations();
        m_events = check.events();
        return lines;
    }

    std::vector<std::string> check(const ChunkBuilder& chunk) { return check(chunk.bytes()); }

    support::TemporaryDirectory m_directory;
    std::vector<std::string> m_relaxations;
    std::uint64_t m_events = 0;
};

// Two chunks of two processors, then the totals.
struct Parts {
    std::uint32_t first = 3;
    std::uint32_t second = 4;
    std::uint64_t dropped = 7;
    std::uint64_t overwritten = 0;
    std::uint32_t chunks = 2;
    std::uint32_t chunk_overwritten = 0;
    bool open = false;
};

Bytes bytes_of(const Parts& parts) {
    ChunkBuilder first;
    first.event(10, "blackout_start").event(20, "blackout_end", 0, parts.first).event(30, "ipoint", 1);
    ChunkBuilder second(1);
    second.begin.cpu = 1;
    second.begin.overwritten = parts.chunk_overwritten;
    second.event(11, "blackout_start").event(21, "blackout_end", 0, parts.second);
    if (parts.open) {
        second.event(40, "blackout_start");
    }
    Bytes bytes = first.bytes();
    for (const Bytes& more : {second.bytes(), support::export_end({.chunks = parts.chunks,
                                              .result = tracer::RunResult::completed,
                                              .records = first.records() + second.records(),
                                              .dropped = parts.dropped,
                                              .overwritten = parts.overwritten})}) {
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

TEST_F(StructureLosses, AddUpOverProcessors) {
    EXPECT_THAT(check(bytes_of({})), IsEmpty());
    EXPECT_THAT(check(bytes_of({.dropped = 8})),
                ElementsAre("blackouts: 8 records were lost, but blackouts report only 7"));
    EXPECT_THAT(check(bytes_of({.dropped = 6})),
                ElementsAre("blackouts: blackouts report 7 lost records, the export counts 6"));
}

TEST_F(StructureLosses, AreNotComparedIfOneIsTheLargestNumber) {
    EXPECT_THAT(check(bytes_of({.first = ~0U})), IsEmpty());
    EXPECT_THAT(check(bytes_of({.second = ~0U})), IsEmpty());
    EXPECT_EQ(check(bytes_of({.first = ~0U - 1})).size(), 1U);
    EXPECT_EQ(check(bytes_of({.second = ~0U - 1})).size(), 1U);
    // Neither does a later one take that back.
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_end", 0, ~0U).event(30, "blackout_start");
    chunk.event(40, "blackout_end", 0, 5);
    Bytes bytes = chunk.bytes();
    const Bytes end = support::export_end({1, tracer::RunResult::completed, chunk.records(), 9, 0, 0});
    bytes.insert(bytes.end(), end.begin(), end.end());
    EXPECT_THAT(check(bytes), IsEmpty());
}

TEST_F(StructureLosses, AreNotComparedWithoutEveryChunk) {
    EXPECT_EQ(check(bytes_of({.dropped = 9, .chunks = 3})).size(), 0U);
}

TEST_F(StructureLosses, MayBeAmongWhatWasOverwritten) {
    EXPECT_THAT(check(bytes_of({.dropped = 9, .overwritten = 5})), IsEmpty());
    EXPECT_THAT(check(bytes_of({.dropped = 9, .chunk_overwritten = 5})), IsEmpty());
    EXPECT_EQ(check(bytes_of({.dropped = 6, .overwritten = 5})).size(), 1U) << "never more than were lost";
}

TEST_F(StructureLosses, MayBeOpenAtTheEnd) {
    EXPECT_THAT(check(bytes_of({.dropped = 9, .open = true})), IsEmpty());
    EXPECT_EQ(check(bytes_of({.dropped = 6, .open = true})).size(), 1U);
}

TEST_F(StructureLosses, OfEachProcessorAloneAlternate) {
    ChunkBuilder chunk;
    chunk.event(10, "blackout_start").event(20, "blackout_start").event(30, "blackout_end", 0, 7);
    chunk.event(40, "blackout_end", 0, 2);
    EXPECT_THAT(check(chunk), ElementsAre("blackouts @20: a blackout starts inside another: an end is missing"));
    EXPECT_THAT(m_relaxations, ElementsAre("2 records were lost before 40 ticks without a blackout_start: no emergency "
                                           "area had room for it"));
    EXPECT_EQ(m_events, 4U);
}

// --- sentences -------------------------------------------------------------------------------------------------------

TEST_F(StructureLosses, BesideAHandlerThatDidNotBegin) {
    ChunkBuilder chunk;
    chunk.event(1, "interrupt_end", 32).event(2, "interrupt_end", 32).event(3, "interrupt_start", 33);
    chunk.event(4, "interrupt_end", 34).event(5, "timer_wakeup_end", 12).event(6, "timer_wakeup_end", 12);
    chunk.event(7, "timer_wakeup_start").event(8, "timer_wakeup_start");
    EXPECT_THAT(check(chunk), ElementsAre("interrupt-pairs @2: handler of vector 32 ends, but none is open",
                                          "interrupt-pairs @4: handler of vector 34 ends inside that of vector 33",
                                          "timer-pairs @6 of 12: a timer wakeup ends, but none is open",
                                          "timer-pairs @8: a timer wakeup starts inside another"));
}

TEST_F(StructureLosses, BesideTasksThatAreNotScheduled) {
    ChunkBuilder chunk;
    chunk.event(1, "task_schedule", 12, 12).event(2, "task_dispatch", 13).event(3, "context_switch", 12);
    chunk.event(4, "set_mutex_lock", 13, 1).event(5, "set_mutex_unlock", 14, 1).event(6, "set_mutex_wait", 15, 1);
    chunk.event(7, "set_mutex_create", 0, 2).event(8, "set_mutex_unlock", 12, 2).event(9, "task_begin_cycle", 12);
    chunk.event(10, "task_begin_cycle", 12).event(11, "task_end_cycle", 12).event(12, "task_end_cycle", 12);
    chunk.event(13, "set_mutex_lock", 12, 2).event(14, "set_mutex_unlock", 16, 2);
    EXPECT_THAT(
        check(chunk),
        ElementsAre("dispatch-follows-schedule @2 of 13: context 13 is dispatched, but the latest schedule chose "
                    "context 12",
                    "one-runs @3 of 12: the processor switches to context 12, but context 13 was dispatched",
                    "one-runs @4 of 13: context 13 acts on a mutex or semaphore while context 12 runs",
                    "one-runs @5 of 14: context 14 acts on a mutex or semaphore while context 12 runs",
                    "one-runs @6 of 15: context 15 acts on a mutex or semaphore while context 12 runs",
                    "lock-pairs @8 of 12: context 12 unlocks mutex 2 without having locked it",
                    "cycle-pairs @10 of 12: a job of context 12 begins inside another",
                    "cycle-pairs @12 of 12: a job of context 12 ends, but none has begun",
                    "one-runs @14 of 16: context 16 acts on a mutex or semaphore while context 12 runs",
                    "lock-pairs @14 of 16: context 16 unlocks mutex 2, which context 12 owns"));
}

// Of a job that ends by suspending itself, and of a task that is created anew.
TEST_F(StructureLosses, BesideJobsThatEndOtherwise) {
    ChunkBuilder chunk;
    chunk.event(1, "task_create", 12).event(2, "task_begin_cycle", 12).event(3, "task_sleep", 12);
    chunk.event(4, "task_begin_cycle", 12).event(5, "task_disable", 12).event(6, "task_begin_cycle", 12);
    chunk.event(7, "task_create", 12).event(8, "task_begin_cycle", 12).event(9, "task_end", 12);
    chunk.event(10, "task_end_cycle", 12).event(11, "task_sleep", 13).event(12, "task_end_cycle", 13);
    EXPECT_THAT(check(chunk), IsEmpty());
    ChunkBuilder twice;
    twice.event(1, "task_create", 12).event(2, "task_begin_cycle", 12).event(3, "task_sleep", 12);
    twice.event(4, "task_end_cycle", 12).event(5, "task_create", 12).event(6, "task_end_cycle", 12);
    EXPECT_THAT(check(twice), ElementsAre("cycle-pairs @4 of 12: a job of context 12 ends, but none has begun",
                                          "cycle-pairs @6 of 12: a job of context 12 ends, but none has begun"));
}

// The owner of a mutex ended: whose it is, is not known from there on.
TEST_F(StructureLosses, BesideATaskThatEndsAsAnOwner) {
    ChunkBuilder chunk;
    chunk.event(1, "set_mutex_create", 0, 1).event(2, "set_mutex_lock", 12, 1).event(3, "task_end", 12);
    chunk.event(4, "set_mutex_unlock", 13, 1).event(5, "set_mutex_unlock", 13, 1);
    EXPECT_THAT(check(chunk), ElementsAre("lock-pairs @5 of 13: context 13 unlocks mutex 1 without having locked it"));
}

TEST_F(StructureLosses, BesideChunksThatDoNotHoldWhatTheyAnnounce) {
    ChunkBuilder chunk;
    chunk.event(1, "ipoint", 1).event(2, "ipoint", 1).event(3, "ipoint", 1);
    Bytes cut = chunk.bytes();
    cut.resize(cut.size() - tracer::kRecordBytes);
    EXPECT_THAT(check(cut), ElementsAre("counts in 0trace.dat: the chunk announces 3 records and holds 2"));
    EXPECT_THAT(check(chunk.raw({}).event(9, "ipoint", 1)),
                ElementsAre("counts in 0trace.dat: the chunk announces 5 records and holds 4"));
    ChunkBuilder falls;
    falls.event(10, "ipoint", 1).unordered(9, "ipoint", 1);
    EXPECT_THAT(check(falls), ElementsAre("stamps-rise @9: the stamp falls from 10 to 9 ticks"));
}

TEST_F(StructureLosses, BesideWhatIsRelaxed) {
    ChunkBuilder chunk;
    chunk.begin.dropped = 5;
    chunk.begin.overwritten = 9;
    chunk.event(1, "ipoint", 1).event(2, "filter_interrupt", 1);
    check(chunk);
    EXPECT_THAT(m_relaxations,
                ElementsAre("5 records were dropped on cpu 0: pairs and order are not checked",
                            "chunk 0 starts in the middle (9 records overwritten): what is open there has an unknown "
                            "start"));
    ChunkBuilder filtered;
    filtered.event(2, "filter_interrupt", 1).event(3, "filter_interrupt", 1).event(4, "filter_timer", 1);
    check(filtered);
    EXPECT_THAT(m_relaxations,
                ElementsAre("filter_interrupt was used: the rules of its family are not checked from there on",
                            "filter_timer was used: the rules of its family and the pairs of handlers are not checked "
                            "from there on"));
}

} // namespace

} // namespace host::analyse::structure_losses_test
