// SPDX-License-Identifier: MIT
// Interrupt handlers as they are nested: their depth, the task that they interrupted, and what a trace does not show of
// them. One tick is one nanosecond.
#include "host/schedule/handlers.hpp"

#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;

class HandlerScene {
  public:
    HandlerScene& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1, std::uint16_t cpu = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1});
        event.cpu = cpu;
        event.ticks = {stamp};
        event.time_ns = static_cast<std::int64_t>(stamp);
        event.timed = true;
        const auto changes = m_schedule.take(event);
        m_handlers.take(event, changes, m_schedule);
        return *this;
    }

    std::vector<std::string> finish() {
        m_handlers.finish();
        return m_texts;
    }

  private:
    Schedule m_schedule;
    std::vector<std::string> m_texts;
    Handlers m_handlers{[this](const Handler& handler) {
        m_texts.push_back(fmt::format("cpu {} vector {} depth {} on {} {}..{}", handler.cpu, handler.vector,
                                      handler.depth, handler.task, handler.begin.ticks.value,
                                      handler.end ? std::to_string(handler.end->ticks.value) : "-"));
    }};
};

TEST(Handlers, HaveTheDepthInWhichTheyAreNested) {
    HandlerScene scene;
    scene.at(1, "context_switch", 5).at(10, "interrupt_start", 240).at(20, "interrupt_start", 33);
    scene.at(25, "interrupt_start", 2).at(28, "interrupt_end", 2).at(30, "interrupt_end", 33);
    scene.at(35, "interrupt_start", 34).at(36, "interrupt_end", 34).at(40, "interrupt_end", 240);
    scene.at(50, "interrupt_start", 240).at(60, "interrupt_end", 240);
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 2 depth 3 on 5 25..28", "cpu 0 vector 33 depth 2 on 5 20..30",
                            "cpu 0 vector 34 depth 2 on 5 35..36", "cpu 0 vector 240 depth 1 on 5 10..40",
                            "cpu 0 vector 240 depth 1 on 5 50..60"));
}

TEST(Handlers, AreNestedInThoseOfTheirProcessorAlone) {
    HandlerScene scene;
    scene.at(1, "context_switch", 5).at(2, "context_switch", 6, 1).at(10, "interrupt_start", 240);
    scene.at(11, "interrupt_start", 240, 1).at(12, "interrupt_end", 240).at(13, "interrupt_end", 240, 1);
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 240 depth 1 on 5 10..12", "cpu 1 vector 240 depth 1 on 6 11..13"));
}

TEST(Handlers, HaveNoEndWhereItsRecordIsMissing) {
    HandlerScene scene;
    scene.at(1, "context_switch", 5).at(10, "interrupt_start", 240).at(20, "interrupt_start", 33);
    scene.at(30, "interrupt_end", 240).at(40, "interrupt_start", 34);
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 33 depth 2 on 5 20..-", "cpu 0 vector 240 depth 1 on 5 10..30",
                            "cpu 0 vector 34 depth 1 on 5 40..-"));
}

TEST(Handlers, HaveNoEndWhereAGapBegins) {
    HandlerScene scene;
    scene.at(1, "context_switch", 5).at(10, "interrupt_start", 240).at(20, "blackout_start", 0);
    scene.at(30, "blackout_end", 0).at(40, "interrupt_end", 240);
    EXPECT_THAT(scene.finish(), ElementsAre("cpu 0 vector 240 depth 1 on 5 10..-"));
}

} // namespace

} // namespace host::schedule
