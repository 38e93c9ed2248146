// SPDX-License-Identifier: MIT
// Tests what a processor did, in windows of time: every column of every row. The clock has 5 ticks in 2 ns, so that
// windows of 3 ns begin between two ticks.
#include "host/sql/schedule_rows.hpp"

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "tests/support/sql_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kKhz = 2'500'000;

// Feeds records to the rows.
class Scene {
  public:
    explicit Scene(std::uint64_t window_ns)
        : m_rows(window_ns) {
        m_names.set(tracer::Unit::context, 1, "idle");
        m_names.set(tracer::Unit::context, 2, "two");
        m_names.set(tracer::Unit::context, 3, "idle");
    }

    trace::Event event(std::uint64_t stamp, std::string_view name, std::uint16_t par1, std::uint16_t cpu) const {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = 0});
        event.cpu = cpu;
        event.ticks = {stamp};
        event.names = &m_names;
        return event;
    }

    Scene& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint16_t cpu = 0) {
        m_rows.add(event(stamp, name, par1, cpu), m_khz);
        return *this;
    }

    std::vector<std::string> finish() {
        m_rows.finish(m_khz);
        std::vector<std::string> rows;
        for (std::size_t row = 0; row < m_rows.size(); ++row) {
            rows.push_back(support::row_text(Table::utilisation, m_rows.cells(row)));
        }
        return rows;
    }

    // Two processors: the second one has nothing to do but a handler.
    Scene& two_processors() {
        at(1000, "ipoint").at(1004, "context_switch", 2).at(1010, "context_switch", 1);
        at(1012, "interrupt_start", 32).at(1016, "interrupt_end", 32);
        return at(1000, "context_switch", 3, 1).at(1005, "interrupt_start", 40, 1).at(1020, "ipoint");
    }

    std::uint32_t m_khz = kKhz;
    trace::Names m_names;
    UtilisationRows m_rows;
};

TEST(UtilisationRows, HaveNamesThatAreGoneAtTheEnd) {
    Scene scene(0);
    scene.at(1000, "context_switch", 2).at(1010, "ipoint");
    scene.m_names = {}; // as when its chunk has been read
    EXPECT_THAT(scene.finish(), testing::Contains(testing::HasSubstr("task='two'")));
}

TEST(UtilisationRows, OfTheWholeTraceIsOneWindow) {
    EXPECT_THAT(
        Scene(0).two_processors().finish(),
        ElementsAre("cpu=0 begin_ns=0 end_ns=8 kind='task' task='two' context=2 ran_ns=2 ran_ticks=6 share=0.3",
                    "cpu=0 begin_ns=0 end_ns=8 kind='idle' task='idle' context=1 ran_ns=2 ran_ticks=6 share=0.3",
                    "cpu=0 begin_ns=0 end_ns=8 kind='interrupt' vector=32 ran_ns=1 ran_ticks=4 share=0.2",
                    "cpu=0 begin_ns=0 end_ns=8 kind='unknown' ran_ns=1 ran_ticks=4 share=0.2",
                    "cpu=1 begin_ns=0 end_ns=8 kind='idle' task='idle' context=3 ran_ns=2 ran_ticks=5 share=1"));
}

// Ticks 0 to 7 have times below 3 ns, 8 to 14 below 6 ns, 15 to 22 below 9 ns.
TEST(UtilisationRows, WindowsBeginWithTheFirstTickThatIsNotBeforeThem) {
    EXPECT_THAT(
        Scene(3).two_processors().finish(),
        ElementsAre("cpu=0 begin_ns=0 end_ns=3 kind='task' task='two' context=2 ran_ns=1 ran_ticks=4 share=0.5",
                    "cpu=0 begin_ns=0 end_ns=3 kind='unknown' ran_ns=1 ran_ticks=4 share=0.5",
                    "cpu=1 begin_ns=0 end_ns=3 kind='idle' task='idle' context=3 ran_ns=2 ran_ticks=5 share=1",
                    "cpu=0 begin_ns=3 end_ns=6 kind='task' task='two' context=2 ran_ns=0 ran_ticks=2 "
                    "share=0.2857142857142857",
                    "cpu=0 begin_ns=3 end_ns=6 kind='idle' task='idle' context=1 ran_ns=0 ran_ticks=2 "
                    "share=0.2857142857142857",
                    "cpu=0 begin_ns=3 end_ns=6 kind='interrupt' vector=32 ran_ns=1 ran_ticks=3 "
                    "share=0.42857142857142855",
                    "cpu=0 begin_ns=6 end_ns=8 kind='idle' task='idle' context=1 ran_ns=1 ran_ticks=4 share=0.8",
                    "cpu=0 begin_ns=6 end_ns=8 kind='interrupt' vector=32 ran_ns=0 ran_ticks=1 share=0.2"));
}

TEST(UtilisationRows, WindowsInWhichNothingIsRecordedHaveWhatRanOn) {
    Scene scene(1000);
    scene.at(10, "context_switch", 2).at(10 + 6250, "ipoint");
    EXPECT_THAT(
        scene.finish(),
        ElementsAre(
            "cpu=0 begin_ns=0 end_ns=1000 kind='task' task='two' context=2 ran_ns=1000 ran_ticks=2500 share=1",
            "cpu=0 begin_ns=1000 end_ns=2000 kind='task' task='two' context=2 ran_ns=1000 ran_ticks=2500 share=1",
            "cpu=0 begin_ns=2000 end_ns=2500 kind='task' task='two' context=2 ran_ns=500 ran_ticks=1250 "
            "share=1"));
}

