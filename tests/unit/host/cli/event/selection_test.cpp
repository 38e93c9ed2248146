// SPDX-License-Identifier: MIT
// Tests times as the user writes them, and which events a selection holds.
#include "host/cli/event/selection.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace host::cli {

namespace selection_test {

TEST(TimeOf, TakesDigitsAFractionAndAUnit) {
    EXPECT_EQ(time_of("0"), 0);
    EXPECT_EQ(time_of("1500"), 1'500);
    EXPECT_EQ(time_of("1500ns"), 1'500);
    EXPECT_EQ(time_of("20us"), 20'000);
    EXPECT_EQ(time_of("1.5ms"), 1'500'000);
    EXPECT_EQ(time_of("2s"), 2'000'000'000);
    EXPECT_EQ(time_of("0.000000001s"), 1);
    EXPECT_EQ(time_of("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(time_of("9223372036.854775807s"), std::numeric_limits<std::int64_t>::max());
}

TEST(TimeOf, RefusesEverythingElse) {
    for (const char* const text : {"",
                                   "s",
                                   "ms",
                                   "-1",
                                   "+1",
                                   " 1",
                                   "1 ms",
                                   "1.",
                                   ".5s",
                                   "1.5",
                                   "1.5ns",
                                   "1.0005us",
                                   "1m",
                                   "1e3",
                                   "0x10",
                                   "1.-5s",
                                   "1..5s",
                                   "9223372036854775808",
                                   "9223372036.854775808s",
                                   "18446744073709551616",
                                   "kev"}) {
        EXPECT_EQ(time_of(text), std::nullopt) << text;
    }
}

class Selections : public testing::Test {
  protected:
    Selections() { m_names.set(tracer::Unit::context, 12, "sensor"); }

    [[nodiscard]] trace::Event event(std::string_view name, std::uint16_t par1, std::int64_t time_ns) const {
        trace::Event event;
        event.row = tracer::find_event(name);
        event.code = event.row->code;
        event.par1 = par1;
        event.names = &m_names;
        event.timed = true;
        event.time_ns = time_ns;
        return event;
    }

    trace::Names m_names;
};

TEST_F(Selections, HoldTheSpanWithItsStartAndWithoutItsEnd) {
    const SelectionOptions options{.task = {}, .event = {}, .from_ns = 10, .to_ns = 20};
    Selection selection(options);
    EXPECT_FALSE(selection.everything());
    for (const auto& [time_ns, expected] : {std::pair{9, false}, {10, true}, {19, true}, {20, false}}) {
        EXPECT_EQ(selection.contains(event("task_dispatch", 12, time_ns)), expected) << time_ns;
    }
    trace::Event untimed = event("task_dispatch", 12, 15);
    untimed.timed = false;
    EXPECT_FALSE(selection.contains(untimed));
}

// Events of the application name no task: they belong to the one that had the processor.
TEST_F(Selections, HoldTheEventsThatWereLoggedInTheTask) {
    const SelectionOptions options{.task = "sensor", .event = {}, .from_ns = {}, .to_ns = {}};
    Selection selection(options);
    EXPECT_FALSE(selection.contains(event("ipoint", 12, 1))) << "no record says what runs";
    EXPECT_FALSE(selection.contains(event("context_switch", 13, 2)));
    EXPECT_FALSE(selection.contains(event("ipoint", 12, 3))) << "task 13 runs";
    EXPECT_TRUE(selection.contains(event("context_switch", 12, 4)));
    for (const std::string_view name : {"ipoint", "user_event_0", "user_event_14", "typed_event", "formatted_event"}) {
        EXPECT_TRUE(selection.contains(event(name, 99, 5))) << name;
    }
    trace::Event elsewhere = event("ipoint", 99, 6);
    elsewhere.cpu = 1;
    EXPECT_FALSE(selection.contains(elsewhere));
    EXPECT_FALSE(selection.contains(event("blackout_start", 0, 7)));
    EXPECT_FALSE(selection.contains(event("ipoint", 99, 8)));
    EXPECT_TRUE(selection.contains(event("trace_start", 12, 9))) << "it states what runs";
    EXPECT_TRUE(selection.contains(event("ipoint", 99, 10)));
    EXPECT_FALSE(selection.contains(event("trace_start", 0, 11)));
    EXPECT_FALSE(selection.contains(event("ipoint", 99, 12)));
    EXPECT_TRUE(selection.contains(event("context_switch", 12, 13)));
    EXPECT_FALSE(selection.contains(event("filter_priority", 1, 14)));
    EXPECT_FALSE(selection.contains(event("ipoint", 99, 15))) << "switches are filtered";
}

TEST_F(Selections, KeepTheDispatchesOfOtherTasks) {
    const SelectionOptions options{.task = "sensor", .event = {}, .from_ns = {}, .to_ns = 20};
    Selection selection(options);
    EXPECT_TRUE(selection.contains(event("task_activate", 12, 1)));
    EXPECT_FALSE(selection.contains(event("task_activate", 13, 1)));
    EXPECT_FALSE(selection.contains(event("task_dispatch", 13, 1)));
    EXPECT_TRUE(selection.contains_or_dispatches(event("task_dispatch", 13, 1)));
    EXPECT_TRUE(selection.contains_or_dispatches(event("context_switch", 13, 1)));
    EXPECT_FALSE(selection.contains_or_dispatches(event("task_dispatch", 13, 20)));
    EXPECT_FALSE(selection.contains_or_dispatches(event("task_activate", 13, 1)));
}

TEST_F(Selections, SayThatNothingCanBeInThem) {
    EXPECT_EQ(contradiction_in({.task = {}, .event = {}, .from_ns = 1, .to_ns = 2}, ""), "");
    EXPECT_EQ(contradiction_in({.task = {}, .event = {}, .from_ns = {}, .to_ns = 0}, ""), "");
    EXPECT_EQ(contradiction_in({.task = {}, .event = {}, .from_ns = 2, .to_ns = 2}, "give a later end"),
              "the part ends at 2 ns and begins at 2 ns: give a later end");
    const SelectionOptions options{.task = {}, .event = {}, .from_ns = 0, .to_ns = {}};
    Selection selection(options);
    trace::Event untimed = event("task_dispatch", 12, 15);
    untimed.timed = false;
    EXPECT_FALSE(selection.contains(untimed));
    EXPECT_EQ(selection.missing(m_names), "no event of the trace has a time, because the rate of its clock is not "
                                          "known: --tsc-khz states it");
    EXPECT_TRUE(selection.contains(event("task_dispatch", 12, 15)));
    EXPECT_EQ(selection.missing(m_names), "");
}

TEST_F(Selections, SayThatTheTraceEndsBeforeTheSpan) {
    const SelectionOptions options{.task = {}, .event = {}, .from_ns = 20, .to_ns = {}};
    for (const bool batch : {false, true}) {
        Selection selection(options);
        const std::vector<trace::Event> events{event("task_dispatch", 12, 10), event("task_dispatch", 12, 19)};
        if (batch) {
            selection.take_note(events);
        } else {
            EXPECT_FALSE(selection.contains(events[0]) || selection.contains(events[1]));
        }
        EXPECT_EQ(selection.missing(m_names), "nothing is at 20 ns or later: the last event of the trace is at 19 ns");
        selection.take_note(event("task_dispatch", 12, 20));
        EXPECT_EQ(selection.missing(m_names), "");
    }
}

TEST_F(Selections, SayWhatDoesNotExistAndWhatIsNearest) {
    const SelectionOptions task{.task = "sensr", .event = {}, .from_ns = {}, .to_ns = {}};
    EXPECT_EQ(Selection(task).missing(m_names), "the trace names no task sensr; did you mean sensor?");
    const SelectionOptions number{.task = "12", .event = {}, .from_ns = {}, .to_ns = {}};
    EXPECT_EQ(Selection(number).missing(m_names), "");
    const SelectionOptions event{.task = {}, .event = "task_dispach", .from_ns = {}, .to_ns = {}};
    EXPECT_EQ(Selection(event).missing(m_names),
              "no event is called task_dispach; did you mean task_dispatch?; `remora events` lists the table, `remora "
              "events TRACE` the typed events of a trace");
}

} // namespace selection_test

} // namespace host::cli
