// SPDX-License-Identifier: MIT
// Tests interrupt handlers as they are nested: their depth, the task that they interrupted, and what a trace does not
// show of them. One tick is one nanosecond.
#include "host/schedule/intervals.hpp"

#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace host::schedule::handlers_test {

namespace {

using ::testing::ElementsAre;

class HandlerScene {
  public:
    explicit HandlerScene(std::string_view text) {
        for (const trace::Event& event : support::SceneReader().read(text)) {
            const auto changes = m_schedule.take(event);
            m_handlers.take(event, changes, m_schedule);
        }
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
    HandlerScene scene(R"(1 switch 5; 10 irq 240; 20 irq 33; 25 irq 2; 28 iret 2; 30 iret 33; 35 irq 34; 36 iret 34
                          40 iret 240; 50 irq 240; 60 iret 240)");
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 2 depth 3 on 5 25..28", "cpu 0 vector 33 depth 2 on 5 20..30",
                            "cpu 0 vector 34 depth 2 on 5 35..36", "cpu 0 vector 240 depth 1 on 5 10..40",
                            "cpu 0 vector 240 depth 1 on 5 50..60"));
}

TEST(Handlers, AreNestedInThoseOfTheirProcessorAlone) {
    HandlerScene scene("1 switch 5; 2 switch 6 @1; 10 irq 240; 11 irq 240 @1; 12 iret 240; 13 iret 240 @1");
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 240 depth 1 on 5 10..12", "cpu 1 vector 240 depth 1 on 6 11..13"));
}

TEST(Handlers, HaveNoEndWhereItsRecordIsMissing) {
    HandlerScene scene("1 switch 5; 10 irq 240; 20 irq 33; 30 iret 240; 40 irq 34");
    EXPECT_THAT(scene.finish(),
                ElementsAre("cpu 0 vector 33 depth 2 on 5 20..-", "cpu 0 vector 240 depth 1 on 5 10..30",
                            "cpu 0 vector 34 depth 1 on 5 40..-"));
}

TEST(Handlers, HaveNoEndWhereAGapBegins) {
    HandlerScene scene("1 switch 5; 10 irq 240; 20 blackout; 30 lost 0; 40 iret 240");
    EXPECT_THAT(scene.finish(), ElementsAre("cpu 0 vector 240 depth 1 on 5 10..-"));
}

} // namespace

} // namespace host::schedule::handlers_test
