// SPDX-License-Identifier: MIT
// Tests the time from an interrupt to the first instruction of the task that its handler wakes, and the raises that an
// observer saw: scenes computed by hand. One tick is one nanosecond.
#include "host/schedule/latency.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace host::schedule::latency_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint16_t kTimer = 0xEE;
constexpr std::uint16_t kDevice = 0x91;

// Feeds a scene to the model.
class Scene {
  public:
    explicit Scene(std::string_view text) {
        for (const trace::Event& event : support::SceneReader().read(text)) {
            m_model.take(event, m_schedule.take(event), m_schedule);
        }
    }

    std::vector<std::string> latencies; // vector, task: entry, ready, first; record of the entry

  private:
    Schedule m_schedule;
    Latencies m_model{[this](const Latency& latency) {
        latencies.push_back(fmt::format("{:x} {}: {} {} {} #{}", latency.entry.vector, latency.context,
                                        latency.entry.at.ticks.value, latency.ready.ticks.value,
                                        latency.first.ticks.value, latency.entry.record + 1));
    }};
};

//   handler        |100 entry ... 120 release ... 130|
//   task 12                                              150 first instruction
TEST(Latencies, CountFromTheEntryOfTheHandlerThatWakes) {
    Scene scene("10 switch 3; 100 irq 0xEE; 120 release 12; 130 iret 0xEE; 150 switch 12");
    EXPECT_THAT(scene.latencies, ElementsAre("ee 12: 100 120 150 #2"));
}

TEST(Latencies, CountFromTheInnermostHandler) {
    Scene scene(R"(10 switch 3; 100 irq 0xEE; 110 irq 0x91; 120 wake 12 semaphore; 125 iret 0x91; 130 wake 13 semaphore
                   135 iret 0xEE; 150 switch 13; 170 switch 12)");
    EXPECT_THAT(scene.latencies, ElementsAre("ee 13: 100 130 150 #2", "91 12: 110 120 170 #3"));
}

