// SPDX-License-Identifier: MIT
// Tests which passages are united, what they keep, and where the limits are. A culprit is a task that interferes.
#include "host/analyse/why/job_case.hpp"
#include "host/text/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace host::analyse::why::story_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

schedule::Culprit task(std::uint32_t who) {
    return {.part = schedule::Part::interference, .by = schedule::By::task, .who = who};
}

class Pieces {
  public:
    Pieces& add(std::uint32_t who, std::uint64_t ticks) {
        schedule::Piece piece;
        piece.culprit = task(who);
        piece.begin = {m_now};
        piece.end = {m_now + ticks};
        piece.place = {.cpu = 0, .chunk = 1, .record = m_record++};
        piece.ended_by = {schedule::By::interrupt, 100 + who};
        m_story.add(piece);
        m_now += ticks;
        return *this;
    }

    // begin..end #record, then who and ticks of each portion, and what ended it.
    [[nodiscard]] std::vector<std::string> passages() const {
        std::vector<std::string> texts;
        for (const Passage& passage : m_story.passages()) {
            std::string text = fmt::format("{}..{} #{}:", passage.begin.value, passage.end.value, passage.place.record);
            EXPECT_EQ(passage.length(), passage.end - passage.begin);
            for (const Portion& portion : passage.portions) {
                text += fmt::format(" {} {}/{}", portion.culprit.who, portion.ticks.value, portion.ended_by.who);
            }
            texts.push_back(text);
        }
        return texts;
    }

    void reduce(std::size_t most) { m_story.reduce(most); }

    [[nodiscard]] const std::vector<Passage>& all() const { return m_story.passages(); }

  private:
    Story m_story;
    std::uint64_t m_now = 1000;
    std::uint64_t m_record = 0;
};

TEST(Story, StaysEmptyWithoutPieces) {
    Pieces pieces;
    pieces.reduce(0);
    EXPECT_THAT(pieces.passages(), IsEmpty());
}

TEST(Story, KeepsEachPieceThatIsLongEnough) {
    Pieces pieces;
    pieces.add(1, 100).add(2, 200).add(1, 300);
    EXPECT_THAT(pieces.passages(),
                ElementsAre("1000..1100 #0: 1 100/101", "1100..1300 #1: 2 200/102", "1300..1600 #2: 1 300/101"));
    pieces.reduce(3);
    EXPECT_EQ(pieces.passages().size(), 3U);
    pieces.reduce(2);
    EXPECT_THAT(pieces.passages(), ElementsAre("1000..1300 #0: 2 200/102 1 100/101", "1300..1600 #2: 1 300/101"))
        << "the shortest pair, the greater portion first";
    pieces.reduce(1);
    EXPECT_THAT(pieces.passages(), ElementsAre("1000..1600 #0: 1 400/101 2 200/102"));
    pieces.reduce(0);
    EXPECT_EQ(pieces.passages().size(), 1U);
}

// A two-hundredth of 2000 is 10.
TEST(Story, UnitesWhatIsShorterThanATwoHundredth) {
    Pieces pieces;
    pieces.add(1, 990).add(2, 10).add(3, 1000);
    pieces.reduce(8);
    EXPECT_EQ(pieces.passages().size(), 3U);
    Pieces other;
    other.add(1, 991).add(2, 9).add(3, 1000);
    other.reduce(8);
    EXPECT_THAT(other.passages(), ElementsAre("1000..2000 #0: 1 991/101 2 9/102", "2000..3000 #2: 3 1000/103"));
}

TEST(Story, UnitesNeighboursOfTheSameCulpritHoweverLong) {
    Pieces pieces;
    pieces.add(1, 500).add(1, 600).add(2, 400);
    pieces.reduce(8);
    EXPECT_THAT(pieces.passages(), ElementsAre("1000..2100 #0: 1 1100/101", "2100..2500 #2: 2 400/102"));
}

// Its length counts an eighth: 87 / 8 is below 11, and 88 / 8 is above 10. What is left of the first culprit follows.
TEST(Story, UnitesNeighboursOfTheSameCulpritEightTimesSooner) {
    Pieces pieces;
    pieces.add(1, 500).add(1, 87).add(2, 11).add(3, 400);
    pieces.reduce(3);
    EXPECT_THAT(pieces.passages(),
                ElementsAre("1000..1587 #0: 1 587/101", "1587..1598 #2: 2 11/102", "1598..1998 #3: 3 400/103"));
    Pieces other;
    other.add(1, 500).add(1, 88).add(2, 10).add(3, 400);
    other.reduce(3);
    EXPECT_THAT(other.passages(), ElementsAre("1000..1598 #0: 1 588/101 2 10/102", "1598..1998 #3: 3 400/103"));
}

TEST(Story, UnitesTheFirstOfEqualPairs) {
    Pieces pieces;
    pieces.add(1, 100).add(2, 100).add(3, 100).add(4, 100);
    pieces.reduce(3);
    EXPECT_THAT(pieces.passages(), ElementsAre("1000..1200 #0: 1 100/101 2 100/102", "1200..1300 #2: 3 100/103",
                                               "1300..1400 #3: 4 100/104"));
}

TEST(Story, KeepsWhatEndedTheLongerWait) {
    const auto ended_by = [](std::uint64_t first, std::uint64_t second) {
        Story story;
        schedule::Piece piece;
        piece.culprit = task(1);
        for (const std::uint64_t ticks : {first, second}) {
            piece.begin = piece.end;
            piece.end = piece.begin + lib::Ticks{ticks};
            ++piece.ended_by.who;
            story.add(piece);
        }
        piece.ended_by.who = schedule::kUnknownContext;
        story.reduce(1);
        return story.passages().at(0).portions.at(0).ended_by.who - schedule::kUnknownContext;
    };
    EXPECT_EQ(ended_by(10, 9), 1U);
    EXPECT_EQ(ended_by(10, 10), 1U);
    EXPECT_EQ(ended_by(10, 11), 2U);
}

// The portion that is the least when there are 64 takes the ticks of every other culprit.
TEST(Story, KeepsSixtyFourPortionsOfAPassage) {
    Pieces pieces;
    for (std::uint32_t who = 1; who <= 66; ++who) {
        pieces.add(who, 10);
    }
    pieces.reduce(1);
    const std::vector<Portion>& portions = pieces.all().at(0).portions;
    ASSERT_EQ(pieces.all().size(), 1U);
    ASSERT_EQ(portions.size(), 64U);
    EXPECT_EQ(portions[0].culprit, task(64));
    EXPECT_EQ(portions[0].ticks, lib::Ticks{20});
    EXPECT_EQ(portions[1].culprit, task(63));
    EXPECT_EQ(portions[1].ticks, lib::Ticks{20});
    EXPECT_EQ(portions[2].culprit, task(1));
    EXPECT_EQ(portions[63].culprit, task(62));
    EXPECT_EQ(portions[63].ticks, lib::Ticks{10});
}

// 214 culprits with two pieces of one tick each, then 85 with one of two ticks: of two ticks each.
TEST(Story, ReducesMoreThan512PassagesToHalfOfThat) {
    Pieces pieces;
    std::uint32_t who = 1;
    for (; who <= 214; ++who) {
        pieces.add(who, 1).add(who, 1);
    }
    for (; who < 214 + 85; ++who) {
        pieces.add(who, 2);
    }
    EXPECT_EQ(pieces.all().size(), 512U);
    pieces.add(who, 2);
    EXPECT_EQ(pieces.all().size(), 256U);
    EXPECT_EQ(pieces.all().back().end, lib::Ticks{1598});
}

} // namespace

} // namespace host::analyse::why::story_test
