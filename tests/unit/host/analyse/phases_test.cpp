// SPDX-License-Identifier: MIT
// Tests when user_event_0 numbers the phases of a run, and when it does not.
#include "host/analyse/run_comparison.hpp"

#include <gmock/gmock.h>

namespace host::analyse::phases_test {

namespace {

constexpr std::uint8_t kMark = trace::kCodeOf<"user_event_0">;

trace::Event mark(std::int64_t time_ns, std::uint16_t number, std::uint32_t par2 = 0) {
    trace::Event event;
    event.time_ns = time_ns;
    event.timed = true;
    event.code = kMark;
    event.par1 = number;
    event.par2 = par2;
    return event;
}

std::vector<RunPhase> phases_of(std::initializer_list<trace::Event> events) {
    RunPhases phases;
    for (const trace::Event& event : events) {
        phases.add(event);
    }
    return phases.phases();
}

TEST(RunPhases, EachEndsWhereTheNextBegins) {
    const auto phases = phases_of({mark(10, 1), mark(40, 2), mark(90, 3)});
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_EQ(phases[0].from_ns, 10);
    EXPECT_EQ(phases[0].to_ns, 40);
    EXPECT_EQ(phases[1].number, 2U);
    EXPECT_EQ(phases[2].from_ns, 90);
    EXPECT_EQ(phases[2].to_ns, std::nullopt);
}

TEST(RunPhases, OtherUsesOfTheEventAreNone) {
    EXPECT_TRUE(phases_of({}).empty());
    EXPECT_TRUE(phases_of({mark(10, 1)}).empty());
    EXPECT_TRUE(phases_of({mark(10, 0), mark(20, 1)}).empty());
    EXPECT_TRUE(phases_of({mark(10, 1), mark(20, 3)}).empty());
    EXPECT_TRUE(phases_of({mark(10, 1), mark(20, 2), mark(30, 2)}).empty());
    EXPECT_TRUE(phases_of({mark(10, 1), mark(20, 2, 7)}).empty());
}

TEST(RunPhases, WithoutTimesThereAreNone) {
    trace::Event untimed = mark(0, 1);
    untimed.timed = false;
    EXPECT_TRUE(phases_of({untimed, mark(20, 2)}).empty());
}

TEST(RunPhases, MoreThanTheMostAreNone) {
    RunPhases phases;
    for (std::uint16_t number = 1; number <= RunPhases::kPhasesMax; ++number) {
        phases.add(mark(number, number));
    }
    EXPECT_EQ(phases.phases().size(), RunPhases::kPhasesMax);
    phases.add(mark(100, RunPhases::kPhasesMax + 1));
    EXPECT_TRUE(phases.phases().empty());
}

} // namespace

} // namespace host::analyse::phases_test
