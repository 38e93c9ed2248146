// SPDX-License-Identifier: MIT
// Tests how much of a long time a window keeps, and how what is too much is united. Pieces alternate between execution
// of the task, of 3 ticks, and a handler, of 2.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::why::window_limits_test {

namespace {

using ::testing::ElementsAre;

constexpr std::size_t kItemsMax = 16'384;

Window::Judge no_judge() {
    return {.precedes = [](std::uint32_t, std::optional<std::uint64_t>, std::uint32_t) { return true; },
            .is_later = [](std::uint32_t, std::optional<std::uint64_t>) { return false; },
            .is_postponed = [](std::uint32_t, std::optional<std::uint64_t>) { return false; },
            .is_idle = [](std::uint32_t) { return false; }};
}

class Pieces {
  public:
    void execute(std::uint64_t ticks) { add({.part = schedule::Part::execution, .by = schedule::By::self}, ticks); }

    void interrupt(std::uint64_t ticks) {
        add({.part = schedule::Part::interference, .by = schedule::By::interrupt, .who = kTimer}, ticks);
    }

    void load(std::uint32_t who, std::uint64_t ticks) {
        add({.part = schedule::Part::interference, .by = schedule::By::task, .who = who}, ticks);
    }

    void alternate(std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) {
            execute(3);
            interrupt(2);
        }
    }

    void begin_job() { ++m_job; }

    void ran(std::uint64_t begin, std::uint64_t end, std::uint64_t excess) {
        m_runs.add({.context = kMiddle,
                    .begin = {begin},
                    .end = {end},
                    .excess = {excess},
                    .total = {end - begin},
                    .arrival = {begin},
                    .deadline = {}});
    }

    void compact() { m_window.compact(m_runs, no_judge()); }

    [[nodiscard]] std::vector<Item> items() { return *m_window.at_end(m_runs, no_judge()); }

    Window m_window;

  private:
    void add(schedule::Culprit culprit, std::uint64_t ticks) {
        m_window.add({.context = kMiddle, .job = m_job, .culprit = culprit, .begin = {m_now}, .end = {m_now + ticks}},
                     m_history, {}, false);
        m_now += ticks;
    }

    schedule::ExecutorHistory m_history;
    Runs m_runs;
    std::uint64_t m_now = 100;
    std::uint64_t m_job = 1;
};

TEST(Runs, KeepsTheLatest) {
    Runs runs;
    for (std::uint32_t i = 0; i < 8192; ++i) {
        runs.add({.context = i});
    }
    EXPECT_EQ(runs.all().size(), 8192U);
    EXPECT_EQ(runs.all().front().context, 0U);
    runs.add({.context = 8192});
    EXPECT_EQ(runs.all().size(), 8192U);
    EXPECT_EQ(runs.all().front().context, 1U);
    EXPECT_EQ(runs.all().back().context, 8192U);
}

TEST(Window, KeepsAsManyItemsAsItMay) {
    Pieces pieces;
    pieces.alternate(kItemsMax / 2 - 1);
    pieces.execute(3);
    pieces.compact();
    EXPECT_EQ(pieces.items().size(), kItemsMax) << "with that of the release";
}

// Without the release, 8192 items of 3 and 8192 of 2 ticks: neighbouring pairs are united, two by two.
TEST(Window, UnitesAlternatingItemsIfThereAreMore) {
    Pieces pieces;
    pieces.ran(100, 103, 1);
    pieces.ran(105, 108, 2);
    pieces.ran(110, 113, 3);
    pieces.alternate(kItemsMax / 2);
    pieces.compact();
    const std::vector<Item> items = pieces.items();
    const std::uint64_t end = 100 + 5 * kItemsMax / 2;
    ASSERT_EQ(items.size(), 3U);
    EXPECT_THAT(texts_of(items),
                ElementsAre("100..100 until kernel by unknown ? #0",
                            fmt::format("100..{} own execution of 4 by task 4 excess 6 total 3 #0", end - kItemsMax),
                            fmt::format("{}..{} preceding interrupt_load of 32 by interrupt 32 arrived 103 #0",
                                        end - kItemsMax, end)));
}

// Where another task ran, nothing is united across.
TEST(Window, UnitesOnlyWhatAlternatesAlike) {
    Pieces pieces;
    pieces.alternate(kItemsMax / 4);
    pieces.load(kHigh, 7);
    pieces.alternate(kItemsMax / 4);
    pieces.compact();
    const std::uint64_t half = 100 + 5 * kItemsMax / 4;
    const std::uint64_t end = half + 7 + 5 * kItemsMax / 4;
    EXPECT_THAT(texts_of(pieces.items()),
                ElementsAre("100..100 until kernel by unknown ? #0",
                            fmt::format("100..{} own execution of 4 by task 4 #0", half - kItemsMax / 2),
                            fmt::format("{}..{} preceding interrupt_load of 32 by interrupt 32 arrived 103 #0",
                                        half - kItemsMax / 2, half),
                            fmt::format("{}..{} preceding load by task 5 #0", half, half + 7),
                            fmt::format("{}..{} own execution of 4 by task 4 #0", half + 7, end - kItemsMax / 2),
                            fmt::format("{}..{} preceding interrupt_load of 32 by interrupt 32 arrived {} #0",
                                        end - kItemsMax / 2, end, half + 10)));
}

// Each executes after another one: nothing alternates.
TEST(Window, ForgetsTheEarlierHalfIfNothingUnites) {
    Pieces pieces;
    for (std::uint32_t i = 0; i < kItemsMax; ++i) {
        pieces.load(100 + i, 1);
    }
    pieces.compact();
    const std::vector<Item> items = pieces.items();
    EXPECT_EQ(items.size(), kItemsMax / 2);
    EXPECT_EQ(items.front().begin, lib::Ticks{100 + kItemsMax / 2});
    EXPECT_EQ(items.back().end, lib::Ticks{100 + kItemsMax});
}

TEST(Window, KeepsTheLatestItemsBeforeAJob) {
    Pieces pieces;
    pieces.alternate(255);
    pieces.execute(3);
    pieces.m_window.forget_early();
    EXPECT_EQ(pieces.items().size(), 512U);
    pieces.interrupt(1);
    pieces.interrupt(1);
    pieces.m_window.forget_early();
    const std::vector<Item> items = pieces.items();
    EXPECT_EQ(items.size(), 512U);
    EXPECT_EQ(text_of(items.front()), "103..105 preceding interrupt_load of 32 by interrupt 32 #0");
    pieces.begin_job();
    pieces.execute(4);
    pieces.ran(1380, 1384, 1);
    EXPECT_EQ(text_of(pieces.items().back()), "1380..1384 own execution of 4 by task 4 excess 1 total 4 job 2 #0")
        << "looked up, although items before it are gone";
    EXPECT_EQ(pieces.items().size(), 514U);
}

TEST(Window, HasNothingBeforeARestart) {
    Pieces pieces;
    pieces.alternate(2);
    pieces.m_window.restart({110});
    EXPECT_TRUE(pieces.items().empty());
    pieces.begin_job();
    pieces.execute(4);
    EXPECT_THAT(texts_of(pieces.items()), ElementsAre("110..110 until kernel by unknown ? job 2 #0",
                                                      "110..114 own execution of 4 by task 4 job 2 #0"));
}

} // namespace

} // namespace host::analyse::why::window_limits_test