// Task 13 was woken by a task, 14 while another processor had a handler.
TEST(Latencies, NeedAHandlerOfTheSameProcessor) {
    Scene scene(R"(10 switch 3; 100 irq 0xEE; 105 wake 14 semaphore @1; 110 iret 0xEE; 120 release 13; 150 switch 13
                   160 switch 14)");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

// The second interrupt releases a task that is ready already.
TEST(Latencies, CountFromTheFirstWakeUp) {
    Scene scene(R"(10 switch 3; 100 irq 0xEE; 120 release 12; 130 iret 0xEE; 200 irq 0xEE; 220 release 12; 230 iret 0xEE
                   250 switch 12)");
    EXPECT_THAT(scene.latencies, ElementsAre("ee 12: 100 120 250 #2"));
}

TEST(Latencies, ATaskThatWaitsAgainOrEndsBeforeItRanHasNone) {
    Scene scene(R"(10 switch 3; 100 irq 0xEE; 120 wake 12 semaphore; 121 release 13; 122 release 14; 130 iret 0xEE
                   140 wait 12 semaphore; 141 abort 13; 142 end 14; 150 switch 12; 160 switch 13; 170 switch 14)");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

TEST(Latencies, ATaskThatTheHandlerInterruptedContinues) {
    Scene scene(R"(10 switch 12; 20 complete 12; 100 irq 0xEE; 120 release 12; 130 iret 0xEE; 150 switch 3
                   160 switch 12)");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

// Where records are missing, it is unknown whether the task ran meanwhile.
TEST(Latencies, AGapLeavesNone) {
    Scene scene("10 switch 3; 100 irq 0xEE; 120 release 12; 125 blackout; 140 lost 7; 150 switch 12");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

// Where the entry is in the trace, and on which processor.
TEST(Latencies, KeepThePlaceOfTheEntry) {
    trace::Event event;
    trace::set_meaning(event, {.code = trace::kCodeOf<"interrupt_start">, .par1 = kTimer});
    event.cpu = 3;
    event.source = 7;
    event.record = 11;
    event.ticks = {50};
    const Entry entry = entry_of(event);
    EXPECT_EQ(entry.vector, kTimer);
    EXPECT_EQ(entry.cpu, 3U);
    EXPECT_EQ(entry.source, 7U);
    EXPECT_EQ(entry.record, 11U);
    EXPECT_EQ(entry.at.ticks.value, 50U);
}

TEST(Latencies, CountOnceForEachWakeUp) {
    Scene scene(R"(10 switch 3; 100 irq 0xEE; 120 release 12; 130 iret 0xEE; 150 switch 12; 160 switch 3; 170 switch 12
                   180 iret 0xEE; 190 release 13; 195 switch 13)");
    EXPECT_THAT(scene.latencies, ElementsAre("ee 12: 100 120 150 #2"));
}

// The record of its wake-up is missing: the handler did not wake it with the switch.
TEST(Latencies, ATaskThatASwitchShowsReadyHasNone) {
    Scene scene("10 switch 3; 100 irq 0xEE; 120 switch 12; 130 iret 0xEE; 140 switch 3; 150 switch 12");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

TEST(Latencies, ATaskThatIsNewHasNoneOfTheOldOne) {
    Scene scene("10 switch 3; 100 irq 0xEE; 120 release 12; 125 create 12; 130 iret 0xEE; 150 switch 12");
    EXPECT_THAT(scene.latencies, IsEmpty());
}

TEST(Raises, AreReadWithFieldsThatAreNotKnown) {
    const auto rows = parse_raises("vector,raised,taken,stamped\n238,100,130,160\n2,,170,\n");
    ASSERT_TRUE(rows);
    EXPECT_THAT(rows.value(), ElementsAre(Observed{238, 100, 130, 160}, Observed{2, {}, 170, {}}));
}

TEST(Raises, AFileThatIsNoneIsRefusedWithItsLine) {
    for (const std::string_view line :
         {"238,100,130", "238,100,130,160,1", "x,100,130,160", "238,100,,160", ",100,130,160", "238,100,130,160x",
          "70000,100,130,160", "238,131,130,160", "238,100,130,129", "238,100,130,99999999999999999999", ""}) {
        const auto rows = parse_raises(fmt::format("{}\n238,1,2,3\n{}\n", kRaisesHead, line));
        ASSERT_FALSE(rows) << line;
        EXPECT_THAT(rows.error().text, HasSubstr("line 3")) << line;
    }
    EXPECT_FALSE(parse_raises(""));
    EXPECT_FALSE(parse_raises("timestamp,event\n"));
}

std::vector<Entry> entries(std::initializer_list<std::pair<std::uint16_t, std::uint64_t>> stamps) {
    std::vector<Entry> result;
    for (const auto& [vector, stamp] : stamps) {
        result.push_back({.vector = vector, .at = {.ticks = {stamp}}});
    }
    return result;
}

// The machine's counter is 1000 ahead; tracing begins after the first interrupt.
TEST(Raises, AreFoundByTheOneOffsetAtWhichTheTraceFits) {
    const std::vector<Observed> observed = {
        {kTimer, 40, 50, 60}, {kTimer, 100, 130, 160}, {kDevice, {}, 170, 190}, {kTimer, 300, 300, 330}};
    const Raises raises = match(observed, entries({{kTimer, 1160}, {kDevice, 1190}, {kTimer, 1330}}));
    EXPECT_EQ(raises.fit, Raises::Fit::one);
    EXPECT_EQ(raises.observed, 3U);
    EXPECT_THAT(raises.raised, ElementsAre(lib::Ticks{1100}, std::nullopt, lib::Ticks{1300}));
}

TEST(Raises, AnEntryThatWasNotObservedHasNone) {
    const std::vector<Observed> observed = {
        {kTimer, 100, 130, 160}, {kTimer, 300, 300, {}}, {kTimer, 450, 450, 480}, {kTimer, 600, 600, 630}};
    const Raises raises =
        match(observed, entries({{kTimer, 160}, {kTimer, 331}, {kTimer, 480}, {kTimer, 630}, {kTimer, 700}}));
    EXPECT_EQ(raises.fit, Raises::Fit::one);
    EXPECT_EQ(raises.observed, 3U);
    EXPECT_THAT(raises.raised,
                ElementsAre(lib::Ticks{100}, std::nullopt, lib::Ticks{450}, lib::Ticks{600}, std::nullopt));
}

// Two runs of an application are alike for most of their length; one that the observer missed is not of its run.
TEST(Raises, OfARunThatDiffersInBetweenFitNothing) {
    const std::vector<std::uint64_t> stamps = {160, 330, 480, 900, 1300};
    std::vector<Observed> observed;
    std::vector<Entry> trace;
    for (const std::uint64_t stamp : stamps) {
        observed.push_back({kTimer, stamp - 20, stamp - 10, stamp});
        trace.push_back({.vector = kTimer, .at = {.ticks = {stamp}}});
    }
    EXPECT_EQ(match(observed, trace).fit, Raises::Fit::one);
    observed[2].stamped = 481;
    const Raises raises = match(observed, trace);
    EXPECT_EQ(raises.fit, Raises::Fit::none);
    EXPECT_EQ(raises.observed, 0U);
    EXPECT_THAT(raises.raised, testing::Each(std::nullopt));
    observed[2].stamped.reset(); // another interrupt came before its handler read the counter
    EXPECT_EQ(match(observed, trace).observed, 4U);
}

TEST(Raises, OfAnotherRunFitNothing) {
    const std::vector<Observed> observed = {{kTimer, 100, 130, 160}, {kTimer, 300, 300, 330}};
    const Raises raises = match(observed, entries({{kTimer, 10}, {kTimer, 25}, {kTimer, 57}, {kDevice, 80}}));
    EXPECT_EQ(raises.fit, Raises::Fit::none);
    EXPECT_THAT(raises.raised, ElementsAre(std::nullopt, std::nullopt, std::nullopt, std::nullopt));
    EXPECT_EQ(match({}, entries({{kTimer, 10}})).fit, Raises::Fit::none);
    EXPECT_EQ(match(observed, {}).fit, Raises::Fit::none);
}

TEST(Raises, AtTheLimitsOfTheirFieldsAreSound) {
    const auto rows = parse_raises(fmt::format("{}\n65535,130,130,130\n0,,0,\n1,0,5,", kRaisesHead));
    ASSERT_TRUE(rows);
    EXPECT_THAT(rows.value(),
                ElementsAre(Observed{65535, 130, 130, 130}, Observed{0, {}, 0, {}}, Observed{1, 0, 5, {}}));
    EXPECT_EQ(parse_raises("").error().text, fmt::format("line 1 is not {}", kRaisesHead));
    EXPECT_TRUE(parse_raises(kRaisesHead).ok());
}

// Exactly half of the entries is too little: any two runs may have that in common.
TEST(Raises, OfMoreThanHalfOfTheEntriesAreBelieved) {
    const std::vector<Observed> observed = {{kTimer, 100, 130, 160}, {kTimer, 200, 230, 267}, {kTimer, 300, 330, 381}};
    EXPECT_EQ(match(observed, entries({{kTimer, 160}, {kTimer, 267}, {kTimer, 9000}, {kTimer, 9500}})).fit,
              Raises::Fit::none);
    EXPECT_EQ(match(observed, entries({{kTimer, 160}, {kTimer, 267}, {kTimer, 9000}})).fit, Raises::Fit::one);
    EXPECT_EQ(match(observed, entries({{kTimer, 9000}, {kTimer, 9160}, {kTimer, 9267}})).fit, Raises::Fit::one)
        << "the observer saw the first too late";
}

// Only some entries propose offsets; the fit must be that of all.
TEST(Raises, OfManyEntriesAreFoundAsOfFew) {
    std::vector<Observed> observed;
    std::vector<Entry> trace;
    std::uint64_t stamp = 1000;
    for (std::uint64_t i = 0; i < 300; ++i) {
        stamp += 50 + i * i % 97;
        observed.push_back({kTimer, stamp - 20, stamp - 10, stamp});
        trace.push_back({.vector = kTimer, .at = {.ticks = {stamp + 7}}});
    }
    const Raises raises = match(observed, trace);
    EXPECT_EQ(raises.fit, Raises::Fit::one);
    EXPECT_EQ(raises.observed, 300U);
    EXPECT_EQ(raises.raised.front(), lib::Ticks{observed.front().raised.value() + 7});
    EXPECT_EQ(raises.raised.back(), lib::Ticks{observed.back().raised.value() + 7});
}

// An observer's interrupt without a reading explains an entry only if it is within the trace.
TEST(Raises, WithoutAReadingOutsideOfTheTraceExplainNothing) {
    std::vector<Observed> observed = {{kTimer, {}, 160, 160},
                                      {kTimer, {}, 330, 330},
                                      {kTimer, {}, 480, 480},
                                      {kTimer, {}, 155, {}},
                                      {kTimer, {}, 485, {}}};
    const auto trace = entries({{kTimer, 160}, {kTimer, 330}, {kTimer, 400}, {kTimer, 480}});
    EXPECT_EQ(match(observed, trace).fit, Raises::Fit::none);
    observed[3].taken = 160;
    EXPECT_EQ(match(observed, trace).fit, Raises::Fit::one);
    observed[3].taken = 480;
    EXPECT_EQ(match(observed, trace).fit, Raises::Fit::one);
}

TEST(Raises, ThatFitAtSeveralOffsetsAreNotBelieved) {
    const std::vector<Observed> observed = {{kTimer, 100, 100, 130}, {kTimer, 200, 200, 230}, {kTimer, 300, 300, 330}};
    EXPECT_EQ(match(observed, entries({{kTimer, 1130}, {kTimer, 1230}})).fit, Raises::Fit::several);
    EXPECT_EQ(match(observed, entries({{kTimer, 1130}, {kTimer, 1230}, {kTimer, 1330}})).fit, Raises::Fit::one);
}

} // namespace

} // namespace host::schedule::latency_test
