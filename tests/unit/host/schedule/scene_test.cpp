// SPDX-License-Identifier: MIT
// Tests the texts by which the tests of this folder and of others say what happens (tests/support/scene.hpp).
#include "tests/support/scene.hpp"

#include "host/text/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace scene_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> records(std::string_view text) {
    std::vector<std::string> texts;
    for (const host::trace::Event& event : support::SceneReader().read(text)) {
        texts.push_back(fmt::format("{} {} {} {:x}{}", event.ticks.value, event.row->name, event.par1, event.par2,
                                    event.cpu == 0 ? "" : fmt::format(" @{}", event.cpu)));
    }
    return texts;
}

TEST(Scene, HasGroupsOfEventsWithOneTime) {
    EXPECT_THAT(records("5 switch low, cli; 7 sti\n 9 iret 33 @1; timer; !8 CLI @1"),
                ElementsAre("5 context_switch 3 0", "5 CLI 0 0", "7 STI 0 0", "9 interrupt_end 33 0 @1",
                            "9 timer_wakeup_start 0 0", "8 CLI 0 0 @1"));
    EXPECT_THAT(records(" ;\n, "), ElementsAre());
}

TEST(Scene, AChangeHasTheRecordsOfLeavingAndOfTheNextTask) {
    EXPECT_THAT(records("5 low -> high"), ElementsAre("5 task_epilogue 3 0", "5 task_schedule 5 5",
                                                      "5 task_dispatch 5 0", "5 context_switch 5 0"));
    EXPECT_THAT(records("5 12 -> 13 for 14 in 2"), ElementsAre("5 task_epilogue 12 0", "5 task_schedule 13 e",
                                                               "5 task_dispatch 13 0", "7 context_switch 13 0"));
    EXPECT_THAT(records("5 low -> low"),
                ElementsAre("5 task_epilogue 3 0", "5 task_schedule 3 3", "5 task_dispatch 3 0"))
        << "the same task continues without a switch";
}

TEST(Scene, WordsOfSeveralPartsAreTheRecordsOfTheKernel) {
    EXPECT_THAT(records("5 dispatch 12 for 13 first"),
                ElementsAre("5 task_schedule 12 d", "5 task_begin_cycle 12 0", "5 task_dispatch 12 0"));
    EXPECT_THAT(records("5 choose 12 for 13, finish idle"),
                ElementsAre("5 task_schedule 12 d", "5 task_epilogue 1 0", "5 task_end_cycle 1 0"));
    EXPECT_THAT(records("0x1'0000'0005 release 12 due 0x1'0000'0006"),
                ElementsAre("4294967301 job_release 12 5", "4294967301 job_deadline 12 6"))
        << "records have the low half of a time";
    EXPECT_THAT(records("5 release 12 by timer at 3 due 9"),
                ElementsAre("5 task_timer 12 0", "5 job_release 12 3", "5 job_deadline 12 9"));
    EXPECT_THAT(records("5 server 9 polling capacity 40 period 500 for served"),
                ElementsAre("5 server_create 0 9", "5 server_kind 3 9", "5 server_capacity 9 28",
                            "5 server_period 9 1f4", "5 server_attach 9 6"));
    EXPECT_THAT(records("5 protocol 7 ceiling, wait high mutex 7, wake high delay, lost 4"),
                ElementsAre("5 set_mutex_protocol 2 7", "5 task_block 5 80007", "5 task_unblock 5 20000",
                            "5 blackout_end 0 4"));
    EXPECT_THAT(records("5 server_attach 9 0x1'0001, ipoint"), ElementsAre("5 server_attach 9 10001", "5 ipoint 0 0"));
}

TEST(Scene, NamesWhatIsWrong) {
    for (const auto& [text, why] :
         {std::pair<std::string_view, std::string_view>{"5 swich low", "no event has the name"},
          {"5", "an argument is missing"},
          {"5 switch", "an argument is missing"},
          {"5 switch lo", "lo is no number"},
          {"5 switch 65536", "65536 is too large"},
          {"5 switch low 4", "4 is too much"},
          {"5 cli, 6 sti", "a semicolon is missing"},
          {"5 cli; 4 sti", "at 4, after 5"},
          {"5 cli @x", "a processor has a number"},
          {"5 wait low mutexes", "mutexes is no number"},
          {"5 release low by tick", "by timer"},
          {"5 server 9 polling", "for a task"},
          {"5 low ->", "an argument is missing"},
          {"0x switch low", "no event has the name"}}) {
        try {
            static_cast<void>(records(text));
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr(why)) << text;
        }
    }
}

} // namespace scene_test
