// SPDX-License-Identifier: MIT
// Tests what each record changes in the model of the queues.
#include "tests/support/model_journal.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::model_test {

namespace {

using testing::ElementsAre;

constexpr std::uint32_t kSemaphore = (1U << 16) | 7U;
constexpr std::uint32_t kSuspended = 6U << 16;

TEST(OracleModel, FollowsTheJobsOfATask) {
    Journal journal;
    journal.at(0, "trace_start", 0, 1'000'000).at(1, "task_create", 1).at(2, "job_release", 1, 2);
    journal.at(3, "task_create", 12)
        .at(4, "id", 14)
        .at(100, "job_release", 12, 90)
        .at(101, "job_deadline", 12, 300'090);
    journal.at(110, "task_schedule", 12, 12).at(111, "task_begin_cycle", 12).at(112, "task_dispatch", 12);
    journal.at(200, "task_epilogue", 12).at(201, "task_end_cycle", 12).at(210, "task_schedule", 1, 1);
    journal.at(211, "task_dispatch", 1).at(250, "task_disable", 12).at(260, "task_end", 12);
    EXPECT_THAT(journal.take(),
                ElementsAre("trace_start 0 1000000: model complete",
                            "task_create 1 0: task 1 background ready no begun ? idle turn 0",
                            "job_release 1 2: model complete, jobs, owners",
                            "job_release 1 2: task 1 background ready yes begun no idle released 2 turn 1",
                            "task_create 12 0: task 12 edf ready no begun ? turn 0",
                            "id 14 0: task 14 round robin ready ? begun ? turn 0",
                            "job_release 12 90: task 12 edf ready yes begun no released 90 turn 2",
                            "job_deadline 12 300090: task 12 edf ready yes begun no released 90 due 300090 turn 3",
                            "task_begin_cycle 12 0: task 12 edf ready yes begun yes kept released 90 due 300090 turn 3",
                            "task_dispatch 12 0: runs 12 for 12 since 110", "task_epilogue 12 0: runs is gone",
                            "task_end_cycle 12 0: task 12 edf ready no begun yes kept released 90 due 300090 turn 3",
                            "task_schedule 1 1: task 14 round robin ready no begun ? turn 0",
                            "task_dispatch 1 0: runs 1 for 1 since 210", "task_end 12 0: task 12 is gone"));
}

TEST(OracleModel, FollowsWaits) {
    Journal journal;
    journal.at(1, "task_create", 12).at(2, "job_release", 12, 2).take();
    journal.at(10, "task_block", 12, kSemaphore).at(20, "task_unblock", 12, kSemaphore);
    journal.at(30, "task_block", 12, kSuspended).at(40, "task_unblock", 12, kSuspended);
    journal.at(50, "task_block", 12, kSemaphore).at(60, "task_unblock", 12, kSuspended);
    journal.at(70, "slice_end", 12).at(80, "task_sleep", 12).at(90, "slice_end", 12).at(95, "job_abort", 12);
    EXPECT_THAT(journal.take(),
                ElementsAre("task_block 12 65543: task 12 edf ready no begun no released 2 turn 1",
                            "task_unblock 12 65543: task 12 edf ready yes begun no released 2 turn 2",
                            "task_block 12 393216: task 12 edf ready no begun no suspended released 2 turn 2",
                            "task_unblock 12 393216: task 12 edf ready yes begun no released 2 turn 2",
                            "task_block 12 65543: task 12 edf ready no begun no released 2 turn 2",
                            "task_unblock 12 393216: task 12 edf ready yes begun no released 2 turn 0",
                            "slice_end 12 0: task 12 edf ready yes begun no released 2 turn 3",
                            "task_sleep 12 0: task 12 edf ready no begun no released 2 turn 3"));
}

TEST(OracleModel, FollowsMutexes) {
    Journal journal;
    journal.at(1, "task_create", 12).at(2, "task_create", 13).at(3, "job_release", 12, 2);
    journal.at(4, "job_release", 13, 2).take();
    journal.at(10, "set_mutex_create", 0, 7).at(11, "set_mutex_protocol", 2, 7).at(12, "set_mutex_ceiling", 7, 300);
    journal.at(20, "set_mutex_lock", 12, 7).at(21, "set_mutex_acquire", 12, 7).at(30, "set_mutex_block", 13, 7);
    journal.at(40, "set_mutex_unlock", 12, 7).at(41, "set_mutex_acquire", 13, 7).at(50, "set_mutex_block", 12, 7);
    journal.at(60, "set_mutex_timeout", 12, 7).at(70, "set_mutex_block", 12, 7).at(80, "set_mutex_deadlock", 12, 7);
    journal.at(90, "set_mutex_owner_died", 13, 7).at(91, "set_mutex_acquire", 13, 7).at(92, "set_mutex_block", 12, 7);
    journal.at(93, "job_abort", 13).at(94, "set_mutex_acquire", 12, 7).at(95, "task_end", 12);
    journal.at(96, "set_mutex_protocol", 3, 8).at(97, "set_mutex_protocol", 77, 7);
    EXPECT_THAT(journal.take(),
                ElementsAre("set_mutex_create 0 7: mutex 7 protocol 1 owner 0",
                            "set_mutex_protocol 2 7: mutex 7 protocol 2 ceiling 4294967295 owner 0",
                            "set_mutex_ceiling 7 300: mutex 7 protocol 2 ceiling 300 owner 0",
                            "set_mutex_acquire 12 7: mutex 7 protocol 2 ceiling 300 owner 12",
                            "set_mutex_block 13 7: task 13 fixed ready yes begun no released 2 turn 2 blocked on 7",
                            "set_mutex_unlock 12 7: mutex 7 protocol 2 ceiling 300 owner 0",
                            "set_mutex_acquire 13 7: mutex 7 protocol 2 ceiling 300 owner 13",
                            "set_mutex_acquire 13 7: task 13 fixed ready yes begun no released 2 turn 2",
                            "set_mutex_block 12 7: task 12 edf ready yes begun no released 2 turn 1 blocked on 7",
                            "set_mutex_timeout 12 7: task 12 edf ready yes begun no released 2 turn 1",
                            "set_mutex_block 12 7: task 12 edf ready yes begun no released 2 turn 1 blocked on 7",
                            "set_mutex_deadlock 12 7: task 12 edf ready yes begun no released 2 turn 1",
                            "set_mutex_owner_died 13 7: mutex 7 protocol 2 ceiling 300 owner 0",
                            "set_mutex_acquire 13 7: mutex 7 protocol 2 ceiling 300 owner 13",
                            "set_mutex_block 12 7: task 12 edf ready yes begun no released 2 turn 1 blocked on 7",
                            "job_abort 13 0: mutex 7 protocol 2 ceiling 300 owner 0",
                            "job_abort 13 0: task 13 fixed ready no begun no released 2 turn 2",
                            "set_mutex_acquire 12 7: mutex 7 protocol 2 ceiling 300 owner 12",
                            "set_mutex_acquire 12 7: task 12 edf ready yes begun no released 2 turn 1",
                            "task_end 12 0: mutex 7 protocol 2 ceiling 300 owner 0", "task_end 12 0: task 12 is gone",
                            "set_mutex_protocol 3 8: mutex 8 protocol 3 ?",
                            "set_mutex_protocol 77 7: mutex 7 protocol ? ceiling 300 owner 0"));
}

TEST(OracleModel, FollowsServers) {
    Journal journal;
    journal.at(1, "server_create", 0, 3).at(2, "server_capacity", 3, 100).at(3, "server_period", 3, 1000);
    journal.at(4, "task_create", 15).at(5, "server_attach", 3, 15).at(6, "server_kind", 4, 3);
    journal.at(7, "task_create", 14).at(8, "server_attach", 3, 14).at(9, "server_budget", 3, 100);
    journal.at(0x1'0000'0000, "server_deadline", 3, 50).at(0x1'0000'0001, "server_remove", 0, 3);
    EXPECT_THAT(journal.take(),
                ElementsAre("server_create 0 3: model partial", "server_create 0 3: server 3 ? 0/0",
                            "server_capacity 3 100: server 3 ? 100/0", "server_period 3 1000: server 3 ? 100/1000",
                            "task_create 15 0: task 15 ? ready no begun ? turn 0",
                            "server_attach 3 15: task 15 ? ready no begun ? turn 0 of server 3",
                            "server_kind 4 3: server 3 deferrable 100/1000",
                            "task_create 14 0: task 14 round robin ready no begun ? turn 0",
                            "server_attach 3 14: task 14 deferrable ready no begun ? turn 0 of server 3",
                            "server_budget 3 100: server 3 deferrable 100/1000 budget 100",
                            "server_deadline 3 50: server 3 deferrable 100/1000 budget 100 due 4294967346",
                            "server_remove 0 3: server 3 is gone"));
}

// Of a job that has kept its place since it began.
TEST(OracleModel, FollowsWhatTakesAJobOutOfItsPlace) {
    const auto kept_after = [](std::string_view name, std::uint16_t par1, std::uint32_t par2 = 0) {
        Journal journal;
        journal.at(1, "task_create", 12).at(2, "job_release", 12, 2).at(3, "task_schedule", 12, 12);
        journal.at(4, "task_begin_cycle", 12).at(5, "task_dispatch", 12);
        EXPECT_TRUE(journal.task(12).kept_place);
        journal.at(10, name, par1, par2);
        return journal.task(12).kept_place;
    };
    EXPECT_TRUE(kept_after("task_epilogue", 12));
    EXPECT_TRUE(kept_after("task_schedule", 12, 12));
    EXPECT_FALSE(kept_after("task_schedule", 12, 13)) << "it runs in the place of another";
    EXPECT_TRUE(kept_after("task_schedule", 13, 12)) << "another one runs in its place";
    for (const std::string_view name :
         {"task_block", "task_unblock", "set_mutex_block", "job_release", "job_deadline", "slice_end"}) {
        EXPECT_FALSE(kept_after(name, 12)) << name;
        EXPECT_TRUE(kept_after(name, 13)) << name;
    }
    EXPECT_FALSE(kept_after("set_mutex_ceiling", 7, 300));
    EXPECT_TRUE(kept_after("server_budget", 3, 0));
    Journal served;
    served.at(1, "server_create", 0, 3).at(2, "server_attach", 3, 15).at(3, "task_schedule", 15, 15);
    served.at(4, "task_begin_cycle", 15).at(5, "server_budget", 3, 1).at(6, "server_budget", 4, 0);
    served.at(6, "task_unblock", 3); // the task 3, not the server
    EXPECT_TRUE(served.task(15).kept_place);
    served.at(7, "server_budget", 3, 0);
    EXPECT_FALSE(served.task(15).kept_place);
}

TEST(OracleModel, TakesAPlaceForKeptOnlyIfTheJobBeginsInItsOwn) {
    const auto begins = [](std::uint16_t shadow, std::uint16_t exec) {
        Journal journal;
        journal.at(1, "task_create", 12).at(2, "task_create", 13).at(3, "task_schedule", shadow, exec);
        journal.at(4, "task_begin_cycle", 12);
        return journal.task(12).kept_place;
    };
    EXPECT_TRUE(begins(12, 12));
    EXPECT_FALSE(begins(12, 13));
    EXPECT_FALSE(begins(13, 12));
    Journal undecided;
    undecided.at(1, "task_create", 12).at(4, "task_begin_cycle", 12);
    EXPECT_FALSE(undecided.task(12).kept_place);
}

TEST(OracleModel, ForgetsWhatMayHaveChanged) {
    Journal journal;
    journal.at(0, "trace_start", 0, 1'000'000).at(1, "task_create", 1).at(2, "job_release", 1, 2);
    journal.at(3, "task_create", 12).at(4, "job_release", 12, 2).at(5, "set_mutex_create", 0, 7);
    journal.at(6, "set_mutex_protocol", 2, 7).at(7, "set_mutex_acquire", 12, 7).at(8, "server_create", 0, 3);
    journal.at(9, "server_budget", 3, 100).at(9, "server_deadline", 3, 500).at(10, "task_schedule", 12, 12);
    journal.at(11, "task_dispatch", 12).take();
    journal.forget();
    journal.at(20, "job_release", 12, 20).at(21, "job_release", 13, 21).at(22, "task_dispatch", 12);
    journal.at(23, "task_create", 14).at(24, "set_mutex_acquire", 13, 7).at(30, "id", 15);
    journal.at(40, "task_schedule", 12, 13).at(41, "task_dispatch", 12).at(50, "task_schedule", 12, 12);
    journal.at(51, "task_dispatch", 12)
        .at(55, "set_mutex_unlock", 13, 7)
        .at(60, "id", 16)
        .at(61, "task_schedule", 1, 12)
        .at(62, "task_schedule", 1, 1);
    journal.at(70, "id", 99);
    EXPECT_THAT(
        journal.take(),
        ElementsAre(
            "forget: model partial, jobs, owners", "forget: mutex 7 protocol 2 ?", "forget: server 3 ? 0/0",
            "forget: runs is gone", "forget: task 1 is gone", "forget: task 12 is gone",
            "job_release 12 20: task 12 edf ready yes begun no turn 3",
            "job_release 13 21: task 13 fixed ready yes begun no turn 4",
            "task_create 14 0: task 14 round robin ready no begun ? turn 0",
            "set_mutex_acquire 13 7: mutex 7 protocol 2 owner 13", "id 15 0: task 15 ? ready ? begun ? maybe turn 0",
            "task_dispatch 12 0: runs 12 for 13 since 40", "task_dispatch 12 0: runs 12 for 12 since 50",
            "set_mutex_unlock 13 7: mutex 7 protocol 2 owner 0", "id 16 0: task 16 ? ready ? begun ? maybe turn 0",
            "task_schedule 1 12: task 1 background ready yes begun ? idle maybe turn 0",
            "task_schedule 1 1: model complete, jobs, owners",
            "task_schedule 1 1: task 1 background ready yes begun ? idle turn 0",
            "task_schedule 1 1: task 15 ? ready ? begun ? turn 0",
            "task_schedule 1 1: task 16 ? ready ? begun ? turn 0", "id 99 0: task 99 ? ready ? begun ? turn 0"));
}

// It recorded neither releases nor waits, nor who gets a mutex.
TEST(OracleModel, FollowsAnOlderKernel) {
    Journal journal;
    journal.at(1, "task_create", 12).at(2, "task_create", 13).at(3, "task_activate", 12).at(4, "task_activate", 13);
    journal.at(1'000'000, "set_priority", 12, 1'300).at(1'000'010, "set_mutex_create", 0, 7);
    journal.at(1'000'020, "task_schedule", 13, 13).at(1'000'021, "task_dispatch", 13);
    journal.at(1'000'030, "set_mutex_lock", 13, 7).at(1'000'040, "set_mutex_lock", 12, 7);
    journal.at(1'000'050, "task_epilogue", 12).at(1'000'055, "task_dispatch", 12).at(1'000'060, "task_epilogue", 13);
    journal.at(1'000'070, "set_mutex_unlock", 13, 7).at(1'000'080, "task_dispatch", 12);
    journal.at(1'000'090, "set_priority", 13, 1'700).at(1'000'095, "task_end_cycle", 13);
    journal.at(1'000'099, "set_priority", 13, 1'800).at(1'000'100, "task_schedule", 1, 1);
    EXPECT_THAT(
        journal.take(),
        ElementsAre(
            "task_create 12 0: model partial", "task_create 12 0: task 12 edf ready no begun ? turn 0",
            "task_create 13 0: task 13 fixed ready no begun ? turn 0",
            "task_activate 13 0: task 13 fixed ready ? begun ? turn 0",
            "set_priority 12 1300: task 12 edf ready yes begun no due 1300000+1001 turn 1",
            "set_mutex_create 0 7: mutex 7 protocol 1 owner 0",
            "task_schedule 13 13: task 13 fixed ready yes begun ? turn 0",
            "task_dispatch 13 0: runs 13 for 13 since 1000020", "set_mutex_lock 13 7: mutex 7 protocol 1 owner 13",
            "set_mutex_lock 12 7: task 12 edf ready yes begun no due 1300000+1001 turn 1 blocked on 7",
            "task_epilogue 12 0: runs is gone", "task_epilogue 13 0: task 13 fixed ready ? begun ? turn 0",
            "set_mutex_unlock 13 7: mutex 7 protocol 1 owner 0", "task_dispatch 12 0: mutex 7 protocol 1 owner 12",
            "task_dispatch 12 0: task 12 edf ready yes begun no due 1300000+1001 turn 1",
            "set_priority 13 1700: task 13 fixed ready ? begun ? due 1700000+1001 turn 0",
            "task_end_cycle 13 0: task 13 fixed ready no begun ? due 1700000+1001 turn 0",
            "set_priority 13 1800: task 13 fixed ready yes begun no due 1800000+1001 turn 2",
            "task_schedule 1 1: task 1 background ready yes begun ? idle turn 0"));
}

TEST(OracleModel, KnowsByAnAcquisitionThatOwnersAreRecorded) {
    Journal journal;
    journal.at(1, "set_mutex_create", 0, 7).at(2, "set_mutex_lock", 12, 7);
    EXPECT_FALSE(journal.model().acquires_recorded());
    EXPECT_EQ(journal.model().mutex(7)->owner, 12);
    journal.at(3, "set_mutex_unlock", 12, 7).at(4, "set_mutex_acquire", 13, 7).at(5, "set_mutex_unlock", 13, 7);
    EXPECT_TRUE(journal.model().acquires_recorded());
    journal.at(6, "set_mutex_lock", 12, 7);
    EXPECT_EQ(journal.model().mutex(7)->owner, 0) << "the attempt alone says nothing";
}

// Older kernels wrote the microseconds first.
TEST(OracleModel, TakesTheExactRecordOfADeadlineOrElseItsMicroseconds) {
    Journal journal;
    journal.at(1, "task_create", 12).at(2, "job_release", 12, 2).take();
    journal.at(1000, "set_priority", 12, 300)
        .at(1001, "job_deadline", 12, 300'100)
        .at(1002, "job_deadline", 12, 310'000);
    journal.at(1003, "set_priority", 12, 310).at(2000, "set_priority", 12, 500).at(2001, "job_release", 12, 2000);
    EXPECT_THAT(journal.take(),
                ElementsAre("set_priority 12 300: task 12 edf ready yes begun no released 2 due 300000+1001 turn 1",
                            "job_deadline 12 300100: task 12 edf ready yes begun no released 2 due 300100 turn 2",
                            "job_deadline 12 310000: task 12 edf ready yes begun no released 2 due 310000 turn 3",
                            "job_release 12 2000: task 12 edf ready yes begun no released 2000 turn 4"));
}

TEST(OracleModel, KnowsThePolicyOfALevelByItsName) {
    EXPECT_EQ(policy_of_level("RM"), Policy::fixed);
    EXPECT_EQ(policy_of_level("EDF"), Policy::edf);
    EXPECT_EQ(policy_of_level("CBS"), Policy::cbs);
    EXPECT_EQ(policy_of_level("GRUB"), Policy::grub);
    EXPECT_EQ(policy_of_level("PS"), Policy::polling);
    EXPECT_EQ(policy_of_level("polling"), Policy::polling);
    EXPECT_EQ(policy_of_level("DS"), Policy::deferrable);
    EXPECT_EQ(policy_of_level("deferrable"), Policy::deferrable);
    EXPECT_EQ(policy_of_level("RR"), Policy::round_robin);
    EXPECT_EQ(policy_of_level("background"), Policy::background);
    EXPECT_EQ(policy_of_level("SERVED"), Policy::unknown);
    EXPECT_EQ(policy_of_level(""), Policy::unknown);
}

// There may be thousands of servers, and a gap before each record.
TEST(OracleModel, ForgetsAtAGapOnlyTheServersThatHaveBecomeKnownSinceTheOneBefore) {
    constexpr std::uint16_t kServers = 1000;
    const trace::Names names;
    Model model;
    model.set_names(names);
    const auto apply = [&model](std::string_view name, std::uint16_t par1, std::uint32_t par2) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        model.apply(event);
    };
    for (std::uint16_t id = 1; id <= kServers; ++id) {
        apply("server_create", 0, id);
    }
    EXPECT_EQ(model.known_servers().size(), kServers);
    for (const std::uint32_t budget : {100U, 200U}) {
        model.forget();
        EXPECT_THAT(model.known_servers(), testing::IsEmpty());
        EXPECT_FALSE(model.servers().at(7).budget);
        apply("server_budget", 7, budget);
        EXPECT_THAT(model.known_servers(), ElementsAre(7));
        EXPECT_EQ(model.servers().at(7).budget, budget);
    }
    EXPECT_EQ(model.servers().size(), kServers);
}

TEST(OracleModel, NamesTasksWithTheirContexts) {
    const Journal journal;
    EXPECT_EQ(journal.model().name(12), "motor (12)");
    EXPECT_EQ(journal.model().name(13), "context 13");
    EXPECT_EQ(Model().name(12), "context 12");
}

} // namespace

} // namespace host::analyse::oracle::model_test
