// SPDX-License-Identifier: MIT
// Who held which mutex, and where records were dropped: both from the same records. One tick is one nanosecond.
#include "host/schedule/holds.hpp"
#include "host/schedule/losses.hpp"

#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const std::optional<Moment>& moment) {
    return moment ? std::to_string(moment->ticks.value) : "-";
}

class Scene {
  public:
    Scene& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0,
              std::uint16_t cpu = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        event.cpu = cpu;
        event.ticks = {stamp};
        const auto changes = m_schedule.take(event);
        std::optional<Moment>& before = m_before[cpu];
        m_holds.take(event, m_schedule, before);
        m_losses.take(event, changes, before);
        before = Moment::of(event);
        return *this;
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
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "set_mutex_acquire", 3, 7).at(20, "set_mutex_acquire", 3, 8);
    scene.at(30, "set_mutex_unlock", 3, 7).at(40, "set_mutex_unlock", 3, 8).at(50, "set_mutex_unlock", 3, 8).finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 unlocked", "8 of 3 20..40 unlocked"));
}

TEST(Holds, EndWithTheirOwnerOrWhenAnotherHasTheMutex) {
    Scene scene;
    scene.at(10, "set_mutex_acquire", 3, 7).at(20, "set_mutex_acquire", 3, 7).at(30, "set_mutex_acquire", 4, 7);
    scene.at(40, "set_mutex_owner_died", 4, 7).finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 taken", "7 of 4 30..40 owner died"));
}

TEST(Holds, ThatAreOpenEndWithTheLatestRecordOfAnyProcessor) {
    Scene scene;
    scene.at(10, "set_mutex_acquire", 3, 7).at(90, "ipoint", 0, 0, 1).at(80, "ipoint").finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..90 end of trace"));
    scene.finish();
    EXPECT_EQ(scene.holds.size(), 1U);
}

TEST(Holds, EndWithTheRecordBeforeAGap) {
    Scene scene;
    scene.at(0, "context_switch", 3).at(10, "set_mutex_acquire", 3, 7).at(20, "ipoint");
    scene.at(50, "blackout_end", 0, 4).at(60, "set_mutex_unlock", 3, 7);
    scene.at(70, "context_switch", 3).at(80, "set_mutex_acquire", 3, 7).at(90, "trace_start").finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..20 records lost", "7 of 3 80..80 records lost"));
}

TEST(Holds, HaveNoEndIfNoRecordOfTheProcessorPrecedesTheGap) {
    Scene scene;
    scene.at(10, "set_mutex_acquire", 3, 7).at(50, "blackout_end", 0, 4, 1).finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..- records lost"));
}

// A start of tracing where nothing ran yet forgets nothing.
TEST(Holds, LastWhereNoRecordsAreMissing) {
    Scene scene;
    scene.at(10, "set_mutex_acquire", 3, 7).at(20, "trace_start").at(30, "set_mutex_unlock", 3, 7).finish();
    EXPECT_THAT(scene.holds, ElementsAre("7 of 3 10..30 unlocked"));
}

TEST(Losses, LastFromTheBlackoutsBeginElseFromTheRecordBefore) {
    Scene scene;
    scene.at(10, "ipoint").at(20, "blackout_start").at(50, "blackout_end", 0, 4);
    scene.at(60, "ipoint").at(90, "blackout_end", 0, 5).at(95, "blackout_end", 0, 6, 1);
    EXPECT_THAT(scene.losses, ElementsAre("cpu 0 4 records 20..50", "cpu 0 5 records 60..90", "cpu 1 6 records -..95"));
}

TEST(Losses, OfTwoProcessorsAreApart) {
    Scene scene;
    scene.at(20, "blackout_start").at(30, "blackout_start", 0, 0, 1).at(50, "blackout_end", 0, 4, 1);
    scene.at(60, "blackout_end", 0, 5).at(70, "trace_start");
    EXPECT_THAT(scene.losses, ElementsAre("cpu 1 4 records 30..50", "cpu 0 5 records 20..60"));
}

} // namespace

} // namespace host::schedule
