// SPDX-License-Identifier: MIT
// Tests the items of a job's window, whole, and the causes that follow from them, in scenes of few records. A text is
// what text_of() in tests/support/why_scene.hpp makes of an item: begin..end role cause, then what is not as usual.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::why::window_test {

namespace {

using ::testing::ElementsAre;

class WhyWindow : public testing::Test {
  protected:
    static std::vector<std::string> items(const WhyScene& scene) { return texts_of(*scene.job().window); }

    static std::vector<std::string> causes(const WhyScene& scene) {
        return texts_of(diagnose(scene.job(), 0).findings);
    }
};

// A handler runs while the holder runs in the place of the task, and another task that precedes it.
TEST_F(WhyWindow, DividesBlockingByWhatRan) {
    WhyScene scene(kMiddle, R"(0 protocol 7 inheritance, switch low, release low due 3000; 10 acquire low 7
                               20 release middle due 220, low -> middle; 30 wait middle mutex 7
                               32 middle -> low for middle; 50 irq 32; 55 release high due 155; 58 iret 32, low -> high
                               80 irq 32; 85 iret 32; 150 complete high, high -> low for middle
                               200 unlock low 7, acquire middle 7, wake middle mutex 7; 203 low -> middle
                               250 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("20..20 until kernel by unknown ? #10", "20..32 own execution of 4 by task 4 total 12 #10",
                            "32..50 path critical_section of 3 object 7 by task 3 arrived 0 total 38 #15",
                            "50..58 preceding interrupt_load of 32 by interrupt 32 #16",
                            "58..80 preceding load by task 5 arrived 55 total 22 #23",
                            "80..85 preceding interrupt_load of 32 by interrupt 32 #24",
                            "85..150 preceding load by task 5 arrived 55 excess 37 total 87 #25",
                            "150..203 path critical_section of 3 object 7 by task 3 arrived 0 total 91 #30",
                            "203..250 own execution of 4 by task 4 arrived 200 total 59 #37"));
    EXPECT_THAT(causes(scene), ElementsAre("others_overrun gain 37 took 37 of 5 longest 65 at #25 greatest 87",
                                           "critical_section gain 71 took 71 of 3 object 7 longest 53 at #30",
                                           "interrupt_load gain 13 took 13 of 32 longest 8 at #16",
                                           "load gain 87 took 87 of ? longest 65 at #25 task 5 task 5",
                                           "execution gain 59 took 59 of ? longest 47 at #37"));
}

TEST_F(WhyWindow, NamesTheTasksThatRunForWantOfInheritance) {
    WhyScene scene(kHigh, R"(0 protocol 7 none, switch low, release low due 3000; 10 acquire low 7
                             20 release high due 120, low -> high; 30 release middle due 2030
                             40 wait high mutex 7, high -> middle; 90 irq 32; 94 iret 32
                             150 complete middle, middle -> low
                             160 unlock low 7, acquire high 7, wake high mutex 7, low -> high; 180 complete high)");
    EXPECT_THAT(
        items(scene),
        ElementsAre("20..20 until kernel by unknown ? #10", "20..40 own execution of 5 by task 5 total 20 #10",
                    "40..90 path missing_inheritance of 3 object 7 by task 4 arrived 30 total 50 #17",
                    "90..94 preceding interrupt_load of 32 by interrupt 32 #18",
                    "94..150 path missing_inheritance of 3 object 7 by task 4 arrived 30 excess 6 total 106 #19",
                    "150..160 path critical_section of 3 object 7 by task 3 arrived 0 total 30 #24",
                    "160..180 own execution of 5 by task 5 total 40 #31"));
    EXPECT_THAT(causes(scene),
                ElementsAre("missing_inheritance gain 110 took 106 of 3 object 7 longest 56 at #19 task 4 task 4",
                            "others_overrun gain 6 took 6 of 4 longest 56 at #19 greatest 106",
                            "critical_section gain 10 took 10 of 3 object 7 longest 10 at #24",
                            "interrupt_load gain 4 took 4 of 32 longest 4 at #18",
                            "execution gain 40 took 40 of ? longest 20 at #10"));
}

TEST_F(WhyWindow, KeepsWhatRanWhileTheHolderWaited) {
    WhyScene scene(kHigh, R"(0 switch low, release low due 3000; 10 acquire low 7
                             20 release high due 120, wait low semaphore 2, low -> high
                             30 blocked high 7, high -> middle; 60 irq 32; 65 iret 32
                             190 wake low semaphore 2, middle -> low for high; 195 unlock low 7, low -> high
                             199 complete high)");
    EXPECT_THAT(items(scene),
                ElementsAre("20..20 until kernel by unknown ? #10", "20..30 own execution of 5 by task 5 total 10 #10",
                            "30..60 until lock_across_wait of 3 object 7 wait 65538 by task 4 #15",
                            "30..60 note load by task 4 quiet #15",
                            "60..65 preceding interrupt_load of 32 by interrupt 32 #16",
                            "65..190 until lock_across_wait of 3 object 7 wait 65538 by task 4 #17",
                            "65..190 note load by task 4 quiet #17",
                            "190..195 path critical_section of 3 object 7 by task 3 total 25 #22",
                            "195..199 own execution of 5 by task 5 total 14 #27"));
    EXPECT_THAT(causes(scene),
                ElementsAre("lock_across_wait gain 160 took 155 of 3 object 7 wait 65538 longest 125 at #17",
                            "critical_section gain 5 took 5 of 3 object 7 longest 5 at #22",
                            "execution gain 4 took 14 of ? longest 10 at #10"));
}

// A task ends the wait; a handler and two other tasks run meanwhile, of which one precedes neither.
TEST_F(WhyWindow, DividesAWaitThatATaskEnds) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 150, idle -> middle
                               10 wait middle semaphore 2, middle -> idle; 20 irq 32; 24 release dated due 400
                               25 iret 32, idle -> dated; 40 release low due 3040, dated -> low
                               60 release high due 160, low -> high; 130 complete high, high -> low
                               170 wake middle semaphore 2, low -> middle; 190 complete middle)");
    EXPECT_THAT(
        items(scene),
        ElementsAre(
            "0..0 until kernel by unknown ? #6", "0..10 own execution of 4 by task 4 total 10 #6",
            "10..170 note late_event object 65538 by self ? ended by task 3 #11",
            "10..20 note kernel for 65538 worker 3 by task 1 ended by task 3 quiet #11",
            "20..25 preceding interrupt_load of 32 for 65538 worker 3 by interrupt 32 ended by task 3 quiet #11",
            "25..40 note load for 65538 worker 3 by task 7 ended by task 3 arrived 24 total 15 quiet #11",
            "40..60 path late_event object 65538 by task 3 ended by task 3 total 20 quiet #11",
            "60..130 preceding load worker 3 by task 5 ended by task 3 excess 20 total 70 quiet #11",
            "130..170 path late_event object 65538 by task 3 ended by task 3 arrived 40 total 60 quiet #11",
            "170..190 own execution of 4 by task 4 total 30 #41"));
    EXPECT_THAT(causes(scene),
                ElementsAre("late_event gain 160 took 160 of ? object 65538 longest 160 at #11 ended by task 3",
                            "others_overrun gain 20 took 20 of 5 longest 70 at #11 ended by task 3 greatest 70",
                            "execution gain 20 took 30 of ? longest 20 at #41"));
}

