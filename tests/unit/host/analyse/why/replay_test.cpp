// SPDX-License-Identifier: MIT
// Tests when a job would have ended without some of the work around it: each role of an item alone, then with work that
// precedes the task.
#include "host/analyse/why/job_case.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace host::analyse::why::replay_test {

namespace {

using Role = Item::Role;
using Items = std::vector<Item>;

Item item(Role role, std::uint64_t begin, std::uint64_t end, std::uint64_t arrival = ~std::uint64_t{0}) {
    Item made;
    made.role = role;
    made.begin = {begin};
    made.end = {end};
    made.arrival = {arrival};
    return made;
}

Item late_event(std::uint64_t begin, std::uint64_t end, std::uint64_t arrival) {
    Item made = item(Role::path, begin, end, arrival);
    made.cause = Cause::late_event;
    return made;
}

// The end without so many ticks of the item that begins at `begin`.
std::uint64_t end_less(const Items& items, std::uint64_t begin = 0, std::uint64_t ticks = 0) {
    return end_without(items,
                       [&](const Item& of) { return of.begin == lib::Ticks{begin} ? lib::Ticks{ticks} : lib::Ticks{}; })
        .value;
}

TEST(Replay, EndsWhereItBeginsWithoutItems) {
    EXPECT_EQ(end_less({}), 0U);
    EXPECT_EQ(end_less({item(Role::note, 30, 50), item(Role::undecided, 50, 60)}), 30U);
}

TEST(Replay, EndsEarlierByWhatTheTaskDoesNotExecute) {
    const Items items{item(Role::own, 10, 30), item(Role::path, 30, 35), item(Role::own, 35, 40)};
    EXPECT_EQ(end_less(items), 40U);
    EXPECT_EQ(end_less(items, 10, 5), 35U);
    EXPECT_EQ(end_less(items, 10, 21), 20U) << "no more than all of it";
    EXPECT_EQ(end_less(items, 30, 4), 36U);
    EXPECT_EQ(end_less(items, 30, 5), 35U);
}

TEST(Replay, WaitsUntilAMomentUnlessNothingOfTheWaitIsLeft) {
    const Items items{item(Role::own, 0, 10), item(Role::until, 10, 30), item(Role::own, 30, 40)};
    EXPECT_EQ(end_less(items), 40U);
    EXPECT_EQ(end_less(items, 0, 10), 40U);
    EXPECT_EQ(end_less(items, 10, 19), 40U);
    EXPECT_EQ(end_less(items, 10, 20), 20U);
    EXPECT_EQ(end_less({item(Role::own, 0, 10), item(Role::until, 8, 8), item(Role::own, 10, 11)}), 11U)
        << "a moment that has passed";
}

// The task cannot begin before its release, whatever is left out.
TEST(Replay, WaitsForARelease) {
    const Items items{item(Role::path, 0, 20), item(Role::until, 20, 20), item(Role::own, 20, 30)};
    EXPECT_EQ(end_less(items, 0, 20), 30U);
}

TEST(Replay, DelaysBySoMuchWheneverTheDelayBegins) {
    const Items items{item(Role::own, 0, 10), item(Role::delay, 10, 30), item(Role::own, 30, 35)};
    EXPECT_EQ(end_less(items), 35U);
    EXPECT_EQ(end_less(items, 0, 10), 25U);
    EXPECT_EQ(end_less(items, 10, 5), 30U);
    EXPECT_EQ(end_less(items, 10, 20), 15U);
}

// What ends the wait cannot begin before it has arrived; a holder of a mutex is there already.
TEST(Replay, WaitsForTheArrivalOfWhatEndsAWait) {
    const auto end = [](const Item& path) {
        return end_less({item(Role::own, 0, 20), path, item(Role::own, 30, 40)}, 0, 20);
    };
    EXPECT_EQ(end(late_event(20, 30, 20)), 40U);
    EXPECT_EQ(end(late_event(20, 30, 12)), 32U);
    EXPECT_EQ(end(late_event(20, 30, 25)), 40U) << "it is there when it begins";
    EXPECT_EQ(end(item(Role::path, 20, 30, 12)), 20U);
    EXPECT_EQ(end_less({item(Role::own, 0, 20), late_event(20, 30, 20), item(Role::own, 30, 40)}, 20, 10), 30U);
    EXPECT_EQ(end_less({item(Role::note, 0, 20), late_event(20, 30, 20), item(Role::own, 30, 40)}, 20, 10), 10U)
        << "nothing of it is left to wait for";
}

TEST(Replay, LetsWorkThatPrecedesRunWhenItArrives) {
    const Items items{item(Role::own, 0, 10), item(Role::preceding, 10, 15), item(Role::own, 15, 30)};
    EXPECT_EQ(end_less(items), 30U);
    EXPECT_EQ(end_less(items, 10, 2), 28U);
    EXPECT_EQ(end_less(items, 10, 5), 25U);
    EXPECT_EQ(end_less(items, 0, 10), 20U) << "10 own, 5 of it, 5 own";
    EXPECT_EQ(end_less(items, 15, 15), 10U) << "the job ends before it arrives";
    EXPECT_EQ(end_less(items, 15, 14), 16U);
}

TEST(Replay, TakesWorkThatPrecedesByItsArrival) {
    // It arrived at 5, and had to wait for the section until 20.
    const Items items{item(Role::path, 0, 20), item(Role::preceding, 20, 25, 5), item(Role::own, 25, 35)};
    EXPECT_EQ(end_less(items), 35U);
    EXPECT_EQ(end_less(items, 0, 20), 15U);
    EXPECT_EQ(end_less(items, 0, 16), 19U);
    // The second arrived first; the first would find the job over.
    const Items two{item(Role::own, 0, 30), item(Role::preceding, 30, 40, 25), item(Role::preceding, 40, 41, 3),
                    item(Role::own, 41, 45)};
    EXPECT_EQ(end_less(two, 0, 15), 20U);
    EXPECT_EQ(end_less(two, 0, 10), 25U) << "the job ends as it arrives";
    EXPECT_EQ(end_less(two, 0, 9), 36U);
}

TEST(Replay, LetsWorkThatPrecedesRunWhileTheTaskWaits) {
    const Items within{item(Role::own, 0, 10), item(Role::until, 10, 40), item(Role::preceding, 15, 20),
                       item(Role::preceding, 30, 40), item(Role::own, 40, 50)};
    EXPECT_EQ(end_less(within), 50U);
    EXPECT_EQ(end_less(within, 30, 10), 50U) << "neither delays it";
    // Seven of the twelve are left when the delay ends.
    const Items over{item(Role::own, 0, 10), item(Role::delay, 10, 20), item(Role::preceding, 15, 27),
                     item(Role::own, 27, 30)};
    EXPECT_EQ(end_less(over), 30U);
    EXPECT_EQ(end_less(over, 15, 7), 23U);
    EXPECT_EQ(end_less(over, 15, 6), 24U);
    EXPECT_EQ(end_less(over, 15, 9), 23U);
    EXPECT_EQ(end_less(over, 0, 10), 13U) << "the delay and the job end before it arrives";
    EXPECT_EQ(end_less(over, 0, 7), 28U) << "it finds the delay over, and one tick of the job left";
}

TEST(Replay, KeepsWorkThatIsLeftOfOneWaitForTheNext) {
    const Items items{item(Role::delay, 0, 10),  item(Role::preceding, 4, 20),  item(Role::own, 20, 21),
                      item(Role::until, 21, 40), item(Role::preceding, 25, 30), item(Role::own, 40, 45)};
    EXPECT_EQ(end_less(items), 45U);
    EXPECT_EQ(end_less(items, 0, 10), 45U);
    EXPECT_EQ(end_less(items, 21, 19), 31U) << "at 25 one tick of the job is still to come";
}

} // namespace

} // namespace host::analyse::why::replay_test
