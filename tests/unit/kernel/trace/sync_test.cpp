// SPDX-License-Identifier: MIT
// Tests what mutexes, semaphores, conditions and ports leave in the trace.
#include "kernel/trace/sync.hpp"

#include "tests/support/tracer/bridge.hpp"

namespace sync_test {

using namespace kernel;
using namespace kernel::trace_points;

using SyncPoints = tests::BridgeTest;

TEST_F(SyncPoints, RecordAMutexWithItsMakerItsProtocolAndItsName) {
    EXPECT_EQ(by([&] { mutex_created(&task, 21, lib::MutexProtocol::stack, "M"); }),
              "set_mutex_create 7 21, set_mutex_protocol 3 21");
    EXPECT_EQ(last_name(), "mutex 21 M");
    EXPECT_EQ(by([] { mutex_created(nullptr, 22, lib::MutexProtocol::none, "N"); }),
              "set_mutex_create 0 22, set_mutex_protocol 0 22");
}

TEST_F(SyncPoints, RecordACeilingInMicrosecondsAndNoneAsTheGreatestNumber) {
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    constexpr std::uint64_t kGreatest = 0xFFFF'FFFF;
    EXPECT_EQ(by([] { mutex_ceiling_set(21, 5'999, kNone); }), "set_mutex_ceiling 21 5");
    EXPECT_EQ(by([] { mutex_ceiling_set(21, kNone, kNone); }), "set_mutex_ceiling 21 4294967295");
    EXPECT_EQ(by([] { mutex_ceiling_set(21, (kGreatest - 1) * 1'000, kNone); }), "set_mutex_ceiling 21 4294967294");
    EXPECT_EQ(by([] { mutex_ceiling_set(21, kGreatest * 1'000, kNone); }), "set_mutex_ceiling 21 4294967294")
        << "a long one is not none";
    EXPECT_EQ(by([] { mutex_ceiling_set(21, kGreatest * 5'000, kNone); }), "set_mutex_ceiling 21 4294967294");
}

TEST_F(SyncPoints, RecordTheStepsOfAMutex) {
    EXPECT_EQ(by([&] { mutex_lock_attempted(task, 21); }), "set_mutex_lock 7 21");
    EXPECT_EQ(by([&] { mutex_acquired(task, 21); }), "set_mutex_acquire 7 21");
    EXPECT_EQ(by([&] { mutex_deadlock_refused(task, 21); }), "set_mutex_deadlock 7 21");
    EXPECT_EQ(by([&] { mutex_timed_out(task, 21); }), "set_mutex_timeout 7 21");
    EXPECT_EQ(by([&] { mutex_owner_died(task, 21); }), "set_mutex_owner_died 7 21");
    EXPECT_EQ(by([&] { mutex_blocked(task, 21); }), "set_mutex_block 7 21");
    EXPECT_EQ(by([&] { mutex_inherited(task, 21); }), "set_mutex_inherit 7 21");
    EXPECT_EQ(by([&] { mutex_unlocked(task, 21); }), "set_mutex_unlock 7 21");
}

TEST_F(SyncPoints, RecordTheStepsOfASemaphore) {
    EXPECT_EQ(by([] { semaphore_created(22, "S", 0xFFFE); }), "set_semaphore_create 65534 22");
    EXPECT_EQ(last_name(), "semaphore 22 S");
    EXPECT_EQ(by([] { semaphore_created(23, "T", 0x1'0001); }), "set_semaphore_create 65535 23") << "more than fits";
    EXPECT_EQ(by([&] { semaphore_waited(&task, 22); }), "set_mutex_wait 7 22");
    EXPECT_EQ(by([&] { semaphore_posted(&task, 22); }), "set_mutex_post 7 22");
    EXPECT_EQ(by([] { semaphore_posted(nullptr, 22); }), "set_mutex_post 0 22");
}

TEST_F(SyncPoints, RecordAWaitThatGivesUpByItsKind) {
    task.waits_for = {WaitKind::semaphore, 22};
    EXPECT_EQ(by([&] { wait_timed_out(task); }), "set_mutex_unwait 7 22");
    task.waits_for = {WaitKind::condition, 23};
    EXPECT_EQ(by([&] { wait_timed_out(task); }), "wait_timeout 7 196631");
}

TEST_F(SyncPoints, RecordConditionsAndPorts) {
    EXPECT_EQ(by([] { condition_created(24, "C"); }), "");
    EXPECT_EQ(last_name(), "condition 24 C");
    EXPECT_EQ(by([&] { condition_signalled(&task, 24); }), "condition_signal 7 24");
    EXPECT_EQ(by([&] { condition_broadcast(&task, 24); }), "condition_broadcast 7 24");
    EXPECT_EQ(by([] { port_created(25, "P"); }), "");
    EXPECT_EQ(last_name(), "port 25 P");
    EXPECT_EQ(by([&] { port_sent(&task, 25); }), "port_send 7 25");
    EXPECT_EQ(by([&] { port_received(&task, 25); }), "port_receive 7 25");
}

} // namespace sync_test