// High is due later than the task: its priority decides.
TEST_F(WhyWindow, KeepsADelayAndWhatRanMeanwhile) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 150, idle -> middle
                               10 wait middle delay, middle -> idle; 20 release high due 220, idle -> high; 60 irq 32
                               64 iret 32; 220 complete high, high -> low; 300 irq 32, wake middle delay
                               301 iret 32, low -> middle; 310 complete middle)");
    EXPECT_THAT(
        items(scene),
        ElementsAre("0..0 until kernel by unknown ? #6", "0..10 own execution of 4 by task 4 total 10 #6",
                    "10..300 delay late_event object 131072 by self ? ended by interrupt 32 #11",
                    "10..20 note kernel by task 1 ended by interrupt 32 quiet #11",
                    "20..60 preceding load by task 5 ended by interrupt 32 total 40 quiet #11",
                    "60..64 preceding interrupt_load of 32 by interrupt 32 ended by interrupt 32 quiet #11",
                    "64..220 preceding load by task 5 ended by interrupt 32 arrived 20 excess 146 total 196 quiet #11",
                    "220..300 note load by task 3 ended by interrupt 32 quiet #11",
                    "300..301 preceding interrupt_load of 32 by interrupt 32 #26",
                    "301..310 own execution of 4 by task 4 arrived 300 total 19 #31"));
    EXPECT_THAT(causes(scene),
                ElementsAre("late_event gain 291 took 290 of ? object 131072 longest 290 at #11 ended by interrupt 32",
                            "interrupt_load gain 1 took 1 of 32 longest 1 at #26",
                            "execution gain 20 took 19 of ? longest 10 at #6"));
}

