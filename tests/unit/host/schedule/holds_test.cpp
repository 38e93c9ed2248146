// SPDX-License-Identifier: MIT
// Tests who held which mutex, and where records were dropped: both from the same records. One tick is one nanosecond.
#include "host/schedule/intervals.hpp"

#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::schedule::holds_test {

namespace {

using ::testing::ElementsAre;

std::string text_of(const std::optional<Moment>& moment) {
    return moment ? std::to_string(moment->ticks.value) : "-";
}

class Scene {
  public:
    explicit Scene(std::string_view text) {
        for (const trace::Event& event : support::SceneReader().read(text)) {
            const auto changes = m_schedule.take(event);
            std::optional<Moment>& before = m_before[event.cpu];
            m_holds.take(event, m_schedule, before);
            m_losses.take(event, changes, before);
            before = Moment::of(event);
        }
    }

    Scene& finish() {
        m_holds.finish();
        return *this;
    }

    std::vector<std::string> holds;  // mutex of context begin..end how
    std::vector<std::string> losses; // processor records begin..end

  private:
    Schedule m_schedule;
    std::map<std::uint16_t, std::optional<Moment>> m_before;
    Holds m_holds{[this](const Hold& hold) {
        static constexpr auto kHow =
            std::to_array<std::string_view>({"unlocked", "taken", "owner died", "records lost", "end of trace"});
        holds.push_back(fmt::format("{} of {} {}..{} {}", hold.mutex, hold.context, hold.begin.ticks.value,
                                    text_of(hold.end), kHow[static_cast<std::size_t>(hold.how)]));
    }};
    Losses m_losses{[this](const Loss& loss) {
        losses.push_back(
            fmt::format("cpu {} {} records {}..{}", loss.cpu, loss.records, text_of(loss.begin), loss.end.ticks.value));
    }};
};

TEST(Holds, LastFromTheAcquisitionToTheUnlock) {
    Scene scene("0 switch 3; 10 acquire 3 7; 20 acquire 3 8; 30 unlock 3 7; 40 unlock 3 8; 50 unlock 3 8");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 unlocked", "8 of 3 20..40 unlocked"));
}

TEST(Holds, EndWithTheirOwnerOrWhenAnotherHasTheMutex) {
    Scene scene("10 acquire 3 7; 20 acquire 3 7; 30 acquire 4 7; 40 set_mutex_owner_died 4 7");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 taken", "7 of 4 30..40 owner died"));
}

TEST(Holds, ThatAreOpenEndWithTheLatestRecordOfAnyProcessor) {
    Scene scene("10 acquire 3 7; 90 ipoint @1; 80 ipoint");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..90 end of trace"));
    scene.finish();
    EXPECT_EQ(scene.holds.size(), 1U);
}

TEST(Holds, EndWithTheRecordBeforeAGap) {
    Scene scene(R"(0 switch 3; 10 acquire 3 7; 20 ipoint; 50 lost 4; 60 unlock 3 7; 70 switch 3; 80 acquire 3 7
                   90 trace_start)");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..20 records lost", "7 of 3 80..80 records lost"));
}

TEST(Holds, HaveNoEndIfNoRecordOfTheProcessorPrecedesTheGap) {
    Scene scene("10 acquire 3 7; 50 lost 4 @1");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..- records lost"));
}

// A start of tracing where nothing ran yet forgets nothing.
TEST(Holds, LastWhereNoRecordsAreMissing) {
    Scene scene("10 acquire 3 7; 20 trace_start; 30 unlock 3 7");
    scene.finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 unlocked"));
}

TEST(Losses, LastFromTheBlackoutsBeginElseFromTheRecordBefore) {
    Scene scene("10 ipoint; 20 blackout; 50 lost 4; 60 ipoint; 90 lost 5; 95 lost 6 @1");
    EXPECT_THAT(scene.losses, ElementsAre("cpu 0 4 records 20..50", "cpu 0 5 records 60..90", "cpu 1 6 records -..95"));
}

TEST(Losses, OfTwoProcessorsAreApart) {
    Scene scene("20 blackout; 30 blackout @1; 50 lost 4 @1; 60 lost 5; 70 trace_start");
    EXPECT_THAT(scene.losses, ElementsAre("cpu 1 4 records 30..50", "cpu 0 5 records 20..60"));
}

} // namespace

} // namespace host::schedule::holds_test