TEST(UtilisationRows, AProcessorThatBeginsLateHasNoRowsBefore) {
    Scene scene(1000);
    scene.at(0, "context_switch", 2).at(2500, "context_switch", 1);
    scene.at(5000 + 2, "context_switch", 3, 1).at(5000 + 7, "ipoint", 0, 1);
    EXPECT_THAT(
        scene.finish(),
        ElementsAre("cpu=0 begin_ns=0 end_ns=1000 kind='task' task='two' context=2 ran_ns=1000 ran_ticks=2500 share=1",
                    "cpu=1 begin_ns=2000 end_ns=2002 kind='idle' task='idle' context=3 ran_ns=2 ran_ticks=5 share=1"));
}

TEST(UtilisationRows, WithoutARateThereIsOneWindowWithoutTimes) {
    Scene scene(3);
    scene.m_khz = 0;
    scene.at(1000, "context_switch", 2).at(1006, "context_switch", 1).at(1008, "ipoint");
    EXPECT_THAT(scene.finish(), ElementsAre("cpu=0 kind='task' task='two' context=2 ran_ticks=6 share=0.75",
                                            "cpu=0 kind='idle' task='idle' context=1 ran_ticks=2 share=0.25"));
}

TEST(UtilisationRows, TheTimersHandlerHasNoVectorWhereInterruptsAreNotRecorded) {
    Scene scene(0);
    scene.at(1000, "context_switch", 2).at(1010, "timer_wakeup_start").at(1015, "timer_wakeup_end", 2);
    scene.at(1020, "ipoint");
    EXPECT_THAT(scene.finish(),
                testing::Contains("cpu=0 begin_ns=0 end_ns=8 kind='interrupt' ran_ns=2 ran_ticks=5 share=0.25"));
}

TEST(UtilisationRows, AContextThatPassesToAnotherTaskHasItsName) {
    Scene scene(0);
    scene.at(1000, "context_switch", 2).at(1010, "context_switch", 1).at(1020, "ipoint");
    scene.m_names.set(tracer::Unit::context, 2, "other");
    scene.at(1030, "task_create", 2).at(1040, "context_switch", 2).at(1045, "ipoint");
    EXPECT_THAT(
        scene.finish(),
        testing::IsSupersetOf({"cpu=0 begin_ns=0 end_ns=18 kind='task' task='two' context=2 ran_ns=4 ran_ticks=10 "
                               "share=0.2222222222222222",
                               "cpu=0 begin_ns=0 end_ns=18 kind='task' task='other' context=2 ran_ns=2 ran_ticks=5 "
                               "share=0.1111111111111111"}));
}

TEST(UtilisationRows, ANameIsThatOfTheFirstRecord) {
    Scene scene(0);
    scene.at(1000, "context_switch", 2).at(1010, "context_switch", 1);
    scene.m_names.set(tracer::Unit::context, 2, "other");
    scene.at(1020, "context_switch", 2).at(1030, "ipoint");
    EXPECT_THAT(scene.finish(),
                testing::Contains("cpu=0 begin_ns=0 end_ns=12 kind='task' task='two' context=2 ran_ns=8 "
                                  "ran_ticks=20 share=0.6666666666666666"));
}

TEST(UtilisationRows, WhatIsNoRecordOfTheTraceCountsNothing) {
    Scene scene(0);
    trace::Event metadata = scene.event(1, "context_switch", 2, 0);
    metadata.metadata = true;
    trace::Event broken = scene.event(1, "context_switch", 2, 0);
    broken.state = trace::EventState::malformed;
    trace::Event unknown = scene.event(1, "context_switch", 2, 0);
    unknown.row = nullptr;
    for (const trace::Event& one : {metadata, broken, unknown}) {
        scene.m_rows.add(one, scene.m_khz);
    }
    EXPECT_THAT(scene.finish(), IsEmpty());
}

// A tick is a microsecond: its number of nanoseconds exceeds what a number holds.
TEST(UtilisationRows, WindowsBeyondAllTimesEndWithTheTrace) {
    Scene scene(1000);
    scene.m_khz = 1000;
    scene.at(0, "context_switch", 2).at(1, "context_switch", 2);
    constexpr std::uint64_t kFar = std::uint64_t{1} << 62;
    scene.at(kFar, "context_switch", 2, 1).at(kFar + 10, "ipoint", 0, 1);
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu=0 begin_ns=0 end_ns=1000 kind='task' task='two' context=2 ran_ns=1000 ran_ticks=1 "
                            "share=1",
                            "cpu=1 begin_ns=9223372036854775807 end_ns=9223372036854775807 kind='task' task='two' "
                            "context=2 ran_ns=10000 ran_ticks=10 share=1"));
}

TEST(UtilisationRows, TheEndOfAWindowSaturates) {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    const std::string whole = " kind='task' task='two' context=2 ran_ns=40 ran_ticks=100 share=1";
    for (const std::uint64_t window_ns : {kMost, kMost / 2, kMost / 3}) {
        Scene scene(window_ns);
        scene.at(1000, "context_switch", 2).at(1100, "ipoint");
        EXPECT_THAT(scene.finish(), ElementsAre("cpu=0 begin_ns=0 end_ns=40" + whole)) << window_ns;
    }
    Scene late(1000);
    late.at(kMost - 200, "context_switch", 2).at(kMost - 100, "ipoint");
    EXPECT_THAT(late.finish(), ElementsAre("cpu=0 begin_ns=0 end_ns=40" + whole));
}

} // namespace

} // namespace host::sql