// An interrupt ends the wait: at this moment, whatever else runs.
TEST_F(WhyWindow, KeepsTheMomentAtWhichAHandlerEndsAWait) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 150, idle -> middle
                               10 wait middle semaphore 2, middle -> high; 200 irq 32; 205 wake middle semaphore 2
                               206 iret 32, high -> middle; 210 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("0..0 until kernel by unknown ? #6", "0..10 own execution of 4 by task 4 total 10 #6",
                            "10..205 until late_event object 65538 by self ? ended by interrupt 32 #11",
                            "10..200 preceding load by task 5 ended by interrupt 32 quiet #11",
                            "200..205 preceding interrupt_load of 32 by interrupt 32 ended by interrupt 32 quiet #11",
                            "205..206 preceding interrupt_load of 32 by interrupt 32 arrived 200 #13",
                            "206..210 own execution of 4 by task 4 arrived 205 total 14 #18"));
    EXPECT_THAT(causes(scene), ElementsAre("execution gain 5 took 14 of ? longest 10 at #6",
                                           "interrupt_load gain 1 took 1 of 32 longest 1 at #13"));
}

TEST_F(WhyWindow, DividesTheTimeBeforeTheRecordOfARelease) {
    WhyScene scene(kMiddle, R"(0 switch low; 10 cli; 60 sti; 61 irq 32; 65 iret 32; 66 irq 32
                               70 release middle at 20 due 50; 72 iret 32; 74 low -> middle; 80 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("20..20 until kernel by unknown ? #6", "20..60 path interrupts_off of 3 by section 3 #6",
                            "60..61 path interrupts_off of 3 by task 3 #6",
                            "61..65 preceding interrupt_load of 32 by interrupt 32 arrived 20 #6",
                            "65..66 path interrupts_off of 3 by task 3 #6",
                            "66..70 preceding interrupt_load of 32 by interrupt 32 arrived 20 #6",
                            "70..72 preceding interrupt_load of 32 by interrupt 32 arrived 20 #7",
                            "72..74 path kernel by kernel 3 #8",
                            "74..80 own execution of 4 by task 4 arrived 20 total 6 #12"));
    EXPECT_THAT(causes(scene), ElementsAre("interrupts_off gain 42 took 42 of 3 longest 40 at #6",
                                           "interrupt_load gain 10 took 10 of 32 longest 4 at #6",
                                           "execution gain 6 took 6 of ? longest 6 at #12",
                                           "kernel gain 2 took 2 of ? longest 2 at #8"));
}

TEST_F(WhyWindow, KeepsWhatIsServedWithoutBudget) {
    WhyScene scene(kServed, R"(0 server 9 deferrable capacity 40 period 500 for served, budget 9 40, switch idle
                               10 release served due 300, idle -> served; 50 exhaust 9, budget 9 0, served -> low
                               100 irq 32; 130 iret 32; 500 budget 9 40, low -> high; 510 complete high, high -> served
                               520 complete served)");
    EXPECT_THAT(items(scene),
                ElementsAre("10..10 until kernel by unknown ? #12", "10..50 own execution of 6 by task 6 total 40 #12",
                            "50..500 until server_budget of 9 by throttling 9 #18",
                            "50..100 note load by task 3 quiet #18",
                            "100..130 preceding interrupt_load of 32 by interrupt 32 quiet #18",
                            "130..500 note load by task 3 quiet #18", "500..510 preceding load by task 5 #25",
                            "510..520 own execution of 6 by task 6 arrived 10 total 50 #30"));
    EXPECT_THAT(causes(scene), ElementsAre("server_budget gain 460 took 450 of 9 longest 450 at #18 decisive",
                                           "execution gain 20 took 50 of ? longest 40 at #12",
                                           "load gain 10 took 10 of ? longest 10 at #25 task 5"));
}

TEST_F(WhyWindow, CountsInterruptsOffOfATaskThatDoesNotPrecede) {
    WhyScene scene(kHigh, R"(0 switch low; 10 irq 32; 12 release high at 11 due 111; 13 iret 32; 14 cli; 120 sti
                             121 low -> high; 126 cli; 128 sti; 130 complete high)");
    EXPECT_THAT(items(scene),
                ElementsAre("11..11 until kernel by unknown ? #2",
                            "11..12 preceding interrupt_load of 32 by interrupt 32 #2",
                            "12..13 preceding interrupt_load of 32 by interrupt 32 arrived 11 #3",
                            "13..14 path kernel by kernel 3 #4", "14..120 path interrupts_off of 3 by section 3 #5",
                            "120..121 path kernel by kernel 3 #6",
                            "121..130 own execution of 5 by task 5 arrived 11 total 9 #10"));
    EXPECT_THAT(causes(scene), ElementsAre("interrupts_off gain 106 took 106 of 3 longest 106 at #5",
                                           "interrupt_load gain 2 took 2 of 32 longest 1 at #2",
                                           "execution gain 9 took 9 of ? longest 9 at #10",
                                           "kernel gain 2 took 2 of ? longest 1 at #4"));
}

// Of the earlier job remains what delayed this one, of which the release was during it.
TEST_F(WhyWindow, BeginsWhereTheProcessorWasFree) {
    WhyScene scene(kMiddle, {.which = Wanted::Which::number, .number = 2});
    scene.play(R"(0 switch low; 5 release middle at 0 due 100; 6 low -> middle; 30 complete middle; 31 middle -> low
                  70 irq 32; 75 release high due 175; 76 iret 32; 77 low -> high; 150 irq 32
                  155 release middle at 150 due 250; 156 iret 32; 180 complete high; 181 high -> middle
                  290 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("31..70 note load by task 3 job 0 quiet #21",
                            "70..76 preceding interrupt_load of 32 by interrupt 32 job 0 quiet #21",
                            "76..77 note load by task 3 job 0 quiet #21",
                            "77..150 preceding load by task 5 arrived 75 excess 23 total 73 job 0 quiet #21",
                            "150..150 until kernel by unknown ? job 2 #21",
                            "150..155 preceding interrupt_load of 32 by interrupt 32 job 2 #21",
                            "155..156 preceding interrupt_load of 32 by interrupt 32 arrived 150 job 2 #22",
                            "156..181 preceding load by task 5 arrived 75 excess 24 total 97 job 2 #23",
                            "181..290 own execution of 4 by task 4 arrived 150 excess 9 total 109 job 2 #28"));
    EXPECT_THAT(causes(scene),
                ElementsAre("execution gain 139 took 100 of ? longest 109 at #28",
                            "others_overrun gain 24 took 47 of 5 longest 73 at #21 greatest 97 since 127",
                            "own_overrun gain 9 took 9 of 4 longest 109 at #28 greatest 109",
                            "interrupt_load gain 7 took 6 of 32 longest 5 at #21",
                            "load gain 24 took 25 of ? longest 25 at #23 task 5"));
}

TEST_F(WhyWindow, FollowsAJobThatBeganWithinTheOneBefore) {
    WhyScene scene(kMiddle, {.which = Wanted::Which::number, .number = 2});
    scene.play(R"(0 switch low; 5 release middle at 0 due 100; 6 low -> middle; 130 complete middle
                  131 release middle at 100 due 200; 210 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("0..0 until kernel by unknown ? #1", "0..5 path interrupts_off of 3 by task 3 #1",
                            "5..6 path kernel by kernel 3 #2",
                            "6..130 own execution of 4 by task 4 arrived 0 excess 24 total 124 #6",
                            "100..100 until kernel by unknown ? job 2 #8", "130..131 preceding load by task 4 job 2 #8",
                            "131..210 own execution of 4 by task 4 arrived 100 total 79 job 2 #9"));
    EXPECT_THAT(causes(scene),
                ElementsAre("others_overrun gain 24 took 24 of 4 longest 124 at #6 greatest 124 since 106",
                            "execution gain 80 took 79 of ? longest 79 at #9",
                            "load gain 1 took 1 of ? longest 1 at #8 task 4"));
}

// The task by deadlines is due before the one that runs, and after it again.
TEST_F(WhyWindow, TakesTheOrderOfDeadlinesAmongTasksByDeadline) {
    WhyScene scene(kDated, R"(0 switch idle, release middle due 2000, release dated due 100, idle -> middle
                              90 complete middle; 92 middle -> dated; 150 complete dated)");
    EXPECT_THAT(items(scene),
                ElementsAre("0..0 until kernel by unknown ? #8", "0..92 preceding load by task 4 total 90 later #8",
                            "92..150 own execution of 7 by task 7 arrived 0 excess 8 total 58 #13"));
    EXPECT_THAT(causes(scene), ElementsAre("priority_order gain 92 took 92 of ? longest 92 at #8 task 4",
                                           "own_overrun gain 8 took 8 of 7 longest 58 at #13 greatest 58",
                                           "execution gain 150 took 50 of ? longest 58 at #13",
                                           "load gain 92 took 92 of ? longest 92 at #8 task 4"));
}

// Low runs in the place of middle, for which high waits as well, before high is released: then it waits for the chain.
TEST_F(WhyWindow, TakesABoundedInversionForLoad) {
    WhyScene scene(kMiddle, R"(0 switch low, release low due 3000; 10 acquire low 7
                               20 release middle due 100, low -> middle; 30 blocked middle 7, middle -> low for middle
                               40 release high due 140, low -> high; 95 complete high, high -> low for middle
                               120 unlock low 7, acquire middle 7, low -> middle; 125 complete middle)");
    EXPECT_THAT(items(scene),
                ElementsAre("20..20 until kernel by unknown ? #9", "20..30 own execution of 4 by task 4 total 10 #9",
                            "30..40 path critical_section of 3 object 7 by task 3 arrived 0 total 30 #14",
                            "40..95 preceding load by task 5 excess 5 total 55 #20",
                            "95..120 path critical_section of 3 object 7 by task 3 arrived 0 total 55 #25",
                            "120..125 own execution of 4 by task 4 total 15 #31"));
    EXPECT_THAT(causes(scene), ElementsAre("critical_section gain 90 took 35 of 3 object 7 longest 25 at #25",
                                           "others_overrun gain 5 took 5 of 5 longest 55 at #20 greatest 55",
                                           "load gain 55 took 55 of ? longest 55 at #20 task 5",
                                           "execution gain 15 took 15 of ? longest 10 at #9"));
}

// Before the first switch no record says what runs; a switch takes from 20 to 25.
TEST_F(WhyWindow, KeepsTimeOfTheKernelAndOfWhatIsNotKnown) {
    WhyScene scene(kMiddle, R"(0 release middle due 20; 5 switch middle; 10 wait middle delay, leave middle
                               14 task_schedule low low, task_dispatch low; 15 switch low; 20 leave low
                               24 task_schedule idle idle, task_dispatch idle; 25 switch idle; 30 wake middle delay
                               31 idle -> middle; 40 complete middle)");
    EXPECT_THAT(items(scene), ElementsAre("0..0 until kernel by unknown ? #1", "0..5 path unknown by unknown ? #1",
                                          "5..15 own execution of 4 by task 4 arrived 0 total 10 #2",
                                          "15..30 delay late_event object 131072 by self ? ended by task 1 #7",
                                          "15..20 note load by task 3 ended by task 1 quiet #7",
                                          "20..25 note load by kernel 3 ended by task 1 quiet #7",
                                          "25..30 note kernel by task 1 ended by task 1 quiet #7",
                                          "30..31 path kernel by kernel 1 #12",
                                          "31..40 own execution of 4 by task 4 arrived 30 total 19 #16"));
    EXPECT_THAT(causes(scene),
                ElementsAre("execution gain 19 took 19 of ? longest 10 at #2",
                            "late_event gain 15 took 15 of ? object 131072 longest 15 at #7 ended by task 1",
                            "unknown gain 5 took 5 of ? longest 5 at #1",
                            "kernel gain 1 took 1 of ? longest 1 at #12"));
}

// High is due before it, middle after it: the order of priorities is at fault for middle alone. An interrupt whose
// vector is the number of middle changes no deadline.
TEST_F(WhyWindow, CountsOnlyWhatIsDueLaterForTheOrder) {
    WhyScene scene(kDated, R"(0 switch idle, release middle due 2000, release high due 90, release dated due 100
                              idle -> high; 30 complete high, high -> middle; 50 interrupt_hit middle
                              90 complete middle, middle -> dated; 130 complete dated)");
    EXPECT_THAT(items(scene),
                ElementsAre("0..0 until kernel by unknown ? #10", "0..30 preceding load by task 5 total 30 #10",
                            "30..90 preceding load by task 4 arrived 0 total 60 later #15",
                            "90..130 own execution of 7 by task 7 arrived 0 total 40 #21"));
    EXPECT_THAT(causes(scene), ElementsAre("priority_order gain 60 took 60 of ? longest 60 at #15 task 4",
                                           "execution gain 130 took 40 of ? longest 40 at #21",
                                           "load gain 90 took 90 of ? longest 60 at #15 task 5 task 4"));
}

// Task 10 precedes it only because its deadline was postponed; high would have run in any case.
TEST_F(WhyWindow, CountsLoadThatPrecedesAPostponedDeadlineForTheServer) {
    WhyScene scene(kDated, R"(0 server 9 CBS capacity 40 period 100 for dated, budget 9 40, switch idle
                              10 server_active 7 9, server_deadline 9 110, release dated due 110, idle -> dated
                              50 exhaust 9, server_deadline 9 210, due dated 210, release 10 due 150, dated -> 10
                              80 complete 10, release high due 180, 10 -> high; 100 complete high, high -> dated
                              150 complete dated)");
    EXPECT_THAT(items(scene), ElementsAre("10..10 until kernel by unknown ? #14",
                                          "10..50 own execution of 7 by task 7 total 40 postponed #14",
                                          "50..80 preceding load by task 10 total 30 postponed #23",
                                          "80..100 preceding load by task 5 total 20 #30",
                                          "100..150 own execution of 7 by task 7 arrived 10 excess 40 total 90 "
                                          "postponed #35"));
    EXPECT_THAT(causes(scene), ElementsAre("own_overrun gain 40 took 40 of 7 longest 50 at #35 greatest 90",
                                           "server_budget gain 30 took 30 of 9 longest 30 at #23 decisive",
                                           "execution gain 140 took 50 of ? longest 50 at #35",
                                           "load gain 50 took 50 of ? longest 30 at #23 task 10 task 5"));
}

// A polling or deferrable server postpones nothing: what ran after its budget was used up would have run in any case.
TEST_F(WhyWindow, CountsNoLoadForAServerOfFixedPriority) {
    WhyScene scene(kServed, R"(0 server 9 deferrable capacity 40 period 500 for served, budget 9 40, switch idle
                               release high due 100; 10 release served due 100, idle -> high
                               40 complete high, high -> served; 80 exhaust 9, release high due 180, served -> high
                               150 complete high, high -> served; 170 complete served)");
    EXPECT_THAT(causes(scene), ElementsAre("load gain 100 took 100 of ? longest 70 at #26 task 5 task 5",
                                           "others_overrun gain 20 took 20 of 5 longest 70 at #26 greatest 70",
                                           "execution gain 160 took 60 of ? longest 40 at #19"));
}

TEST_F(WhyWindow, ClaimsNothingOfAMutexWithoutAKnownHolder) {
    WhyScene scene(kHigh, R"(0 switch low, release low due 3000; 20 release high due 120, low -> high
                             40 wait high mutex 7, high -> middle; 90 irq 32; 94 iret 32
                             140 wake high mutex 7, middle -> high; 170 complete high)");
    EXPECT_THAT(items(scene),
                ElementsAre("20..20 until kernel by unknown ? #8", "20..40 own execution of 5 by task 5 total 20 #8",
                            "40..90 path unknown object 7 by task 4 #13",
                            "90..94 preceding interrupt_load of 32 by interrupt 32 #14",
                            "94..140 path unknown object 7 by task 4 #15",
                            "140..170 own execution of 5 by task 5 total 50 #20"));
    EXPECT_THAT(causes(scene), ElementsAre("execution gain 50 took 50 of ? longest 30 at #20",
                                           "interrupt_load gain 4 took 4 of 32 longest 4 at #14",
                                           "unknown gain 100 took 96 of ? object 7 longest 50 at #13"));
}

} // namespace

} // namespace host::analyse::why::window_test
